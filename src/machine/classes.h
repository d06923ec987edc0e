/* SPDX-License-Identifier: MIT */
/*
 * Why any level of any machine lacks the lines that it is asked for: each miss
 * of a load or store has a class, the first that fits.
 *
 *   coherence    the cache had the line, and an access of another core took the
 *                line, or an atomic of its own core that passes the L1D
 *   first touch  the cache never had the line
 *   capacity     a fully associative cache of as many lines, least recently
 *                used, misses too
 *   conflict     that cache has the line
 *
 * Of an L3 that takes in the victims of the L2s (exclusion.h), that cache has
 * as many lines as the L3 and one L2 together.
 *
 * A coherence miss is false sharing if it touches none of the bytes that were
 * stored to since the line was lost. The fully associative cache sees all that
 * the level is asked, code and tables of pages too, and loses no line to other
 * cores; of lines of code that are fetched ahead it sees nothing. A line that
 * another level drives out of this one (an inclusive L2) counts as if its own
 * cache had done so.
 *
 * Nothing of the model is changed: requests go through the caches one at a
 * time, and the totals and the caches are compared before and after. So classes
 * add up to what the model counts as misses. The filters of a strand let
 * accesses pass that change no state; classes_access() is told these.
 *
 * Where cores take lines from each other, sharing.h has the classes of the L1D
 * as events, with the same meaning. test/reasons.c holds this file to those and
 * to a slow twin.
 */
#ifndef TALLY_MACHINE_CLASSES_H
#define TALLY_MACHINE_CLASSES_H

#include "machine/chip.h"
#include "machine/recorder.h"
#include "machine/reasons.h"

struct classes_entry;

/* A hash table that grows. A zeroed one is empty. */
struct classes_table {
    struct classes_entry *entries; /* owned; NULL: none yet */
    uint64_t mask, count;
};

/* A zeroed one has seen no line. */
struct classes {
    struct lock lock;        /* of all below, and of the reasons */
    struct reasons *reasons; /* the caller's: the level, and where causes go */
    uint64_t used;           /* caches that have had a line, a bit each */
    uint64_t lost; /* lines that a cache has lost, a bit for each number modulo
                      64: most stores are to lines that none has lost */
    struct classes_table lines;  /* what is known of a line, */
    struct classes_table losses; /* and what was stored to a line since one of
                                    the caches lost it */
};

/* Lines of the level that one request may take from a cache: those of the
 * longest line of the machine. */
#define CLASSES_SPAN 16u

/* A request on its way. */
struct classes_step {
    struct strand *s;
    struct request request;
    unsigned cache;                /* the number of the strand's */
    unsigned size;                 /* bytes that the request touches, */
    uint64_t bytes;                /* and those of its line, a bit each */
    uint64_t missed, front_missed; /* totals before */
    uint64_t first;                /* the first of the lines: */
    unsigned span;                 /* lines that are looked at */
    uint64_t held[CLASSES_SPAN];   /* caches that had them before, a bit each */
};

/* Begins to tell the misses of the level of `reasons`. */
void classes_init(struct classes *c, struct reasons *reasons);

/* Accepts a zeroed struct, as does classes_clear(). */
void classes_finish(struct classes *c);

/* All caches are empty. */
void classes_clear(struct classes *c);

/* A request is about to be taken through the caches; `size`: bytes that it
 * touches. 0: not known, as where the queue was full before the access was
 * told; then it is taken for those to the next multiple of 8. Under the lock.
 */
void classes_before(struct classes_step *t, struct strand *s,
                    const struct request *request, unsigned size);

/* The request has been taken through the caches; `behind`: a fetch has asked
 * what is behind the L1I. Under the lock. */
void classes_after(struct classes_step *t, bool behind);

/* An access that a strand has just made. */
struct classes_access {
    uint64_t addr;
    unsigned size;   /* bytes that are told now, */
    unsigned all;    /* and of the whole access from there on */
    uint32_t object; /* of the first byte, as recorder_object() has it */
    bool store;
    bool passes; /* the L1D is passed by */
};

/* Tells an access of a strand that records objects: has the queue taken through
 * the caches, once the sizes of all its requests are known. */
void classes_access(struct strand *s, const struct classes_access *access);

#endif
