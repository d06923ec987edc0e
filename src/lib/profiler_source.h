/* SPDX-License-Identifier: MIT */
/*
 * Where the profiler's numbers come from: a clock, and sets of one or two
 * events of the calling thread. Here the numbers come from tally/counter.h: of
 * this host, or of the emulated machine that runs the program.
 */
#ifndef TALLY_LIB_PROFILER_SOURCE_H
#define TALLY_LIB_PROFILER_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/error.h"
#include "gateway/doorbell.h"
#include "gateway/set.h"
#include "profile/dump.h"

#define PROFILER_EVENTS 512 /* bytes of a list of events, NUL included */

struct profiler_set {
    void *counters;  /* the source's; NULL: the clock alone, or a machine */
    uint64_t hi, lo; /* codes, for dumps */
    unsigned events; /* 0 to 2; of one, lo is hi */
    /* On an emulated machine: `at` says where the two events and the clock are,
     * in live values or in the answer to a request. */
    struct gateway_set *machine;
    struct gateway_read *request; /* NULL: nothing is asked */
    struct gateway_live *live;    /* of the thread, which alone reads */
    const uint64_t *at[3];
    bool cycles;     /* cycles are the clock, else instructions */
    uint64_t offset; /* cycles when the thread's clock began */
};

/* Running totals. */
struct profiler_reading {
    uint64_t cycles, hi, lo;
};

struct profiler_source {
    unsigned width; /* of the counters, in bits */
    /* Finds the strand that the calling thread runs on, and how many strands
     * there are. False: the order of first starts numbers the threads. */
    bool (*strand)(uint64_t *strand, uint64_t *strands);
    /* Writes the name of the machine that counts, "host" or that of an emulated
     * one. NULL, and `name` NULL too: events have no names. */
    void (*machine)(char name[DUMP_NAME]);
    /* What the machine calls an event of the set, 0 or 1. */
    const char *(*name)(const struct profiler_set *set, unsigned index);
    /* Opens "A,B", "A" or "", the clock alone. The set does not count before
     * start(). */
    int (*open)(const char *events, bool cycles, const struct tally_log *log,
                struct profiler_set *set);
    /* Starts a set; `clock` is the set of the thread's clock, which always
     * counts. */
    int (*start)(struct profiler_set *set, const struct profiler_set *clock);
    int (*stop)(const struct profiler_set *set);
    /* Reads running totals; neither allocates nor locks. */
    int (*read)(const struct profiler_set *set,
                struct profiler_reading *reading);
    void (*close)(struct profiler_set *set);
};

extern const struct profiler_source profiler_counters;

static inline __attribute__((always_inline)) uint64_t
profiler_clock(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t now;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
#else
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

/* Returns whether profiler_quick() can read a set of profiler_counters: a set
 * of an emulated machine, or this host's clock alone. */
static inline bool
profiler_is_quick(const struct profiler_set *set)
{
    return set->counters == NULL;
}

/* Reads a set without a function call: each call costs a window on SPARC. */
static inline __attribute__((always_inline)) void
profiler_quick(const struct profiler_set *set, struct profiler_reading *reading)
{
    if (set->machine == NULL) {
        reading->hi = reading->lo = 0;
        reading->cycles = profiler_clock();
    } else if (set->request == NULL) {
        reading->hi = gateway_load(set->at[0]);
        reading->lo = gateway_load(set->at[1]);
        reading->cycles = gateway_load(set->at[2]);
    } else {
        gateway_lookup_on(set->live, set->request);
        reading->hi = *set->at[0];
        reading->lo = *set->at[1];
        reading->cycles = *set->at[2] - set->offset;
    }
}

#endif
