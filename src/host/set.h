/* SPDX-License-Identifier: MIT */
/*
 * A set of this host's events counted together over perf_event, as struct
 * counter_ops wants it.
 *
 * Events in braces are a group: they count at the same time or not at all, and
 * one read(2) fetches them. Software events outside braces are a group too,
 * since they need no counter of the processor; every other stands alone.
 * Several descriptors of an event (a process of many threads, a unit with many
 * cpus) are summed, their times as well.
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
    bool inherit;    /* and the threads and processes that it creates */
    uint64_t period; /* of the first event's overflows, 0: none */
    int signal;      /* sent to the creating thread at each, 0: none */
    /* What is advised where there is no PMU, NULL: commands of tally count.
     * Must outlive the set. */
    const char *without_pmu;
    struct tally_log log;
};

int
host_set_create(const struct host_set_options *options, struct host_set **set);

/*
 * Opens the events, which then do not count yet: all, or none and the error.
 * TALLY_ERULE while the set counts.
 */
int host_set_add(struct host_set *set, const struct host_event *events,
                 size_t count);

/* Those of the kernel that make up the face. */
extern const struct counter_ops host_set_ops;

/* 0, or the refusal in a process that did not create the set. */
int host_set_check(const struct host_set *set);

/* TALLY_ERULE if no event has a period. */
int host_set_overflows(struct host_set *set,
                       void (*take)(void *user,
                                    const struct host_overflow *overflow),
                       void *user);

/* Readable (poll(2)) when there are overflows; -1 without a period. */
int host_set_overflow_fd(const struct host_set *set);

#endif
