/* SPDX-License-Identifier: MIT */
/*
 * Sets of counters under one face, whatever implements them: perf_event on a
 * host (host/set.h), later the counters of an emulated machine. A set is opened
 * by what implements it, in its own way; from then on these calls do.
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
    uint64_t enabled; /* ns that it was to count */
    uint64_t running; /* ns that it did: less where counters were shared */
};

/* Each returns 0 or a negative enum tally_error, and logs it where it opened.
 */
struct counter_ops {
    int (*start)(void *set);
    int (*stop)(void *set);
    /* Into as many readings as the set has events; neither allocates nor
     * locks. */
    int (*read)(void *set, struct counter_reading *readings);
    /* From here all three numbers of each event start at 0. */
    int (*reset)(void *set);
    void (*close)(void *set); /* accepts NULL */
};

/*
 * What the event would have counted all the time it was enabled: value *
 * enabled / running, rounded to the nearest, at most UINT64_MAX. False, *scaled
 * untouched, if it never ran: then nothing is known.
 */
bool counter_scaled(const struct counter_reading *reading, uint64_t *scaled);

#endif
