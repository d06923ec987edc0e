/* SPDX-License-Identifier: MIT */
/*
 * The misses of all sizes of one level from one run (Mattson and others,
 * Evaluation techniques for storage hierarchies, 1970). A cache with full
 * associativity that replaces the line used longest ago has a line exactly if
 * it has more lines than were asked for since the line was: the distance. So
 * the distances, counted, tell the misses of each size. Of caches with sets the
 * same holds within each set, for each number of sets.
 *
 * Three ways, enum curve_kind:
 *
 * - All lines. The lines used last, at most as many as the smallest size has,
 *   are the front. An access to a line of the front hits in every size, and
 *   only notes its time; a table that is read by address makes that one compare
 *   and one store. A line that leaves the front goes into the order of the
 *   others (reuse.h), by its time.
 * - By sets, for each number of sets a list of lines for each set, the one used
 *   last first. A line that is first in its set is first in its set for more
 *   sets too.
 * - A sample: only lines with a hash below a limit are followed, and distances
 *   count as that many times longer (Waldspurger and others, Efficient MRC
 *   construction with SHARDS, 2015).
 *
 * The stream of a first level is each access of the program, one for each line
 * that it touches; that of a level behind is what the levels in front lack.
 * Nothing takes lines out of a level: no other core's stores, no atomics. The
 * caches of a level are those of the machine: of each core, or of all.
 *
 * test/ref/curve_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_CURVE_H
#define TALLY_MACHINE_CURVE_H

#include "machine/reuse.h"
#include "machine/strand.h"
#include "source/curve.h"

/* Lines of a front, at most. */
#define CURVE_FRONT 256u

/* The lines that were used last. The entry of a line in the table of recent
 * lines (struct filter) has its time in `second`; a line whose entry another
 * line has taken has its time here. */
struct curve_front {
    uint32_t most, count;
    uint64_t aged;              /* the time when lines left the front last */
    uint64_t line[CURVE_FRONT]; /* first byte */
    uint64_t used[CURVE_FRONT];
    uint16_t free[CURVE_FRONT]; /* [most - count] places without a line */
    uint16_t at[FILTER_SETS];   /* the place of an entry's line */
};

/* One cache of the level. */
struct curve_cache {
    struct strand *owner; /* whose table of recent lines is in use; or NULL */
    uint64_t now;         /* uses, while there is no owner */
    struct reuse reuse;
    struct curve_front front;
    uint64_t sampled;            /* the line of the sample used last, + 1 */
    uint64_t *lists[CURVE_SETS]; /* [sets][ways] lines + 1; owned */
    struct filter recent;        /* of a level that is asked by requests */
};

struct curve {
    struct curve_request request;
    struct curve_counts *counts; /* the caller's */
    struct curve_cache *caches;  /* [count], owned */
    unsigned count;
    unsigned core_count, strands_per_core;
    bool shared;            /* the cores of a node, or all, have one cache */
    unsigned first_bin[64]; /* sizes up to 2 to this power */
    /* The class of an access by the number of sets and its depth there. */
    uint16_t classes[CURVE_SETS][CURVE_WAYS + 1];
};

/* Changes the parameters of a machine to those that a run for the request
 * needs: the level has as many lines as the tables of recent lines, and no
 * other core takes any. Returns the components that are to run. */
uint64_t curve_prepare(const struct curve_request *r, uint64_t *params);

/* Begins to count on a chip with such parameters. `counts`: zeroed. Returns 0
 * or TALLY_ENOMEM; curve_finish() accepts a zeroed struct. */
int
curve_init(struct curve *c, const struct chip *chip,
           const struct curve_request *request, struct curve_counts *counts);
void curve_finish(struct curve *c);

/* All caches are empty, as in the child of a fork. */
void curve_clear(struct curve *c);

/* The strand runs no more for now: another may take its turn on the core, or
 * the strand ends. */
void curve_leave(struct strand *s);

/* Returns whether a line of this number is in a sample of one line in `sample`,
 * and sets its group. */
bool curve_is_sampled(uint64_t number, uint32_t sample, unsigned *group);

/* An access to data that is not to a line used recently, or not to one line. */
void curve_access_slow(struct strand *s, uint64_t addr, access_site at);

/* A block of code is entered, not all of whose lines were used recently, or of
 * more than two lines. */
void curve_fetch_slow(struct strand *s, const struct block *b);

/* Requests come to a level behind the L1s. */
void
curve_requests(struct strand *s, const struct request *requests, size_t count);

/* Notes an access to the line that the table of recent lines has at its place.
 */
STRAND_INLINE void
curve_use(struct strand *s, uint64_t addr)
{
    struct filter *const f = &s->data;
    const uint64_t offset = addr >> f->offset_shift & f->offset_mask;

    *(uint64_t *)((char *)f->second + offset) = s->uses++;
}

/* Makes an access to data, by a strand that runs alone or in turns. */
STRAND_INLINE void
curve_access(struct strand *s, uint64_t addr, access_site at)
{
    if (__builtin_expect(strand_data_known(s, addr, site_room(at)), 1))
        curve_use(s, addr);
    else
        curve_access_slow(s, addr, at);
}

/* Fetches the lines of a block that is entered. */
STRAND_INLINE void
curve_fetch(struct strand *s, const struct block *b, unsigned work)
{
    struct filter *const f = &s->fetch;

    if (__builtin_expect(!strand_fetch_known(s, b, work), 0)) {
        curve_fetch_slow(s, b);
        return;
    }
    f->second[b->slot0] = s->uses++;
    if ((work & WORK_ONE_LINE) == 0)
        f->second[b->slot1] = s->uses++;
}

#endif
