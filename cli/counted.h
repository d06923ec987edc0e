/* SPDX-License-Identifier: MIT */
/* What -e and -M ask `tally count` to count. */
#ifndef TALLY_CLI_COUNTED_H
#define TALLY_CLI_COUNTED_H

#include "cli/command.h"
#include "table/table.h"

/* Metrics, each with the name that the user asked for. */
struct metric_list {
    const struct metric_row **rows;
    char **asked;
    size_t count;
};

/* Appends a metric. Returns 0, or TALLY_ENOMEM, logged. */
int metric_list_add(struct metric_list *list, const struct metric_row *metric,
                    const char *asked);
void metric_list_finish(struct metric_list *list);

/* Returns 0 unless the machine lacks all that is asked for. Then logs the
 * reason for `first`, a generic name that the machine lacks, or NULL, or else
 * for the first metric. `counted`: an event is counted. */
int
counted_any(const struct machine_row *machine, bool counted,
            const struct event_row *first, const struct metric_list *metrics);

struct counted {
    const struct event_row **events;
    /* Names of the first events as the user asked for them. Events that only
     * metrics or accounting need follow, without such a name. */
    char **asked;
    size_t asked_count;
    struct metric_list metrics;
    size_t count;
    size_t hidden;   /* of the events, the last, which only accounting needs */
    size_t left_out; /* of `all`, as unwanted */
};

/* Adds an event that no list has, unless it is counted already. 0, or an error,
 * logged. */
int counted_add(struct counted *c, const struct event_row *event);

/*
 * The events of the list (NULL: the default ones, unless there are metrics)
 * and, after them, those that the metrics need. Events for which `unwanted`
 * (NULL: none) is true are left out of the default and of `all`. A generic name
 * or metric that the machine lacks is kept and has no count
 * (event_is_lacking(), metric_is_lacking()). Returns 0, or an error, logged:
 * also where the machine lacks every name that is asked for. The caller calls
 * counted_finish() in any case.
 */
int counted_choose(const struct machine_row *machine, const char *events,
                   const char *metrics, event_unwanted_fn unwanted,
                   struct counted *counted);

/* Adds what the machine's accounting of cycles needs; 0 or an error, logged. */
int counted_account(const struct machine_row *machine, struct counted *counted);
void counted_finish(struct counted *counted);

#endif
