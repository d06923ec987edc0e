/* SPDX-License-Identifier: MIT */
/*
 * Seeded random programs for the machine's tests: blocks that follow each
 * other in loops and calls, and data accesses of several habits.
 */
#ifndef TALLY_TEST_STREAM_H
#define TALLY_TEST_STREAM_H

#include "source/block.h"
#include "table/table.h"

#define PROGRAM_AT ((uint64_t)0x100000)
#define PROGRAM_DATA_AT ((uint64_t)0x7f0000000000)

#define STREAM_CALLS 64

enum data_habit {
    DATA_STACK, /* a few lines */
    DATA_SMALL, /* twice the first level */
    DATA_LARGE, /* many pages */
    DATA_STRIDED,
    DATA_HABITS
};

/*
 * Blocks of random length and place; two ways lead on from each. The first is
 * a direct branch's target. A call's second is where it returns to. No two
 * branches stand at one address.
 */
struct program {
    size_t count;
    struct block *blocks;     /* [count], index i at i */
    struct block_info *infos; /* [count] */
    size_t *ways;             /* [count][2] */
};

/* Where a strand is in its program and its data. */
struct stream {
    const struct program *program;
    const uint64_t *params;
    uint64_t state; /* of the random numbers */
    size_t at;      /* block */
    enum data_habit habit;
    uint64_t cursor, stride;
    size_t calls[STREAM_CALLS]; /* blocks that call, the last one's last */
    size_t depth;
};

enum access_kind {
    ACCESS_IS_LOAD,
    ACCESS_IS_BULK,  /* a load too: a block load or twin load */
    ACCESS_IS_FLOAT, /* a load that passes the L1D by */
    ACCESS_IS_NEAR,  /* a prefetch for the L1D, or for the L2 */
    ACCESS_IS_FAR,
    ACCESS_IS_STORE,
    ACCESS_IS_ATOMIC
};

struct access {
    enum access_kind kind;
    uint64_t addr, size;
};

/* `span`: bytes over which the code spreads. Exits without memory. */
void program_init(struct program *p, const uint64_t *params, size_t count,
                  uint64_t span, uint64_t *state);
void program_finish(struct program *p);

void stream_init(struct stream *s, const struct program *program,
                 const uint64_t *params, uint64_t seed);
const struct block *stream_block(struct stream *s);
struct access stream_access(struct stream *s);

#endif
