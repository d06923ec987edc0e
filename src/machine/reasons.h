/* SPDX-License-Identifier: MIT */
/*
 * Why data are not in the L1D, in more than the class of each miss: whose lines
 * drove a line out, which threads take a line from each other and for which of
 * its bytes, which sets are crowded, and after how many other lines the program
 * asks for a line again. For machines whose cores take lines from each other
 * (sharing.h), with COMPONENT_CLASSES, where objects are recorded.
 *
 * A line is driven out by the request that brings another into its place. With
 * a victim cache, that is the request after which neither has the line, as far
 * as the line's own set is looked at: at its next miss.
 *
 * Accesses that the filters pass are not seen: those to the line that the core
 * has asked for last, which no reuse has other lines between.
 */
#ifndef TALLY_MACHINE_REASONS_H
#define TALLY_MACHINE_REASONS_H

#include "machine/chip.h"
#include "machine/reuse.h"
#include "source/record_counts.h"

/* What drove a line out. */
struct reasons_gone {
    uint64_t line; /* + 1; 0: the place is free */
    uint64_t place;
    uint32_t object;
};

/* Of one core. */
struct reasons_core {
    uint64_t *lines;           /* + 1, by set; 0: none; owned; NULL: none yet */
    struct reasons_gone *gone; /* a hash table, owned */
    uint64_t mask, count;
    struct reuse reuse;
};

/* Under the chip's lock, where several strands run. */
struct reasons {
    struct record_process *process; /* the caller's: where reasons go */
    uint32_t *index;                /* of reasons, + 1, by their keys; owned */
    uint32_t mask, count; /* count of reasons; the program can write to the
                             one in `process` */
    struct reasons_core *cores; /* owned */
    unsigned core_count;
};

/* The process runs on a chip of so many cores from now on, whose caches are
 * empty; of a zeroed struct with `process`. 0 or TALLY_ENOMEM.
 * reasons_finish() accepts a zeroed struct. */
int reasons_begin(struct reasons *r, unsigned cores);
void reasons_finish(struct reasons *r);

/* Goes on in a forked child, whose `process` has no reasons. */
void reasons_fork(struct reasons *r, struct record_process *process);

/* All caches are empty, and no line was asked for. */
void reasons_clear(struct reasons *r);

/* A request for data has been taken through the L1D of the strand's core:
 * `hit`: the L1D had the line. */
void reasons_asked(struct reasons *r, const struct strand *s,
                   const struct request *request, bool hit);

/* The request misses a line that was driven out: a capacity miss, or a conflict
 * miss. */
void reasons_missed(struct reasons *r, const struct strand *s,
                    const struct request *request, bool conflict);

/* The bytes that a request misses, and those that another thread has stored to
 * since the core lost the line, by its number. */
struct reasons_taken {
    uint64_t bytes, stored;
    uint32_t thread;
};

/* The request misses a line that another core has taken. */
void
reasons_lost(struct reasons *r, const struct strand *s,
             const struct request *request, const struct reasons_taken *taken);

#endif
