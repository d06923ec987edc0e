/* SPDX-License-Identifier: MIT */
#include "names/span.h"

#include <stdlib.h>

bool
span_add(struct span_list *list, const struct span *span)
{
    if (span->start >= span->end)
        return true;
    if (list->count == list->room) {
        const size_t room = list->room ? list->room * 2 : 16;
        struct span *all = reallocarray(list->all, room, sizeof(*all));
        if (all == NULL)
            return false;
        list->all = all;
        list->room = room;
    }
    list->all[list->count++] = *span;
    return true;
}

static int
by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

/* The ranges that hold the address that the sweep has reached. */
struct sweep {
    const struct span **open; /* the owner of the address last */
    size_t count;
    uint64_t reached;
    struct span_list flat;
};

/* Gives the addresses up to `end` to the range that was opened last. */
static bool
give(struct sweep *s, uint64_t end)
{
    const struct span *top = s->open[s->count - 1];
    struct span *last =
        s->flat.count > 0 ? &s->flat.all[s->flat.count - 1] : NULL;

    if (end <= s->reached)
        return true;
    const uint64_t start = s->reached;
    s->reached = end;
    if (last != NULL && last->end == start && last->owner == top->owner) {
        last->end = end;
        return true;
    }
    return span_add(&s->flat,
                    &(struct span){start, end, top->owner, top->depth});
}

/* Moves on to `address`; closes the ranges that end before. */
static bool
advance(struct sweep *s, uint64_t address)
{
    while (s->count > 0 && s->open[s->count - 1]->end <= address) {
        if (!give(s, s->open[s->count - 1]->end))
            return false;
        s->count--;
    }
    if (s->count > 0)
        return give(s, address);
    s->reached = address;
    return true;
}

bool
span_flatten(struct span_list *list)
{
    struct sweep s = {0};
    bool done = true;

    if (list->count == 0)
        return true;
    qsort(list->all, list->count, sizeof(*list->all), by_start);
    s.open = calloc(list->count, sizeof(struct span *));
    done = s.open != NULL;
    for (size_t i = 0; i < list->count && done; i++) {
        done = advance(&s, list->all[i].start);
        s.open[s.count++] = &list->all[i];
    }
    done = done && advance(&s, UINT64_MAX);
    if (!done)
        span_finish(&s.flat);
    free(s.open);
    span_finish(list);
    *list = s.flat;
    return done;
}

/* Returns how many ranges begin at the address or before. */
static size_t
count_up_to(const struct span_list *list, uint64_t address)
{
    size_t low = 0, high = list->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list->all[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct span *
span_find(const struct span_list *list, uint64_t address)
{
    const size_t low = count_up_to(list, address);

    if (low == 0 || address >= list->all[low - 1].end)
        return NULL;
    return &list->all[low - 1];
}

uint64_t
span_until(const struct span_list *list, uint64_t address)
{
    const size_t low = count_up_to(list, address);

    if (low > 0 && address < list->all[low - 1].end)
        return list->all[low - 1].end;
    return low < list->count ? list->all[low].start : UINT64_MAX;
}

void
span_finish(struct span_list *list)
{
    free(list->all);
    *list = (struct span_list){0};
}
