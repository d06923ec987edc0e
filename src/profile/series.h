/* SPDX-License-Identifier: MIT */
/*
 * Statistics of numbers that are given one by one: their count, mean,
 * deviation, smallest, largest, sum, and percentiles, in bounded memory.
 *
 * Percentiles come from a sorted list of values, each with the number of times
 * it was given. As long as the list has room the percentiles are exact. Then
 * neighbouring values are joined: the value that is returned for a percentile
 * is the exact value of another percentile, at most series_error() away.
 */
#ifndef TALLY_PROFILE_SERIES_H
#define TALLY_PROFILE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An entry of the list, after the quantile summaries of Greenwald and Khanna.
 */
struct series_entry {
    uint64_t value, count; /* the largest of `count` values */
    uint32_t joined;       /* so many of the `count` may be less than `value` */
    uint32_t beyond;       /* so many values of later entries may be less too */
};

struct series {
    uint64_t count, min, max;
    unsigned __int128 sum;
    double mean, squares; /* sum of squared distances from the mean */
    struct series_entry *entries;
    uint32_t used, waiting,
        room; /* `used` sorted entries, then unsorted ones */
};

/* Shared by many series: the more lists there are, the fewer entries each may
 * hold. */
struct series_limit {
    size_t lists;
};

#define SERIES_ENTRIES 2048     /* most entries of one list */
#define SERIES_LEAST 16         /* which every list may have */
#define SERIES_TOTAL (3u << 20) /* entries of all lists together: 72 MiB */

/* Frees the list. A zeroed struct is an empty series. */
void series_finish(struct series *series);

/* Adds a value. `limit` NULL: no percentiles are wanted. 0 or TALLY_ENOMEM. */
int
series_add(struct series *series, uint64_t value, struct series_limit *limit);

/* Returns the standard deviation of the whole population; 0 for one value. */
double series_deviation(const struct series *series);

/* Sorts the values; to be called before percentiles are asked for. */
void series_settle(struct series *series);

/* Returns the smallest value that `percent` of all values do not exceed. */
uint64_t series_percentile(const struct series *series, double percent);

/* Returns how far percentiles may be off. 0: they are exact; 0.004: the value
 * for 50 % is that of a percentile between 49.6 % and 50.4 %. */
double series_error(const struct series *series);

#endif
