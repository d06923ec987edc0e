/* SPDX-License-Identifier: MIT */
/* Accesses to a cache that keeps which of its lines are dirty. */
#ifndef TALLY_MACHINE_CACHE_DIRTY_H
#define TALLY_MACHINE_CACHE_DIRTY_H

#include "machine/cache.h"

#define CACHE_NOTHING UINT64_MAX

/* What an access did to the dirty lines of its set. */
struct cache_driven {
    uint64_t line; /* the dirty line that a miss drove out, or CACHE_NOTHING */
    uint64_t any;  /* the line that a miss drove out, dirty or clean; or that */
    bool clean;    /* a miss drove out a clean line */
    bool updated;  /* a write found its line, and found it clean */
};

static const struct cache_driven cache_driven_nothing = {CACHE_NOTHING,
                                                         CACHE_NOTHING, 0, 0};

/* Returns the bits of a set whose line at `place` has become the first. */
static inline uint32_t
cache_moved_first(uint32_t bits, uint32_t place, uint32_t first)
{
    const uint32_t before = bits & ((1u << place) - 1);
    const uint32_t behind = bits & ~((2u << place) - 1);

    return behind | before << 1 | first;
}

/* cache_move(), or what does the same on some hosts. */
typedef bool cache_mover(uint32_t *tags, uint32_t tag, uint32_t columns,
                         uint32_t ways, uint64_t turn, uint32_t *place);

/* cache_touch() of a line whose tag fits; `columns` and `move` are constants.
 */
static inline __attribute__((always_inline)) bool
cache_touch_columns(struct cache *c, uint64_t line, bool write,
                    uint32_t columns, cache_mover *move,
                    struct cache_driven *driven)
{
    const uint64_t set = line & c->set_mask;
    const uint32_t tag = cache_tag(c, line);
    const uint32_t bits = c->dirty[set];
    uint32_t *tags = c->tags + set * columns;
    const uint32_t last = tags[c->ways - 1];
    uint32_t place;

    *driven = cache_driven_nothing;
    if (tags[0] == tag) {
        c->dirty[set] = (uint16_t)(bits | write);
        driven->updated = write && (bits & 1) == 0;
        return true;
    }
    const bool hit = move(tags, tag, columns, c->ways, 0, &place);
    const bool was = bits >> place & 1;
    c->dirty[set] =
        (uint16_t)cache_moved_first(bits, place, (hit && was) || write ? 1 : 0);
    driven->clean = !hit && !was && last != 0;
    driven->updated = hit && write && !was;
    if (!hit && last != 0)
        driven->any = (uint64_t)(last - 1) << c->tag_shift | set;
    if (!hit && was)
        driven->line = driven->any;
    return hit;
}

static inline bool
cache_touch_list(struct cache *c, uint64_t line, bool write,
                 struct cache_driven *driven)
{
    uint64_t *set = c->lines + (line & c->set_mask) * c->ways;
    const uint32_t place = cache_search(c, line);
    bool hit = place < c->ways;
    const uint32_t from = hit ? place : cache_victim(c, set);
    const uint32_t to = cache_used(c, set, from, hit);
    uint64_t gone = set[from];

    *driven = cache_driven_nothing;
    memmove(set + to + 1, set + to, (from - to) * sizeof(*set));
    set[to] = line << 1 | 1 | (write ? CACHE_DIRTY : 0);
    if (!hit && c->victims != NULL)
        hit = cache_swap_victim(c, line, &gone);
    driven->updated = hit && write && (gone & CACHE_DIRTY) == 0;
    if (hit)
        set[to] |= gone & CACHE_DIRTY;
    driven->clean = !hit && gone != 0 && (gone & CACHE_DIRTY) == 0;
    if (!hit && gone != 0)
        driven->any = (gone & ~CACHE_DIRTY) >> 1;
    if (!hit && (gone & CACHE_DIRTY) != 0)
        driven->line = driven->any;
    return hit;
}

/*
 * cache_access() that keeps which lines are dirty, and says what a miss drove
 * out.
 */
bool cache_touch(struct cache *c, uint64_t line, bool write,
                 struct cache_driven *driven);

#endif
