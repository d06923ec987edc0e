/* SPDX-License-Identifier: MIT */
/*
 * Which way of a cache is read first: a table foretells, for each set or for
 * sets that share an entry, the way that was used last (MIPS R10000 User's
 * Manual, 5.4). A hit in another way is a misprediction. A line that is brought
 * in goes into the way that is foretold where that is empty, else into the
 * first empty one, else into that of the least recent line.
 *
 * The cache itself keeps no ways, only the order of use: the ways stand here.
 * test/ref/chip_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_WAYS_H
#define TALLY_MACHINE_WAYS_H

#include "machine/cache.h"

#define WAYS_MOST 256u /* of the cache */

struct ways {
    uint8_t *order; /* [sets][ways] way of the line at each place; behind the
                     * lines the empty ones, the last the first to fill */
    uint8_t *table; /* [entries] the way foretold */
    uint64_t entries;
    uint64_t mask; /* entries - 1, if they are a power of two; or 0 */
};

/* For an empty cache of at most WAYS_MOST ways. 0 or TALLY_ENOMEM;
 * ways_finish() accepts a zeroed struct. */
int ways_init(struct ways *w, const struct cache *c, uint64_t entries);
void ways_finish(struct ways *w);
void ways_clear(struct ways *w, const struct cache *c);

/* Any cache: see ways_ask(). */
bool ways_ask_any(struct ways *w, const struct cache *c, uint64_t line);

static inline uint8_t *
ways_foretold(const struct ways *w, uint64_t set)
{
    return &w->table[w->mask != 0 ? set & w->mask : set % w->entries];
}

/*
 * To be called before each access to a line. True if its way is mispredicted.
 * Of two ways one is where the first line is, and the other is the other.
 */
static inline bool
ways_ask(struct ways *w, const struct cache *c, uint64_t line)
{
    const uint64_t set = line & c->set_mask;

    if (c->ways != 2 || c->columns == 0 || !cache_fits(c, line))
        return ways_ask_any(w, c, line);

    const uint32_t *tags = c->tags + set * c->columns;
    const uint32_t tag = cache_tag(c, line);
    uint8_t *order = w->order + 2 * set;
    uint8_t *foretold = ways_foretold(w, set);
    const uint8_t before = *foretold;
    const bool hit = (tags[0] == tag) | (tags[1] == tag);
    /* Numbers: nobody can foresee which it is, so no branch shall ask. */
    const uint8_t known = (uint8_t)(order[0] ^ (tags[0] != tag));
    const uint8_t empty = (uint8_t) - (tags[0] == 0);
    const uint8_t way = (uint8_t)((known & ~empty) | (before & empty));

    order[0] = way;
    order[1] = way ^ 1;
    *foretold = way;
    return hit & (way != before);
}

/* To be called before the line is taken out. */
void ways_drop(struct ways *w, const struct cache *c, uint64_t line);

#endif
