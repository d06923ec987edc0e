/* SPDX-License-Identifier: MIT */
#include "machine/cache.h"

#include <stdlib.h>

#include "base/error.h"

#ifdef __SSE2__
#define ONES 0xffffffffu
const uint32_t cache_upto[32] = {ONES, ONES, ONES, ONES, ONES, ONES,
                                 ONES, ONES, ONES, ONES, ONES, ONES,
                                 ONES, ONES, ONES, ONES};
#endif

static uint32_t
columns_for(uint32_t ways)
{
    if (ways <= 2)
        return 2;
    if (ways <= 4)
        return 4;
    if (ways <= 8)
        return 8;
    return ways <= CACHE_FAST_WAYS ? 16 : 0;
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

/*
 * The list is there from the start where addresses of 48 bits, the most that a
 * guest's have, can need it; the host gives it no memory before it is used.
 */
static int
cache_alloc(struct cache *c)
{
    const size_t sets = c->set_mask + 1;
    const bool list = c->columns == 0;

    if (!list)
        c->tags = alloc_zeroed(sets * c->columns * sizeof(*c->tags));
    /* One more, for the state of a random choice. */
    c->lines = calloc(sets * c->ways + 1, sizeof(*c->lines));
    if ((!list && c->tags == NULL) || c->lines == NULL) {
        cache_finish(c);
        return TALLY_ENOMEM;
    }
    return 0;
}

int
cache_init(struct cache *c, uint64_t size, uint32_t ways, uint32_t line)
{
    const uint64_t sets = size / ((uint64_t)ways * line);

    assert(sets > 0 && (sets & (sets - 1)) == 0);
    assert(line > 0 && (line & (line - 1)) == 0);
    memset(c, 0, sizeof(*c));
    c->set_mask = sets - 1;
    c->ways = ways;
    c->columns = columns_for(ways);
    c->column_shift = (uint8_t)(c->columns ? __builtin_ctz(c->columns) : 0);
    c->line_shift = (uint8_t)__builtin_ctz(line);
    c->tag_shift = (uint8_t)__builtin_ctzll(sets);
    return cache_alloc(c);
}

void
cache_finish(struct cache *c)
{
    free(c->tags);
    free(c->lines);
    free(c->dirty);
    free(c->marks);
    free(c->victims);
    memset(c, 0, sizeof(*c));
}

void
cache_clear(struct cache *c)
{
    const size_t sets = c->set_mask + 1;

    if (c->columns != 0)
        memset(c->tags, 0, sets * c->columns * sizeof(*c->tags));
    else
        memset(c->lines, 0, sets * c->ways * sizeof(*c->lines));
    if (c->chance != NULL)
        *c->chance = 1;
    if (c->marks != NULL)
        memset(c->marks, 0, sets * c->ways);
    if (c->dirty != NULL)
        memset(c->dirty, 0, sets * sizeof(*c->dirty));
    if (c->victims != NULL)
        memset(c->victims, 0,
               ((size_t)c->victim_count + 1) * sizeof(*c->victims));
}

int
cache_replace(struct cache *c, uint64_t replacement)
{
    if (replacement == L2_REPLACEMENT_LRU)
        return 0;
    if (replacement == L2_REPLACEMENT_PLRU ||
        replacement == L2_REPLACEMENT_SRRIP) {
        c->marks = calloc(c->set_mask + 1, c->ways);
        if (c->marks == NULL)
            return TALLY_ENOMEM;
    }
    c->replacement = (uint8_t)replacement;
    /* The vectors of the other form know the least recent line alone. */
    c->columns = 0;
    c->chance = c->lines + (c->set_mask + 1) * c->ways;
    *c->chance = 1;
    return 0;
}

/* Returns the marks of a set in list form. */
static uint8_t *
marks_of(const struct cache *c, const uint64_t *set)
{
    return c->marks + (set - c->lines);
}

uint32_t
cache_victim_marked(const struct cache *c, const uint64_t *set)
{
    for (uint32_t way = 0; way < c->ways; way++) {
        if (set[way] == 0)
            return way;
    }
    return c->replacement == L2_REPLACEMENT_PLRU
               ? plru_victim(marks_of(c, set), c->ways)
               : srrip_victim(marks_of(c, set), c->ways);
}

void
cache_use_marked(const struct cache *c, const uint64_t *set, uint32_t place,
                 bool hit)
{
    if (c->replacement == L2_REPLACEMENT_PLRU)
        plru_use(marks_of(c, set), c->ways, place);
    else
        srrip_use(marks_of(c, set), place, hit);
}

bool
cache_last(const struct cache *c, uint64_t line, uint64_t *last)
{
    const uint64_t *set = c->lines + (line & c->set_mask) * c->ways;
    const uint32_t place =
        c->marks == NULL ? 0 : plru_last(marks_of(c, set), c->ways);

    return cache_line_at(c, line, place, last);
}

int
cache_keep_dirty(struct cache *c)
{
    c->dirty = calloc(c->set_mask + 1, sizeof(*c->dirty));
    return c->dirty == NULL ? TALLY_ENOMEM : 0;
}

int
cache_keep_victims(struct cache *c, uint32_t count)
{
    if (count == 0)
        return 0;
    c->victims = calloc(count + 1, sizeof(*c->victims));
    if (c->victims == NULL)
        return TALLY_ENOMEM;
    c->victim_count = (uint8_t)count;
    /* The vectors of the other form do not say which line goes. */
    c->columns = 0;
    return 0;
}

/* Returns the place of the line in the victim cache, or how many lines that
 * holds. */
static uint32_t
search_victims(const struct cache *c, uint64_t line)
{
    uint32_t i = 0;

    while (i < c->victim_count &&
           (c->victims[i] & ~CACHE_DIRTY) != (line << 1 | 1))
        i++;
    return i;
}

/* Takes the line at a place out of the victim cache. */
static void
remove_victim(struct cache *c, uint32_t place)
{
    const uint32_t behind = c->victim_count - place - 1;

    memmove(c->victims + place, c->victims + place + 1,
            behind * sizeof(*c->victims));
    c->victims[c->victim_count - 1] = 0;
}

bool
cache_swap_victim(struct cache *c, uint64_t line, uint64_t *gone)
{
    uint64_t *const v = c->victims;
    const uint32_t last = (uint32_t)c->victim_count - 1;
    uint32_t place = search_victims(c, line);
    const bool hit = place <= last;
    uint64_t leaves = 0;

    if (hit) {
        leaves = v[place];
        remove_victim(c, place);
        v[c->victim_count]++;
    }
    if (*gone != 0) {
        if (!hit)
            leaves = v[last];
        memmove(v + 1, v, last * sizeof(*v));
        v[0] = *gone;
    }
    *gone = leaves;
    return hit;
}

bool
cache_has(const struct cache *c, uint64_t line)
{
    return c->ways != 0 && (cache_search(c, line) < c->ways ||
                            search_victims(c, line) < c->victim_count);
}

static bool
is_dirty(const struct cache *c, uint64_t set, uint32_t place)
{
    return c->dirty != NULL && (c->dirty[set] >> place & 1) != 0;
}

void
cache_widen(struct cache *c)
{
    if (c->columns == 0)
        return;
    for (uint64_t set = 0; set <= c->set_mask; set++) {
        const uint32_t *tags = c->tags + set * c->columns;
        uint64_t *lines = c->lines + set * c->ways;
        for (uint32_t i = 0; i < c->ways && tags[i] != 0; i++) {
            const uint64_t tag = tags[i] - 1;
            lines[i] = (tag << c->tag_shift | set) << 1 | 1;
            if (is_dirty(c, set, i))
                lines[i] |= CACHE_DIRTY;
        }
    }
    c->columns = 0;
}

/* Vectors: 4 % of all time of bzip2 on the SPARC T4, with write-backs. */
static inline uint32_t
search_tags(const uint32_t *tags, uint32_t tag, uint32_t columns, uint32_t ways)
{
#ifdef __SSE2__
    const __m128i key = _mm_set1_epi32((int)tag);
    const __m128i *set = (const __m128i *)tags;
    __m128i equal[4] = {key, key, key, key};

    if (columns == 2)
        return tags[0] == tag ? 0 : tags[1] == tag ? 1 : ways;
    for (uint32_t i = 0; i < columns / 4; i++)
        equal[i] = _mm_cmpeq_epi32(_mm_load_si128(set + i), key);
    return (uint32_t)__builtin_ctz(cache_places(equal, columns) | 1u << ways);
#else
    uint32_t place = 0;

    (void)columns;
    while (place < ways && tags[place] != tag)
        place++;
    return place;
#endif
}

uint32_t
cache_search(const struct cache *c, uint64_t line)
{
    const uint64_t set = line & c->set_mask;
    const uint64_t *lines = c->lines + set * c->ways;
    uint32_t place = 0;

    if (c->columns != 0 && !cache_fits(c, line))
        return c->ways;
    if (c->columns != 0)
        return search_tags(c->tags + set * c->columns, cache_tag(c, line),
                           c->columns, c->ways);
    while (place < c->ways && (lines[place] & ~CACHE_DIRTY) != (line << 1 | 1))
        place++;
    return place;
}

bool
cache_line_at(const struct cache *c, uint64_t line, uint32_t place,
              uint64_t *at)
{
    const uint64_t set = line & c->set_mask;

    if (cache_is_empty(c, set, place))
        return false;
    *at = c->columns != 0
              ? (uint64_t)(c->tags[set * c->columns + place] - 1)
                        << c->tag_shift |
                    set
              : (c->lines[set * c->ways + place] & ~CACHE_DIRTY) >> 1;
    return true;
}

uint64_t
cache_search_next(const struct cache *c, uint64_t line, unsigned count)
{
    uint64_t found = 0;

    for (unsigned i = 0; i < count; i++) {
        const uint64_t next = line + 1 + i;
        const uint32_t place =
            __builtin_expect(c->columns == 4 && cache_fits(c, next), 1)
                ? search_tags(c->tags + (next & c->set_mask) * 4,
                              cache_tag(c, next), 4, c->ways)
                : cache_search(c, next);
        found |= (uint64_t)(place < c->ways) << i;
    }
    return found;
}

/* Returns the bits of a set without that of `place`; the bits behind it move up
 * by one. */
static uint16_t
without(uint16_t bits, uint32_t place)
{
    const uint32_t before = (1u << place) - 1;

    return (uint16_t)((bits & before) | (bits >> 1 & ~before));
}

bool
cache_invalidate(struct cache *c, uint64_t line)
{
    const uint64_t set = line & c->set_mask;
    const uint32_t place = cache_search(c, line);
    bool dirty;

    if (place == c->ways) {
        const uint32_t victim = search_victims(c, line);
        if (victim == c->victim_count)
            return false;
        dirty = (c->victims[victim] & CACHE_DIRTY) != 0;
        remove_victim(c, victim);
        return dirty;
    }
    const size_t behind = c->ways - place - 1;
    if (c->columns != 0) {
        uint32_t *tags = c->tags + set * c->columns;
        dirty = is_dirty(c, set, place);
        if (c->dirty != NULL)
            c->dirty[set] = without(c->dirty[set], place);
        memmove(tags + place, tags + place + 1, behind * sizeof(*tags));
        tags[c->ways - 1] = 0;
    } else {
        uint64_t *lines = c->lines + set * c->ways;
        dirty = (lines[place] & CACHE_DIRTY) != 0;
        if (c->marks != NULL) {
            lines[place] = 0;
            return dirty;
        }
        memmove(lines + place, lines + place + 1, behind * sizeof(*lines));
        lines[c->ways - 1] = 0;
    }
    return dirty;
}

uint64_t
cache_drop(struct cache *c, uint64_t addr, uint64_t size)
{
    const uint64_t last = (addr + size - 1) >> c->line_shift;
    uint64_t dropped = 0;

    for (uint64_t line = addr >> c->line_shift; line <= last; line++) {
        if (!cache_has(c, line))
            continue;
        cache_invalidate(c, line);
        dropped++;
    }
    return dropped;
}

bool
cache_dirty_at(const struct cache *c, uint64_t line, uint32_t place)
{
    const uint64_t set = line & c->set_mask;

    return c->columns != 0
               ? is_dirty(c, set, place)
               : (c->lines[set * c->ways + place] & CACHE_DIRTY) != 0;
}

bool
cache_mark(struct cache *c, uint64_t line)
{
    const uint64_t set = line & c->set_mask;
    const uint32_t place = cache_search(c, line);

    if (place == c->ways)
        return false;
    if (c->columns != 0)
        c->dirty[set] |= (uint16_t)(1u << place);
    else
        c->lines[set * c->ways + place] |= CACHE_DIRTY;
    return true;
}

void
cache_unmark(struct cache *c, uint64_t line)
{
    const uint64_t set = line & c->set_mask;
    const uint32_t place = cache_search(c, line);

    if (place == c->ways) {
        const uint32_t victim = search_victims(c, line);
        if (victim < c->victim_count)
            c->victims[victim] &= ~CACHE_DIRTY;
        return;
    }
    if (c->columns == 0)
        c->lines[set * c->ways + place] &= ~CACHE_DIRTY;
    else if (c->dirty != NULL)
        c->dirty[set] &= (uint16_t) ~(1u << place);
}

void
cache_turn(struct cache *c, uint64_t set)
{
    if (c->columns != 0) {
        uint32_t *tags = c->tags + set * c->columns;
        const uint32_t first = tags[0];
        tags[0] = tags[1];
        tags[1] = first;
        if (c->dirty != NULL) {
            const uint32_t bits = c->dirty[set];
            c->dirty[set] =
                (uint16_t)((bits & ~3u) | (bits << 1 & 2) | (bits >> 1 & 1));
        }
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

    if (set[0] == tag && c->marks == NULL)
        return true;

    uint32_t way = c->marks == NULL ? 1 : 0;
    while (way < c->ways && set[way] != tag)
        way++;

    const bool hit = way < c->ways;
    const uint32_t from = hit ? way : cache_victim(c, set);
    const uint32_t to = cache_used(c, set, from, hit);
    uint64_t gone = set[from];
    memmove(set + to + 1, set + to, (from - to) * sizeof(*set));
    set[to] = tag;
    return hit || (c->victims != NULL && cache_swap_victim(c, line, &gone));
}
