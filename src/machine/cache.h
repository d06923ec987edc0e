/* SPDX-License-Identifier: MIT */
/*
 * A set-associative cache: tags only, no data. Replacement is exact
 * least-recently-used, most-recently-used, random, first in, first out, or by
 * marks (replacement.h). One access is one line; the caller splits accesses
 * that cross a line. Lines are filled on every miss; who must not allocate does
 * not call. Validity is part of the tag: an empty way matches nothing.
 *
 * A set is a list of its lines, most recent first. Up to 16 ways the lines are
 * 32-bit tags, and a set is searched and put in its new order by a few vector
 * instructions without a branch; a set of two is a pair of registers. More
 * ways, and addresses that leave more than 32 bits of tag, make do with a list
 * of whole lines. Where replacement is by marks, the list has each line in its
 * way. Measured over bzip2 -9: 5 % of all time for x86-64 and 7 %
 * for sparc64, against tags in fixed ways with the order of use in a word
 * beside them.
 *
 * A cache may have a victim cache: the lines that the cache drove out last,
 * whatever their set, most recent first. An access to a line there is a hit,
 * and the line changes places with the line that it drives out of the set.
 *
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

#include "machine/replacement.h"
#include "table/table.h"

#define CACHE_FAST_WAYS 16u
#define CACHE_DIRTY ((uint64_t)1 << 63)

struct cache {
    uint32_t *tags;  /* [sets][columns] by recency, tag + 1; 0: empty */
    uint64_t *lines; /* the list form: [sets][ways], line << 1 | 1; or 0 */
    /* [sets], a bit for each place: written and not yet written back; in the
     * list form it is CACHE_DIRTY of the line. NULL: not kept. */
    uint16_t *dirty;
    uint64_t *chance; /* state of a random choice, behind the lines */
    /* [sets][ways] marks of the replacement. NULL: the replacement has none,
     * and sets are in order of use or, of FIFO, of age. */
    uint8_t *marks;
    /* The victim cache: [victim_count] as in the list form, and then how many
     * accesses hit there. NULL: there is none. */
    uint64_t *victims;
    uint64_t set_mask;
    uint32_t ways;
    uint32_t columns;     /* ways rounded up to 2, 4, 8, 16; 0: the list form */
    uint8_t column_shift; /* log2 of columns */
    uint8_t line_shift;   /* log2 of the line in bytes */
    uint8_t tag_shift;    /* log2 of sets: line number >> it is the tag */
    uint8_t replacement;  /* L2_REPLACEMENT_LRU, or another of these */
    uint8_t victim_count; /* 0: there is no victim cache */
};

/*
 * Sets up an empty cache; all of size, ways and line in bytes as checked by
 * params_check(). 0 or TALLY_ENOMEM. cache_finish() accepts a zeroed struct.
 */
int cache_init(struct cache *c, uint64_t size, uint32_t ways, uint32_t line);
void cache_finish(struct cache *c);
void cache_clear(struct cache *c);

/* From now on, empty as it is, it keeps which lines are dirty. 0, TALLY_ENOMEM
 */
int cache_keep_dirty(struct cache *c);

/* Sets which line of a full set makes room in an empty cache, a value of the
 * parameter l2.replacement. Random choices repeat: they follow from how many
 * there were before. Returns 0 or TALLY_ENOMEM. */
int cache_replace(struct cache *c, uint64_t replacement);

/* Gives an empty cache a victim cache of `count` lines; 0: none. Returns 0 or
 * TALLY_ENOMEM. */
int cache_keep_victims(struct cache *c, uint32_t count);

/*
 * For an access that its set does not serve: looks for `line` in the victim
 * cache, which takes *gone, the line that the set drives out (as in the list
 * form; 0: none). Returns whether the victim cache had the line: then *gone
 * becomes that line with its flags, else what left the victim cache, or 0.
 */
bool cache_swap_victim(struct cache *c, uint64_t line, uint64_t *gone);

/* Returns how many accesses the victim cache has served since it was asked
 * last. */
static inline uint64_t
cache_victim_hits(struct cache *c)
{
    uint64_t hits = 0;

    if (__builtin_expect(c->victims != NULL, 0)) {
        hits = c->victims[c->victim_count];
        c->victims[c->victim_count] = 0;
    }
    return hits;
}

/* Returns whether the cache or its victim cache has the line. A zeroed cache
 * has none. */
bool cache_has(const struct cache *c, uint64_t line);

/* Does as cache_victim() where replacement is by marks. */
uint32_t cache_victim_marked(const struct cache *c, const uint64_t *set);

/* Notes the use of a place of a set, where replacement is by marks. */
void cache_use_marked(const struct cache *c, const uint64_t *set,
                      uint32_t place, bool hit);

/* Returns the place of the line that makes room in a set in list form: that of
 * an empty way, else of the line that the cache's replacement chooses. */
