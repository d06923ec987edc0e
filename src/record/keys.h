/* SPDX-License-Identifier: MIT */
/*
 * Numbers for keys: each different run of bytes gets the next number from 0 on.
 * A hash table with open addressing.
 *
 * A failure is kept: the caller adds all keys, then looks at `failed`.
 */
#ifndef TALLY_RECORD_KEYS_H
#define TALLY_RECORD_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/bytes.h"

/* The number of no key: there was no memory. */
#define KEYS_NONE UINT32_MAX

/* All zero is an empty table. */
struct keys {
    struct key {
        size_t at, size; /* in `bytes` */
        uint64_t hash;
    } * all; /* by number */
    uint32_t count, room;
    uint32_t *slots; /* number + 1, or 0 */
    size_t slot_count;
    struct bytes bytes;
    bool failed; /* there was no memory: a key is missing */
};

/* Frees the table's memory and makes it an empty one. */
void keys_finish(struct keys *keys);

/* Returns the number of the key, which is copied if it is new; then the number
 * is the `count` of before. KEYS_NONE: no memory. */
uint32_t keys_add(struct keys *keys, const void *key, size_t size);

/* Returns whether the table has the key. */
bool keys_has(const struct keys *keys, const void *key, size_t size);

/* Returns the key of a number, until the next key is added. */
static inline const void *
keys_get(const struct keys *keys, uint32_t number, size_t *size)
{
    *size = keys->all[number].size;
    return keys->bytes.data + keys->all[number].at;
}

#endif
