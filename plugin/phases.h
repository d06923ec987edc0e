/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records which blocks each interval of a process's time ran
 * (source/phases.h), from the counts that all blocks have: at the end of an
 * interval it looks what has been added to them. Does nothing where the session
 * asks for no phases.
 */
#ifndef TALLY_PLUGIN_PHASES_H
#define TALLY_PLUGIN_PHASES_H

#include <stdint.h>

#include "source/phases.h"
#include "source/process_counts.h"

struct plugin;
struct strand;

struct phases {
    struct phases_process *process; /* NULL: nothing is recorded */
    uint64_t length, border;        /* of the interval that runs: its end */
    uint64_t begin;                 /* the multiple that it began at */
    uint64_t taken; /* instructions of all counts that were looked at */
    uint64_t ran;   /* instructions that strands have passed, by their looks */
    unsigned ended; /* intervals that have ended */
    uint64_t used;  /* entries of these */
    int64_t *now;   /* [COUNTS_BLOCKS] instructions of the interval */
    /* [COUNTS_BLOCKS] executions that were looked at, of each thread; NULL:
     * none were. Owned. */
    uint64_t *seen[COUNTS_STRANDS];
};

/* Maps the process's memory, if the session asks for phases. */
void phases_begin(struct plugin *p);

/* Has a new strand look at the end of the interval. */
void phases_strand_starts(const struct phases *phases, struct strand *strand);

/* Notes instructions that a strand has passed. */
void phases_pass(struct plugin *p, uint64_t instructions);

/* Returns the instructions until the next look, at least 1. */
uint64_t phases_left(const struct phases *phases);

/* Ends the interval if it is over, as the strand is about to enter a block of
 * so many instructions, which it has passed but not counted. */
void phases_look(struct plugin *p, unsigned instructions);

/* Takes what a thread has counted, as its counts are about to be zeroed, and
 * writes what there is of the interval that runs. */
void phases_fold(struct plugin *p, unsigned vcpu);

/* In the child of a fork, whose counts have moved to memory of its own. */
void phases_fork(struct plugin *p);

/* The process is counted no more. */
void phases_stop(struct plugin *p);

#endif
