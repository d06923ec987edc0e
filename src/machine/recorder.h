/* SPDX-License-Identifier: MIT */
/*
 * Where a strand's dynamic signals are raised: for `tally record`, which tells
 * each count by instruction.
 *
 * The model adds to totals only. The recorder looks at the totals that the
 * session asks for wherever the model has just done something for one
 * instruction, and charges the instruction with what has come since the last
 * look. So whatever raises a signal, the parts add up to the total; what a part
 * of the model raises long after its cause is charged to the instruction that
 * was then looked at. A hit of a filter raises nothing and costs nothing.
 *
 * Misses of the L1s and of the levels behind them, page walks, and the branches
 * that leave a block are charged to the instruction that caused them. Lines
 * that leave an L1 because an inclusive L2 drives them out are charged to the
 * last request of the queue that was drained.
 */
#ifndef TALLY_MACHINE_RECORDER_H
#define TALLY_MACHINE_RECORDER_H

#include "machine/chip.h"
#include "source/record_counts.h"

#define RECORDER_NONE UINT16_MAX

struct recorder {
    struct record_strand *record; /* the caller's */
    struct record_site *sites;    /* in `record`, with mask + 1 places */
    uint64_t mask, used;
    bool outside;   /* nothing is recorded now */
    unsigned count; /* signals that are recorded */
    uint16_t signals[SIGNAL_COUNT];
    uint16_t place[SIGNAL_COUNT];   /* of a signal in `signals`, or
                                       RECORDER_NONE */
    uint64_t charged[SIGNAL_COUNT]; /* of each of `signals`, the total that
                                       instructions have been charged with */
};

/* Starts recording a strand into `record`, which is empty, or goes on with what
 * is there. */
void
recorder_init(struct recorder *r, struct record_strand *record,
              const uint16_t *signals, unsigned count, const uint64_t *total);

/* The strand's totals are others from now on; `outside`: they do not count. */
void recorder_switch(struct strand *s, bool outside);

/* Charges an instruction of a block (its number, from 1; 0 is not known and
 * stays unattributed) with what the totals have gained. */
void recorder_charge(struct strand *s, uint32_t block, unsigned instruction);

/* Charges an instruction with `count` of one signal, which its total has gained
 * already. */
void recorder_charge_one(struct strand *s, uint32_t block, unsigned instruction,
                         unsigned signal, uint64_t count);

/* Charges the block that runs, if the strand records. */
static inline void
strand_charge(struct strand *s, unsigned instruction)
{
    if (__builtin_expect(s->recorder != NULL, 0))
        recorder_charge(s, s->previous->number, instruction);
}

/* Returns the instruction of a request, as record_key() takes it. */
static inline unsigned
recorder_instruction(const struct strand *s, const struct request *r)
{
    return r->kind == REQUEST_FETCH
               ? RECORD_LINE | (r->addr >> s->fetch.shift & (RECORD_LINE - 1))
               : r->instruction;
}

#endif
