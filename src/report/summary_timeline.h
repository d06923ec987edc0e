/* SPDX-License-Identifier: MIT */
/*
 * The counts of each thread over time, for pictures: points of some intervals,
 * evenly spaced; the more traces there are, the fewer points each has.
 */
#ifndef TALLY_REPORT_SUMMARY_TIMELINE_H
#define TALLY_REPORT_SUMMARY_TIMELINE_H

#include "profile/summary.h"

struct timeline_point {
    uint64_t cycles; /* when the interval began */
    uint64_t value;
};

enum timeline_kind { TIMELINE_CYCLES, TIMELINE_EVENT, TIMELINE_WORD };

struct timeline_trace {
    uint64_t cpu;
    enum timeline_kind kind;
    uint64_t group, code; /* of an event; of a word its number, from 0 */
    struct timeline_point *points;
    uint32_t count, room;
    uint64_t seen, stride; /* each stride-th interval has a point */
};

struct timeline {
    struct summary_table *table;
    struct timeline_trace **traces; /* in the order they came up */
    size_t count;
};

/* Begins an empty timeline. 0 or TALLY_ENOMEM. */
int timeline_init(struct timeline *timeline);
void timeline_finish(struct timeline *timeline);

/* Adds the points of an interval. 0 or TALLY_ENOMEM. */
int timeline_add(struct timeline *timeline,
                 const struct summary_interval *interval);

#endif
