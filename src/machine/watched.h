/* SPDX-License-Identifier: MIT */
/*
 * The cache level whose misses a recording tells apart: the L1D, the L2 or a
 * level behind the L2. Each core, each node or the whole machine has a cache of
 * the level; they have numbers from 0 on. Of cores with an L2 for code of its
 * own, the L2 is the one for data.
 */
#ifndef TALLY_MACHINE_WATCHED_H
#define TALLY_MACHINE_WATCHED_H

#include "machine/chip.h"

/* The kinds of requests whose misses have a class. */
#define WATCHED_STORES                                           \
    (REQUEST_BIT(REQUEST_STORE) | REQUEST_BIT(REQUEST_THROUGH) | \
     REQUEST_BIT(REQUEST_ATOMIC))
#define WATCHED_KINDS \
    (REQUEST_BIT(REQUEST_LOAD) | REQUEST_BIT(REQUEST_FLOAT) | WATCHED_STORES)

struct watched {
    const struct chip *chip; /* the caller's */
    enum cache_id level;
    unsigned count; /* caches of the level, 64 at most */
    uint64_t sets;  /* of a cache, a power of two; and its ways, with those of
                       an L2 whose victims the cache takes in (exclusion.h) */
    uint64_t ways;
    uint64_t lines;         /* that a cache holds, with those of such an L2 */
    unsigned shift;         /* log2 of the line */
    const uint16_t *misses; /* the signals of misses, by the request's kind */
    /* Those of the level in front: a request whose kind has none passes that
     * level. NULL: the level is the L1D. */
    const uint16_t *front;
};

/* Begins to watch a level that runs on the chip: the L1D, the L2 or one behind.
 */
void
watched_init(struct watched *w, const struct chip *chip, enum cache_id level);

/* Returns the number of the cache that a strand asks. */
unsigned watched_number(const struct watched *w, const struct strand *s);

/* Returns whether a cache has a line, or an L2 whose victims it takes in. */
bool watched_has(const struct watched *w, unsigned number, uint64_t line);

/* What is known of a line that stands in a set. */
enum watched_line {
    WATCHED_LINE = 1 << 0,   /* a line stands there */
    WATCHED_DIRTY = 1 << 1,  /* stored to, and not yet written back */
    WATCHED_OTHERS = 1 << 2, /* caches of other cores may have the line too */
};

/* Returns whether the cache that a strand asks knows which of its lines are
 * dirty. */
bool watched_knows_dirty(const struct watched *w, const struct strand *s);

/* Ways of a set that watched_set() writes, of any machine. */
#define WATCHED_WAYS 64u

/* Writes the lines in the set of `line`, a number, of the cache that a strand
 * asks: for each place the address of the first byte of its line and enum
 * watched_line in the bits below, or 0. Lines stand as the cache keeps them: in
 * the order of use, of age (FIFO) or of the ways (replacement by marks).
 * Returns how many places there are, WATCHED_WAYS at most. Where a cache has
 * more, the places behind are left out. Under the locks of the caches, where
 * several strands run at once. */
unsigned watched_set(const struct watched *w, const struct strand *s,
                     uint64_t line, uint64_t *places);

#endif
