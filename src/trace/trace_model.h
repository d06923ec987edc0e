/* SPDX-License-Identifier: MIT */
/*
 * What the writer and the reader of a trace both know while they go through it:
 * the program's blocks, and what each of them did last. Both guess which block
 * comes next and which addresses it has; the trace has only what they guess
 * wrong. doc/format/trace.md describes the guesses: to change one is to change
 * the format.
 */
#ifndef TALLY_TRACE_TRACE_MODEL_H
#define TALLY_TRACE_TRACE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace_ring.h"

/* How the next address of a site may be guessed. */
enum trace_mode {
    TRACE_MODE_STRIDE,   /* as far from its last one as that from the one before
                          */
    TRACE_MODE_PREVIOUS, /* as far from the access before it as last time */
    TRACE_MODE_REGION,   /* as far from the last access near by as last time */
    TRACE_MODE_REPEAT,   /* as after the same address, some time ago */
    TRACE_MODES
};

#define TRACE_REGIONS 64u
#define TRACE_REGION_SHIFT 20
#define TRACE_REPEAT_BITS 14
#define TRACE_PATH_BITS 14

/* Blocks and accesses that a trace may have at most. */
#define TRACE_BLOCKS (UINT32_C(1) << 26)
#define TRACE_BLOCKS_A_PART (UINT32_C(1) << 14)
#define TRACE_ACCESSES (1u << 16) /* of one block that runs */
#define TRACE_PATTERNS (1u << 16) /* of one block */

/* One access of a block, in one pattern. */
struct trace_site {
    uint64_t last;                              /* its last address */
    int32_t stride, from_previous, from_region; /* of the guesses */
    uint16_t what;                              /* enum trace_what */
    uint8_t mode, region;
};

/* The accesses of a block when it ran: which instructions made them. */
struct trace_pattern {
    uint32_t number; /* from 0, of the block */
    uint32_t count;
    struct trace_site site[];
};

/* A block as QEMU translated it. Owned, as all of it. */
struct trace_block {
    uint64_t pc;
    uint32_t insns;
    uint32_t size;         /* bytes of code */
    uint8_t before, after; /* bytes of memory kept from before and behind it */
    uint32_t kept;         /* bytes in all, or what stands for the code */
    uint8_t *sizes;        /* [insns], then the bytes that are kept */
    uint32_t pattern_count, pattern_room;
    struct trace_pattern **patterns;
};

/* What each run of a block needs, by the block's number. */
struct trace_hot {
    struct trace_pattern *now; /* the accesses of its last run, or NULL */
    uint32_t next;             /* the block that ran behind it, or 0 */
    uint32_t insns;
};

/* What ran behind a block after the same few blocks before it. */
struct trace_path {
    uint32_t block;
    uint32_t next; /* with TRACE_DOUBT: another one ran last time */
};

#define TRACE_DOUBT (UINT32_C(1) << 31)

struct trace_model {
    /* By number, from 1 on; owned. Blocks never move: who replays looks at them
     * while others are added. */
    struct trace_block *parts[TRACE_BLOCKS / TRACE_BLOCKS_A_PART];
    struct trace_hot *hot;
    uint32_t block_count, hot_room;
    uint32_t at;      /* the block that ran last, or 0 */
    uint32_t history; /* of the last blocks */
    uint64_t previous;
    uint64_t regions[TRACE_REGIONS];
    uint64_t repeats[1 << TRACE_REPEAT_BITS];
    /* Where `at` and `history` lead: looked up as soon as they are known, since
     * the table is in no fast cache. */
    struct trace_path *path;
    struct trace_path paths[1 << TRACE_PATH_BITS];
};

/* A model's memory; NULL: there is none. */
struct trace_model *trace_model_create(void);
void trace_model_destroy(struct trace_model *model);

/* Adds a block, the bytes of `sizes` and `bytes` (before, code, after) are
 * copied. 0 or TALLY_ENOMEM; model->block_count is then its number. */
int trace_model_add(struct trace_model *model, const struct trace_block *block,
                    const uint8_t *bytes);

/* A block of the model. */
static inline struct trace_block *
trace_model_block(const struct trace_model *m, uint32_t number)
{
    return &m->parts[number / TRACE_BLOCKS_A_PART]
                    [number % TRACE_BLOCKS_A_PART];
}

