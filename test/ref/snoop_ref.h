/* SPDX-License-Identifier: MIT */
/* The slow, obvious twin of machine/coherence_snoop.h. */
#ifndef TALLY_TEST_SNOOP_REF_H
#define TALLY_TEST_SNOOP_REF_H

#include "ref/chip_ref.h"

/* How many other cores' L2s have the line of an address. */
unsigned snoop_ref_copies(const struct chip_ref *r, uint64_t addr);

/* A store takes it from all of them; `has`: the core's own L2 has it. True if
 * one had written it. */
bool snoop_ref_write(struct chip_ref *r, uint64_t addr, bool has);

/* A load or fetch that missed. True if another had written it; that has it
 * clean from then on. */
bool snoop_ref_read(struct chip_ref *r, uint64_t addr);

#endif
