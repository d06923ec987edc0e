/* SPDX-License-Identifier: MIT */
/*
 * Events of this host, read from text as perf reads it:
 *
 *   list     = item {"," item}
 *   item     = event | "{" event {"," event} "}" [":" letters]
 *   event    = name [":" letters]             cycles:u, page-faults
 *            | "r" hex [":" letters]          raw code of the CPU's counters
 *            | pmu "/" [term {"," term}] "/" [letters]
 *                                             cpu/event=0x3c,umask=1/u
 *            | system ":" tracepoint [":" letters]       sched:sched_switch
 *            | [pmu "::"] NAME {":" mask} {":" modifier} libpfm's names
 *   letters  = u k h p P G H I D W S e, those of perf-list(1)
 *
 * Events, formats, cpumasks, scales and units that sysfs describes are read
 * from its files. No event is opened here.
 */
#ifndef TALLY_HOST_EVENT_H
#define TALLY_HOST_EVENT_H

#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "host/root.h"
#include "table/table.h"

#define HOST_NAME 160
#define HOST_PMU 40
#define HOST_UNIT 16

struct host_event {
    /* size, type, config*, exclude_*, precise_ip, pinned, exclusive from the
     * text; nothing else */
    struct perf_event_attr attr;
    char name[HOST_NAME]; /* as it was written, for reports */
    char pmu[HOST_PMU];   /* folder in /sys/bus/event_source/devices, "" for
                           * generic hardware, cache, software, tracepoint, raw */
    char unit[HOST_UNIT]; /* sysfs .unit, or "" */
    double scale;         /* sysfs .scale, or 1 */
    const struct event_row *row; /* of machine `host`, else NULL */
    cpu_set_t cpus;              /* cpumask of an uncore PMU */
    bool uncore;                 /* opened per cpu of `cpus`, not per task */
    bool weak;  /* :W: counted alone if the group does not fit */
    bool sides; /* :G or :H was given */
    int group;  /* number of the braces around it, -1: none */
};

/*
 * Reads a list of events, in its order. On a hybrid machine a generic name
 * gives an event for each core PMU; a name of several uncore units gives one
 * for each unit. The caller frees *events. 0, or an error, logged with near
 * names.
 */
int host_event_list_parse(const char *text, const struct tally_log *log,
                          struct host_event **events, size_t *count);
/* Reads a list as host_event_list_parse() does, but takes a generic name for
 * which the kernel has no event: host_event_lacks() tells such an event. */
int host_event_list_wanted(const char *text, const struct tally_log *log,
                           struct host_event **events, size_t *count);
int host_event_list_parse_at(const struct host_root *root, const char *text,
                             const struct tally_log *log,
                             struct host_event **events, size_t *count);

/* Returns why the kernel has nothing for the event's generic name; NULL of any
 * other event. */
const char *host_event_lacks(const struct host_event *event);

/* Returns whether the event is a clock, which counts nanoseconds and runs on in
 * the kernel whatever the levels. */
bool host_event_is_clock(const struct host_event *event);

#endif
