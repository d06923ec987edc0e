/* SPDX-License-Identifier: MIT */
/* Pointers by three numbers; nothing is taken out. */
#ifndef TALLY_PROFILE_SUMMARY_TABLE_H
#define TALLY_PROFILE_SUMMARY_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct summary_key {
    uint64_t a, b, c;
};

/* NULL if there is no memory. */
struct summary_table *summary_table_create(void);

/* Not what it points to. */
void summary_table_destroy(struct summary_table *table);

/* NULL if it is not there. */
void *summary_table_find(const struct summary_table *table,
                         const struct summary_key *key);

/* Of a key that is not there yet: 0 or TALLY_ENOMEM. */
int summary_table_add(struct summary_table *table,
                      const struct summary_key *key, void *value);

#endif
