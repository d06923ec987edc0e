/* SPDX-License-Identifier: MIT */
/* What -p, -t, -a and -C name, and what --per-core and the like print. */
#ifndef TALLY_CLI_HOST_TARGETS_H
#define TALLY_CLI_HOST_TARGETS_H

#include <sched.h>

#include "cli/count_request.h"
#include "host/count.h"
#include "report/count_report.h"

struct host_targets {
    pid_t *pids, *tids;
    size_t pid_count, tid_count;
    cpu_set_t cpus;
    bool whole_cpus;
};

/* Finds the targets of -p, -t, -a and -C. Returns 0, or an error after telling
 * why. The caller calls host_targets_finish() in any case. */
int host_targets_find(const struct count_request *request,
                      struct host_targets *targets);
void host_targets_finish(struct host_targets *targets);

/*
 * Returns what a report counted, as perf says it: "process id 17", "cpu 0-3",
 * "system wide"; NULL: the program that is run. The caller frees the text.
 */
char *host_targets_text(const struct count_request *request);

/* Returns the rows of -A, --per-core, --per-socket, --per-thread; NULL: none.
 */
struct count_part *
host_parts(const struct count_request *request, const struct host_event *events,
           size_t event_count, const struct host_counts *counts,
           struct count_value (*value_of)(const struct host_event *event,
                                          const struct host_value *value),
           size_t *part_count);
void host_parts_free(struct count_part *parts, size_t count);

#endif
