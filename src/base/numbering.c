/* SPDX-License-Identifier: MIT */
#include "base/numbering.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 256u

void
numbering_init(struct numbering *n, size_t words)
{
    *n = (struct numbering){.words = words};
}

void
numbering_finish(struct numbering *n)
{
    free(n->keys);
    free(n->slots);
    *n = (struct numbering){0};
}

static bool
is_equal(const uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* Returns the slot of the key, or the empty slot where the key goes. */
static uint32_t *
find_slot(const struct numbering *n, const uint64_t *key)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < n->words; i++) {
        hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    size_t at = (hash ^ hash >> 32) & (n->slot_count - 1);
    while (n->slots[at] != 0 &&
           !is_equal(n->keys + (n->slots[at] - 1) * n->words, key, n->words))
        at = (at + 1) & (n->slot_count - 1);
    return &n->slots[at];
}

/* Doubles the table before it is more than half full. */
static int
grow(struct numbering *n)
{
    const size_t wanted = n->slot_count != 0 ? 2 * n->slot_count : SLOTS_FIRST;

    if (n->count < n->slot_count / 2)
        return 0;
    if (wanted > UINT32_MAX)
        return -1;
    uint64_t *keys =
        reallocarray(n->keys, wanted / 2, n->words * sizeof(*keys));
    if (keys == NULL)
        return -1;
    n->keys = keys;
    uint32_t *slots = calloc(wanted, sizeof(*slots));
    if (slots == NULL)
        return -1;
    free(n->slots);
    n->slots = slots;
    n->slot_count = wanted;
    for (size_t i = 0; i < n->count; i++)
        *find_slot(n, n->keys + i * n->words) = (uint32_t)i + 1;
    return 0;
}

uint32_t
numbering_add(struct numbering *n, const uint64_t *key)
{
    /* Instructions come in the order of their addresses, so that many have the
     * key of the one before, or the key that came next in another process. Of a
     * record of 11 compilations that saves 0.35 s of 0.9 s. */
    for (uint32_t next = n->last; next < n->count && next < n->last + 2; next++)
        if (is_equal(n->keys + next * n->words, key, n->words))
            return n->last = next;
    if (grow(n) != 0)
        return NUMBERING_NONE;
    uint32_t *slot = find_slot(n, key);
    if (*slot == 0) {
        memcpy(n->keys + n->count * n->words, key, n->words * sizeof(*key));
        *slot = (uint32_t)++n->count;
    }
    return n->last = *slot - 1;
}

uint32_t
numbering_find(const struct numbering *n, const uint64_t *key)
{
    /* Number + 1 or 0, less 1: NUMBERING_NONE is the largest number. */
    return n->slot_count != 0 ? *find_slot(n, key) - 1 : NUMBERING_NONE;
}

const uint64_t *
numbering_key(const struct numbering *n, uint32_t number)
{
    return n->keys + number * n->words;
}
