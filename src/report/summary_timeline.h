/* SPDX-License-Identifier: MIT */
/*
 * What each thread counted when: some of the intervals, evenly spaced, fewer
 * the more series there are. For pictures.
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
    uint64_t seen, stride; /* each stride-th is kept */
};

struct timeline {
    struct summary_table *table;
    struct timeline_trace **traces; /* in the order they came up */
    size_t count;
};

/* 0 or TALLY_ENOMEM. */
int timeline_init(struct timeline *timeline);
void timeline_finish(struct timeline *timeline);

/* 0 or TALLY_ENOMEM. */
int timeline_add(struct timeline *timeline,
                 const struct summary_interval *interval);

#endif
