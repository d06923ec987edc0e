/* SPDX-License-Identifier: MIT */
/*
 * Why data are not in a cache level, in more than the class of each miss: whose
 * lines drove a line out, which threads take a line from each other and for
 * which of its bytes, which sets are crowded, and after how many other lines
 * the level is asked for a line again. Where objects are recorded. The classes
 * are sharing.h's, with COMPONENT_CLASSES, or those of classes.h.
 *
 * A line is driven out by the request that brings another into its place. With
 * a victim cache, that is the request after which neither has the line, as far
 * as the line's own set is looked at: at its next miss. A line that leaves the
 * level because another level drives it out has no such request.
 *
 * A reuse counts only with other lines in between.
 */
#ifndef TALLY_MACHINE_REASONS_H
#define TALLY_MACHINE_REASONS_H

#include "machine/chip.h"
#include "machine/recorder.h"
#include "machine/reuse.h"
#include "machine/watched.h"
#include "source/record_counts.h"

/* What drove a line out. */
struct reasons_gone {
    uint64_t line; /* + 1; 0: the place is free */
    uint64_t place;
    uint32_t object;
};

/* Of one cache of the level. */
struct reasons_cache {
    uint64_t *lines;           /* + 1, by set; 0: none; owned; NULL: none yet */
    struct reasons_gone *gone; /* a hash table, owned */
    uint64_t mask, count;
    struct reuse reuse;
};

#define REASONS_RECENT 1024u

/* Under the chip's lock or that of classes.h, where several strands run. */
struct reasons {
    struct record_process *process; /* the caller's: where reasons go */
    struct watched level;
    uint32_t *index;      /* of reasons, + 1, by their keys; owned */
    uint32_t mask, count; /* count of reasons; the program can write to the
                             one in `process` */
    struct reasons_cache *caches; /* [level.count], owned */
    /* Of reuses that were counted last: objects and powers, and their reasons;
     * NULL: none. */
    struct {
        uint32_t object, power;
        struct record_reason *reason;
    } recent[REASONS_RECENT];
};

/* The process runs on a chip from now on, whose caches are empty, and data miss
 * this level of its caches; of a zeroed struct with `process`. 0 or
 * TALLY_ENOMEM. reasons_finish() accepts a zeroed struct. */
int
reasons_begin(struct reasons *r, const struct chip *chip, enum cache_id level);
void reasons_finish(struct reasons *r);

/* Goes on in a forked child, whose `process` has no reasons. */
void reasons_fork(struct reasons *r, struct record_process *process);

/* All caches are empty, and no line was asked for. */
void reasons_clear(struct reasons *r);

/* Has the host fetch what the functions below look at for a line of a cache of
 * the level, by the cache's number. */
void reasons_fetch(const struct reasons *r, uint32_t cache, uint64_t line);

/* A request, which is `access`, asks the strand's cache of the level. Returns
 * whether a cache with full associativity and as many lines, least recently
 * used, has the line. */
bool reasons_asked(struct reasons *r, const struct strand *s,
                   const struct request *request,
                   const struct recorder_access *access);

/* An access asks the strand's cache of the level for a line that the strand's
 * filters know, and which are of the object. */
void reasons_known(struct reasons *r, const struct strand *s,
                   const struct request *request, uint32_t object);

/* The strand's cache has brought in the line of a request. */
void reasons_filled(struct reasons *r, const struct strand *s,
                    const struct request *request,
                    const struct recorder_access *access);

/* The request misses a line that was driven out: a capacity miss, or a conflict
 * miss. */
void reasons_missed(struct reasons *r, const struct strand *s,
                    const struct request *request,
                    const struct recorder_access *access, bool conflict);

/* The bytes that a request misses, and those that another thread has stored to
 * since the cache lost the line, by its number. A bit of a line of more than 64
 * bytes stands for so many bytes that the line has 64 bits. */
struct reasons_taken {
    uint64_t bytes, stored;
    uint32_t thread;
    uint32_t ran; /* instructions of the strand's turn before the request, where
                     threads take turns; or 0 */
};

/* A thread begins a turn behind another's. */
void reasons_turn(struct reasons *r, const struct strand *s);

/* The request misses a line that an access of another core has taken. */
void reasons_lost(struct reasons *r, const struct strand *s,
                  const struct request *request,
                  const struct recorder_access *access,
                  const struct reasons_taken *taken);

#endif
