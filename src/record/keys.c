/* SPDX-License-Identifier: MIT */
#include "record/keys.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 256u

void
keys_finish(struct keys *k)
{
    free(k->all);
    free(k->slots);
    bytes_finish(&k->bytes);
    *k = (struct keys){0};
}

/* Returns the FNV-1a hash, with its high bits in the low ones too. */
static uint64_t
hash_of(const uint8_t *key, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ key[i]) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

/* Returns the slot of the key, or the empty one where the key goes. */
static uint32_t *
find_slot(const struct keys *k, uint64_t hash, const void *key, size_t size)
{
    size_t at = hash & (k->slot_count - 1);

    for (; k->slots[at] != 0; at = (at + 1) & (k->slot_count - 1)) {
        const struct key *have = &k->all[k->slots[at] - 1];
        if (have->hash == hash && have->size == size &&
            (size == 0 || memcmp(k->bytes.data + have->at, key, size) == 0))
            break;
    }
    return &k->slots[at];
}

/* Doubles the slots before three quarters are used. */
static bool
grow_slots(struct keys *k)
{
    const size_t wanted = k->slot_count != 0 ? 2 * k->slot_count : SLOTS_FIRST;
    uint32_t *slots;

    if (k->count < k->slot_count / 4 * 3)
        return true;
    slots = calloc(wanted, sizeof(*slots));
    if (slots == NULL)
        return false;
    for (uint32_t i = 0; i < k->count; i++) {
        size_t at = k->all[i].hash & (wanted - 1);
        while (slots[at] != 0)
            at = (at + 1) & (wanted - 1);
        slots[at] = i + 1;
    }
    free(k->slots);
    k->slots = slots;
    k->slot_count = wanted;
    return true;
}

/* Makes room for one more key. */
static bool
grow_keys(struct keys *k)
{
    const uint32_t room = k->room != 0 ? 2 * k->room : SLOTS_FIRST;

    if (k->count < k->room)
        return true;
    if (k->room > KEYS_NONE / 4)
        return false;
    struct key *all = reallocarray(k->all, room, sizeof(*all));
    if (all == NULL)
        return false;
    k->all = all;
    k->room = room;
    return true;
}

bool
keys_has(const struct keys *k, const void *key, size_t size)
{
    return k->slot_count != 0 &&
           *find_slot(k, hash_of(key, size), key, size) != 0;
}

uint32_t
keys_add(struct keys *k, const void *key, size_t size)
{
    const uint64_t hash = hash_of(key, size);

    if (k->failed || !grow_slots(k) || !grow_keys(k)) {
        k->failed = true;
        return KEYS_NONE;
    }
    uint32_t *slot = find_slot(k, hash, key, size);
    if (*slot != 0)
        return *slot - 1;
    const size_t at = k->bytes.size;
    bytes_append(&k->bytes, key, size);
    if (k->bytes.failed) {
        k->failed = true;
        return KEYS_NONE;
    }
    k->all[k->count] = (struct key){at, size, hash};
    *slot = ++k->count;
    return k->count - 1;
}
