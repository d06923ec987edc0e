/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that the guest leaves before their end: instructions that never ran
 * are in the counts then, or the whole block is not. Two things do so. An
 * instruction raises a signal, as a load from nowhere does. Or, on x86-64, an
 * instruction writes to the page that holds its block, and QEMU translates the
 * rest anew. Each such block is counted in the process's head.
 */
#ifndef TALLY_PLUGIN_EARLY_H
#define TALLY_PLUGIN_EARLY_H

#include "plugin/plugin.h"

/* Hears every system call of the guest, for the handlers of such signals. */
void early_syscall(int64_t number, const uint64_t args[4]);

/* Hears the returns of calls, for children that died by such a signal. */
void early_return(int64_t number, int64_t result);

/* Registers what counts, where the block begins a handler or repeats a write to
 * its own page; `count` as QEMU has it. Before the block's own callbacks, under
 * the lock of translation. */
void early_register(const struct plugin *p, struct qemu_plugin_tb *tb,
                    const struct block *block, const struct insn *insns,
                    size_t count);

#endif