static inline uint32_t
cache_victim(const struct cache *c, const uint64_t *set)
{
    if (__builtin_expect(c->marks != NULL, 0))
        return cache_victim_marked(c, set);
    if (c->replacement == L2_REPLACEMENT_MRU && set[c->ways - 1] != 0)
        return 0;
    if (c->replacement != L2_REPLACEMENT_RANDOM || set[c->ways - 1] == 0)
        return c->ways - 1;
    /* xorshift64: Marsaglia, Xorshift RNGs, 2003. */
    *c->chance ^= *c->chance << 13;
    *c->chance ^= *c->chance >> 7;
    *c->chance ^= *c->chance << 17;
    return (uint32_t)((*c->chance >> 32) * c->ways >> 32);
}

/* Notes a use of a line in a set in list form, which found the line at `place`,
 * or drove out the line there. Returns the place where the line stands then:
 * the first, but where the list is by age, or by way. */
static inline uint32_t
cache_used(const struct cache *c, const uint64_t *set, uint32_t place, bool hit)
{
    if (__builtin_expect(c->marks != NULL, 0)) {
        cache_use_marked(c, set, place, hit);
        return place;
    }
    return hit && c->replacement == L2_REPLACEMENT_FIFO ? place : 0;
}

/* Removes the line, from the victim cache too. True if it was dirty. */
bool cache_invalidate(struct cache *c, uint64_t line);

/* Removes the lines that `size` bytes cover. How many there were. */
uint64_t cache_drop(struct cache *c, uint64_t addr, uint64_t size);

/* Returns whether the line at this place of its set is dirty. */
bool cache_dirty_at(const struct cache *c, uint64_t line, uint32_t place);

/* Makes the line dirty, in its place. False if it is not there. */
bool cache_mark(struct cache *c, uint64_t line);

/* Makes the line clean, in the victim cache too. */
void cache_unmark(struct cache *c, uint64_t line);

/* Finds the line that was accessed last in the set of `line`, if the set still
 * has that line, by LRU or PLRU. Returns false: the set is empty, or the line
 * was taken out. */
bool cache_last(const struct cache *c, uint64_t line, uint64_t *last);

/* Returns whether no line stands at this place of a set. */
static inline bool
cache_is_empty(const struct cache *c, uint64_t set, uint32_t place)
{
    return c->columns != 0 ? c->tags[set * c->columns + place] == 0
                           : c->lines[set * c->ways + place] == 0;
}

/* Returns whether a line stands at `place` in the set of `line`; *at becomes
 * the line there. */
bool cache_line_at(const struct cache *c, uint64_t line, uint32_t place,
                   uint64_t *at);

/* Exchanges the two most recent lines of a set, where replacement is LRU. */
void cache_turn(struct cache *c, uint64_t set);

/* The list form. True on a hit. */
bool cache_access_list(struct cache *c, uint64_t line);

/* From now on in list form: a line's tag has more than 32 bits. */
void cache_widen(struct cache *c);

/* Returns the place of `line` in its set's order of use; or `ways`. */
uint32_t cache_search(const struct cache *c, uint64_t line);

static inline uint32_t
cache_tag(const struct cache *c, uint64_t line)
{
    return (uint32_t)(line >> c->tag_shift) + 1;
}

/* Returns whether the cache may have `line`: never false if it has, and exact
 * up to 4 ways. */
static inline bool
cache_may_have(const struct cache *c, uint64_t line)
{
    if (c->columns != 4)
        return true;
    const uint32_t *t = c->tags + (line & c->set_mask) * 4;
    const uint32_t tag = cache_tag(c, line);
#ifdef __SSE2__
    const __m128i key = _mm_set1_epi32((int)tag);
    const __m128i set = _mm_load_si128((const __m128i *)t);
    return _mm_movemask_epi8(_mm_cmpeq_epi32(set, key)) != 0;
#else
    return (t[0] == tag) | (t[1] == tag) | (t[2] == tag) | (t[3] == tag);
#endif
}

/* Returns which of the lines behind `line` the cache has, a bit each, the next
 * line lowest. */
uint64_t
cache_search_next(const struct cache *c, uint64_t line, unsigned count);

/* Returns whether the tag of `line` has 32 bits; of an OR of lines: whether the
 * tags of all have. */
static inline bool
cache_fits(const struct cache *c, uint64_t line)
{
    return line >> c->tag_shift < UINT32_MAX;
}

/*
 * Makes `tag` the first of its set: those before its old place, or all, move
 * back by one; `place` is then the old place or, on a miss, the last. True on a
 * hit. `columns` is c->columns, a constant. Where `turn` is 1 and not 0, the
 * first two change places before.
 */
