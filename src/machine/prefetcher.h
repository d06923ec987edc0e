/* SPDX-License-Identifier: MIT */
/*
 * A hardware prefetcher of one cache: which lines it asks for, and which of
 * those that it brought in have not been asked for yet.
 *
 * The prefetcher is asked about each line that its cache lacks, and about each
 * line that it brought in itself, when that line is asked for the first time.
 * All else that hits its cache it does not see. No line that it asks for lies
 * in another page of 4 KB than the line that made it ask, unless lines of all
 * pages are within its bound.
 *
 *   next      the lines behind
 *   adjacent  the other line of an aligned pair
 *   stride    a table by instruction, each with its last line and the distance
 *             to the line before: the same distance twice in a row, and the
 *             lines at that distance ahead are asked for
 *   stream    a table of pages, each with its last line and direction: two
 * steps of at most STREAM_STEP lines in one direction, and the lines ahead in
 * that direction are asked for
 *
 * doc/models/prefetchers.md says what each is modelled after. Lines are
 * numbers, addresses divided by the size of a line. No lock is taken:
 * prefetching.h does that. test/ref/prefetcher_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_PREFETCHER_H
#define TALLY_MACHINE_PREFETCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/cache.h"

/* The most lines that a prefetcher asks for at a time. */
#define PREFETCHER_MOST 8u

/* Lines of a step of a stream at most: assumed, as no manual has the number. */
#define STREAM_STEP 2

struct prefetcher_entry {
    uint64_t key;   /* of the instruction, or the page; + 1; 0: free */
    uint64_t last;  /* line */
    int64_t stride; /* lines to the last line; of a stream 1 or -1; 0: none */
    uint32_t steps; /* in a row with that stride, as far as they matter */
    uint64_t used;  /* of a stream: when it was asked about last */
};

/* A zeroed one asks for nothing. */
struct prefetcher {
    uint8_t kind;       /* L1D_PREFETCH_NONE, or another of these */
    uint8_t page_shift; /* log2 of the lines of a page */
    bool bound;         /* lines of other pages are not asked for */
    unsigned degree;    /* lines to ask for at a time */
    unsigned distance;  /* to the first of them, in lines or strides */
    uint32_t entry_mask;
    struct prefetcher_entry *entries; /* [entry_mask + 1] of stride and stream,
                                         owned; else NULL */
    uint64_t now;                     /* what `used` counts */
    uint64_t *waiting; /* [sets][ways] of the cache: numbers + 1 of lines that
                          were brought in and not asked for; 0: free; owned */
    uint64_t set_mask; /* of the cache, */
    uint32_t ways;     /* and its ways */
};

/* Sets up the prefetcher of a cache by its five parameters, of which `params`
 * has the kind first. Of a zeroed struct; kind none leaves it so. Returns 0 or
 * TALLY_ENOMEM. */
int prefetcher_init(struct prefetcher *p, const uint64_t *params,
                    const struct cache *cache);
/* Accepts a zeroed struct, as does prefetcher_clear(). */
void prefetcher_finish(struct prefetcher *p);
/* The cache is empty, and nothing was asked for. */
void prefetcher_clear(struct prefetcher *p);

/* Asks about `line`, by its number in the program. `instruction` is any number
 * of the instruction that asks for the line. Writes the lines to ask for to
 * `lines`, which has room for PREFETCHER_MOST; returns how many. */
unsigned prefetcher_ask(struct prefetcher *p, uint64_t line,
                        uint64_t instruction, uint64_t *lines);

/* The cache has got a line that the prefetcher asked for; lines of this
 * function and of those below are as the cache sees them. */
void prefetcher_brought(struct prefetcher *p, uint64_t line);

/* Returns whether a line waits to be asked for. */
bool prefetcher_waits(const struct prefetcher *p, uint64_t line);

/* A line waits no more; returns whether it did wait to be asked for. */
bool prefetcher_take(struct prefetcher *p, uint64_t line);

/* Takes the lines in the set of `line` that wait and that the cache has no
 * more. Returns how many. */
unsigned prefetcher_take_lost(struct prefetcher *p, const struct cache *cache,
                              uint64_t line);

#endif
