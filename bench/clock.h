/* SPDX-License-Identifier: MIT */
/* A clock, and the median of several values, for all timings. */
#ifndef TALLY_BENCH_CLOCK_H
#define TALLY_BENCH_CLOCK_H

#include <stdlib.h>
#include <time.h>

/* Returns the seconds of a clock such as CLOCK_MONOTONIC. */
static inline double
clock_seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int
by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the values, of which there is one at least, and returns the median. */
static inline double
median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

#endif
