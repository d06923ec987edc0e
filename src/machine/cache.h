/* SPDX-License-Identifier: MIT */
/*
 * A set-associative cache with exact least-recently-used replacement: tags
 * only, no data. One access is one line; the caller splits accesses that
 * cross a line. Lines are filled on every miss; who must not allocate does not
 * call. Validity is part of the tag: an empty way matches nothing.
 *
 * Up to 16 ways a set is searched without a branch: 32-bit tags are compared
 * four at a time, and the order of use is one 64-bit word of 4-bit way numbers,
 * most recent lowest. More ways are kept as a list, most recent first.
 * Measured over bzip2 -9: 5.6 -> 3.5 ns for each L1 access against a list.
 * test/ref/cache_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_CACHE_H
#define TALLY_MACHINE_CACHE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define CACHE_FAST_WAYS 16u
/* Guest addresses are host addresses of at most 48 bits. */
#define CACHE_ADDRESS_BITS 48u

struct cache {
    uint64_t *order; /* [sets] ways by recency, 4 bits each */
    uint32_t *tags;  /* [sets][columns] low tag bits << 1 | 1; 0: empty */
    uint64_t *lines; /* [sets][columns] whole line numbers; NULL: the tags
                        are whole already; the lists of many ways */
    uint64_t set_mask;
    uint32_t ways;
    uint32_t columns;     /* ways rounded up to 4, 8 or 16 */
    uint8_t column_shift; /* log2 of columns, up to 16 ways */
    uint8_t line_shift;   /* log2 of the line in bytes */
    uint8_t victim_shift; /* of the least recent way in the order */
    uint8_t tag_shift;    /* line number >> tag_shift = what the tag keeps */
};

/*
 * Sets up an empty cache; all of size, ways and line in bytes as checked by
 * params_check(). 0 or TALLY_ENOMEM. cache_finish() accepts a zeroed struct.
 */
int cache_init(struct cache *c, uint64_t size, uint32_t ways, uint32_t line);
void cache_finish(struct cache *c);
void cache_clear(struct cache *c);

/* Removes the line if it is there. */
void cache_invalidate(struct cache *c, uint64_t line);

/* Exchanges the two most recent lines of a set. */
void cache_turn(struct cache *c, uint64_t set);

/* The list form, for more than 16 ways. True on a hit. */
bool cache_access_list(struct cache *c, uint64_t line);

/* Where two lines share their low tag bits: the way of `line`, or `ways`. */
uint32_t cache_search(const struct cache *c, uint64_t line);

static inline uint32_t
cache_match(const uint32_t *tags, uint32_t tag, uint32_t columns)
{
    uint32_t mask = 0;
#ifdef __SSE2__
    const __m128i key = _mm_set1_epi32((int)tag);
    for (uint32_t i = 0; i < columns; i += 4) {
        const __m128i four = _mm_load_si128((const void *)(tags + i));
        const __m128i equal = _mm_cmpeq_epi32(four, key);
        mask |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(equal)) << i;
    }
#else
    for (uint32_t i = 0; i < columns; i++)
        mask |= (uint32_t)(tags[i] == tag) << i;
#endif
    return mask;
}

/* Moves way `way` to the front of the order of use. */
static inline uint64_t
cache_touch(uint64_t order, uint64_t way)
{
    const uint64_t ones = 0x1111111111111111u;
    const uint64_t other = order ^ way * ones;
    /* The lowest zero nibble of `other` is where the way stands. */
    const uint64_t found = (other - ones) & ~other & ones << 3;
    const uint64_t upto = found ^ (found - 1);

    return (order & ~upto) | (order << 4 & upto) | way;
}

/*
 * Accesses `line` (address >> line_shift) and makes it the most recent of its
 * set. True on a hit. `columns` is c->columns, a constant where speed counts.
 */
static inline bool
cache_access_columns(struct cache *c, uint64_t line, uint32_t columns)
{
    const uint64_t set = line & c->set_mask;
    const uint32_t tag = (uint32_t)(line >> c->tag_shift) << 1 | 1;
    uint32_t *tags = c->tags + set * columns;
    const uint64_t order = c->order[set];
    const uint32_t mask = cache_match(tags, tag, columns);
    const uint32_t victim = (uint32_t)(order >> c->victim_shift) & 15;
    const uint32_t found = (uint32_t)__builtin_ctz(mask | 0x10000);
    bool hit = mask != 0;
    /* In arithmetic, because a compiler makes a branch of the choice. */
    uint32_t way = hit ? found : victim;
    uint32_t ignored;

    if (c->lines != NULL) {
        uint64_t *lines = c->lines + set * columns;
        if (__builtin_expect(hit && lines[way] != line, 0)) {
            way = cache_search(c, line);
            hit = way < c->ways;
            way = hit ? way : victim;
        }
        lines[way] = line;
    }
    /* A store here would stall the next search of the set, which reads wider:
     * hits, which change nothing, store elsewhere. */
    *(hit ? &ignored : &tags[way]) = tag;
    c->order[set] = cache_touch(order, way);
    return hit;
}

/* Whether the line is the most recent of its set: an access changes nothing. */
static inline bool
cache_is_recent(const struct cache *c, uint64_t line, uint32_t columns)
{
    const uint64_t set = line & c->set_mask;
    const uint32_t tag = (uint32_t)(line >> c->tag_shift) << 1 | 1;
    const uint64_t cell = set * columns + (c->order[set] & 15);

    return c->tags[cell] == tag && (c->lines == NULL || c->lines[cell] == line);
}

static inline bool
cache_access(struct cache *c, uint64_t line)
{
    switch (c->columns) {
    case 4:
        return cache_access_columns(c, line, 4);
    case 8:
        return cache_access_columns(c, line, 8);
    case 16:
        return cache_access_columns(c, line, 16);
    default:
        return cache_access_list(c, line);
    }
}

static inline void
cache_prefetch(const struct cache *c, uint64_t line)
{
    const uint64_t set = line & c->set_mask;

    if (c->tags != NULL) {
        __builtin_prefetch(c->tags + (set << c->column_shift));
        __builtin_prefetch(c->order + set);
    }
}

#endif
