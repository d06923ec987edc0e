/* SPDX-License-Identifier: MIT */
#include "profile/summary_table.h"

#include <stdlib.h>

#include "base/error.h"

#define SLOTS_FIRST 64

struct slot {
    struct summary_key key;
    void *value; /* NULL: free */
};

struct summary_table {
    struct slot *slots;
    size_t size, used; /* the size is a power of two */
};

struct summary_table *
summary_table_create(void)
{
    struct summary_table *t = calloc(1, sizeof(*t));

    if (t == NULL)
        return NULL;
    t->size = SLOTS_FIRST;
    t->slots = calloc(t->size, sizeof(*t->slots));
    if (t->slots == NULL) {
        free(t);
        return NULL;
    }
    return t;
}

void
summary_table_destroy(struct summary_table *t)
{
    if (t == NULL)
        return;
    free(t->slots);
    free(t);
}

static uint64_t
mixed(uint64_t h, uint64_t value)
{
    h = (h ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* Returns the slot of the key, or the free slot where the key belongs. */
static struct slot *
slot_of(const struct summary_table *t, const struct summary_key *key)
{
    uint64_t i = mixed(mixed(mixed(1, key->a), key->b), key->c);

    for (;; i++) {
        struct slot *s = &t->slots[i & (t->size - 1)];
        if (s->value == NULL ||
            (s->key.a == key->a && s->key.b == key->b && s->key.c == key->c))
            return s;
    }
}

void *
summary_table_find(const struct summary_table *t, const struct summary_key *key)
{
    return slot_of(t, key)->value;
}

static int
grow(struct summary_table *t)
{
    struct summary_table more = {.size = 2 * t->size};

    more.slots = calloc(more.size, sizeof(*more.slots));
    if (more.slots == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < t->size; i++)
        if (t->slots[i].value != NULL)
            *slot_of(&more, &t->slots[i].key) = t->slots[i];
    free(t->slots);
    t->slots = more.slots;
    t->size = more.size;
    return 0;
}

int
summary_table_add(struct summary_table *t, const struct summary_key *key,
                  void *value)
{
    if (t->used >= t->size / 2 && grow(t) != 0)
        return TALLY_ENOMEM;
    *slot_of(t, key) = (struct slot){*key, value};
    t->used++;
    return 0;
}
