/* SPDX-License-Identifier: MIT */
/*
 * The sequence of `tally count` on every machine: opens the file of the report,
 * runs the program as often as -r says, with --sync, --pre and --post around
 * each run, adds up the counts, and writes the report. What differs between a
 * modelled machine and the host is a struct count_source.
 */
#ifndef TALLY_CLI_COUNT_RUNS_H
#define TALLY_CLI_COUNT_RUNS_H

#include "cli/count_request.h"
#include "cli/output.h"
#include "host/child.h"
#include "report/count_report.h"

/* How a run ended. */
struct count_end {
    double wall_s;
    int status; /* as waitpid() gives it */
    bool interrupted;
    bool damaged; /* the trace that was counted was */
};

struct count_source {
    /* Runs the program for the `run`th time, from 1, and fills `values` with
     * the counts of this run; their texts outlive all runs. Returns 0, an exit
     * status, or an error, logged. */
    int (*run)(void *user, unsigned run, struct count_value *values,
               struct count_end *end);
    /* Completes the report and the values, which are means over the runs by
     * now. Returns 0 or an error, logged; TALLY_EIO with errno is not logged.
     */
    int (*finish)(void *user);
    /* Makes one value of the values that one line of the report shows; returns
     * how many are left. NULL: each value has a line. */
    size_t (*fold)(void *user, struct count_value *values);
    bool follows; /* intervals are written while the program runs */
};

struct counting {
    const struct count_request *request;
    const struct count_source *source;
    void *user;                 /* of the source's functions */
    struct count_report report; /* `count` and the scope are set before */
    /* What count_runs() keeps: */
    struct count_value *values; /* means over the runs */
    struct output out;
    struct child_signals signals;
    struct count_end end; /* of the last run */
};

/* Returns an exit status, that of the program or of tally. */
int count_runs(struct counting *counting);

/* Write the report, or an interval, in the form that the request wants. Each
 * returns 0, TALLY_EIO or TALLY_ENOMEM. */
int count_write(const struct count_request *request,
                const struct count_report *report, FILE *out);
int count_write_interval(const struct count_request *request,
                         const struct count_report *report, FILE *out);

#endif
