/* SPDX-License-Identifier: MIT */
/*
 * Lines of code that are fetched ahead (prefetch.lines, with an L2 for code and
 * COMPONENT_BUS): a miss of the L1I that none of them serves was reached by a
 * taken branch, and starts a stream there, the lines behind it; each line that
 * serves one asks for more, so that the stream stays prefetch.lines ahead. It
 * ends with its 4 KB, behind which the translation may be missing. A request
 * for a line that the L1I has goes no further; others look in the L2 for code.
 *
 * A line waits for its fetch in the instruction streaming buffer, which has the
 * last AHEAD_LINES of them. What the L3 or memory serves is out until the
 * strand has waited as long for something else; a fetch that finds it so finds
 * it in the request address buffer, and waits as if it had just been asked for.
 * Two lines of the L1I are one of the L2: a request whose line another has out
 * recirculates, counted once.
 *
 * Wrong paths fetch nothing, branches have no hints (which would ask for lines
 * of other streams), threads do not share a stream, and a switch of threads
 * cancels none.
 * test/ref/ahead_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_AHEAD_H
#define TALLY_MACHINE_AHEAD_H

#include "machine/chip.h"

/* Returns which of the `ahead` next lines behind a line (its number) an L1I
 * has, a bit each, the next one's lowest. */
uint16_t ahead_next(const struct cache *l1i, uint64_t line, unsigned ahead);

/* Takes a fetch that the L1I lacked, with ahead_next(), to the L2 for code. */
void ahead_fetch(struct strand *s, const struct request *fetch);

/* The strand has waited for the L3, or for memory. */
void ahead_settle(struct strand *s, enum ahead_out waited);

#endif
