/* SPDX-License-Identifier: MIT */
/* Which events `tally perfex` counts on a modelled machine. */
#ifndef TALLY_CLI_PERFEX_EVENTS_H
#define TALLY_CLI_PERFEX_EVENTS_H

#include "cli/perfex_request.h"

struct perfex_events {
    const struct event_row **all;     /* of the report, owned */
    const struct event_row **counted; /* of them, what the model has; owned */
    size_t count, counted_count;
};

/*
 * Chooses the events of the request, or with -a all that a counter has; without
 * either, and beside a single event, cycles on the counter that is left.
 * Returns 0, or an error, logged. perfex_events_finish() frees what the list
 * holds in any case.
 */
int perfex_events_choose(const struct perfex_request *request,
                         const struct machine_row *machine,
                         struct perfex_events *events);
void perfex_events_finish(struct perfex_events *events);

/* Logs that two events need the same counter. Returns an error. */
int perfex_events_conflict(const struct machine_row *machine,
                           const struct perfex_events *events);

#endif
