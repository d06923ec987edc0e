/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls of the guest by their numbers in its ABI, and what hands a
 * thread's processor over: one of them, and no-ops that stand for one. */
#ifndef TALLY_PLUGIN_CALLS_H
#define TALLY_PLUGIN_CALLS_H

#include "isa/insn.h"
#include "isa/isa.h"
#include "machine/chip.h"
#include "plugin/qemu_api.h"

/* Whether `number` is `call` for a guest of this architecture. */
static inline bool
call_is(enum system_call call, const struct isa *isa, int64_t number)
{
    return number == isa->calls[call];
}

/* Whether `number` is one of those from CALL_SETUID on. */
bool call_changes_rights(const struct isa *isa, int64_t number);

/* A thread makes a call: what it counts as. */
void call_count(struct strand *strand, const struct isa *isa, int64_t number);

/* Registers what counts the pauses of a block, hints on a machine whose threads
 * switch; `strands` by the number of the guest thread. */
void call_register_pauses(const struct chip *chip, struct strand **strands,
                          struct qemu_plugin_tb *tb, const struct insn *insns,
                          size_t count);

#endif
