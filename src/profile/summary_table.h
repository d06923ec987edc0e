/* SPDX-License-Identifier: MIT */
/* A hash table of pointers by three numbers; entries stay. */
#ifndef TALLY_PROFILE_SUMMARY_TABLE_H
#define TALLY_PROFILE_SUMMARY_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct summary_key {
    uint64_t a, b, c;
};

/* Returns an empty table, or NULL: no memory. */
struct summary_table *summary_table_create(void);

/* Frees the table, but not the values. */
void summary_table_destroy(struct summary_table *table);

/* Returns the value of a key, or NULL. */
void *summary_table_find(const struct summary_table *table,
                         const struct summary_key *key);

/* Adds a key that is not in the table yet. 0 or TALLY_ENOMEM. */
int summary_table_add(struct summary_table *table,
                      const struct summary_key *key, void *value);

#endif
