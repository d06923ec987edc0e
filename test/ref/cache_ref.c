/* SPDX-License-Identifier: MIT */
#include "ref/cache_ref.h"

#include <stdlib.h>
#include <string.h>

void
cache_ref_init(struct cache_ref *c, uint64_t size, uint32_t ways,
               uint32_t line_size)
{
    c->sets = size / ways / line_size;
    c->ways = ways;
    c->line_size = line_size;
    c->replacement = L2_REPLACEMENT_LRU;
    c->chance = 1;
    c->marks = NULL;
    c->now = 0;
    c->victim_ways = c->victim_count = 0;
    c->from_victims = false;
    c->gone = NO_REF_LINE;
    c->lines = calloc(c->sets * ways, sizeof(*c->lines));
    c->filled = calloc(c->sets, sizeof(*c->filled));
    c->dirty = calloc(c->sets * ways, sizeof(*c->dirty));
    if (c->lines == NULL || c->filled == NULL || c->dirty == NULL)
        abort();
}

void
cache_ref_finish(struct cache_ref *c)
{
    free(c->lines);
    free(c->filled);
    free(c->dirty);
    free(c->marks);
    memset(c, 0, sizeof(*c));
}

/* Empties a cache whose lines stay in their ways. */
static void
clear_ways(struct cache_ref *c)
{
    for (uint64_t i = 0; i < c->sets * c->ways; i++) {
        c->lines[i] = NO_REF_LINE;
        c->marks[i] = 0;
    }
    for (uint64_t set = 0; set < c->sets; set++)
        c->filled[set] = c->ways;
}

void
cache_ref_replace(struct cache_ref *c, uint64_t replacement)
{
    c->replacement = replacement;
    if (replacement != L2_REPLACEMENT_PLRU &&
        replacement != L2_REPLACEMENT_SRRIP)
        return;
    c->marks = calloc(c->sets * c->ways, sizeof(*c->marks));
    if (c->marks == NULL)
        abort();
    clear_ways(c);
}

void
cache_ref_clear(struct cache_ref *c)
{
    memset(c->filled, 0, c->sets * sizeof(*c->filled));
    c->chance = 1;
    c->victim_count = 0;
    if (c->marks != NULL)
        clear_ways(c);
}

/* Its place in the list of its set, or how many there are. */
static uint32_t
find(const struct cache_ref *c, uint64_t line)
{
    const uint64_t set = line % c->sets;
    uint32_t i = 0;

    while (i < c->filled[set] && c->lines[set * c->ways + i] != line)
        i++;
    return i;
}

/* Returns the line in the victim cache, or NULL. */
static struct victim_ref *
find_victim(const struct cache_ref *c, uint64_t line)
{
    for (uint32_t i = 0; i < c->victim_count; i++) {
        if (c->victims[i].line == line)
            return (struct victim_ref *)&c->victims[i];
    }
    return NULL;
}

static void
remove_victim(struct cache_ref *c, struct victim_ref *v)
{
    const struct victim_ref *end = c->victims + c->victim_count;

    for (; v + 1 < end; v++)
        v[0] = v[1];
    c->victim_count--;
}

/* A line has gone from its set. What the victim cache has no more room for is
 * what goes: its address becomes *out if it is dirty. */
static void
keep_victim(struct cache_ref *c, struct victim_ref gone, uint64_t *out)
{
    if (c->victim_count == c->victim_ways) {
        const struct victim_ref last =
            c->victim_ways == 0 ? gone : c->victims[c->victim_count - 1];
        c->gone = last.line;
        if (last.dirty)
            *out = last.line;
        if (c->victim_ways == 0)
            return;
        c->victim_count--;
    }
    for (uint32_t i = c->victim_count; i > 0; i--)
        c->victims[i] = c->victims[i - 1];
    c->victims[0] = gone;
    c->victim_count++;
}

/* The place of the line that goes from a full set. */
static uint32_t
victim(struct cache_ref *c)
{
    if (c->replacement == L2_REPLACEMENT_MRU)
        return 0;
    if (c->replacement != L2_REPLACEMENT_RANDOM)
        return c->ways - 1;
    c->chance ^= c->chance << 13;
    c->chance ^= c->chance >> 7;
    c->chance ^= c->chance << 17;
    return (uint32_t)((c->chance >> 32) * c->ways >> 32);
}

/* When the ways from `first` to before `end` of a set were used last. */
static uint64_t
last_use(const uint64_t *uses, uint32_t first, uint32_t end)
{
    uint64_t last = 0;

    for (uint32_t way = first; way < end; way++) {
        if (uses[way] > last)
            last = uses[way];
    }
    return last;
}

/* The way of PLRU whose line goes. */
static uint32_t
plru_way(const uint64_t *uses, uint32_t first, uint32_t end)
{
    const uint32_t half = first + (end - first) / 2;

    if (end - first == 1)
        return first;
    return last_use(uses, first, half) <= last_use(uses, half, end)
               ? plru_way(uses, first, half)
               : plru_way(uses, half, end);
}

/* The way of SRRIP whose line goes. */
static uint32_t
srrip_way(uint64_t *distances, uint32_t ways)
{
    for (;;) {
        for (uint32_t way = 0; way < ways; way++) {
            if (distances[way] == 3)
                return way;
        }
        for (uint32_t way = 0; way < ways; way++)
            distances[way]++;
    }
}

/* The way that a new line gets, where lines stay in their ways. */
static uint32_t
way_for(struct cache_ref *c, uint64_t set)
{
    uint64_t *marks = &c->marks[set * c->ways];

    for (uint32_t way = 0; way < c->ways; way++) {
        if (c->lines[set * c->ways + way] == NO_REF_LINE)
            return way;
    }
    return c->replacement == L2_REPLACEMENT_PLRU ? plru_way(marks, 0, c->ways)
                                                 : srrip_way(marks, c->ways);
}

