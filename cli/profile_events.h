/* SPDX-License-Identifier: MIT */
/*
 * What `tally profile` counts: the events of -e, or with --rotate a machine's
 * own, as the pairs that the profiler takes after one another.
 */
#ifndef TALLY_CLI_PROFILE_EVENTS_H
#define TALLY_CLI_PROFILE_EVENTS_H

#include "table/table.h"

struct profile_wish {
    const struct machine_row *machine; /* NULL: this host */
    const char *events;                /* NULL: the machine's own */
    bool rotate, hardware;
    bool counts_instructions; /* the records' clock; else cycles */
};

struct profile_events {
    char *pairs; /* "A,B;C,D", owned */
    char *list;  /* "A,B,C,D", owned */
};

/*
 * Checks each event before a program runs: an event that the machine has not,
 * or that has no count of an interval, is refused. 0 or the exit status, told;
 * *events is then untouched.
 */
int
profile_events(const struct profile_wish *wish, struct profile_events *events);
void profile_events_finish(struct profile_events *events);

#endif
