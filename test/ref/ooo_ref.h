/* SPDX-License-Identifier: MIT */
/* The slow, obvious twin of machine/ooo_core.h: it keeps every block that it
 * has run, every line that was asked for and every page walk. */
#ifndef TALLY_TEST_OOO_REF_H
#define TALLY_TEST_OOO_REF_H

#include "machine/ooo_core.h"

/* Cycles of which the core knows how many operations of a kind begin. */
#define REF_PLACES 256u
#define REF_CYCLES 4000000u

/* A time, and what it is spent on. */
struct ref_time {
    uint64_t at;
    unsigned reason;
};

struct ref_block {
    uint64_t micro_ops; /* up to its end */
    struct ref_time leaves;
};

struct ooo_ref {
    const uint64_t *params;
    uint64_t now;
    struct ref_time ready[OOO_REGISTERS], executed, leaves;
    struct {
        bool waits;
        uint64_t value, line;
        struct ref_time there;
    } asked[OOO_REGISTERS];
    struct ref_block *blocks;
    size_t count, room, left; /* the first `left` have left */
    uint64_t *lines;          /* when each line that was asked for was there */
    size_t line_count, line_room;
    uint64_t last_fill, last_line; /* when these can come next */
    bool last_line_walks;          /* the last line waits for a page longest */
    uint64_t filled;               /* when the L1 has those of prefetchers */
    uint64_t fetch, fetch_walk;
    uint64_t foretold;      /* the last taken branch is */
    uint64_t fetched, line; /* the last block is, and its last line of code, */
    unsigned slots;         /* of which so many micro-operations are fetched */
    bool follows;           /* the next block is behind that, not jumped to */
    struct ooo_wait waits[64];
    uint64_t walked[64]; /* when each walk is done */
    bool walks[64];      /* it has begun */
    unsigned wait_count;
    uint8_t *begun[OOO_UNITS];  /* operations that begin, by cycle */
    uint64_t latest[OOO_UNITS]; /* the latest of these cycles */
    uint64_t *walk_ends;        /* when each walk was done */
    size_t walk_count, walk_room;
};

void ooo_ref_init(struct ooo_ref *r, const uint64_t *params);
void ooo_ref_finish(struct ooo_ref *r);
void
ooo_ref_prefetched(struct ooo_ref *r, uint64_t of_memory, uint64_t into_l1);
uint64_t ooo_ref_mispredicted(struct ooo_ref *r);
uint64_t ooo_ref_bubble(struct ooo_ref *r, uint64_t time);
uint64_t ooo_ref_resteer(struct ooo_ref *r, uint64_t time);

/* Runs the block; `time` is what it takes, by enum ooo_reason. */
void ooo_ref_run(struct ooo_ref *r, const struct ooo_block *block, bool taken,
                 uint64_t time[OOO_REASONS]);

#endif
