/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the point of a run that `tally at` asks for (source/point.h): counts
 * misses, instructions or entries of a function, keeps what ran and what was
 * accessed last, and at the point tells what there is and stops the process.
 *
 * Where a point is asked for, each block is entered by itself, each access has
 * calls of its own before and after the model's, and each access is taken
 * through the caches at once, so that what an access misses is known when it
 * is made. Without a point nothing of this is registered. Threads take turns,
 * so nothing here is locked.
 */
#ifndef TALLY_PLUGIN_POINT_H
#define TALLY_PLUGIN_POINT_H

#include "isa/insn.h"
#include "plugin/qemu_api.h"
#include "source/block.h"
#include "source/point.h"

struct plugin;
struct point_thread;
struct point_filled;

/* The state of a process's point. */
struct point_state {
    bool runs;       /* the point is asked for, and was not reached yet */
    uint64_t passed; /* of what is counted */
    uint64_t all;    /* instructions of the blocks that all threads entered */
    uint64_t entry;  /* POINT_ENTRY: the address in memory */
    struct code_range ranges[POINT_RANGES]; /* in memory */
    struct point_thread **threads; /* [COUNTS_STRANDS] by vCPU; owned */
    struct point_filled **filled;  /* by core: who brought lines in; owned */
    void *parts;                   /* of blocks, by content, tsearch(3) */
    /* The set before the access that may be the point's. */
    struct point_set set;
};

/* Begins to look for the point, if the session asks for one. `first`: the
 * process runs the session's first program, or one that it executed itself.
 * 0 or TALLY_ENOMEM. */
int point_begin(struct plugin *p, bool first);

/* The program is in memory: its addresses are known. */
void point_program(struct plugin *p);

/* The process is the child of a fork, where no point is looked for. */
void point_forks(struct plugin *p);

/* Registers for a block what comes before the model enters it; for a part of a
 * block what comes after. `first`, `instructions`: the part's first
 * instruction in the block, and how many it has. */
void point_register_leave(struct plugin *p, struct qemu_plugin_tb *tb,
                          const struct block *block);
void point_register_enter(struct plugin *p, struct qemu_plugin_tb *tb,
                          const struct block *block, unsigned instructions);
void point_register_part(struct plugin *p, struct qemu_plugin_insn *marker,
                         const struct block *block, unsigned first,
                         unsigned instructions);

/* Registers what comes before the model makes an access of the block's
 * instruction of this number, and after. */
void point_register_before(struct qemu_plugin_insn *insn, unsigned instruction);
void point_register_after(struct qemu_plugin_insn *insn, unsigned instruction);

#endif
