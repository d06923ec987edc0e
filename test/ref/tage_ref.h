/* SPDX-License-Identifier: MIT */
/* The slow, obvious twin of machine/tage.h: the whole history is kept, and what
 * the tables are found by is worked out anew for each branch. */
#ifndef TALLY_TEST_TAGE_REF_H
#define TALLY_TEST_TAGE_REF_H

#include "machine/tage.h"

struct tage_ref_entry {
    bool used;
    uint32_t tag;
    int counter, useful;
};

struct tage_ref {
    uint64_t counters;
    unsigned histories[TAGE_TABLES];
    int *base;
    struct tage_ref_entry *tables[TAGE_TABLES];
    bool *past; /* all branches, the first first */
    uint64_t count, room;
    int trust_alternate;
    uint64_t random;
};

void tage_ref_init(struct tage_ref *t, uint64_t counters, unsigned longest);
void tage_ref_finish(struct tage_ref *t);
bool tage_ref_step(struct tage_ref *t, uint64_t branch, bool taken);

#endif
