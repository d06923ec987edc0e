/* SPDX-License-Identifier: MIT */
/* A predictor of targets as machine/ittage.h says, which keeps the whole path,
 * and works out the number of an entry anew for each prediction. */
#ifndef TALLY_TEST_ITTAGE_REF_H
#define TALLY_TEST_ITTAGE_REF_H

#include <stddef.h>

#include "machine/ittage.h"

struct ittage_ref_entry {
    bool used, useful;
    uint64_t tag, target;
    int confidence;
};

struct ittage_ref {
    struct ittage_shape shape;
    unsigned histories[ITTAGE_TABLES_MOST];
    struct ittage_ref_entry *tables[ITTAGE_TABLES_MOST];
    uint64_t *path; /* hashes of all taken branches, the oldest first */
    size_t count, room;
    int trust_alternate;
    unsigned pressure;
    uint64_t random;
};

void ittage_ref_init(struct ittage_ref *t, const struct ittage_shape *shape);
void ittage_ref_finish(struct ittage_ref *t);
bool ittage_ref_step(struct ittage_ref *t, uint64_t branch, uint64_t base,
                     uint64_t target);
void ittage_ref_add(struct ittage_ref *t, uint64_t branch, uint64_t target);

#endif
