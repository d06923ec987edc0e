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
    memset(c, 0, sizeof(*c));
}

void
cache_ref_clear(struct cache_ref *c)
{
    memset(c->filled, 0, c->sets * sizeof(*c->filled));
    c->chance = 1;
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

/* The place of the line that goes from a full set. */
static uint32_t
victim(struct cache_ref *c)
{
    if (c->replacement != L2_REPLACEMENT_RANDOM)
        return c->ways - 1;
    c->chance ^= c->chance << 13;
    c->chance ^= c->chance >> 7;
    c->chance ^= c->chance << 17;
    return (uint32_t)((c->chance >> 32) * c->ways >> 32);
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
    const bool was_dirty = hit && dirty[i];

    if (!hit && c->filled[set] < c->ways)
        c->filled[set]++;
    if (i == c->ways) {
        i = victim(c); /* the least recent goes, or any */
        if (dirty[i])
            *out = list[i];
    }
    const bool stays = hit && c->replacement == L2_REPLACEMENT_FIFO;
    for (; i > 0 && !stays; i--) {
        list[i] = list[i - 1];
        dirty[i] = dirty[i - 1];
    }
    list[i] = line;
    dirty[i] = was_dirty || write;
    return hit;
}

bool
cache_ref_mark(struct cache_ref *c, uint64_t line)
{
    const uint64_t set = line % c->sets;
    const uint32_t i = find(c, line);

    if (i == c->filled[set])
        return false;
    c->dirty[set * c->ways + i] = true;
    return true;
}

void
cache_ref_unmark(struct cache_ref *c, uint64_t line)
{
    const uint64_t set = line % c->sets;
    const uint32_t i = find(c, line);

    if (i < c->filled[set])
        c->dirty[set * c->ways + i] = false;
}

bool
cache_ref_is_full(const struct cache_ref *c, uint64_t line)
{
    return c->filled[line % c->sets] == c->ways;
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
    return find(c, line) < c->filled[line % c->sets];
}

bool
cache_ref_has_alike(const struct cache_ref *c, uint64_t line, uint64_t tags)
{
    const uint64_t set = line % c->sets, tag = line / c->sets;

    for (uint32_t i = 0; i < c->filled[set]; i++) {
        if (c->lines[set * c->ways + i] / c->sets % tags == tag % tags)
            return true;
    }
    return false;
}

bool
cache_ref_is_dirty(const struct cache_ref *c, uint64_t line)
{
    return cache_ref_has(c, line) &&
           c->dirty[line % c->sets * c->ways + find(c, line)];
}

bool
cache_ref_invalidate(struct cache_ref *c, uint64_t line)
{
    const uint64_t set = line % c->sets;
    uint64_t *list = &c->lines[set * c->ways];
    uint32_t i = find(c, line);

    if (i == c->filled[set])
        return false;
    const bool dirty = c->dirty[set * c->ways + i];
    for (; i + 1 < c->filled[set]; i++) {
        list[i] = list[i + 1];
        c->dirty[set * c->ways + i] = c->dirty[set * c->ways + i + 1];
    }
    c->filled[set]--;
    return dirty;
}