bool
cache_ref_access(struct cache_ref *c, uint64_t line)
{
    uint64_t out;

    return cache_ref_touch(c, line, false, &out);
}

bool
cache_ref_touch(struct cache_ref *c, uint64_t line, bool write, uint64_t *out)
{
    const uint64_t set = line % c->sets;
    uint64_t *list = &c->lines[set * c->ways];
    bool *dirty = &c->dirty[set * c->ways];
    uint32_t i = find(c, line);
    const bool hit = i < c->filled[set];
    struct victim_ref *const kept = hit ? NULL : find_victim(c, line);
    const bool was_dirty = kept != NULL ? kept->dirty : hit && dirty[i];

    c->from_victims = kept != NULL;
    c->gone = NO_REF_LINE;
    if (kept != NULL)
        remove_victim(c, kept);
    if (!hit && c->filled[set] < c->ways)
        c->filled[set]++;
    if (c->marks != NULL) {
        if (!hit)
            i = way_for(c, set);
        c->marks[set * c->ways + i] = c->replacement == L2_REPLACEMENT_PLRU
                                          ? ++c->now
                                      : hit ? 0
                                            : 2;
        if (!hit && list[i] != NO_REF_LINE)
            keep_victim(c, (struct victim_ref){list[i], dirty[i]}, out);
    } else if (i == c->ways) {
        i = victim(c); /* the least recent goes, or any */
        keep_victim(c, (struct victim_ref){list[i], dirty[i]}, out);
    }
    const bool stays =
        c->marks != NULL || (hit && c->replacement == L2_REPLACEMENT_FIFO);
    for (; i > 0 && !stays; i--) {
        list[i] = list[i - 1];
        dirty[i] = dirty[i - 1];
    }
    list[i] = line;
    dirty[i] = was_dirty || write;
    return hit || c->from_victims;
}

bool
cache_ref_mark(struct cache_ref *c, uint64_t line)
{
    const uint64_t set = line % c->sets;
    const uint32_t i = find(c, line);

    if (i == c->filled[set]) {
        struct victim_ref *v = find_victim(c, line);
        if (v != NULL)
            v->dirty = true;
        return v != NULL;
    }
    c->dirty[set * c->ways + i] = true;
    return true;
}

void
cache_ref_unmark(struct cache_ref *c, uint64_t line)
{
    const uint64_t set = line % c->sets;
    const uint32_t i = find(c, line);

    struct victim_ref *v = find_victim(c, line);

    if (i < c->filled[set])
        c->dirty[set * c->ways + i] = false;
    else if (v != NULL)
        v->dirty = false;
}

bool
cache_ref_is_full(const struct cache_ref *c, uint64_t line)
{
    const uint64_t *list = &c->lines[line % c->sets * c->ways];
    uint32_t lines = 0;

    while (lines < c->filled[line % c->sets] && list[lines] != NO_REF_LINE)
        lines++;
    return lines == c->ways;
}

uint64_t
cache_ref_oldest(const struct cache_ref *c, uint64_t line)
{
    return c->lines[(line % c->sets + 1) * c->ways - 1];
}

bool
cache_ref_is_recent(const struct cache_ref *c, uint64_t line)
{
    const uint64_t set = line % c->sets;

    return c->filled[set] > 0 && c->lines[set * c->ways] == line;
}

bool
cache_ref_has(const struct cache_ref *c, uint64_t line)
{
    return find(c, line) < c->filled[line % c->sets] ||
           find_victim(c, line) != NULL;
}

bool
cache_ref_first(const struct cache_ref *c, uint64_t line, uint64_t *first)
{
    const uint64_t set = line % c->sets;
    const uint64_t *list = &c->lines[set * c->ways];
    uint32_t way = 0;

    for (uint32_t i = 1; c->marks != NULL && i < c->ways; i++) {
        if (c->marks[set * c->ways + i] > c->marks[set * c->ways + way])
            way = i;
    }
    *first = list[way];
    return c->filled[set] > 0 && list[way] != NO_REF_LINE;
}

bool
cache_ref_has_alike(const struct cache_ref *c, uint64_t line, uint64_t tags)
{
    const uint64_t set = line % c->sets, tag = line / c->sets;

    for (uint32_t i = 0; i < c->filled[set]; i++) {
        if (c->lines[set * c->ways + i] != NO_REF_LINE &&
            c->lines[set * c->ways + i] / c->sets % tags == tag % tags)
            return true;
    }
    return false;
}

bool
cache_ref_is_dirty(const struct cache_ref *c, uint64_t line)
{
    const struct victim_ref *v = find_victim(c, line);

    if (v != NULL)
        return v->dirty;
    return cache_ref_has(c, line) &&
           c->dirty[line % c->sets * c->ways + find(c, line)];
}

bool
cache_ref_invalidate(struct cache_ref *c, uint64_t line)
{
    const uint64_t set = line % c->sets;
    uint64_t *list = &c->lines[set * c->ways];
    uint32_t i = find(c, line);

    if (i == c->filled[set]) {
        struct victim_ref *v = find_victim(c, line);
        const bool kept_dirty = v != NULL && v->dirty;
        if (v != NULL)
            remove_victim(c, v);
        return kept_dirty;
    }
    const bool dirty = c->dirty[set * c->ways + i];
    if (c->marks != NULL) {
        list[i] = NO_REF_LINE;
        return dirty;
    }
    for (; i + 1 < c->filled[set]; i++) {
        list[i] = list[i + 1];
        c->dirty[set * c->ways + i] = c->dirty[set * c->ways + i + 1];
    }
    c->filled[set]--;
    return dirty;
}
