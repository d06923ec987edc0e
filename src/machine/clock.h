/* SPDX-License-Identifier: MIT */
/*
 * A strand's modelled cycles from the few signals that they follow from, for
 * who asks often: cycles_derive() without the rest. They are a sum of quotients
 * of sums; test/cycles.c holds the two against each other.
 */
#ifndef TALLY_MACHINE_CLOCK_H
#define TALLY_MACHINE_CLOCK_H

#include <stdint.h>

#include "table/table.h"

/* What issues, what stores wait in a miss handling table, all else. */
enum clock_sum { CLOCK_ISSUE, CLOCK_STORES, CLOCK_REST, CLOCK_SUMS };

struct clock_term {
    uint16_t signal;
    uint16_t sum; /* enum clock_sum */
    uint64_t factor;
};

struct clock {
    /* Terms; those of CLOCK_REST come first, and of them those of fixed
     * signals: what most are is summed in a register. */
    unsigned count, rest, fixed;
    struct clock_term terms[CLOCK_SUMS * SIGNAL_COUNT];
    uint64_t divisor[CLOCK_SUMS], more[CLOCK_SUMS]; /* before dividing */
};

/* `parts` are those that cycles need, chip_parts(). What no part that runs
 * raises is left out, and so is SIGNAL_STALL_ISSUE, which is known at the end.
 */
void clock_init(struct clock *clock, const uint64_t *params, uint32_t parts);

/* From the sums of factor x signal over the terms. */
static inline uint64_t
clock_cycles(const struct clock *c, const uint64_t sums[CLOCK_SUMS])
{
    uint64_t cycles = sums[CLOCK_REST];

    for (int i = 0; i < CLOCK_REST; i++)
        cycles += c->divisor[i] == 1 ? sums[i]
                                     : (sums[i] + c->more[i]) / c->divisor[i];
    return cycles;
}

#endif
