/* SPDX-License-Identifier: MIT */
/* Branch target buffers as machine/btb.h says: each level a list of branches
 * with the time of their last use. */
#ifndef TALLY_TEST_BTB_REF_H
#define TALLY_TEST_BTB_REF_H

#include <stddef.h>

#include "machine/btb.h"

struct btb_ref_branch {
    uint64_t number, address, used;
};

struct btb_ref {
    struct btb_shape shape;
    struct btb_ref_branch *held[BTB_LEVELS_MOST]; /* by each level, unsorted */
    size_t count[BTB_LEVELS_MOST];
    uint64_t time;
};

void btb_ref_init(struct btb_ref *b, const struct btb_shape *shape);
void btb_ref_finish(struct btb_ref *b);
unsigned btb_ref_ask(struct btb_ref *b, uint64_t number, uint64_t address);

#endif
