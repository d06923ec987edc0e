/* SPDX-License-Identifier: MIT */
/*
 * Software events among those of a modelled machine: the kernel counts them of
 * QEMU, over a whole run, while the model counts the others.
 */
#ifndef TALLY_CLI_COUNT_SOFTWARE_H
#define TALLY_CLI_COUNT_SOFTWARE_H

#include "cli/count_request.h"
#include "cli/counted.h"
#include "report/count_report.h"

struct count_split {
    const struct event_row **modelled, **software; /* each in its order */
    size_t modelled_count, software_count;
    size_t *place;               /* of each event, among its own */
    struct host_reason *reasons; /* of software events without a count */
};

/* Divides the events into events of the kernel and events of the model, and
 * leaves out generic names that the machine lacks. Returns 0 or TALLY_ENOMEM.
 * The caller calls count_split_finish() in any case. */
int count_split(const struct counted *counted, struct count_split *split);
void count_split_finish(struct count_split *split);

/* Returns 0, or EXIT_USAGE where an option restricts the model's counts in a
 * way that the kernel cannot follow; a line says so. */
int count_software_check(const struct count_request *request,
                         const struct counted *counted);

/* Returns the report's value of a software event, without its number. */
struct count_value count_software_value(const struct event_row *event);

/* Copies the reason why the run has no count of the event. The reason of the
 * first such run stays. */
void count_software_keep(const struct host_value *from,
                         struct host_reason *reason, struct count_value *value);

#endif
