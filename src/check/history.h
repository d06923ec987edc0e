/* SPDX-License-Identifier: MIT */
/*
 * What the reports of `tally check --format json` in a folder tell together:
 * how each measure of each benchmark went on, and where it moved.
 *
 * Points of a series whose benchmark has the same key (machine, instruction
 * set, emulated CPU, version of the model) are comparable. A measure moved
 * where the range of a point does not meet that of the comparable point before.
 */
#ifndef TALLY_CHECK_HISTORY_H
#define TALLY_CHECK_HISTORY_H

#include <jansson.h>
#include <stdio.h>

#include "check/result.h"
#include "tally/error.h"

/* A report of the folder. */
struct check_history_result {
    char *label;      /* name of its file without ".json"; UTF-8 */
    const char *time; /* when it was made, UTC: "2026-11-28T09:30:00Z" */
    json_t *document;
};

/* A measure in one report. */
struct check_point {
    size_t result; /* number of the report */
    size_t before; /* number of the comparable point before; itself: none */
    const char *key;
    struct check_range range;
    bool moved;
    double change; /* of the medians since `before`, per cent. Infinite where
                      that was 0 and this is not; 0 without `before` */
    const char *verdict; /* against the baseline of then, by its name */
};

struct check_series {
    const char *benchmark, *measure;
    size_t number;              /* in the order in which they came */
    struct check_point *points; /* by time */
    size_t count;
};

/* A benchmark that failed or varied. */
struct check_lapse {
    size_t result;
    const char *benchmark, *status, *reason; /* reason: NULL: none */
};

struct check_history {
    struct check_history_result *results; /* by time, then label */
    size_t result_count;
    /* By benchmark as people sort numbers in names, then as reports have the
     * measures. */
    struct check_series *series;
    size_t series_count;
    struct check_lapse *lapses; /* by time */
    size_t lapse_count;
};

/* Reads all files of a folder whose name ends with .json. A file that is no
 * such report is left out and logged as a warning. 0; TALLY_EIO where the
 * folder cannot be read, TALLY_EUNKNOWN where it has no report, or
 * TALLY_ENOMEM, logged. check_history_finish() accepts a zeroed struct and what
 * a failure leaves. */
int check_history_read(const char *folder, const struct tally_log *log,
                       struct check_history *history);

/* Adds a report of text in memory, which `name` stands for; the caller then
 * calls check_history_order(). 0; TALLY_ESYNTAX, logged as a warning; or
 * TALLY_ENOMEM, logged. */
int
check_history_add(struct check_history *history, const char *text, size_t size,
                  const char *name, const struct tally_log *log);

/* Returns what keeps a document from being a report of tally check --format
 * json, as "is damaged"; NULL: nothing. `document` NULL is no JSON. */
const char *check_history_fault(const json_t *document);

/* Reads the three numbers of a range of a report. False: they are missing, or
 * not in order, and the range stays as it is. */
bool check_range_read(const json_t *value, struct check_range *range);

/* Adds a document without fault, which is the history's from now on, also
 * where there is no memory for more; otherwise as check_history_add(). */
int check_history_add_document(struct check_history *history, json_t *document,
                               const char *name, const struct tally_log *log);

/* Puts the reports in order and makes the series. 0 or TALLY_ENOMEM. */
int check_history_order(struct check_history *history);

void check_history_finish(struct check_history *history);

/* Writes what moved, the latest first, and each measure's first and last
 * median. 0, or TALLY_EIO with errno. */
int check_history_text(const struct check_history *history, FILE *out);

/* Writes a page with a curve for each series. 0, TALLY_ENOMEM, or TALLY_EIO
 * with errno. */
int check_history_page(const struct check_history *history, FILE *out);

#endif
