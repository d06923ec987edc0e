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

/* Totals that are compared at once. */
#define RECORDER_LINE 8u
#define RECORDER_LINES (SIGNAL_COUNT / RECORDER_LINE + 1)

/* Signals that are looked at together. */
struct recorder_set {
    unsigned count;                 /* of lines with any of the signals */
    uint16_t lines[RECORDER_LINES]; /* the first signal of each */
    uint64_t mask[SIGNAL_COUNT];    /* all ones: the set has the signal */
};

struct recorder {
    struct record_strand *record; /* the caller's */
    struct record_site *sites;    /* in `record`, with mask + 1 places */
    uint64_t mask, used;
    bool outside; /* nothing is recorded now */
    /* Signals that the look-up of a branch's target raises, as many blocks ask
     * for it and nothing else raises them; and all others. */
    struct recorder_set branch, other;
    bool records[SIGNAL_COUNT];     /* the signal is recorded */
    uint64_t charged[SIGNAL_COUNT]; /* the total that instructions have been
                                       charged with */
};

/* Starts recording a strand into `record`, which is empty, or goes on with what
 * is there. */
void
recorder_init(struct recorder *r, struct record_strand *record,
              const uint16_t *signals, unsigned count, const uint64_t *total);

/* The strand's totals are others from now on; `outside`: they do not count. */
void recorder_switch(struct strand *s, bool outside);

/* Charges an instruction of a cell (source/record_counts.h; 0 is not known and
 * stays unattributed) with what the totals have gained. */
void recorder_charge(struct strand *s, uint32_t cell, unsigned instruction);

/* Charges the branch that closed a block with what the look-up of its target
 * raised (machine/branch.h). */
void recorder_charge_branch(struct strand *s, uint32_t cell);

/* Charges an instruction with `count` of one signal, which its total has gained
 * already. */
void recorder_charge_one(struct strand *s, uint32_t cell, unsigned instruction,
                         unsigned signal, uint64_t count);

/* Charges the block that runs, if the strand records. */
static inline void
strand_charge(struct strand *s, unsigned instruction)
{
    if (__builtin_expect(s->recorder != NULL, 0))
        recorder_charge(s, s->cell, instruction);
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
