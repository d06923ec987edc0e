/* SPDX-License-Identifier: MIT */
/*
 * Sums the runs of a benchmark up, and compares them with a baseline.
 *
 * Of each event the median, the least and the most of all layouts count. A
 * measure rose where its least is above the baseline's most, and fell where its
 * most is below the baseline's least: otherwise the layout makes as much
 * difference as the change. A rise breaks a limit where the median rose by more
 * per cent than the limit.
 */
#ifndef TALLY_CHECK_COMPARE_H
#define TALLY_CHECK_COMPARE_H

#include "check/baseline.h"

/* Names of the measures of a sample's events, of which the first two are
 * CHECK_INSTRUCTIONS and CHECK_COST. */
#define CHECK_INSTRUCTIONS "instructions"
#define CHECK_COST "cost"

/* Events that tell other work: beside instructions. */
#define CHECK_LOADS "L1-dcache-loads"
#define CHECK_STORES "L1-dcache-stores"

/* A limit of a measure, per cent; NaN: none. */
struct check_limit {
    char *measure;
    double soft, hard;
};

/* Makes the entry of a baseline of the runs in all layouts. `measures`: names
 * of the samples' events. `output`: what the benchmark printed, as in struct
 * check_entry. Returns 0 or TALLY_ENOMEM; the caller finishes the entry in any
 * case. */
int check_sum_up(const struct check_sample *samples, unsigned layouts,
                 const char *const *measures, const char *output,
                 struct check_entry *entry);

/* Sets the measures, verdicts, status, cause, functions and notes of a zeroed
 * result. `before` NULL: there is no baseline, and the status is left.
 * The status is CHECK_NO_BASELINE, too, where a measure with a limit is not in
 * the baseline. Returns 0 or TALLY_ENOMEM. */
int
check_compare(const struct check_entry *now, const struct check_entry *before,
              const struct check_limit *limits, size_t limit_count,
              struct check_result *result);

/* Returns the name of the first event that two runs counted differently, with
 * its number in *event; NULL: none. */
const char *
check_difference(const struct check_sample *a, const struct check_sample *b,
                 const char *const *measures, size_t *event);

#endif
