/* SPDX-License-Identifier: MIT */
/*
 * Counts events of the whole host, for as long as the process lives: what
 * `tally serve` and pmdatally hand on.
 *
 * An event is counted on each cpu that is online when the watch is created, or
 * on the cpus of its uncore PMU. Where the kernel does not permit that, the
 * events that /proc counts for everybody come from there: context-switches,
 * page-faults, major-faults, minor-faults and cpu-clock. Of any other event the
 * watch says why it is not counted.
 *
 * Totals begin with 0 and never fall: an event that shares its counter has an
 * estimate that could fall, and keeps its last total where it would.
 *
 * The descriptors stay open, and reading them needs no privilege: a process may
 * give its privileges up once the watch is created. Not thread-safe.
 */
#ifndef TALLY_HOST_WATCH_H
#define TALLY_HOST_WATCH_H

#include "host/event.h"
#include "host/open.h"

/* The events without -e. */
#define HOST_WATCH_EVENTS                                                 \
    "cpu-clock,context-switches,cpu-migrations,page-faults,major-faults," \
    "cycles,instructions,branches,branch-misses"

enum host_watch_source {
    HOST_WATCH_PERF, /* perf_event, on each cpu */
    HOST_WATCH_PROC, /* the kernel's own sums in /proc */
};

/* An event on one cpu. */
struct host_watch_part {
    int cpu;
    uint64_t total;
};

/* An event. Names are unique in a watch. */
struct host_watch_row {
    const struct host_event *event;
    enum host_watch_source source;
    bool counted;              /* false: `reason` says why not */
    bool estimated;            /* it shared its counter with others */
    struct host_reason reason; /* HOST_OK while it is counted */
    uint64_t total; /* since the watch was created; clocks: nanoseconds; of an
                       event with a scale: not scaled */
    const struct host_watch_part *parts; /* of each cpu; none of /proc's */
    size_t part_count;
};

struct host_watch;

/*
 * Opens the events of a list (host/event.h), which may have no braces; NULL:
 * HOST_WATCH_EVENTS. `root` NULL: this host's /proc and /sys. 0; or an error,
 * logged. An event that cannot be counted is no error.
 */
int host_watch_create(const char *events, const struct host_root *root,
                      const struct tally_log *log, struct host_watch **watch);

/* Reads all events anew. Neither allocates nor fails: an event that cannot be
 * read has its reason. */
void host_watch_read(struct host_watch *watch);

/* Returns the events, whose number *count becomes: as host_watch_read() left
 * them. They are the watch's. */
const struct host_watch_row *
host_watch_rows(const struct host_watch *watch, size_t *count);

/* Returns when the watch was created, in seconds since 1970. */
double host_watch_began(const struct host_watch *watch);

/* Accepts NULL. */
void host_watch_destroy(struct host_watch *watch);

/* Returns the word for a source: "perf" or "proc". */
const char *host_watch_source_name(enum host_watch_source source);

#endif
