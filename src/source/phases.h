/* SPDX-License-Identifier: MIT */
/*
 * What `tally phases` asks of a run, and what each process records: the blocks
 * that each interval of its time ran. The memory follows the recording in the
 * session's file (source/record_counts.h) and is only mapped where phases are
 * asked for. The program could write there too, so that readers check the
 * numbers.
 *
 * Interval 0 begins with the process. A later interval begins with the first
 * block that has an instruction at or behind a multiple of the length; of
 * several threads, which take turns, up to a turn later.
 */
#ifndef TALLY_SOURCE_PHASES_H
#define TALLY_SOURCE_PHASES_H

#include <stdatomic.h>
#include <stdint.h>

#define PHASES_LENGTH_LEAST 1000u
#define PHASES_LENGTH_MOST 2000000000u
#define PHASES_INTERVALS (1u << 20)
#define PHASES_ENTRIES (1u << 28)
/* Where the length doubles: once the process has run so many intervals of the
 * length. */
#define PHASES_DOUBLING 2048u

struct phases_request {
    uint64_t length;  /* instructions of an interval; 0: none is recorded */
    uint32_t doubles; /* not 0: the length doubles as the run gets longer */
    /* Not 0: each thread keeps a snapshot of its counts at the end of an
     * interval and at its own end. Its boundary is 1 + the interval's number.
     */
    uint32_t counts;
};

/* What a block ran in an interval. */
struct phases_entry {
    uint32_t block;       /* index of its place */
    int32_t instructions; /* less than 0: what other blocks of the same place
                             have too many */
};

struct phases_interval {
    uint64_t begin; /* the multiple of the length that it begins at */
    uint64_t end;   /* entries of this interval and all before it */
};

/* Of one process. */
struct phases_process {
    atomic_uint count; /* intervals that are written; the one that runs may be
                          the last */
    atomic_uint full;  /* not 0: there was no room for all intervals */
    uint64_t length;   /* of the interval that runs */
    uint64_t begin;    /* the multiple of a length that it begins at */
    struct phases_interval intervals[PHASES_INTERVALS];
    struct phases_entry entries[PHASES_ENTRIES];
};

#endif
