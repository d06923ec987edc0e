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
 * Counts an event that names no level at user level, and names it so, where
 * perf_event_paranoid keeps the kernel's part of a task from us, as perf does.
 * Returns whether there was such an event.
 */
bool host_events_fall_back(struct host_event *events, size_t count);

/* Returns the value of an event by a reading. The texts of the value are the
 * event's and the reading's. */
struct count_value host_event_value(const struct host_event *event,
                                    const struct host_value *value);

/* Makes one value, their sum, of the uncore units of one name. Returns how many
 * values are left. */
size_t host_units_fold(const struct host_event *events,
                       struct count_value *values, size_t count);

#endif