static inline bool
cache_move_any(uint32_t *tags, uint32_t tag, uint32_t columns, uint32_t ways,
               uint64_t turn, uint32_t *place)
{
    uint32_t before = tag;
    bool hit = false;

    (void)columns;
    if (turn) {
        const uint32_t first = tags[0];
        tags[0] = tags[1];
        tags[1] = first;
    }
    for (uint32_t i = 0; i < ways && !hit; i++) {
        const uint32_t old = tags[i];
        tags[i] = before;
        before = old;
        hit = old == tag;
        *place = i;
    }
    return hit;
}

/* Does the same for sets of one or two ways, without a branch. */
static inline bool
cache_move_two(uint32_t *tags, uint32_t tag, uint32_t ways, uint64_t turn,
               uint32_t *place)
{
    const uint32_t first = tags[turn], second = tags[turn ^ 1];
    const bool recent = first == tag;

    tags[0] = tag;
    tags[1] = ways == 1 ? 0 : recent ? second : first;
    *place = recent ? 0 : ways - 1;
    return recent | (second == tag);
}

#ifdef __SSE2__

/* Read from place 15 - n on: all ones for the places 0 to n. */
extern const uint32_t cache_upto[32];

/* One bit for each place. */
static inline uint32_t
cache_places(const __m128i *equal, uint32_t columns)
{
    if (columns == 4)
        return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(equal[0]));

    const __m128i none = _mm_setzero_si128();
    const __m128i low = _mm_packs_epi32(equal[0], equal[1]);
    const __m128i high =
        columns == 8 ? none : _mm_packs_epi32(equal[2], equal[3]);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}

static inline bool
cache_move_sse2(uint32_t *tags, uint32_t tag, uint32_t columns, uint32_t ways,
                uint64_t turn, uint32_t *at)
{
    const uint32_t vectors = columns / 4;
    const __m128i key = _mm_set1_epi32((int)tag);
    __m128i *set = (__m128i *)tags;
    __m128i old[4], equal[4] = {key, key, key, key};

    if (columns == 2)
        return cache_move_two(tags, tag, ways, turn, at);
    for (uint32_t i = 0; i < vectors; i++) {
        old[i] = _mm_load_si128(set + i);
        if (i == 0) {
            const __m128i swap = _mm_set1_epi32(-(int)turn);
            const __m128i turned =
                _mm_shuffle_epi32(old[0], _MM_SHUFFLE(3, 2, 0, 1));
            old[0] = _mm_or_si128(_mm_and_si128(swap, turned),
                                  _mm_andnot_si128(swap, old[0]));
        }
        equal[i] = _mm_cmpeq_epi32(old[i], key);
    }
    const uint32_t found = cache_places(equal, columns);
    const uint32_t place =
        (uint32_t)__builtin_ctz(found | (uint32_t)1 << (ways - 1));
    const __m128i *upto = (const __m128i *)(cache_upto + 15 - place);
    __m128i before = key;
    *at = place;
    for (uint32_t i = 0; i < vectors; i++) {
        const __m128i moved =
            _mm_or_si128(_mm_slli_si128(old[i], 4), _mm_srli_si128(before, 12));
        const __m128i mask = _mm_loadu_si128(upto + i);
        before = old[i];
        _mm_store_si128(set + i, _mm_or_si128(_mm_and_si128(mask, moved),
                                              _mm_andnot_si128(mask, old[i])));
    }
    return found != 0;
}

#define cache_move cache_move_sse2
#else
#define cache_move cache_move_any
#endif

/* Returns whether the line is the most recent of its set: an access changes
 * nothing. */
static inline bool
cache_is_recent(const struct cache *c, uint64_t line, uint32_t columns)
{
    return c->tags[(line & c->set_mask) * columns] == cache_tag(c, line);
}

/*
 * Accesses `line` (address >> line_shift) and makes it the most recent of its
 * set, whose first two change places before where `turn` is 1 and not 0. True
 * on a hit.
 */
static inline bool
cache_access_turned(struct cache *c, uint64_t line, uint64_t turn)
{
    const uint64_t set = line & c->set_mask;

    if (__builtin_expect(!cache_fits(c, line), 0))
        cache_widen(c);
    uint32_t *tags = c->tags + set * c->columns;
    const uint32_t tag = cache_tag(c, line);
    uint32_t place;
    switch (c->columns) {
    case 2:
        return cache_move(tags, tag, 2, c->ways, turn, &place);
    case 4:
        return cache_move(tags, tag, 4, c->ways, turn, &place);
    case 8:
        return cache_move(tags, tag, 8, c->ways, turn, &place);
    case 16:
        return cache_move(tags, tag, 16, c->ways, turn, &place);
    default:
        if (turn)
            cache_turn(c, set);
        return cache_access_list(c, line);
    }
}

static inline bool
cache_access(struct cache *c, uint64_t line)
{
    return cache_access_turned(c, line, 0);
}

static inline void
cache_prefetch(const struct cache *c, uint64_t line)
{
    const uint64_t set = line & c->set_mask;

    if (c->tags != NULL)
        __builtin_prefetch(c->tags + (set << c->column_shift));
}

#endif
