/* SPDX-License-Identifier: MIT */
/*
 * What `tally summarize` found, and its forms: text for people, CSV and JSON
 * for scripts, and the form of the document's own scripts.
 *
 * Of a thread or a region, values are means over its intervals. Of a core or of
 * all, they are what its strands do together: each strand's mean for a cycle,
 * times the mean cycles, summed.
 */
#ifndef TALLY_REPORT_SUMMARY_REPORT_H
#define TALLY_REPORT_SUMMARY_REPORT_H

#include <stdio.h>

#include "profile/call_table.h"
#include "profile/summary.h"
#include "table/metric.h"

#define SUMMARY_INPUTS 64

/* What an input of the machine's metrics is. */
enum summary_source {
    SUMMARY_NO_INPUT,
    SUMMARY_NUMBER, /* was given */
    SUMMARY_MODEL,  /* the model's parameter, for want of better */
    SUMMARY_WORD,   /* the mean of a user word */
};

struct summary_input {
    enum summary_source source;
    double number;
    size_t word; /* from 0 */
    bool given;  /* else it is the model's own way */
};

struct summary_report {
    const struct summary *summary; /* sorted */
    const struct call_table *calls;
    /* By the machine's rows of inputs; the clock is one. */
    struct summary_input inputs[SUMMARY_INPUTS];
    /* Only these, or NULL: all that have a value. */
    const struct metric_row *const *metrics;
    size_t metric_count;
    bool color;
};

/* A cell of the summary, and the strands that make it up. */
struct summary_view {
    const struct summary_report *report;
    const struct summary_cell *cell;
    size_t first, end; /* of the members; none: the cell stands for itself */
    double cycles;     /* mean of an interval */
};

struct summary_view summary_view(const struct summary_report *report,
                                 const struct summary_cell *cell);

/* Returns how many strands the view is of; 0: the view is no sum of strands. */
size_t summary_view_strands(const struct summary_view *view);

/* NAN where it was not counted. */
double summary_view_event(const struct summary_view *view,
                          const struct event_row *event);
double summary_view_word(const struct summary_view *view, size_t word);
double summary_view_metric(const struct summary_view *view,
                           const struct metric_row *metric);

/* Why a metric has no value: the event or input that lacks; both may be NULL.
 */
struct summary_lack {
    const struct event_row *event;
    const struct input_row *input;
};
struct summary_lack summary_view_lack(const struct summary_view *view,
                                      const struct metric_row *metric);

/* Returns the n-th metric to show, or NULL behind the last. */
const struct metric_row *
summary_metric(const struct summary_report *report, size_t n);

/*
 * Returns a word for what a series counts; texts live as long as the report or
 * until the next call. Events that the machine lacks have the dump's name, else
 * the code, "0x123".
 */
const char *summary_event_name(const struct summary_event *event);

/* "cpu 4", "core 1", "all", then the region. */
void
summary_cell_text(const struct summary_report *report,
                  const struct summary_cell *cell, char *text, size_t size);

/* The caller's place in the source, or its id. */
void summary_caller_text(const struct summary_report *report, uint64_t caller,
                         char *text, size_t size);

/*
 * Returns the series that varies most, of those of which 1,000 and more are
 * counted in an interval: its deviation in per cent of its mean; 0 if none
 * varies.
 */
double summary_cell_varies(const struct summary_cell *cell, const char **name);

/* What the document calls "a few percent". */
#define SUMMARY_STEADY 5.0

/* Each returns 0 or TALLY_EIO or TALLY_ENOMEM. */
int summary_report_text(const struct summary_report *report, FILE *out);
int summary_report_csv(const struct summary_report *report, FILE *out);
int summary_report_json(const struct summary_report *report, FILE *out);

/*
 * The form of profiler.pl (UltraSPARC T1) or profiler_n2.pl (other machines).
 * The rows of the former are kept in a file until the end: `teja` is the
 * summary's `user`, summary_teja_take its `take`.
 */
struct summary_teja {
    const struct summary *summary;
    FILE *rows; /* NULL: could not be made */
};
int summary_teja_init(struct summary_teja *teja, const struct summary *summary);
void summary_teja_finish(struct summary_teja *teja);
int summary_teja_take(void *user, const struct summary_interval *interval);
int summary_teja_print(struct summary_teja *teja, FILE *out);

#endif
