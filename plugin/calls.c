/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/calls.h"

#include "plugin/plugin.h"

/* On sparc64, on mips64 (the n64 ABI), on x86-64. */
struct numbers {
    int64_t sparc, mips, x86;
};

static const struct numbers exec_numbers = {59, 5057, 59};
static const struct numbers yield_numbers = {245, 5023, 24}; /* sched_yield */

static int64_t
number_of(const struct numbers *n, enum isa isa)
{
    return isa == ISA_SPARC64 ? n->sparc : isa_is_mips(isa) ? n->mips : n->x86;
}

bool
call_is_execve(enum isa isa, int64_t number)
{
    return number == number_of(&exec_numbers, isa);
}

void
call_count(struct strand *s, enum isa isa, int64_t number)
{
    s->total[SIGNAL_SYSTEM_CALLS]++;
    s->total[SIGNAL_YIELDS] += number == number_of(&yield_numbers, isa);
}

static void
count_pause(unsigned vcpu, void *unused)
{
    (void)unused;
    if (tally_strands[vcpu] != NULL)
        tally_strands[vcpu]->total[SIGNAL_PAUSES]++;
}

void
call_register_pauses(const struct chip *chip, struct qemu_plugin_tb *tb,
                     const struct insn *insns, size_t count)
{
    if (chip->params[PARAM_TIME_SWITCH] == 0 || (chip->parts & PART_TIME) == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (insns[i].flags & INSN_PAUSE)
            qemu_plugin_register_vcpu_insn_exec_cb(
                qemu_plugin_tb_get_insn(tb, i), count_pause,
                QEMU_PLUGIN_CB_NO_REGS, NULL);
    }
}
