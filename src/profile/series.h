/* SPDX-License-Identifier: MIT */
/*
 * Numbers seen one by one: how many, mean, deviation, smallest, largest, sum,
 * and percentiles in bounded memory.
 *
 * Percentiles come from a sorted list of values and how often each was seen.
 * It is exact as long as it has room; then values are rounded to their leading
 * bits, as few as fit, and a percentile is off by at most series_error() of
 * itself.
 */
#ifndef TALLY_PROFILE_SERIES_H
#define TALLY_PROFILE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct series_entry {
    uint64_t value, count;
};

struct series {
    uint64_t count, min, max;
    unsigned __int128 sum;
    double mean, squares; /* of the distances from the mean */
    struct series_entry *entries;
    uint32_t used, room;
    uint32_t recent; /* the entry that took the last value */
    uint8_t bits;    /* leading bits kept; 0: all */
};

/* Shared by many: what one list may hold shrinks as there come more. */
struct series_limit {
    size_t lists;
};

#define SERIES_ENTRIES 1024     /* of one list, at most */
#define SERIES_LEAST 16         /* which it may always have */
#define SERIES_TOTAL (4u << 20) /* entries of all lists together: 64 MiB */

/* All 0 is an empty series. */
void series_finish(struct series *series);

/* 0 or TALLY_ENOMEM. `limit` NULL: no percentiles are wanted. */
int
series_add(struct series *series, uint64_t value, struct series_limit *limit);

/* Of the whole population; 0 for one value. */
double series_deviation(const struct series *series);

/* The smallest value that `percent` of all do not exceed. */
uint64_t series_percentile(const struct series *series, double percent);

/* 0: exact; 0.01: off by at most 1 %. */
double series_error(const struct series *series);

#endif
