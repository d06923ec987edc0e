/* SPDX-License-Identifier: MIT */
/*
 * Counts host events for a program, for tasks that run already, or for cpus.
 *
 * An event is opened once for each target: a task or a cpu. An uncore event is
 * opened for each cpu of its mask. An event that cannot be opened has a reason
 * in place of a value.
 */
#ifndef TALLY_HOST_COUNT_H
#define TALLY_HOST_COUNT_H

#include <sched.h>
#include <sys/types.h>

#include "counter/counter.h"
#include "host/event.h"
#include "host/open.h"
#include "host/probe.h"

/* The count of one event in one target, or in all targets together. */
struct host_value {
    struct counter_reading reading; /* sums, not scaled */
    struct host_reason reason;      /* why there is no count; HOST_OK */
    bool counted;
};

struct host_target {
    pid_t tid;     /* -1: a cpu */
    int cpu;       /* -1: a task */
    char name[16]; /* of a task that ran before tally, else "" */
};

struct host_counts {
    double at_s;     /* since counting began */
    double length_s; /* of the interval, or of all the time */
    size_t event_count, target_count;
    const struct host_value *values;    /* of each event, all targets */
    const struct host_target *targets;  /* not of uncore events */
    const struct host_value *of_target; /* [target][event] */
};

struct child_signals;

struct host_count_options {
    const struct child_signals *signals; /* held by the caller */
    const struct host_event *events;
    size_t event_count;
    char *const *argv; /* what to run, or NULL */
    const pid_t *pids; /* processes, counted with all their threads */
    size_t pid_count;
    const pid_t *tids;
    size_t tid_count;
    const cpu_set_t *cpus; /* count all that runs on these, or NULL */
    /* Functions of argv's program that begin and end the counting, or NULL.
     * With probes, children are not counted, and other targets, a delay and
     * intervals are not possible. */
    const struct host_probes *probes;
    bool no_inherit;         /* children are not counted */
    double delay_s;          /* before counting begins; negative: for ever */
    double timeout_s;        /* 0: none */
    double interval_s;       /* 0: none */
    uint64_t interval_count; /* end after so many; 0: no end */
    /* Called before anything runs, or NULL. `counted` of a value says that the
     * event is open (in `values`: in all targets), `reason` why not. */
    void (*opened)(void *user, const struct host_counts *counts);
    /* Called with the counts of each interval, also of the last and shorter
     * one; or NULL. */
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
 * Counts. 0; host_count_result_finish() then frees what the result holds.
 * TALLY_ESYSTEM (also if a probe is refused) or TALLY_ENOMEM, logged; the
 * result is then untouched.
 */
int host_count(const struct host_count_options *options,
               const struct tally_log *log, struct host_count_result *result);
void host_count_result_finish(struct host_count_result *result);

/* Fills in the attributes that are the same for all events, as perf stat does.
 */
void host_attr_complete(struct perf_event_attr *attr, bool leader, bool inherit,
                        bool on_exec);

#endif
