/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that the guest leaves before their end: the counts then have
 * instructions that never ran, or lack the whole block. There are two causes.
 * An instruction raises a signal, as a load from nowhere does. Or, on x86-64,
 * an instruction writes to the page that holds its block, and QEMU translates
 * the rest anew. Each such block is counted in the process's head.
 */
#ifndef TALLY_PLUGIN_EARLY_H
#define TALLY_PLUGIN_EARLY_H

#include <pthread.h>

#include "plugin/blocks.h"
#include "plugin/qemu_api.h"

#define EARLY_HANDLERS 64

/* Where a handler of the process begins, and whether it handles signals that
 * instructions raise, or others. A handler of both kinds tells nothing: nobody
 * sees which signal came. */
struct early_handler {
    const struct early *early; /* that has this handler */
    uint64_t pc;
    bool raised, other;
};

/* The pointers are set by the owner. The handlers are under the lock. */
struct early {
    pthread_mutex_t *lock; /* of translation */
    const struct block_shape *shape;
    const struct process_counts *process;
    const struct block_table *blocks;
    struct strand *const *strands; /* by the number of the guest thread */
    struct early_handler handlers[EARLY_HANDLERS];
    unsigned handler_count;
    struct early_handler write; /* stands for a write that QEMU repeats */
    bool all;                   /* blocks shall tell where any handler begins */
};

/* Returns whether instructions raise the signal, by the guest's number, as a
 * load from nowhere does; else it comes from outside. */
bool early_is_raised(const struct isa *isa, uint64_t signal);

/* Looks at a system call of the guest for a handler of such signals. Returns
 * whether QEMU has to translate again to see when a handler begins. */
bool early_syscall(struct early *e, int64_t number, const uint64_t args[4]);

/* Looks at the return of a call for a child that died by such a signal. */
void early_return(const struct early *e, int64_t number, const uint64_t args[4],
                  int64_t result);

/* Returns whether a handler of signals begins at the address. Under the lock.
 */
bool early_begins_handler(struct early *e, uint64_t pc);

/* Registers the call that counts, where the block begins a handler or repeats a
 * write to its own page. `count` is QEMU's number of instructions. To be called
 * before the block's own callbacks are registered, under the lock of
 * translation. */
void early_register(struct early *e, struct qemu_plugin_tb *tb,
                    const struct block *block, const struct insn *insns,
                    size_t count);

#endif