/* What stands for the code of an imported block: for each instruction
 * TRACE_IMPORTED bytes, its branch (enum insn_branch), the number of its loads
 * and that of its stores; then the target of the conditional branch that ends
 * the block, 8 bytes, 0 where there is none or where it is not known. */
#define TRACE_IMPORTED 3u
#define TRACE_IMPORTED_SIZE(insns) (TRACE_IMPORTED * (insns) + 8u)

/* The bytes before the block; its code is behind them. */
static inline const uint8_t *
trace_block_bytes(const struct trace_block *b)
{
    return b->sizes + b->insns;
}

/* Adds a pattern of a block, whose sites have what[] and else zeroes. Returns
 * NULL without memory. */
struct trace_pattern *
trace_model_pattern(struct trace_model *model, uint32_t block,
                    const uint16_t *what, uint32_t count);

/* Guesses which block runs next; 0: there is no guess. *other becomes the
 * second guess, or 0. */
static inline uint32_t
trace_guess_block(const struct trace_model *m, uint32_t *other)
{
    const uint32_t next = m->hot[m->at].next;
    const uint32_t by_path = m->path->next & ~TRACE_DOUBT;

    if (m->path->block != m->at) {
        *other = 0;
        return next;
    }
    *other = next != by_path ? next : 0;
    return by_path;
}

/* Notes which block runs next. */
static inline void
trace_note_block(struct trace_model *m, uint32_t next)
{
    struct trace_path *const path = m->path;

    if (path->block == m->at && path->next != next &&
        (path->next & TRACE_DOUBT) == 0)
        path->next |= TRACE_DOUBT;
    else
        *path = (struct trace_path){m->at, next};
    m->hot[m->at].next = next;
    m->history = m->history << 4 ^ next * UINT32_C(0x9e3779b1);
    m->at = next;
    const uint32_t key =
        (m->history + next * UINT32_C(0xc2b2ae35)) * UINT32_C(0x85ebca6b);
    m->path = &m->paths[key >> (32 - TRACE_PATH_BITS)];
    __builtin_prefetch(m->path);
}

static inline uint64_t *
trace_repeat_of(struct trace_model *m, const struct trace_site *s,
                uint32_t salt)
{
    const uint64_t key =
        (s->last ^ (uint64_t)salt << 40) * UINT64_C(0x9e3779b97f4a7c15);

    return &m->repeats[key >> (64 - TRACE_REPEAT_BITS)];
}

/* Guesses the next address of a site by a mode that asks no table. All three
 * guesses are made, so that no branch is taken on the mode: its prediction
 * fails too often. */
static inline uint64_t
trace_guess(const struct trace_model *m, const struct trace_site *s,
            unsigned mode)
{
    const uint64_t stride = s->last + (uint64_t)(int64_t)s->stride;
    const uint64_t previous = m->previous + (uint64_t)(int64_t)s->from_previous;
    const uint64_t region =
        m->regions[s->region] + (uint64_t)(int64_t)s->from_region;
    const uint64_t first = mode == TRACE_MODE_PREVIOUS ? previous : stride;

    return mode == TRACE_MODE_REGION ? region : first;
}

/* Returns which modes that ask no table guess the address, a bit each. */
static inline unsigned
trace_guessed(const struct trace_model *m, const struct trace_site *s,
              uint64_t address)
{
    const bool stride = s->last + (uint64_t)(int64_t)s->stride == address;
    const bool previous =
        m->previous + (uint64_t)(int64_t)s->from_previous == address;
    const bool region =
        m->regions[s->region] + (uint64_t)(int64_t)s->from_region == address;

    return (unsigned)stride | (unsigned)previous << 1 | (unsigned)region << 2;
}

static inline uint8_t
trace_region(uint64_t address)
{
    const uint64_t part = address >> TRACE_REGION_SHIFT;

    return (uint8_t)((part ^ part >> 6) % TRACE_REGIONS);
}

/* Notes the address that a site has had. */
static inline void
trace_note(struct trace_model *m, struct trace_site *s, uint64_t address)
{
    const uint8_t region = trace_region(address);
    uint64_t *const near = &m->regions[region];

    s->stride = (int32_t)(uint32_t)(address - s->last);
    s->from_previous = (int32_t)(uint32_t)(address - m->previous);
    s->from_region = (int32_t)(uint32_t)(address - *near);
    s->last = m->previous = *near = address;
    s->region = region;
}

#endif
