/* SPDX-License-Identifier: MIT */
/*
 * A strand's modelled cycles from the few signals that they follow from, for
 * who asks often: signals_derive() without the rest. test/cycles.c holds the
 * two against each other.
 */
#ifndef TALLY_MACHINE_CLOCK_H
#define TALLY_MACHINE_CLOCK_H

#include "table/signals.h"

/* Terms of CLOCK_REST come first (`rest` of them), and of them those of fixed
 * signals (`fixed`): what most are is summed in a register. */
struct clock {
    struct clock_terms all;
    unsigned rest, fixed;
};

/* Sets up the clock of a machine of which `components` run, those of the
 * event of cycles. Signals that no component raises are left out, and so is
 * SIGNAL_STALL_ISSUE, which is known at the end. */
void
clock_init(struct clock *clock, const uint64_t *params, uint64_t components);

/* Returns the cycles, from the sums of factor x signal over the terms. */
static inline uint64_t
clock_cycles(const struct clock *c, const uint64_t sums[CLOCK_SUMS])
{
    uint64_t cycles = sums[CLOCK_REST];

    for (int i = 0; i < CLOCK_REST; i++) {
        const uint64_t divisor = c->all.divisor[i];
        if (divisor <= 1)
            cycles += sums[i];
        else
            cycles +=
                (sums[i] + (c->all.round_up[i] ? divisor - 1 : 0)) / divisor;
    }
    return cycles;
}

#endif
