/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/calls.h"

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
