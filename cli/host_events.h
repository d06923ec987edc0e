/* SPDX-License-Identifier: MIT */
/*
 * The host's events between request and report: the level they are counted at,
 * what a reading says of them, and units that are one line.
 */
#ifndef TALLY_CLI_HOST_EVENTS_H
#define TALLY_CLI_HOST_EVENTS_H

#include "host/count.h"
#include "report/count_report.h"

/*
 * As perf does: where perf_event_paranoid keeps the kernel's part of a task
 * from us, what named no level is counted at user level, and its name says so.
 * Whether there was any.
 */
bool host_events_fall_back(struct host_event *events, size_t count);

/* What a reading says of an event; its texts are the event's and the value's.
 */
struct count_value host_event_value(const struct host_event *event,
                                    const struct host_value *value);

/* Uncore units of one name become one value, their sum; as many as are left. */
size_t host_units_fold(const struct host_event *events,
                       struct count_value *values, size_t count);

#endif
