/* SPDX-License-Identifier: MIT */
/*
 * What the event address registers and the trace buffer of a Montecito are to
 * capture while a program runs, and what they held each time the monitor froze:
 * the values of the registers themselves (chapter 3.3.8 to 3.3.10), beside what
 * a monitor of foreign instructions cannot hold, their own addresses.
 */
#ifndef TALLY_SOURCE_CAPTURE_H
#define TALLY_SOURCE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#define CAPTURE_ENTRIES 16u /* of the trace buffer: PMD48 to 63 */

/* What an event address register captures. */
enum capture_ear {
    CAPTURE_NONE,
    CAPTURE_LOAD,  /* data EAR: load misses of the L1D */
    CAPTURE_DTLB,  /* data EAR: TLB misses */
    CAPTURE_FETCH, /* instruction EAR: misses of the L1I */
    CAPTURE_ITLB,  /* instruction EAR: TLB misses */
};

/* Where a captured miss was served. */
enum capture_level {
    CAPTURE_UNKNOWN,
    CAPTURE_L2,
    CAPTURE_L3,
    CAPTURE_MEMORY,
    CAPTURE_TLB,  /* of the first TLB: the second had the page */
    CAPTURE_WALK, /* of both TLBs: the page walker found it */
    CAPTURE_LEVELS
};

struct capture_request {
    uint32_t ear;    /* enum capture_ear */
    uint32_t traced; /* entries of the trace buffer that are asked for, or 0 */
    bool retired;    /* the IP-EAR runs in its place */
    uint8_t delay;   /* of the IP-EAR, cycles */
    uint64_t period; /* occurrences until the monitor freezes; 0: only in the
                      * end */
    uint64_t pmc37, pmc39, pmc40, pmc42;
};

/* Registers as they were read when the monitor had frozen. */
struct capture_record {
    uint64_t pc;        /* of the guest's instruction that overflowed */
    uint64_t address;   /* of its data, or 0 */
    uint64_t ear[3];    /* PMD32, 33, 36 or PMD34, 35 */
    uint64_t index;     /* PMD38 */
    uint64_t extension; /* PMD39 */
    uint64_t entries[CAPTURE_ENTRIES];
    uint32_t thread;
    uint32_t latency; /* of the miss, as the register has it; 0: none */
    uint8_t level;    /* enum capture_level */
    bool ended;       /* not by an overflow: the thread ended */
};

/* Returns whether the request asks for PMD48 to 63. */
static inline bool
capture_buffered(const struct capture_request *r)
{
    return r->traced != 0 || r->retired;
}

static inline bool
capture_wanted(const struct capture_request *r)
{
    return r->ear != CAPTURE_NONE || capture_buffered(r);
}

#endif
