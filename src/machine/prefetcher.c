/* SPDX-License-Identifier: MIT */
#include "machine/prefetcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "source/layout.h"

/* Steps with one stride that make a prefetcher ask. */
#define STRIDE_STEPS 1u
#define STREAM_STEPS 2u

int
prefetcher_init(struct prefetcher *p, const uint64_t *params,
                const struct cache *cache)
{
    static_assert(PARAM_L1D_PREFETCH_DEGREE == PARAM_L1D_PREFETCH + 1 &&
                      PARAM_L1D_PREFETCH_DISTANCE == PARAM_L1D_PREFETCH + 2 &&
                      PARAM_L1D_PREFETCH_ENTRIES == PARAM_L1D_PREFETCH + 3 &&
                      PARAM_L1D_PREFETCH_BOUND == PARAM_L1D_PREFETCH + 4 &&
                      PARAM_L2_PREFETCH_BOUND == PARAM_L2_PREFETCH + 4 &&
                      (int)L1D_PREFETCH_BOUND_NONE ==
                          (int)L2_PREFETCH_BOUND_NONE &&
                      (int)L1D_PREFETCH_STREAM == (int)L2_PREFETCH_STREAM,
                  "the parameters stand together in this order");
    const uint64_t kind = params[0];

    if (kind == L1D_PREFETCH_NONE)
        return 0;
    *p = (struct prefetcher){
        .kind = (uint8_t)kind,
        .page_shift = (uint8_t)(LAYOUT_PAGE_SHIFT - cache->line_shift),
        .degree = kind == L1D_PREFETCH_ADJACENT ? 1 : (unsigned)params[1],
        .distance = (unsigned)params[2],
        .entry_mask = (uint32_t)params[3] - 1,
        .bound = params[4] != L1D_PREFETCH_BOUND_NONE,
        .set_mask = cache->set_mask,
        .ways = cache->ways,
    };
    p->waiting =
        calloc((cache->set_mask + 1) * cache->ways, sizeof(*p->waiting));
    if (kind == L1D_PREFETCH_STRIDE || kind == L1D_PREFETCH_STREAM)
        p->entries = calloc(params[3], sizeof(*p->entries));
    if (p->waiting != NULL &&
        (p->entries != NULL || kind == L1D_PREFETCH_NEXT ||
         kind == L1D_PREFETCH_ADJACENT))
        return 0;
    prefetcher_finish(p);
    return TALLY_ENOMEM;
}

void
prefetcher_finish(struct prefetcher *p)
{
    free(p->entries);
    free(p->waiting);
    memset(p, 0, sizeof(*p));
}

void
prefetcher_clear(struct prefetcher *p)
{
    if (p->waiting != NULL)
        memset(p->waiting, 0,
               (p->set_mask + 1) * p->ways * sizeof(*p->waiting));
    if (p->entries != NULL)
        memset(p->entries, 0,
               ((size_t)p->entry_mask + 1) * sizeof(*p->entries));
    p->now = 0;
}

/* Writes the lines that are at multiples of `stride` from `line`, of its page
 * where that is the bound. Returns how many. */
static unsigned
lines_ahead(const struct prefetcher *p, uint64_t line, int64_t stride,
            uint64_t *lines)
{
    unsigned count = 0;

    for (unsigned i = 0; i < p->degree; i++) {
        const uint64_t ahead = line + (uint64_t)stride * (p->distance + i);
        if (!p->bound || ahead >> p->page_shift == line >> p->page_shift)
            lines[count++] = ahead;
    }
    return count;
}

static unsigned
ask_adjacent(const struct prefetcher *p, uint64_t line, uint64_t *lines)
{
    if (p->page_shift == 0)
        return 0;
    lines[0] = line ^ 1;
    return 1;
}

