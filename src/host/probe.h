/* SPDX-License-Identifier: MIT */
/*
 * Counts a program from the entry of one function (FROM) to the entry of
 * another (TO).
 *
 * perf_event cannot switch counters at a function, so the counters run all the
 * time, in one group with a uprobe on each of the two functions. The uprobes
 * sample every hit: into the record of a hit the kernel writes the values of
 * the whole group. The count is the sum of the values at TO less those at FROM.
 * Without TO counting goes on to the program's end, without FROM it begins at
 * the program's start; a FROM while counting goes on changes nothing.
 *
 * The kernel writes no such records for groups of inherited events: only the
 * program's first thread is counted. Every hit must have its record. The probes
 * count the hits too; if there are fewer records, there is no count but a
 * reason.
 */
#ifndef TALLY_HOST_PROBE_H
#define TALLY_HOST_PROBE_H

#include <sys/types.h>

#include "counter/counter.h"
#include "host/event.h"
#include "host/open.h"

enum probe_end { PROBE_FROM, PROBE_TO, PROBE_ENDS };

struct host_probe {
    const char *function; /* its name, for messages; NULL: no such probe */
    uint64_t offset;      /* of its entry in the file */
};

struct host_probes {
    const char *path; /* of the ELF file */
    struct host_probe at[PROBE_ENDS];
};

struct probe_group;

/*
 * Opens the probes in a task that waits before its exec. The exec starts the
 * probes and all events that are added. 0; TALLY_ESYSTEM, logged with the
 * reason and how to mend it; TALLY_ENOMEM, logged.
 */
int probe_open(const struct host_probes *probes,
               const struct host_event *events, size_t count, pid_t pid,
               const struct tally_log *log, struct probe_group **group);

/* Opens an event in the group. Returns a descriptor, which the caller owns, or
 * -1 and the reason. */
int probe_add(struct probe_group *group, const struct host_event *event,
              size_t index, struct host_reason *reason);

/* Takes the records so far. To be called often, or the ring overflows. */
void probe_drain(struct probe_group *group);

/* Takes the last records, after the program's end and before probe_reading().
 */
void probe_end(struct probe_group *group);

/* Returns the event's count; sets `reason` only if the count is not known. */
struct counter_reading probe_reading(const struct probe_group *group,
                                     size_t index, struct host_reason *reason);

/* Returns how often the function was entered, by the records. */
uint64_t probe_hits(const struct probe_group *group, enum probe_end end);

/* Closes the group. This and the functions above accept NULL: no group. */
void probe_close(struct probe_group *group);

#endif
