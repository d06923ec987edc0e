/* SPDX-License-Identifier: MIT */
#include "machine/cache.h"

#include <stdlib.h>

#include "base/error.h"

#define FRESH_ORDER 0xfedcba9876543210u

static uint32_t
columns_for(uint32_t ways)
{
    if (ways <= 4)
        return 4;
    if (ways <= 8)
        return 8;
    return ways <= CACHE_FAST_WAYS ? 16 : ways;
}

static void *
alloc_zeroed(size_t size)
{
    const size_t rounded = (size + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, rounded);

    if (memory != NULL)
        memset(memory, 0, rounded);
    return memory;
}

static int
cache_alloc(struct cache *c, bool whole_tags)
{
    const size_t sets = c->set_mask + 1;
    const size_t cells = sets * c->columns;
    const bool list = c->ways > CACHE_FAST_WAYS;

    if (!list) {
        c->order = alloc_zeroed(sets * sizeof(*c->order));
        c->tags = alloc_zeroed(cells * sizeof(*c->tags));
    }
    if (list || !whole_tags)
        c->lines = alloc_zeroed(cells * sizeof(*c->lines));
    if ((!list && (c->order == NULL || c->tags == NULL)) ||
        ((list || !whole_tags) && c->lines == NULL)) {
        cache_finish(c);
        return TALLY_ENOMEM;
    }
    return 0;
}

int
cache_init(struct cache *c, uint64_t size, uint32_t ways, uint32_t line)
{
    const uint64_t sets = size / ((uint64_t)ways * line);
    const uint32_t set_bits = (uint32_t)__builtin_ctzll(sets);
    const uint32_t line_shift = (uint32_t)__builtin_ctz(line);

    assert(sets > 0 && (sets & (sets - 1)) == 0);
    assert(line > 0 && (line & (line - 1)) == 0);
    memset(c, 0, sizeof(*c));
    c->set_mask = sets - 1;
    c->ways = ways;
    c->columns = columns_for(ways);
    c->column_shift = (uint8_t)__builtin_ctz(c->columns);
    c->victim_shift = (uint8_t)(4 * (ways <= CACHE_FAST_WAYS ? ways - 1 : 0));
    c->line_shift = (uint8_t)line_shift;
    /* One bit of the 32 says that the way is filled. */
    const bool whole_tags = CACHE_ADDRESS_BITS - line_shift - set_bits <= 31;
    c->tag_shift = whole_tags ? (uint8_t)set_bits : 0;

    const int error = cache_alloc(c, whole_tags);
    if (error == 0)
        cache_clear(c);
    return error;
}

void
cache_finish(struct cache *c)
{
    free(c->order);
    free(c->tags);
    free(c->lines);
    memset(c, 0, sizeof(*c));
}

void
cache_clear(struct cache *c)
{
    const size_t sets = c->set_mask + 1;

    if (c->tags != NULL)
        memset(c->tags, 0, sets * c->columns * sizeof(*c->tags));
    if (c->lines != NULL)
        memset(c->lines, 0, sets * c->columns * sizeof(*c->lines));
    if (c->order != NULL) {
        for (size_t i = 0; i < sets; i++)
            c->order[i] = FRESH_ORDER;
    }
}

uint32_t
cache_search(const struct cache *c, uint64_t line)
{
    const uint64_t set = line & c->set_mask;
    const uint32_t tag = (uint32_t)(line >> c->tag_shift) << 1 | 1;
    const uint32_t *tags = c->tags + set * c->columns;
    uint32_t way = 0;

    while (way < c->ways &&
           (tags[way] != tag ||
            (c->lines != NULL && c->lines[set * c->columns + way] != line)))
        way++;
    return way;
}

/* Moves a way to the back of the order, so that it is filled next. */
static uint64_t
order_demote(uint64_t order, uint32_t way, uint32_t ways)
{
    const uint64_t front = cache_touch(order, way) >> 4;
    const uint64_t mask =
        ways == 16 ? ~(uint64_t)0 : ((uint64_t)1 << 4 * ways) - 1;
    const uint64_t kept = front & (mask >> 4);

    return (order & ~mask) | kept | (uint64_t)way << 4 * (ways - 1);
}

static void
invalidate_list(struct cache *c, uint64_t line)
{
    uint64_t *set = c->lines + (line & c->set_mask) * c->ways;
    const uint64_t tag = line << 1 | 1;
    uint32_t way = 0;

    while (way < c->ways && set[way] != tag)
        way++;
    if (way == c->ways)
        return;
    memmove(set + way, set + way + 1, (c->ways - way - 1) * sizeof(*set));
    set[c->ways - 1] = 0;
}

void
cache_invalidate(struct cache *c, uint64_t line)
{
    if (c->tags == NULL) {
        invalidate_list(c, line);
        return;
    }

    const uint32_t way = cache_search(c, line);
    const uint64_t set = line & c->set_mask;
    if (way == c->ways)
        return;
    c->tags[set * c->columns + way] = 0;
    c->order[set] = order_demote(c->order[set], way, c->ways);
}

void
cache_turn(struct cache *c, uint64_t set)
{
    if (c->tags != NULL) {
        const uint64_t order = c->order[set];
        c->order[set] =
            (order & ~(uint64_t)0xff) | (order & 15) << 4 | (order >> 4 & 15);
        return;
    }

    uint64_t *lines = c->lines + set * c->ways;
    const uint64_t first = lines[0];
    lines[0] = lines[1];
    lines[1] = first;
}

bool
cache_access_list(struct cache *c, uint64_t line)
{
    /* Bit 0 marks a filled way, so an empty way (0) matches no line. */
    const uint64_t tag = line << 1 | 1;
    uint64_t *set = c->lines + (line & c->set_mask) * c->ways;

    if (set[0] == tag)
        return true;

    uint32_t way = 1;
    while (way < c->ways && set[way] != tag)
        way++;

    const bool hit = way < c->ways;
    const uint32_t moved = hit ? way : c->ways - 1;
    memmove(set + 1, set, moved * sizeof(*set));
    set[0] = tag;
    return hit;
}
