/* SPDX-License-Identifier: MIT */
#include "machine/clock.h"

/* Returns where a term stands: 0 is a fixed signal of CLOCK_REST, 1 another
 * signal of CLOCK_REST, 2 a signal of another sum. */
static unsigned
place_of(const struct clock_term *term)
{
    if (term->sum != CLOCK_REST)
        return 2;
    return term->signal < SIGNAL_FIXED_COUNT ? 0 : 1;
}

void
clock_init(struct clock *c, const uint64_t *params, uint64_t components)
{
    const uint64_t possible = components_implied(UINT64_MAX, params);
    struct clock_terms found;
    unsigned count = 0;

    signals_clock(params, &found);
    c->all = found;
    c->rest = c->fixed = 0;
    for (unsigned place = 0; place < 3; place++) {
        for (unsigned i = 0; i < found.count; i++) {
            const struct clock_term *term = &found.terms[i];
            const uint64_t raised_by =
                tally_signals[term->signal].components & possible;
            if (place_of(term) != place || (raised_by & ~components) != 0 ||
                term->signal == SIGNAL_STALL_ISSUE)
                continue;
            c->all.terms[count++] = *term;
            c->fixed += place == 0;
            c->rest += place <= 1;
        }
    }
    c->all.count = count;
}
