/* SPDX-License-Identifier: MIT */
/* The branches of chip_ref: directions, targets, the return stack. */
#ifndef TALLY_TEST_BRANCH_REF_H
#define TALLY_TEST_BRANCH_REF_H

#include "ref/chip_ref.h"

/* `last` closed with a branch, and `block` is the one behind it. */
void branch_ref_decide(struct chip_ref *r, const struct block *last,
                       const struct block *block);
/* ... and `target` where it went. */
void branch_ref_find_target(struct chip_ref *r, const struct block *last,
                            uint64_t target);

static inline void
chip_ref_count(struct chip_ref *r, enum signal_id signal)
{
    r->signals[r->outside][signal]++;
}

#endif
