/* SPDX-License-Identifier: MIT */
/*
 * A set of this host's events that count together over perf_event; its
 * operations are a struct counter_ops.
 *
 * Events in braces are a group: they count at the same time or not at all, and
 * one read(2) fetches them. Software events outside braces are one group too,
 * since they need no counter of the processor. Every other event stands alone.
 * An event may have several descriptors (a process of many threads, a unit with
 * many cpus): values and times are summed.
 *
 * A set belongs to the process that created it. In a child made by fork() every
 * call but close is refused.
 *
 * Needs Linux 4.14; counting threads without child processes needs 5.13.
 */
#ifndef TALLY_HOST_SET_H
#define TALLY_HOST_SET_H

#include "base/error.h"
#include "counter/counter.h"
#include "host/event.h"
#include "host/ring.h"

#define HOST_GROUP_MAX 64 /* events */

struct host_set;

enum host_scope { HOST_THREAD, HOST_PROCESS, HOST_CPU };

struct host_set_options {
    enum host_scope scope;
    int id;          /* thread, process (0: the caller) or cpu */
    bool inherit;    /* counts threads and processes that it creates too */
    uint64_t period; /* of the first event's overflows, 0: none */
    int signal;      /* sent to the creating thread at each overflow, 0: none */
    /* The advice for a host without a PMU; NULL: commands of tally count. Must
     * outlive the set. */
    const char *without_pmu;
    struct tally_log log;
};

int
host_set_create(const struct host_set_options *options, struct host_set **set);

/*
 * Adds and opens the events, which do not count yet. 0; or an error, and none
 * is added. TALLY_ERULE while the set counts.
 */
int host_set_add(struct host_set *set, const struct host_event *events,
                 size_t count);

/* The operations of a host_set. */
extern const struct counter_ops host_set_ops;

/* 0; an error, logged, in a process that did not create the set. */
int host_set_check(const struct host_set *set);

/* Hands the overflows since the last call to `take`. 0; TALLY_ERULE if the set
 * has no period. */
int host_set_overflows(struct host_set *set,
                       void (*take)(void *user,
                                    const struct host_overflow *overflow),
                       void *user);

/* Returns a descriptor that is readable (poll(2)) when there are overflows; -1
 * without a period. */
int host_set_overflow_fd(const struct host_set *set);

#endif
