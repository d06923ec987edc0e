/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records what the model does step by step for `tally teach` (source/steps.h):
 * for each access to data the set of a cache before and after it, for each
 * conditional branch the counter that predicts it, or for each block of code
 * the signals that its cycles follow from.
 *
 * Where steps are recorded, each block is entered by itself, and each access
 * has calls of its own before and after the model's. Each access is taken
 * through the caches at once and by itself. Where sets are recorded, the
 * filters in front of the caches let no access pass, so that machine/classes.h
 * sees all of them. Without steps nothing of this is registered. Threads take
 * turns, so nothing here is locked.
 */
#ifndef TALLY_PLUGIN_STEPS_H
#define TALLY_PLUGIN_STEPS_H

#include "isa/insn.h"
#include "machine/classes.h"
#include "machine/reasons.h"
#include "plugin/qemu_api.h"
#include "source/block.h"
#include "source/steps.h"

struct plugin;
struct steps_thread;
struct steps_block;

/* Signals of misses that an access to data may raise in a level. */
#define STEPS_SIGNALS 8u

/* A set of signals that are added up. */
struct steps_sum {
    unsigned count;
    uint16_t signals[STEPS_SIGNALS];
};

/* The state of a process's steps. */
struct steps_state {
    bool runs;         /* steps are asked for, and recording has not ended */
    bool on;           /* recording has begun */
    uint64_t all;      /* instructions of the blocks that all threads entered */
    uint64_t first;    /* of these, those before recording began */
    uint64_t from, to; /* addresses in memory, or NO_LINE */
    struct code_range ranges[POINT_RANGES]; /* in memory */
    struct steps_thread **threads; /* [COUNTS_STRANDS] by vCPU; owned */
    void *blocks;                  /* struct steps_block, tsearch(3) */
    void *parts;                   /* of blocks, by content, tsearch(3) */
    struct run_step *open;         /* STEPS_BUBBLES: the block that runs last */
    /* STEPS_SETS: why the level lacks a line. */
    struct reasons reasons;
    struct classes classes;
    struct steps_sum misses, fronts; /* of the level, and in front of it */
};

/* Begins to record steps, if the session asks for them, on a chip that was set
 * up. `first`: the process runs the session's first program, or one that it
 * executed itself. 0 or TALLY_ENOMEM. */
int steps_begin(struct plugin *p, bool first);

/* The program is in memory: its addresses are known. */
void steps_program(struct plugin *p);

/* The process is the child of a fork, where no steps are recorded. */
void steps_forks(struct plugin *p);

/* The thread makes a system call, which has been counted. The program may end
 * in the call, with no block behind it. */
void steps_call(struct plugin *p, unsigned vcpu);

/* Returns what is kept of the code of a block while it is translated; `image`:
 * as recording_image() has it. */
struct steps_block *steps_code(struct plugin *p, struct qemu_plugin_tb *tb,
                               const struct block *block, uint32_t image,
                               const struct insn *insns, size_t count);

/* Registers for a block what comes before the model enters it, and after; for a
 * part of a block what comes after. `first`: the part's first instruction. */
void steps_register_leave(struct plugin *p, struct qemu_plugin_tb *tb,
                          const struct block *block);
void
steps_register_enter(struct plugin *p, struct qemu_plugin_tb *tb,
                     struct steps_block *code, const struct block_info *info);
void
steps_register_part(struct qemu_plugin_insn *marker, struct steps_block *code,
                    unsigned first, const struct block_info *info);

/* Registers what comes before the model makes an access of the block's
 * instruction of this number, and after. */
void steps_register_before(struct qemu_plugin_insn *insn,
                           struct steps_block *code, unsigned instruction);
void steps_register_after(struct qemu_plugin_insn *insn,
                          struct steps_block *code, unsigned instruction);

#endif
