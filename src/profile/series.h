/* SPDX-License-Identifier: MIT */
/*
 * Numbers seen one by one: how many, mean, deviation, smallest, largest, sum,
 * and percentiles in bounded memory.
 *
 * Percentiles come from a sorted list of values and how often each was seen.
 * It is exact as long as it has room; then neighbours are joined, as many as
 * make few of all, so that it follows any shape: the value of a percentile is
 * that of another at most series_error() away.
 */
#ifndef TALLY_PROFILE_SERIES_H
#define TALLY_PROFILE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As in the summaries of Greenwald and Khanna. */
struct series_entry {
    uint64_t value, count; /* the largest of `count` values */
    uint32_t joined;       /* of them may be less than it */
    uint32_t beyond;       /* of later entries may be less than it too */
};

struct series {
    uint64_t count, min, max;
    unsigned __int128 sum;
    double mean, squares; /* of the distances from the mean */
    struct series_entry *entries;
    uint32_t used, waiting, room; /* sorted; then such as are not yet */
};

/* Shared by many: what one list may hold shrinks as there come more. */
struct series_limit {
    size_t lists;
};

#define SERIES_ENTRIES 2048     /* of one list, at most */
#define SERIES_LEAST 16         /* which it may always have */
#define SERIES_TOTAL (3u << 20) /* entries of all lists together: 72 MiB */

/* All 0 is an empty series. */
void series_finish(struct series *series);

/* 0 or TALLY_ENOMEM. `limit` NULL: no percentiles are wanted. */
int
series_add(struct series *series, uint64_t value, struct series_limit *limit);

/* Of the whole population; 0 for one value. */
double series_deviation(const struct series *series);

/* Sorts what waits: before percentiles are asked for. */
void series_settle(struct series *series);

/* The smallest value that `percent` of all do not exceed. */
uint64_t series_percentile(const struct series *series, double percent);

/* 0: exact; 0.004: what is called 50 % is between 49.6 % and 50.4 %. */
double series_error(const struct series *series);

#endif
