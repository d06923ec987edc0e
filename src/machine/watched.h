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

#endif
