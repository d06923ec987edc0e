/* SPDX-License-Identifier: MIT */
#include "machine/clock.h"

#include <string.h>

#include "machine/chip.h"

/* The cycles that one of a signal costs, with these parameters. */
static uint64_t
cost_of(const uint64_t *params, uint32_t parts, uint16_t signal)
{
    struct totals t;

    memset(&t, 0, sizeof(t));
    t.signal[signal] = 1;
    chip_derive(params, parts, &t);
    return t.signal[SIGNAL_CYCLES];
}

/* Of each sum, what is beyond the costs with `without`. */
static void
add_terms(struct clock *c, enum clock_sum sum, uint32_t parts,
          const uint64_t *with, const uint64_t *without)
{
    for (uint16_t s = 0; s < SIGNAL_COUNT; s++) {
        const uint64_t less = without ? cost_of(without, parts, s) : 0;
        const uint64_t cost = cost_of(with, parts, s) - less;
        const bool raised = (tally_signals[s].parts & ~parts) == 0;
        if (cost != 0 && raised && s != SIGNAL_STALL_ISSUE)
            c->terms[c->count++] = (struct clock_term){s, sum, cost};
    }
}

/* Signals are numbered so that the fixed ones are the first. */
static void
put_fixed_first(struct clock *c)
{
    for (unsigned i = 0; i < c->rest; i++) {
        const struct clock_term term = c->terms[i];
        if (term.signal >= SIGNAL_FIXED_COUNT)
            continue;
        c->terms[i] = c->terms[c->fixed];
        c->terms[c->fixed++] = term;
    }
}

/*
 * The obvious function tells its own factors: with no divisor but 1, and none
 * of what is divided, it is linear.
 */
void
clock_init(struct clock *c, const uint64_t *params, uint32_t parts)
{
    const uint64_t entries = params[PARAM_MISS_ENTRIES];
    uint64_t rest[PARAM_COUNT], with[PARAM_COUNT];

    memset(c, 0, sizeof(*c));
    memcpy(rest, params, sizeof(rest));
    rest[PARAM_TIME_INSTRUCTION] = rest[PARAM_MISS_ENTRIES] = 0;
    /* How many issue at once says more than by what to divide: cycles_group()
     * asks for it where nothing is divided. */
    rest[PARAM_TIME_ISSUE] = 1;
    add_terms(c, CLOCK_REST, parts, rest, NULL);
    c->rest = c->count;
    put_fixed_first(c);
    memcpy(with, rest, sizeof(with));
    with[PARAM_TIME_INSTRUCTION] = params[PARAM_TIME_INSTRUCTION];
    add_terms(c, CLOCK_ISSUE, parts, with, rest);
    c->divisor[CLOCK_ISSUE] = params[PARAM_TIME_ISSUE];
    memcpy(with, rest, sizeof(with));
    with[PARAM_MISS_ENTRIES] = entries != 0;
    add_terms(c, CLOCK_STORES, parts, with, rest);
    c->divisor[CLOCK_STORES] = entries != 0 ? entries : 1;
    c->more[CLOCK_STORES] = entries != 0 ? entries - 1 : 0;
}
