/* SPDX-License-Identifier: MIT */
/*
 * Cores of a chip that have an L2 each and see what the others hold
 * (COMPONENT_SNOOP).
 *
 * A line is shared where more than one L2 has it, else exclusive; a dirty one
 * is never shared. Before a store makes a line of its L2 dirty, it is taken
 * out of all other L2s and the L1s in front of those. A miss that another L2
 * has dirty is served by that: a store takes the line over, a load or fetch
 * leaves it clean in both, and what was written goes to the next level. Who is
 * asked is who has the line, as if a directory knew. Nobody looks into L1s
 * whose L2 lacks the line: a copy that has outlived it there is not found.
 * test/ref/chip_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_COHERENCE_SNOOP_H
#define TALLY_MACHINE_COHERENCE_SNOOP_H

#include "machine/queue.h"

/* What a store found in other L2s: a copy, and that it was dirty. */
#define SNOOP_COPY 1u
#define SNOOP_DIRTY 2u

/*
 * Takes a line, by number, from all other L2s, as the line is about to become
 * dirty in the strand's L2, which had it (`has`) or not. Returns SNOOP_COPY and
 * SNOOP_DIRTY as found. Under the chip's lock, if not alone.
 */
unsigned snoop_write(struct strand *s, uint64_t line, bool has);

/* Looks for a line that a load or fetch missed in the strand's L2. Returns
 * whether another L2, which had written the line, serves it: the line must then
 * be written to the next level. Under the chip's lock, if not alone. */
bool snoop_read(struct strand *s, uint64_t line);

/* Counts what other cores' accesses have done to the strand's caches. Under the
 * chip's lock, if not alone. */
void snoop_count(struct strand *s);

#endif
