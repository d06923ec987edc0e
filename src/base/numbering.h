/* SPDX-License-Identifier: MIT */
/*
 * Numbers for groups: equal keys get one number, from 0 on in the order in
 * which the keys come. A key is a fixed count of 64-bit words; a hash table
 * with open addressing finds its number.
 */
#ifndef TALLY_BASE_NUMBERING_H
#define TALLY_BASE_NUMBERING_H

#include <stddef.h>
#include <stdint.h>

#define NUMBERING_NONE UINT32_MAX

struct numbering {
    size_t words;   /* of a key */
    uint64_t *keys; /* [count][words] */
    size_t count;
    uint32_t last;   /* number that was returned last */
    uint32_t *slots; /* number + 1, or 0 */
    size_t slot_count;
};

/* Prepares an empty numbering, which needs no memory yet. */
void numbering_init(struct numbering *n, size_t words);
void numbering_finish(struct numbering *n);

/* Returns the number of the key, which is added if it is new; NUMBERING_NONE:
 * no memory. */
uint32_t numbering_add(struct numbering *n, const uint64_t *key);

/* Returns the number of the key; NUMBERING_NONE: it was never added. */
uint32_t numbering_find(const struct numbering *n, const uint64_t *key);

/* Returns the key of a number; the next numbering_add() may move it. */
const uint64_t *numbering_key(const struct numbering *n, uint32_t number);

#endif
