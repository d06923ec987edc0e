/* SPDX-License-Identifier: MIT */
/*
 * Counts host events for a program, for tasks that run already, or for cpus.
 *
 * An event is opened once for each target: a task, or a cpu; an uncore event
 * for each cpu of its mask. What cannot be opened has no value but a reason.
 */
#ifndef TALLY_HOST_COUNT_H
#define TALLY_HOST_COUNT_H

#include <sched.h>
#include <sys/types.h>

#include "counter/counter.h"
#include "host/event.h"
#include "host/open.h"
#include "host/probe.h"

/* One event in one target, or in all together. */
struct host_value {
    struct counter_reading reading; /* sums, not scaled */
    struct host_reason reason;      /* why there is no count, HOST_OK: it is */
    bool counted;
};

struct host_target {
    pid_t tid;     /* -1: a cpu */
    int cpu;       /* -1: a task */
    char name[16]; /* of a task that ran before us, else "" */
};

struct host_counts {
    double at_s;     /* since the start of it all */
    double length_s; /* what the values are of: the interval, or all */
    size_t event_count, target_count;
    const struct host_value *values;    /* of each event, all targets */
    const struct host_target *targets;  /* uncore events have none of these */
    const struct host_value *of_target; /* [target][event] */
};

struct child_signals;

struct host_count_options {
    const struct child_signals *signals; /* held by the caller */
    const struct host_event *events;
    size_t event_count;
    char *const *argv; /* what to run, or NULL */
    const pid_t *pids; /* with all their threads */
    size_t pid_count;
    const pid_t *tids;
    size_t tid_count;
    const cpu_set_t *cpus; /* count these whole, or NULL */
    /* Only from and to these functions of argv's program, or NULL. Then the
     * children are not counted, and there are no other targets, delay and
     * intervals. */
    const struct host_probes *probes;
    bool no_inherit;         /* not the children */
    double delay_s;          /* negative: never start by ourselves */
    double timeout_s;        /* 0: none */
    double interval_s;       /* 0: none */
    uint64_t interval_count; /* end after so many; 0: no end */
    /* Called before anything runs: `counted` of a value says that it is open,
     * of an event in all targets, `reason` why not; may be NULL. */
    void (*opened)(void *user, const struct host_counts *counts);
    /* Called with what was counted in each interval, the last and shorter
     * one too; may be NULL. */
    void (*interval)(void *user, const struct host_counts *counts);
    void *user;
};

struct host_count_result {
    struct host_counts counts; /* owns its arrays */
    double wall_s, user_s, sys_s;
    int status;     /* as waitpid() gives it */
    int exec_error; /* errno if the program could not be started */
    bool interrupted;
    uint64_t from_hits, to_hits; /* how often the probes were met */
};

/*
 * 0, or TALLY_ESYSTEM (a probe that is refused, too), TALLY_ENOMEM, logged; the
 * result is then untouched. Otherwise host_count_result_finish() frees what it
 * holds.
 */
int host_count(const struct host_count_options *options,
               const struct tally_log *log, struct host_count_result *result);
void host_count_result_finish(struct host_count_result *result);

/* What of the attributes is the same for all: perf stat's choice. */
void host_attr_complete(struct perf_event_attr *attr, bool leader, bool inherit,
                        bool on_exec);

#endif
