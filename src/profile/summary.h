/* SPDX-License-Identifier: MIT */
/*
 * Sums up dumps: makes intervals of starts and updates, and statistics of the
 * intervals.
 *
 * A start opens an interval, whose counts begin at 0. An update closes the open
 * interval of the same cpu and group and opens the next, whose counts go on
 * from the update's. Records that do not fit together are counted in the
 * troubles and left out.
 *
 * The memory needed grows with the number of threads, regions, events and user
 * words, not with the number of intervals.
 */
#ifndef TALLY_PROFILE_SUMMARY_H
#define TALLY_PROFILE_SUMMARY_H

#include "profile/dump.h"
#include "profile/series.h"
#include "table/table.h"

/* How intervals are grouped into cells; bits. None: all are one cell. */
enum summary_by {
    SUMMARY_BY_THREAD = 1,
    SUMMARY_BY_CORE = 2,
    SUMMARY_BY_REGION = 4,
};

/* The time from one call of the profiler to the next. */
struct summary_interval {
    const struct dump_record *update;
    uint64_t start_caller, start_pc;
    uint64_t start_cycles;
    uint64_t cycles;
    uint64_t gap; /* cycles since the interval before; has_gap */
    uint64_t hi_code, lo_code;
    uint64_t hi, lo;
    bool has_hi, has_lo, has_gap;
    const uint64_t *words;
    size_t word_count;
};

typedef int (*summary_take_fn)(void *user,
                               const struct summary_interval *interval);

struct summary_options {
    const struct machine_row *machine; /* NULL: found from the first start */
    unsigned by;                       /* enum summary_by */
    uint64_t skip;                     /* first intervals of each thread */
    bool cumulative;                   /* user words are running sums */
    bool raw;             /* use counts that overflowed as they are */
    summary_take_fn take; /* called with each interval; or NULL */
    void *user;
};

struct summary_event {
    uint64_t code, group;
    const struct event_row *event; /* NULL: the machine has no such event */
    const char *name;              /* in the dump; or NULL */
    const char *asked; /* the name the user gave, if another; or NULL */
    struct series series;
};

/* A cell: the intervals of one thread, core or region, or of several together.
 */
struct summary_cell {
    uint64_t place; /* cpu of the thread, or number of the core */
    uint64_t start_caller, update_caller;
    uint64_t start_pc, update_pc;
    struct series cycles, gaps;
    struct summary_event *events;
    struct series *words;
    size_t event_count, event_room, word_count;
    uint64_t overflowed;
};

struct summary_table;
struct threads;
struct summary {
    struct summary_options options;
    const struct machine_row *machine; /* NULL: no start was seen */
    bool guessed;                      /* by the codes of the first start */
    /* The machine that the last dump names; "": none. */
    char dumped_machine[DUMP_NAME];
    struct dump_troubles troubles;
    struct dump_names names;
    uint64_t dumps, records, intervals, skipped;
    size_t thread_count;
    size_t word_count;           /* most words of an update */
    uint64_t rises, stays;       /* how often user word 1 rose, and did not */
    struct summary_cell **cells; /* sorted by summary_sort() */
    size_t cell_count;
    /* If cells are of cores or of all: a cell for each thread, without
     * percentiles. */
    struct summary_cell **members;
    size_t member_count;
    struct series_limit limit;
    size_t series_count;
    struct summary_table *cell_table, *member_table;
    struct threads *threads;
};

/* Begins a summary. 0 or TALLY_ENOMEM. */
int
summary_init(struct summary *summary, const struct summary_options *options);
void summary_finish(struct summary *summary);

/* Adds a record. 0, TALLY_ENOMEM, or the answer of `take`. */
int summary_add(struct summary *summary, const struct dump_record *record,
                const char *file, uint64_t line);

/* Adds all records of a reader. 0, TALLY_EIO with errno set, or an error of
 * summary_add(). */
int summary_read(struct summary *summary, struct dump_reader *reader);

/* Ends a file: intervals that are open do not go on in the next file. */
void summary_part(struct summary *summary);

/* Sorts the cells by place, then by callers; the events in the machine's order.
 * To be called before the statistics are read. */
void summary_sort(struct summary *summary);

/* Finds the event of a group and a code by the names in the dumps, or by the
 * machine's own codes; NULL: the machine has no such event. *named is the name
 * in the dumps, or NULL. */
const struct event_row *
summary_event_of(const struct summary *summary, uint64_t group, uint64_t code,
                 const struct dump_event **named);

/* Returns the core of a cpu. */
uint64_t summary_core(const struct summary *summary, uint64_t cpu);

/* Returns the event of a code, as dumps have codes, or NULL; groups are units,
 * from 1. */
const struct event_row *summary_event_find(const struct machine_row *machine,
                                           uint64_t group, uint64_t code);

#endif
