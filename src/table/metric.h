/* SPDX-License-Identifier: MIT */
/* Computes metrics: values of formulas over counts. */
#ifndef TALLY_TABLE_METRIC_H
#define TALLY_TABLE_METRIC_H

#include "table/selection.h"

#define METRIC_DEPTH 64 /* most operands on the stack of a formula */

/* Returns the count of an operand that is an event. */
typedef double (*metric_count_fn)(void *user, const struct formula_step *step);

/* Returns the value of an input of the machine, by its row; NAN: not known. */
typedef double (*metric_input_fn)(void *user, size_t input);

/*
 * Returns the metric's value; NAN: none, after a division by 0 or with an input
 * that is not known.
 */
double metric_value(const struct metric_row *metric, metric_count_fn count,
                    metric_input_fn input, void *user);

/* Lists the events that the metric needs, each once. Returns their number, and
 * writes at most `max`. */
size_t metric_events(const struct machine_row *machine,
                     const struct metric_row *metric,
                     struct selection *selections, size_t max);

/* Returns the event that a model counts for an operand that is an event. */
const struct event_row *metric_counted(const struct machine_row *machine,
                                       const struct formula_step *step);

/* Returns the inputs that the metric needs, as bits. */
uint64_t metric_inputs(const struct metric_row *metric);

/* Takes a metric of a list, and its name as the list has it; 0 or an error. */
typedef int (*metric_take_fn)(void *user, const struct metric_row *metric,
                              const char *asked);

/* Finds each of a list of names "ipc,cpi"; calls `take`; 0 or an error. */
int
metric_list_parse(const struct machine_row *machine, const char *text,
                  const struct tally_log *log, metric_take_fn take, void *user);

/* Does the same for a count, which takes generic metrics that the machine
 * lacks, too, as rows of tally_lacking_metrics. */
int metric_list_wanted(const struct machine_row *machine, const char *text,
                       const struct tally_log *log, metric_take_fn take,
                       void *user);

/* Logs that there is no such metric, with near names; TALLY_EUNKNOWN. */
int metric_unknown(const struct machine_row *machine, const char *name,
                   const struct tally_log *log);

#endif
