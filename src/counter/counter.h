/* SPDX-License-Identifier: MIT */
/*
 * One interface for sets of counters, whatever implements them: perf_event on a
 * host (host/set.h), or the counters of an emulated machine (gateway/set.h).
 * Each implementation opens its sets in its own way; the calls below then serve
 * all sets.
 *
 * Freestanding: no allocation, no system.
 */
#ifndef TALLY_COUNTER_COUNTER_H
#define TALLY_COUNTER_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counter_reading {
    uint64_t value;   /* as counted: not scaled */
    uint64_t enabled; /* ns for which the event was to count */
    uint64_t running; /* ns for which it counted: less if counters are shared */
};

/* The calls of one implementation. They return 0 or a negative enum
 * tally_error, and log the error to the log that the set was opened with. */
struct counter_ops {
    int (*start)(void *set);
    int (*stop)(void *set);
    /* Fills in one reading for each event of the set. Neither allocates nor
     * locks. */
    int (*read)(void *set, struct counter_reading *readings);
    /* Sets all three numbers of each event to 0. */
    int (*reset)(void *set);
    void (*close)(void *set); /* accepts NULL */
};

/*
 * Estimates what the event would have counted if it had run all the time that
 * it was enabled: value * enabled / running, rounded to the nearest, at most
 * UINT64_MAX. Returns false and leaves *scaled alone if the event never ran.
 */
bool counter_scaled(const struct counter_reading *reading, uint64_t *scaled);

#endif
