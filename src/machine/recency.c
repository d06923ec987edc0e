/* SPDX-License-Identifier: MIT */
#include "machine/recency.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int
recency_init(struct recency *r, uint32_t capacity)
{
    uint32_t heads = 1;

    if (r->lines != NULL)
        return 0;
    while (heads < 2 * capacity)
        heads *= 2;
    r->lines = calloc(capacity, sizeof(*r->lines));
    r->heads = calloc(heads, sizeof(*r->heads));
    r->capacity = capacity;
    r->mask = heads - 1;
    if (r->lines != NULL && r->heads != NULL)
        return 0;
    recency_finish(r);
    return TALLY_ENOMEM;
}

void
recency_finish(struct recency *r)
{
    free(r->lines);
    free(r->heads);
    memset(r, 0, sizeof(*r));
}

void
recency_clear(struct recency *r)
{
    if (r->lines == NULL)
        return;
    memset(r->heads, 0, ((size_t)r->mask + 1) * sizeof(*r->heads));
    r->count = r->newest = r->oldest = 0;
}

static uint32_t *
head_of(const struct recency *r, uint64_t line)
{
    return &r->heads[(line * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & r->mask];
}

/* Takes a line out of the order of use. */
static void
unlink_line(struct recency *r, const struct recency_line *l)
{
    if (l->newer != 0)
        r->lines[l->newer - 1].older = l->older;
    else
        r->newest = l->older;
    if (l->older != 0)
        r->lines[l->older - 1].newer = l->newer;
    else
        r->oldest = l->newer;
}

static void
put_newest(struct recency *r, uint32_t number)
{
    struct recency_line *const l = &r->lines[number - 1];

    l->newer = 0;
    l->older = r->newest;
    if (r->newest != 0)
        r->lines[r->newest - 1].newer = number;
    else
        r->oldest = number;
    r->newest = number;
}

/* Returns the number of a line that is free or, where none is, of the oldest,
 * which leaves the cache. */
static uint32_t
make_room(struct recency *r)
{
    if (r->count < r->capacity)
        return ++r->count;
    const uint32_t number = r->oldest;
    const struct recency_line *const l = &r->lines[number - 1];
    uint32_t *at = head_of(r, l->line);
    while (*at != number)
        at = &r->lines[*at - 1].next;
    *at = l->next;
    unlink_line(r, l);
    return number;
}

bool
recency_touch(struct recency *r, uint64_t line)
{
    uint32_t *const head = head_of(r, line);
    uint32_t number = *head;

    while (number != 0 && r->lines[number - 1].line != line)
        number = r->lines[number - 1].next;
    if (number != 0) {
        if (number == r->newest)
            return true;
        unlink_line(r, &r->lines[number - 1]);
        put_newest(r, number);
        return true;
    }
    number = make_room(r);
    r->lines[number - 1].line = line;
    r->lines[number - 1].next = *head;
    *head = number;
    put_newest(r, number);
    return false;
}
