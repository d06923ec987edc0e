/* SPDX-License-Identifier: MIT */
/*
 * Conditions, components of the model and derived signals, as
 * data/components.toml and data/signals.toml declare them. `params` are always
 * the PARAM_COUNT values of one machine. All functions are pure and safe from
 * any thread.
 */
#ifndef TALLY_TABLE_SIGNALS_H
#define TALLY_TABLE_SIGNALS_H

#include "table/table.h"

/* What parameters may say of a machine, such as that it has an L2. */
struct condition_row {
    /* `copy`: the number of the signal among its copies, else 0. */
    bool (*holds)(const uint64_t *params, unsigned copy);
    const char *otherwise; /* the reason to print where it does not, or NULL */
    /* An event that sums one signal which requires it counts nothing, even if
     * it sums others. */
    bool whole;
};

extern const struct condition_row tally_conditions[CONDITION_COUNT];

static inline bool
condition_holds(enum condition_id condition, const uint64_t *params)
{
    return tally_conditions[condition].holds(params, 0);
}

/* What a program tells the model, and what an imported trace may lack. */
struct feed_row {
    unsigned bit;          /* enum feed_id */
    const char *otherwise; /* the reason to print where it is lacking */
};

extern const struct feed_row tally_feeds[FEED_COUNT];

struct implied_component {
    uint64_t bit;
    enum condition_id where; /* CONDITION_NONE: everywhere */
};

/* A component of the model: it runs or not. */
struct component_row {
    const char *name;
    const char *brief;
    uint64_t bit;               /* enum component_id */
    enum condition_id possible; /* or CONDITION_NONE: always */
    const struct implied_component *implies;
    size_t implied_count;
};

extern const struct component_row tally_components[COMPONENT_COUNT];

/* Returns the components that run where those of `asked` are needed: with all
 * that they imply, without those that the machine cannot have. */
uint64_t components_implied(uint64_t asked, const uint64_t *params);

/* Returns components_implied() of all signals of `events`. */
uint64_t components_of(const struct event_row *const *events, size_t count,
                       const uint64_t *params);

/* Returns why the machine cannot count the event, one line that lives as long
 * as the program, or NULL if it can. */
const char *event_lacks(const struct event_row *event, const uint64_t *params);

/* Returns why an event cannot be counted of what has the feeds alone, enum
 * feed_id bits: one line that lives as long as the program; or NULL. */
const char *event_starves(const struct event_row *event, unsigned feeds);

/* Returns whether the machine can raise the signal: false means that it stays
 * 0. */
bool signal_possible(unsigned signal, const uint64_t *params);

/* Sets the derived signals of `n`, SIGNAL_COUNT totals, from the others. Those
 * of components that do not run (`components`) may be left as they are. */
void signals_derive(const uint64_t *params, uint64_t components, uint64_t *n);

/*
 * Sets the derived signals of `part`, SIGNAL_COUNT totals of a part of the
 * program such as one instruction, from its others. `whole`: the totals of the
 * whole, derived. A part has what it adds to the whole: the derivative of each
 * formula along the part. So the parts of a whole add up to the whole but for
 * what division rounds, and where a formula compares totals, those of the whole
 * decide. A part may be negative: of "stores less misses" an instruction that
 * misses twice a store has fewer than none.
 */
void signals_derive_part(const uint64_t *params, uint64_t components,
                         const uint64_t *whole, double *part);

/* The last of the CLOCK_SUMS sums of `cycles`, which is divided by nothing. */
#define CLOCK_REST (CLOCK_SUMS - 1)

struct clock_term {
    uint16_t signal;
    uint16_t sum; /* < CLOCK_SUMS */
    uint64_t factor;
};

struct clock_terms {
    unsigned count;
    struct clock_term terms[CLOCK_TERMS];
    uint64_t divisor[CLOCK_SUMS]; /* 0: its sum has no terms */
    bool round_up[CLOCK_SUMS];
};

/* Fills in the terms of `cycles` whose factors are not 0 with these parameters.
 */
void signals_clock(const uint64_t *params, struct clock_terms *clock);

/* The functions of formulas. */

static inline uint64_t
signal_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t
signal_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline bool
signal_power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static inline uint64_t
signal_ceil_div(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

static inline uint64_t
signal_share(uint64_t part, uint64_t of, uint64_t whole)
{
    return whole == 0 ? 0 : (uint64_t)((unsigned __int128)part * of / whole);
}

/* Returns what a part of signal_share()'s first argument adds to it: the ratio
 * of the other two is that of the whole, so the parts add up and none is
 * negative. */
static inline double
signal_share_part(double part, uint64_t of, uint64_t whole)
{
    return whole == 0 ? 0 : part * ((double)of / (double)whole);
}

#endif
