/* SPDX-License-Identifier: MIT */
#include "base/texts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static uint64_t
hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

/* Returns the place of the text, or the empty one where it goes. */
static uint32_t *
find_slot(const struct texts *t, const char *text)
{
    size_t at = hash_of(text) & (t->slot_count - 1);

    while (t->slots[at] != 0 && strcmp(t->text[t->slots[at]], text) != 0)
        at = (at + 1) & (t->slot_count - 1);
    return &t->slots[at];
}

/* Doubles the tables before three quarters are used. */
static bool
grow(struct texts *t)
{
    const size_t wanted = t->slot_count != 0 ? 2 * t->slot_count : 1024;
    char **text;
    uint32_t *slots;

    if (t->count + 1 < t->slot_count / 4 * 3)
        return true;
    text = reallocarray(t->text, wanted, sizeof(*text));
    if (text == NULL)
        return false;
    t->text = text;
    slots = calloc(wanted, sizeof(*slots));
    if (slots == NULL)
        return false;
    free(t->slots);
    t->slots = slots;
    t->slot_count = wanted;
    for (size_t i = 1; i < t->count; i++)
        *find_slot(t, t->text[i]) = (uint32_t)i;
    return true;
}

int
texts_init(struct texts *t)
{
    *t = (struct texts){0};
    if (!grow(t) || (t->text[0] = strdup("")) == NULL)
        return TALLY_ENOMEM;
    t->count = 1;
    return 0;
}

void
texts_finish(struct texts *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->text[i]);
    free(t->text);
    free(t->slots);
    *t = (struct texts){0};
}

uint32_t
texts_add(struct texts *t, const char *text)
{
    uint32_t *slot;

    if (text == NULL || *text == '\0' || !grow(t))
        return 0;
    slot = find_slot(t, text);
    if (*slot == 0) {
        t->text[t->count] = strdup(text);
        if (t->text[t->count] == NULL)
            return 0;
        *slot = (uint32_t)t->count++;
    }
    return *slot;
}

uint32_t
texts_find(const struct texts *t, const char *text)
{
    return *text != '\0' ? *find_slot(t, text) : 0;
}

const char *
texts_get(const struct texts *t, uint32_t number)
{
    return t->text[number];
}
