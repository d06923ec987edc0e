/* SPDX-License-Identifier: MIT */
/* The command line of `tally count`. */
#ifndef TALLY_CLI_COUNT_REQUEST_H
#define TALLY_CLI_COUNT_REQUEST_H

#include <stdint.h>

#include "cli/command.h"
#include "cli/model_options.h"
#include "profile/capture.h"
#include "table/table.h"

enum count_format { COUNT_TEXT, COUNT_CSV, COUNT_JSON };

/* What is shown beside the sums. */
enum count_aggregate {
    AGGREGATE_NONE,
    AGGREGATE_CPU,
    AGGREGATE_CORE,
    AGGREGATE_DIE,
    AGGREGATE_SOCKET,
    AGGREGATE_NODE,
};

enum placed {
    PLACED_THREADS = 1 << 0,
    PLACED_PAGES = 1 << 1,
};

struct count_request {
    const char *machine, *from, *to, *output, *color;
    const char *pre, *post; /* commands for sh, or NULL */
    int log_fd;             /* where the report goes, 0: not given */
    char *events, *metrics; /* owned; all -e, all -M joined */
    struct model_options model;
    char place_node[32]; /* one of the model's */
    unsigned placed;     /* what --place has words for: enum placed */
    const char *filters[CODE_RANGES];
    size_t filter_count;
    const char *pids, *tids, *cpus; /* lists as they were given */
    enum count_aggregate aggregate;
    uint64_t interval_ms, delay_ms, timeout_ms;
    unsigned detail; /* how many -d */
    bool all_cpus, no_inherit, strict, only_user, only_kernel, null;
    uint64_t interval_count;
    struct capture_request capture; /* nothing is wanted: all zero */
    uint64_t period;                /* of it, or 0 */
    uint64_t skip;
    unsigned runs;
    enum count_format format;
    char separator;
    bool accounting, per_thread, per_process, append, hardware, compare, quiet,
        verbose;
    bool mpi; /* what is inside MPI apart, and one report of all ranks */
    const char *mpi_dir; /* the folder in which ranks meet, or NULL */
    bool table, sync, metric_only, summary, interval_clear, no_host_fields;
    bool big_num, plain; /* -B, --no-big-num */
};

/*
 * Reads the command line. Returns 0, an exit status, or COMMAND_HELP; *operand
 * is the program's index. The caller calls count_request_finish() in any case.
 */
int count_request_read(int argc, char **argv, struct count_request *request,
                       int *operand);
#define DETAIL_MOST 3
/* Returns the list of generic events that the 1st, 2nd or 3rd -d adds, as perf
 * stat does. */
const char *count_detail(unsigned level);

/* Returns whether stderr is free for talk: a document that goes there must stay
 * one. */
bool count_request_talks(const struct count_request *request);

/* Returns whether the report is coloured: never where it goes to a file. */
bool count_request_color(const struct count_request *request);

/* Returns the status of the run; EXIT_OURS, after telling why, where --strict
 * does not let an event pass that was not counted. */
int count_request_strict(const struct count_request *request, int status,
                         bool all_counted);

void count_request_finish(struct count_request *request);

extern const struct option_row count_options[];
extern const struct option_group count_groups[];

#endif
