/* SPDX-License-Identifier: MIT */
/*
 * A report of `tally count -j`, read back: outside input, of which nothing is
 * believed. What the report says of threads, parts and programs is left out.
 */
#ifndef TALLY_REPORT_COUNT_DOCUMENT_H
#define TALLY_REPORT_COUNT_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A number as the report has it. */
struct count_number {
    bool known;    /* false: null in the report */
    bool whole;    /* `count` is the number; else `real` alone */
    int64_t count; /* if whole */
    double real;
};

/* An event or a metric. */
struct count_row {
    char *name, *asked;
    char *unit;     /* "": a plain count */
    char *standing; /* of a value; "" if there is none */
    char *code;     /* why there is no value, in one word; NULL: not said */
    char *reason;   /* the same in a sentence, NULL: not said */
    struct count_number value;  /* of several runs the mean, rounded */
    struct count_number in_mpi; /* with --mpi: the rest; else not known */
    unsigned runs;              /* 1 without -r */
    double mean, stddev;        /* of several runs; of one: stddev 0 */
    /* The smallest and the largest value of all runs, of a report that has each
     * run (--table). */
    bool has_range;
    double low, high;
};

struct count_document {
    char *path;
    char *machine;
    char *program, *isa, *cpu, *target; /* NULL: the report has none */
    char *scope;  /* what of the program was counted, as JSON; NULL: all */
    char *status; /* "exit 3", "signal 9"; NULL: nothing was run */
    bool interrupted;
    bool partial;   /* counts of threads or programs are missing in the sums */
    bool has_parts; /* values of CPUs or threads, which are not read */
    struct count_row *events, *metrics;
    size_t event_count, metric_count;
};

/* Reads the report in `text`; `path` is named in messages and copied. 0, or
 * TALLY_ESYNTAX (no report, or one of intervals) or TALLY_ENOMEM, logged. */
int count_document_read(const char *text, size_t size, const char *path,
                        const struct tally_log *log,
                        struct count_document **document);
void count_document_destroy(struct count_document *document);

#endif
