/* SPDX-License-Identifier: MIT */
/*
 * The slow, obvious twin of machine/raw.h: every store is kept, and a load
 * looks at the last ones one by one.
 */
#ifndef TALLY_TEST_RAW_REF_H
#define TALLY_TEST_RAW_REF_H

#include "ref/chip_ref.h"

/* The last store that has a byte of the load, if it is one of the buffers'. */
void raw_ref_load(struct chip_ref *r, uint64_t addr, uint64_t size);
void raw_ref_store(struct chip_ref *r, uint64_t addr, uint64_t size);

#endif
