/* SPDX-License-Identifier: MIT */
/*
 * The slow, obvious twin of machine/cache.h: a set is a plain list of line
 * numbers, most recent first, with a count of how many there are. Of PLRU it
 * knows no tree of bits: the half whose last use is longer ago has the line
 * that goes, and so on in that half.
 */
#ifndef TALLY_TEST_CACHE_REF_H
#define TALLY_TEST_CACHE_REF_H

#include <stdbool.h>
#include <stdint.h>

#include "table/table.h"

#define NO_REF_LINE UINT64_MAX

struct cache_ref {
    uint64_t sets;
    uint32_t ways;
    uint32_t line_size;
    uint64_t *lines;      /* [sets][ways] */
    uint32_t *filled;     /* [sets] */
    bool *dirty;          /* beside lines */
    uint64_t replacement; /* L2_REPLACEMENT_LRU, or another of these */
    /* Of PLRU and SRRIP, where each line of `lines` stays in its way, or
     * NO_REF_LINE, and all ways count as filled: */
    uint64_t *marks; /* [sets][ways] when a way was used last, or the distance;
                        NULL: of another replacement */
    uint64_t now;    /* uses so far */
    uint64_t chance; /* of its xorshift64, seeded with 1 */
    /* The victim cache: the lines that went last, most recent first. */
    struct victim_ref {
        uint64_t line;
        bool dirty;
    } victims[64];
    uint32_t victim_ways, victim_count; /* that it holds at most, and holds */
    bool from_victims; /* the last access found its line there */
    uint64_t gone;     /* the line that the last access drove out, clean or
                          dirty; or NO_REF_LINE */
};

/* Exits where there is no memory. */
void cache_ref_init(struct cache_ref *c, uint64_t size, uint32_t ways,
                    uint32_t line_size);
void cache_ref_finish(struct cache_ref *c);
/* Sets the replacement of an empty cache. Exits where there is no memory. */
void cache_ref_replace(struct cache_ref *c, uint64_t replacement);
void cache_ref_clear(struct cache_ref *c);

/* All take line numbers, address / line size. True on a hit. */
bool cache_ref_access(struct cache_ref *c, uint64_t line);

/*
 * cache_ref_access() of a cache that writes back; `write` makes the line dirty.
 * *out becomes the dirty line that had to go, else stays as it is.
 */
bool
cache_ref_touch(struct cache_ref *c, uint64_t line, bool write, uint64_t *out);

/* All below look in the victim cache too, but for those that ask of a set. */

/* Makes a line dirty where it is. False if it is not there. */
bool cache_ref_mark(struct cache_ref *c, uint64_t line);
/* Makes a line clean, if it is there. */
void cache_ref_unmark(struct cache_ref *c, uint64_t line);
/* Whether the set of a line has no empty way. */
bool cache_ref_is_full(const struct cache_ref *c, uint64_t line);
/* Returns the line that a miss of `line` drives out of its full set. */
uint64_t cache_ref_oldest(const struct cache_ref *c, uint64_t line);
bool cache_ref_is_recent(const struct cache_ref *c, uint64_t line);
bool cache_ref_has(const struct cache_ref *c, uint64_t line);
/* Finds the line that was used last in the set of `line`, by LRU or PLRU,
 * unless it was taken out. False: there is none. */
bool cache_ref_first(const struct cache_ref *c, uint64_t line, uint64_t *first);
/* Returns whether a line in the set of `line` has its tag modulo `tags`. */
bool
cache_ref_has_alike(const struct cache_ref *c, uint64_t line, uint64_t tags);
bool cache_ref_is_dirty(const struct cache_ref *c, uint64_t line);

/* True if it was there, and dirty. */
bool cache_ref_invalidate(struct cache_ref *c, uint64_t line);

#endif
