/* SPDX-License-Identifier: MIT */
/*
 * Where the profiler's numbers come from: a clock, and sets of one or two
 * events of the calling thread.
 */
#ifndef TALLY_LIB_PROFILER_SOURCE_H
#define TALLY_LIB_PROFILER_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define PROFILER_EVENTS 512 /* bytes of a list of them */

struct profiler_set {
    void *counters;  /* the source's; NULL: the clock alone */
    uint64_t hi, lo; /* codes, for dumps */
    bool two;        /* else lo is hi */
};

/* Running totals. */
struct profiler_reading {
    uint64_t cycles, hi, lo;
};

struct profiler_source {
    unsigned width; /* of the counters, in bits */
    /* Opens "A,B", "A" or "", which then do not count. */
    int (*open)(const char *events, const struct tally_log *log,
                struct profiler_set *set);
    int (*start)(const struct profiler_set *set);
    int (*stop)(const struct profiler_set *set);
    /* These two neither allocate nor lock. */
    int (*read)(const struct profiler_set *set,
                struct profiler_reading *reading);
    void (*close)(struct profiler_set *set);
};

/* tally/counter.h: this host, or the emulated machine that we run on. */
extern const struct profiler_source profiler_counters;

#endif
