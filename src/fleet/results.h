/* SPDX-License-Identifier: MIT */
/*
 * The newest results of `tally check` in a folder of its reports, or in one
 * report: of each benchmark on each machine what the latest report says.
 * Reports are outside input, of which nothing is believed.
 */
#ifndef TALLY_FLEET_RESULTS_H
#define TALLY_FLEET_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "check/history.h"

/* A limit or change in per cent, which a report may lack. */
struct fleet_percent {
    bool known;
    double value;
};

/* A measure of a benchmark in its latest report. */
struct fleet_measure {
    size_t benchmark;     /* number in `benchmarks` */
    const char *name;     /* "instructions", "cost" */
    const char *standing; /* "exact", "estimated" ...; "": not known */
    const char *verdict;
    struct check_range now, before; /* before: with `compared` */
    bool compared;
    struct fleet_percent change, soft, hard;
};

/* A benchmark on a machine. */
struct fleet_benchmark {
    const char *name, *machine; /* machine: "" where not known */
    const char *status;         /* check_status_name() has the words */
    uint64_t time_s;            /* of the report, since 1970, UTC */
};

/* All texts are those of the history's documents. */
struct fleet_results {
    struct check_history history;
    struct fleet_benchmark *benchmarks; /* those of the latest report first */
    size_t benchmark_count;
    struct fleet_measure *measures; /* by benchmark */
    size_t measure_count;
};

/*
 * Reads the reports in `path`: a file, or the files of a folder that end in
 * .json. A file of a folder that is no report is left out, and logged as a
 * warning; a folder without a report gives no results. 0; or TALLY_EIO,
 * TALLY_ESYNTAX or TALLY_ENOMEM, logged, and nothing is to be freed.
 */
int fleet_results_read(const char *path, const struct tally_log *log,
                       struct fleet_results *results);

/* Reads one report of `size` bytes in memory; `name` is named in messages.
 * Returns as fleet_results_read(). */
int fleet_results_read_text(const char *text, size_t size, const char *name,
                            const struct tally_log *log,
                            struct fleet_results *results);

/* Frees all. Accepts a zeroed struct. */
void fleet_results_finish(struct fleet_results *results);

#endif