static unsigned
ask_stride(struct prefetcher *p, uint64_t line, uint64_t instruction,
           uint64_t *lines)
{
    /* Fibonacci hashing: Knuth, The Art of Computer Programming, 6.4. */
    const uint64_t hash = instruction * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    struct prefetcher_entry *const e = &p->entries[hash & p->entry_mask];

    if (e->key != instruction + 1) {
        *e = (struct prefetcher_entry){.key = instruction + 1, .last = line};
        return 0;
    }
    const int64_t stride = (int64_t)(line - e->last);
    if (stride == 0)
        return 0;
    e->steps = stride == e->stride ? STRIDE_STEPS : 0;
    e->stride = stride;
    e->last = line;
    return e->steps == STRIDE_STEPS ? lines_ahead(p, line, stride, lines) : 0;
}

/* Returns the entry of a page, or else the one that was asked about least
 * recently, free ones first. */
static struct prefetcher_entry *
stream_entry(const struct prefetcher *p, uint64_t key)
{
    struct prefetcher_entry *oldest = p->entries;

    for (uint32_t i = 0; i <= p->entry_mask; i++) {
        struct prefetcher_entry *const e = &p->entries[i];
        if (e->key == key)
            return e;
        if (e->used < oldest->used)
            oldest = e;
    }
    return oldest;
}

static unsigned
ask_stream(struct prefetcher *p, uint64_t line, uint64_t *lines)
{
    const uint64_t key = (line >> p->page_shift) + 1;
    struct prefetcher_entry *const e = stream_entry(p, key);

    if (e->key != key)
        *e = (struct prefetcher_entry){.key = key, .last = line};
    e->used = ++p->now;
    const int64_t step = (int64_t)(line - e->last);
    if (step == 0)
        return 0;
    e->last = line;
    if (step < -STREAM_STEP || step > STREAM_STEP) {
        e->stride = 0;
        e->steps = 0;
        return 0;
    }
    const int64_t direction = step > 0 ? 1 : -1;
    e->steps = direction != e->stride    ? 1
               : e->steps < STREAM_STEPS ? e->steps + 1
                                         : STREAM_STEPS;
    e->stride = direction;
    return e->steps == STREAM_STEPS ? lines_ahead(p, line, direction, lines)
                                    : 0;
}

unsigned
prefetcher_ask(struct prefetcher *p, uint64_t line, uint64_t instruction,
               uint64_t *lines)
{
    switch (p->kind) {
    case L1D_PREFETCH_NEXT:
        return lines_ahead(p, line, 1, lines);
    case L1D_PREFETCH_ADJACENT:
        return ask_adjacent(p, line, lines);
    case L1D_PREFETCH_STRIDE:
        return ask_stride(p, line, instruction, lines);
    case L1D_PREFETCH_STREAM:
        return ask_stream(p, line, lines);
    default:
        return 0;
    }
}

/* Returns the place in the set of `line` where `entry` is, or NULL. */
static uint64_t *
find_waiting(const struct prefetcher *p, uint64_t line, uint64_t entry)
{
    uint64_t *const set = p->waiting + (line & p->set_mask) * p->ways;

    for (uint32_t i = 0; i < p->ways; i++) {
        if (set[i] == entry)
            return &set[i];
    }
    return NULL;
}

void
prefetcher_brought(struct prefetcher *p, uint64_t line)
{
    uint64_t *const place = find_waiting(p, line, 0);

    /* A set has room for as many lines as its cache. */
    assert(place != NULL);
    *place = line + 1;
}

bool
prefetcher_waits(const struct prefetcher *p, uint64_t line)
{
    return find_waiting(p, line, line + 1) != NULL;
}

bool
prefetcher_take(struct prefetcher *p, uint64_t line)
{
    uint64_t *const place = find_waiting(p, line, line + 1);

    if (place == NULL)
        return false;
    *place = 0;
    return true;
}

unsigned
prefetcher_take_lost(struct prefetcher *p, const struct cache *cache,
                     uint64_t line)
{
    uint64_t *const set = p->waiting + (line & p->set_mask) * p->ways;
    unsigned lost = 0;

    for (uint32_t i = 0; i < p->ways; i++) {
        if (set[i] != 0 && !cache_has(cache, set[i] - 1)) {
            set[i] = 0;
            lost++;
        }
    }
    return lost;
}
