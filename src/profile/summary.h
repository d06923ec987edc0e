/* SPDX-License-Identifier: MIT */
/*
 * Dumps summed up: starts and updates become intervals, intervals statistics.
 *
 * An update closes the interval that the latest start of the same cpu and
 * group opened and opens the next: its counts go on from there. A start opens
 * one anew, its counts from 0. What does not fit together is told to the
 * troubles and left out.
 *
 * Memory depends on the number of threads, regions, events and user words, not
 * on that of intervals.
 */
#ifndef TALLY_PROFILE_SUMMARY_H
#define TALLY_PROFILE_SUMMARY_H

#include "profile/dump.h"
#include "profile/series.h"
#include "table/table.h"

/* What intervals are told apart by; bits. None: all are one. */
enum summary_by {
    SUMMARY_BY_THREAD = 1,
    SUMMARY_BY_CORE = 2,
    SUMMARY_BY_REGION = 4,
};

/* From one call of the profiler to the next. */
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
    uint64_t skip;                     /* intervals of each thread */
    bool cumulative;                   /* user words are running sums */
    bool raw;             /* counts that overflowed are used as they are */
    summary_take_fn take; /* is shown each interval; or NULL */
    void *user;
};

struct summary_event {
    uint64_t code, group;
    const struct event_row *event; /* NULL: the machine has none such */
    const char *name;              /* that the dump has for it, or NULL: none */
    const char *asked; /* that it was asked for by, where another; or NULL */
    struct series series;
};

/* The intervals of one thread, core and region, as far as told apart. */
struct summary_cell {
    uint64_t place; /* of the thread: cpu; of the core */
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
    bool guessed;                      /* from the codes of the first start */
    /* The machine that a dump names last, "": none does. */
    char dumped_machine[DUMP_NAME];
    struct dump_troubles troubles;
    struct dump_names names;
    uint64_t dumps, records, intervals, skipped;
    size_t thread_count;
    size_t word_count;           /* the most of any update */
    uint64_t rises, stays;       /* of user word 1, from update to update */
    struct summary_cell **cells; /* sorted by summary_sort() */
    size_t cell_count;
    /* By core or all together: the same of each thread, without percentiles. */
    struct summary_cell **members;
    size_t member_count;
    struct series_limit limit;
    size_t series_count;
    struct summary_table *cell_table, *member_table;
    struct threads *threads;
};

/* 0 or TALLY_ENOMEM. */
int
summary_init(struct summary *summary, const struct summary_options *options);
void summary_finish(struct summary *summary);

/* 0 or TALLY_ENOMEM or what `take` returned. */
int summary_add(struct summary *summary, const struct dump_record *record,
                const char *file, uint64_t line);

/* All of a reader: 0, TALLY_EIO with errno set, or as summary_add(). */
int summary_read(struct summary *summary, struct dump_reader *reader);

/* After a file: what it left open does not go on in the next. */
void summary_part(struct summary *summary);

/* Cells by place, then by callers; events in the machine's order. */
void summary_sort(struct summary *summary);

/* What an event of a group and a code is, after the dumps' lines of names or by
 * the machine's own codes; *named is the dumps' line, or NULL. NULL: the
 * machine has none such. */
const struct event_row *
summary_event_of(const struct summary *summary, uint64_t group, uint64_t code,
                 const struct dump_event **named);

/* The core of a cpu. */
uint64_t summary_core(const struct summary *summary, uint64_t cpu);

/* The event of a code as dumps have it, or NULL; groups are units, from 1. */
const struct event_row *summary_event_find(const struct machine_row *machine,
                                           uint64_t group, uint64_t code);

#endif
