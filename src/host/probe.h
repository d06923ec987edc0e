/* SPDX-License-Identifier: MIT */
/*
 * Counts a program from the entry of one function to that of another.
 *
 * perf_event cannot switch counters at a function, so they run all the time,
 * in one group with a uprobe on each function that samples every hit: into its
 * record the kernel writes what the whole group has counted at that instant.
 * The count is the sum of the values at TO less those at FROM. Without TO it
 * goes to the program's end, without FROM from its start; FROM while it counts
 * already changes nothing.
 *
 * The kernel does not read groups of inherited events so: one thread is
 * counted, the program's first. Every hit must be seen. The probes count them
 * too, and where there are fewer records, nothing is told but that.
 */
#ifndef TALLY_HOST_PROBE_H
#define TALLY_HOST_PROBE_H

#include <sys/types.h>

#include "counter/counter.h"
#include "host/event.h"
#include "host/open.h"

enum probe_end { PROBE_FROM, PROBE_TO, PROBE_ENDS };

struct host_probe {
    const char *function; /* its name, for messages; NULL: there is none */
    uint64_t offset;      /* of its entry in the file */
};

struct host_probes {
    const char *path; /* of the ELF file */
    struct host_probe at[PROBE_ENDS];
};

struct probe_group;

/*
 * Opens the probes in the task, which waits for its exec; that starts them and
 * all that is added. TALLY_ESYSTEM with the reason and what mends it, or
 * TALLY_ENOMEM, logged.
 */
int probe_open(const struct host_probes *probes,
               const struct host_event *events, size_t count, pid_t pid,
               const struct tally_log *log, struct probe_group **group);

/* Opens an event in the group: a descriptor, the caller's, or -1 and why. */
int probe_add(struct probe_group *group, const struct host_event *event,
              size_t index, struct host_reason *reason);

/* Takes the records so far; often enough, or the ring overflows. */
void probe_drain(struct probe_group *group);

/* Takes the last ones, after the program's end; before probe_reading(). */
void probe_end(struct probe_group *group);

/* What the event counted; `reason` is untouched unless that is not known. */
struct counter_reading probe_reading(const struct probe_group *group,
                                     size_t index, struct host_reason *reason);

/* How often the function was entered, as far as records tell. */
uint64_t probe_hits(const struct probe_group *group, enum probe_end end);

/* All take NULL for a group that is none. */
void probe_close(struct probe_group *group);

#endif
