/* SPDX-License-Identifier: MIT */
/* What counters can count an event, and which ones a metric takes. */
#ifndef TALLY_CLI_NEEDS_H
#define TALLY_CLI_NEEDS_H

#include "table/metric.h"
#include "table/plan.h"

/* The events of a metric, planned. */
struct needs {
    struct selection *list;
    size_t count;
    const char *by;   /* who counts one that needs no counter, or NULL */
    struct plan plan; /* no rows: they cannot be counted, or by is set */
};

/* Finds what the metric or event needs. Returns 0, or TALLY_ENOMEM. The caller
 * calls needs_finish(). */
int needs_of(const struct machine_row *machine, const struct metric_row *metric,
             struct needs *needs);
void needs_finish(struct needs *needs);

/* Returns whether its formula has the event, with this unit mask if it is not
 * NULL. */
bool
metric_uses(const struct metric_row *metric, const struct machine_row *machine,
            const struct event_row *event, const struct umask_row *umask);

/*
 * Returns who counts an event of a unit without counters: "the model", or "the
 * kernel" of this host. NULL: counters do, or nobody.
 */
const char *
counted_by(const struct machine_row *machine, const struct event_row *event);

/* Returns the counters of an event's unit. */
uint32_t counters_of_unit(const struct machine_row *machine, const char *unit);

/* Returns how many rows of unit masks count. */
size_t counted_umasks(const struct machine_row *machine);

#endif
