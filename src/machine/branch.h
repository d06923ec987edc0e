/* SPDX-License-Identifier: MIT */
/*
 * A strand's branch prediction.
 *
 * Directions of conditional branches come from a table of two-bit counters,
 * found by address (bimodal) or by address and the directions of the branches
 * before (gshare), from perceptrons (perceptron.h) or from tables with tags
 * (tage.h). Further predictors of directions may stand beside the first: they
 * count what they would get wrong.
 *
 * Targets, each table only where the machine has it (its parameter is not 0):
 *   branch target cache  the last target of each taken branch but returns; set
 *                        associative, least recently used, whole addresses
 *   far table            direct branches whose target is out of reach, by
 *                        address, one to an entry
 *   indirect table       the last target of a jump or call through a register
 *                        at this address and history of such targets; it may
 *                        be the base of tables with tags (ittage.h)
 *   branch target        where taken branches are, in levels (btb.h): a jump or
 *     buffers            call through a register that no level has is predicted
 *                        wrong, whatever the indirect table has
 *   target caches        as the indirect table, any number beside it: they
 *                        count what they would get wrong
 *   return stack         calls push, returns pop; a full one forgets the
 *                        oldest, an empty one is wrong
 *
 * All are asked and taught when the next block is known: no wrong path is
 * followed. Tables belong to one strand. What every block runs stands in
 * machine/strand.h. test/ref/chip_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_BRANCH_H
#define TALLY_MACHINE_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/btb.h"
#include "machine/frames.h"
#include "machine/ittage.h"
#include "machine/perceptron.h"
#include "machine/tage.h"
#include "source/block.h"

/*
 * A counter is kept times 16, so that with 8 more where the branch is taken it
 * is the shift that finds its next state here, and in bit 0 whether it was
 * wrong: 0 0 1 2 when not taken, 1 2 3 3 when taken.
 */
#define COUNTER_NEXT UINT64_C(0x3021301121001100)
#define COUNTER_STATES 0x30u
#define COUNTER_START 0x10u /* weakly not taken */

/* The components that predict targets. The target cache is quick, not the last
 * word: what it lacks or gets wrong is no mispredict. */
#define COMPONENTS_MISPREDICTS \
    (COMPONENT_FAR | COMPONENT_INDIRECT | COMPONENT_RETURNS)
/* All that calls, returns or targets move. */
#define COMPONENTS_TARGETS                                       \
    (COMPONENT_BTC | COMPONENTS_MISPREDICTS | COMPONENT_FRAMES | \
     COMPONENT_LONG_PREDICTOR | COMPONENT_FURTHER_PREDICTORS |   \
     COMPONENT_FURTHER_TARGETS | COMPONENT_BTB)

/* A direction predictor that targets_ask() asks: one beside the first, or the
 * first if it is not of two-bit counters. One of the three is not NULL. */
struct predictor {
    struct tage *tage;               /* owned */
    struct perceptrons *perceptrons; /* owned */
    uint8_t *counters;               /* owned; as COUNTER_NEXT has them */
    uint64_t mask;                   /* counters - 1 */
    uint64_t history, history_mask;
    uint16_t not_taken, taken; /* signals of wrong predictions */
};

/* A target cache beside the indirect table. */
struct target_cache {
    uint64_t *targets; /* [mask + 1] or NO_LINE */
    uint64_t mask;
    uint64_t history, history_mask; /* of targets, newest lowest */
    uint16_t mispredicts;           /* signal */
};

/* Tables that do not run are NULL. */
struct targets {
    uint32_t kinds; /* of enum block_flags: what closes a block that asks */
    uint32_t btc_ways;
    uint32_t predictor_count;
    uint32_t more; /* of kinds: those that ask another table than the BTC */
    /* The BTC, or what is never found where it does not run. */
    const uint64_t *quick, *quick_targets;
    uint64_t *btc;         /* [sets][ways] branches by recency, or NO_LINE */
    uint64_t *btc_targets; /* beside them */
    uint64_t *far;         /* [far_mask + 1] branches, or NO_LINE */
    uint64_t *indirect;    /* [indirect_mask + 1] targets, or NO_LINE */
    struct ittage *ittage; /* tables behind the indirect one, owned */
    uint32_t ittage_path;  /* kinds of branches that are in their path */
    struct btb *btb;       /* branch target buffers, owned */
    uint64_t *returns;     /* [depth] a ring; the last call's at top */
    uint64_t far_mask, indirect_mask;
    uint64_t history, history_mask; /* of indirect targets, newest lowest */
    uint32_t depth, top, held;
    struct layout layout; /* of the targets in histories */
    bool has_frames;
    bool judges_all; /* conditional branches that are not taken ask, too */
    bool beside;     /* what ask_beside() asks runs */
    bool foretells;  /* predictors[0] is the first predictor */
    /* The branch that was judged last is taken, and was foretold by this level
     * of the branch target buffers, or BTB_NONE, by decode; 0: by the first, or
     * there is none. Who reads this sets it to 0. */
    uint8_t late;
    struct frames frames;
    uint64_t *memory;             /* of all other tables, owned */
    size_t size;                  /* words of it */
    struct predictor *predictors; /* those that run, owned */
    struct target_cache *caches;  /* those that run, owned */
    uint32_t cache_count;
    uint64_t *cache_memory; /* of their targets, owned */
    size_t cache_size;      /* words of it */
};

/* What the builder of blocks must know of the tables. */
void branch_shape(const uint64_t *params, struct block_shape *shape);

/* Directions of branches, newest lowest, that a counter's number depends on. */
uint64_t branch_history_mask(const uint64_t *params);

/* Sets up empty tables for the components that run; 0 or TALLY_ENOMEM.
 * targets_finish() accepts a zeroed struct. */
int
targets_init(struct targets *t, const uint64_t *params, uint64_t components);
void targets_reset(struct targets *t);
void targets_finish(struct targets *t);

/* A call has returned whose return was no branch of the strand: takes the call
 * off the return stack. */
void targets_returned(struct targets *t);

/* The branch that closed `last` went to `target`: it was taken, or, where there
 * are predictors that are asked here, it is a conditional branch. */
void targets_ask(struct targets *t, uint64_t *total, const struct block *last,
                 uint64_t target);

#endif
