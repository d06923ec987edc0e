/* SPDX-License-Identifier: MIT */
/*
 * Where the profiler's numbers come from: a clock, and sets of one or two
 * events of the calling thread. Here they come from tally/counter.h, which is
 * this host or the emulated machine that we run on.
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
    unsigned events; /* 0 to 2; of one, lo is hi */
    bool cycles;     /* the machine's are the counter after these */
    uint64_t offset; /* of these, to be the thread's */
    /* Where the machine's instructions are, the clock without cycles; NULL: the
     * host's clock. */
    const uint64_t *instructions;
    /* Where the events are live, each in one place, and there are no cycles; or
     * NULL. An x86-64 guest's update then costs 0 to 40 ns more than under
     * plain QEMU, and 250 through tally_counter_read(). */
    const uint64_t *live[2];
};

/* Running totals. */
struct profiler_reading {
    uint64_t cycles, hi, lo;
};

struct profiler_source {
    unsigned width; /* of the counters, in bits */
    /* The strand that the calling thread runs on, of so many; false: numbers in
     * the order of first starts stand for strands. */
    bool (*strand)(uint64_t *strand, uint64_t *strands);
    /* Opens "A,B", "A" or "", which then do not count. */
    int (*open)(const char *events, bool cycles, const struct tally_log *log,
                struct profiler_set *set);
    /* The thread's clock is a set of its own that always counts. */
    int (*start)(struct profiler_set *set, const struct profiler_set *clock);
    int (*stop)(const struct profiler_set *set);
    /* These two neither allocate nor lock. */
    int (*read)(const struct profiler_set *set,
                struct profiler_reading *reading);
    void (*close)(struct profiler_set *set);
};

extern const struct profiler_source profiler_counters;

#endif
