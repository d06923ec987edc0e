/* SPDX-License-Identifier: MIT */
#include "host/count.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "host/child.h"

#define ALIVE_S 0.1   /* between two looks whether attached tasks live */
#define DRAIN_S 0.005 /* between two readings of the probes' ring */

struct opened {
    int fd; /* -1: not open */
    struct host_reason reason;
    struct counter_reading last; /* at the end of the last interval */
};

struct counting {
    const struct host_count_options *o;
    struct child child;
    struct host_target *targets;
    size_t target_count, uncore_count; /* uncore rows stand behind */
    struct opened *opened;             /* [target or uncore][event] */
    struct probe_group *probes;        /* that all events are in, or NULL */
    struct host_value *values, *of_target;
    uint64_t intervals;     /* reported so far */
    double began_s, last_s; /* start, and end of the last interval */
    struct rlimit descriptors;
    bool enabled, begun;
};

static double
now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void
host_attr_complete(struct perf_event_attr *attr, bool leader, bool inherit,
                   bool on_exec)
{
    attr->size = sizeof(*attr);
    attr->sample_type = PERF_SAMPLE_IDENTIFIER;
    attr->read_format =
        PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr->inherit = inherit;
    attr->disabled = leader;
    attr->enable_on_exec = leader && on_exec;
}

static struct opened *
opened_at(const struct counting *c, size_t target, size_t event)
{
    return &c->opened[target * c->o->event_count + event];
}

/* Adds a target, unless it is a target already. */
static int
add_target(struct counting *c, pid_t tid, int cpu)
{
    for (size_t i = 0; i < c->target_count; i++)
        if (c->targets[i].tid == tid && c->targets[i].cpu == cpu)
            return 0;
    struct host_target *targets =
        reallocarray(c->targets, c->target_count + 1, sizeof(*targets));
    if (targets == NULL)
        return TALLY_ENOMEM;
    c->targets = targets;
    targets[c->target_count++] = (struct host_target){tid, cpu, ""};
    return 0;
}

/* Adds a thread that runs already, with its name: the thread may be gone when
 * the report is written. */
static int
add_thread(struct counting *c, pid_t tid)
{
    char path[64];
    const size_t before = c->target_count;
    const int error = add_target(c, tid, -1);

    if (error != 0 || c->target_count == before)
        return error;
    char *name = c->targets[before].name;
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fgets(name, sizeof(c->targets[before].name), file) == NULL)
        name[0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    fclose(file);
    return 0;
}

/* Adds the threads that a process has now; later threads inherit the events. */
static int
add_process(struct counting *c, pid_t pid, const struct tally_log *log)
{
    char path[64];
    int error = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL)
        return tally_fail(log, TALLY_ESYSTEM, "there is no process %d",
                          (int)pid);
    for (struct dirent *d = readdir(tasks); d != NULL && error == 0;
         d = readdir(tasks))
        if (d->d_name[0] != '.')
            error = add_thread(c, atoi(d->d_name));
    closedir(tasks);
    return error;
}

static int
find_targets(struct counting *c, const struct tally_log *log)
{
    const struct host_count_options *o = c->o;
    int error = 0;

    for (size_t i = 0; i < o->pid_count && error == 0; i++)
        error = add_process(c, o->pids[i], log);
    for (size_t i = 0; i < o->tid_count && error == 0; i++)
        error = kill(o->tids[i], 0) != 0 && errno == ESRCH
                    ? tally_fail(log, TALLY_ESYSTEM, "there is no thread %d",
                                 (int)o->tids[i])
                    : add_thread(c, o->tids[i]);
    for (int cpu = 0; o->cpus != NULL && cpu < CPU_SETSIZE && error == 0; cpu++)
        if (CPU_ISSET((size_t)cpu, o->cpus))
            error = add_target(c, -1, cpu);
    if (error == 0 && c->target_count == 0)
        error = add_target(c, c->child.pid, -1);
    return error;
}

/*
 * Raises the limit of open files: each event takes a descriptor for each target
 * or cpu. The program keeps the old limit: it was started before this, and
 * finish_counting() restores the limit before a next run.
 */
static void
raise_descriptors(struct counting *c)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &c->descriptors) != 0)
        return;
    limit = c->descriptors;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Returns the first event of the same braces that can be opened, or the event
 * itself. */
static size_t
leader_of(const struct host_count_options *o, size_t event)
{
    size_t leader = event;

    for (size_t i = event; o->events[event].group >= 0 && i > 0 &&
                           o->events[i - 1].group == o->events[event].group;
         i--)
        if (host_event_lacks(&o->events[i - 1]) == NULL)
            leader = i - 1;
    return leader;
}

static void
open_event(const struct counting *c, struct opened *row, size_t event,
           const struct opened *leader, pid_t tid, int cpu)
{
    struct perf_event_attr attr = c->o->events[event].attr;
    const bool leads = leader == row;
    const bool on_exec = c->o->argv != NULL && c->o->delay_s == 0 && cpu < 0 &&
                         tid == c->child.pid;

    const char *const lacks = host_event_lacks(&c->o->events[event]);
    if (lacks != NULL) {
        host_reason_lacking(lacks, &row->reason);
        return;
    }
    host_attr_complete(&attr, leads, !c->o->no_inherit && cpu < 0, on_exec);
    if (!leads && leader->fd < 0) {
        row->reason = leader->reason;
        snprintf(row->reason.text, sizeof(row->reason.text),
                 "the first event of its group cannot be counted");
        return;
    }
    row->fd = host_open(&attr, tid, cpu, leads ? -1 : leader->fd,
                        PERF_FLAG_FD_CLOEXEC, &row->reason);
}

/* Opens all events: an uncore event on the cpus of its mask, any other for each
 * target. */
static void
open_all(struct counting *c)
{
    for (size_t e = 0; e < c->o->event_count; e++) {
        const struct host_event *const event = &c->o->events[e];
        size_t at = c->target_count;
        for (int cpu = 0; event->uncore && cpu < CPU_SETSIZE; cpu++) {
            if (!CPU_ISSET((size_t)cpu, &event->cpus))
                continue;
            struct opened *row = opened_at(c, at++, e);
            open_event(c, row, e, row, -1, cpu);
        }
        for (size_t t = 0; !event->uncore && t < c->target_count; t++) {
            const int cpu = c->targets[t].cpu;
            /* The PMU of one kind of cores does not have the other cpus. */
            if (cpu < 0 || CPU_COUNT(&event->cpus) == 0 ||
                CPU_ISSET((size_t)cpu, &event->cpus))
                open_event(c, opened_at(c, t, e), e,
                           opened_at(c, t, leader_of(c->o, e)),
                           c->targets[t].tid, cpu);
        }
    }
}

/* Opens the events of the program in the group of the probes. */
static int
open_probed(struct counting *c, const struct tally_log *log)
{
    const struct host_count_options *o = c->o;
    const int error = probe_open(o->probes, o->events, o->event_count,
                                 c->child.pid, log, &c->probes);

    for (size_t e = 0; e < o->event_count && error == 0; e++) {
        struct opened *row = opened_at(c, 0, e);
        row->fd = probe_add(c->probes, &o->events[e], e, &row->reason);
    }
    return error;
}

/* Tells the caller which events are open. read_all() clears these values. */
static void
tell_opened(const struct counting *c)
{
    const size_t events = c->o->event_count;
    const size_t rows = c->target_count + c->uncore_count;
    const struct host_counts counts = {
        .event_count = events,
        .target_count = c->target_count,
        .values = c->values,
        .targets = c->targets,
        .of_target = c->of_target,
    };

    if (c->o->opened == NULL)
        return;
    for (size_t i = 0; i < rows * events; i++) {
        const struct opened *o = &c->opened[i];
        struct host_value *all = &c->values[i % events];
        if (i < c->target_count * events)
            c->of_target[i].counted = o->fd >= 0;
        if (o->fd < 0 && o->reason.why != HOST_OK && all->reason.why == HOST_OK)
            all->reason = o->reason;
    }
    for (size_t e = 0; e < events; e++)
        c->values[e].counted = c->values[e].reason.why == HOST_OK;
    c->o->opened(c->o->user, &counts);
}

static int
make_room(struct counting *c)
{
    const size_t events = c->o->event_count;

    for (size_t e = 0; e < events; e++) {
        const size_t cpus = (size_t)CPU_COUNT(&c->o->events[e].cpus);
        if (c->o->events[e].uncore && cpus > c->uncore_count)
            c->uncore_count = cpus;
    }
    const size_t rows = c->target_count + c->uncore_count;
    c->opened = calloc(rows * events + 1, sizeof(*c->opened));
    c->values = calloc(events + 1, sizeof(*c->values));
    c->of_target = calloc(c->target_count * events + 1, sizeof(*c->of_target));
    if (c->opened == NULL || c->values == NULL || c->of_target == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < rows * events; i++)
        c->opened[i].fd = -1;
    return 0;
}

/* Starts or stops the open events from row `first` on. */
static void
control(struct counting *c, size_t first, unsigned long request)
{
    const size_t rows = c->target_count + c->uncore_count;

    for (size_t i = first * c->o->event_count; i < rows * c->o->event_count;
         i++)
        while (c->opened[i].fd >= 0 && ioctl(c->opened[i].fd, request, 0) < 0 &&
               errno == EINTR)
            ;
    c->enabled = request == PERF_EVENT_IOC_ENABLE;
    c->begun = c->begun || c->enabled;
}

/* Reads a counter. 0 or errno; EBUSY: a pinned event, which lost its counter,
 * reads as the end of the file. */
static int
read_counter(int fd, struct counter_reading *reading)
{
    ssize_t n;

    do
        n = read(fd, reading, sizeof(*reading));
    while (n < 0 && errno == EINTR);
    return n == sizeof(*reading) ? 0 : n < 0 ? errno : EBUSY;
}

static void
add_reading(struct host_value *value, const struct counter_reading *r)
{
    value->reading.value += r->value;
    value->reading.enabled += r->enabled;
    value->reading.running += r->running;
    value->counted = true;
}

/* Adds one descriptor's reading to its event's sums; with `delta`, what came
 * since the last reading. */
static void
collect(struct counting *c, size_t row, size_t event, bool delta)
{
    struct opened *o = opened_at(c, row, event);
    struct counter_reading now, since;
    struct host_value *all = &c->values[event];

    if (o->fd < 0) {
        if (o->reason.why != HOST_OK && all->reason.why == HOST_OK)
            all->reason = o->reason;
        return;
    }
    if (c->probes != NULL) {
        now = probe_reading(c->probes, event, &all->reason);
        add_reading(all, &now);
        add_reading(&c->of_target[event], &now);
        return;
    }
    const int error = read_counter(o->fd, &now);
    if (error != 0) {
        host_explain(error, &c->o->events[event].attr, -1, -1, &all->reason);
        return;
    }
    since = now;
    if (delta) {
        since.value -= o->last.value;
        since.enabled -= o->last.enabled;
        since.running -= o->last.running;
        o->last = now;
    }
    add_reading(all, &since);
    if (row < c->target_count)
        add_reading(&c->of_target[row * c->o->event_count + event], &since);
}

/*
 * Decides whether the sum of an event counts. A task or cpu that has gone lacks
 * nothing in the sum; if any other target is not counted, the sum would be less
 * than the true count, and there is none.
 */
static void
judge(const struct counting *c, struct host_value *v)
{
    const bool gone =
        v->reason.why == HOST_NO_TASK || v->reason.why == HOST_NO_CPU;

    if (v->counted && gone)
        v->reason = (struct host_reason){0};
    if (v->reason.why == HOST_OK && !c->begun) {
        v->reason.why = HOST_NOT_BEGUN;
        snprintf(v->reason.text, sizeof(v->reason.text),
                 "counting had not begun: the delay is %.0f ms",
                 c->o->delay_s * 1e3);
        snprintf(v->reason.mend, sizeof(v->reason.mend),
                 "give a shorter delay (-D)");
    }
    if (v->reason.why != HOST_OK)
        v->counted = false;
}

static void
read_all(struct counting *c, bool delta, struct host_counts *counts)
{
    const size_t events = c->o->event_count;
    const double now = now_s();
    const double since = delta && c->last_s > 0 ? c->last_s : c->began_s;

    memset(c->values, 0, events * sizeof(*c->values));
    memset(c->of_target, 0, c->target_count * events * sizeof(*c->of_target));
    for (size_t row = 0; row < c->target_count + c->uncore_count; row++)
        for (size_t e = 0; e < events; e++)
            collect(c, row, e, delta);
    for (size_t e = 0; e < events; e++)
        judge(c, &c->values[e]);
    if (delta)
        c->last_s = now;
    *counts = (struct host_counts){
        .at_s = now - c->began_s,
        .length_s = now - since,
        .event_count = events,
        .target_count = c->target_count,
        .values = c->values,
        .targets = c->targets,
        .of_target = c->of_target,
    };
}

/* Returns whether a thread lives. A thread that has ended is dead, whether or
 * not its parent has waited for it. */
static bool
thread_lives(pid_t tid)
{
    char path[64], text[512] = "";

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const bool read = fgets(text, sizeof(text), file) != NULL;
    fclose(file);
    /* The state's letter stands behind the name, which may hold anything. */
    const char *end = read ? strrchr(text, ')') : NULL;
    return end != NULL && end[1] == ' ' && end[2] != 'X' && end[2] != 'Z';
}

/* Its first thread may have ended before others that began later. */
static bool
process_lives(pid_t pid)
{
    char path[64];
    bool lives = thread_lives(pid);

    if (lives)
        return true;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL)
        return false;
    for (struct dirent *d = readdir(tasks); d != NULL && !lives;
         d = readdir(tasks))
        lives = d->d_name[0] != '.' && thread_lives(atoi(d->d_name));
    closedir(tasks);
    return lives;
}

/* Returns whether any attached task still lives. */
static bool
targets_live(const struct counting *c)
{
    for (size_t i = 0; i < c->o->pid_count; i++)
        if (process_lives(c->o->pids[i]))
            return true;
    for (size_t i = 0; i < c->o->tid_count; i++)
        if (thread_lives(c->o->tids[i]))
            return true;
    return false;
}

static void
tell_interval(struct counting *c)
{
    struct host_counts counts;

    read_all(c, true, &counts);
    if (c->o->interval != NULL)
        c->o->interval(c->o->user, &counts);
}

static double
earlier(double a, double b)
{
    return a < b ? a : b;
}

/* Waits to the end, with the times of delay, interval and timeout. */
static void
wait_and_tick(struct counting *c)
{
    const struct host_count_options *o = c->o;
    double next = o->interval_s > 0 ? c->began_s + o->interval_s : 1e300;
    const double start = o->delay_s > 0 ? c->began_s + o->delay_s : 1e300;
    double stop = o->timeout_s > 0 ? c->began_s + o->timeout_s : 1e300;
    const bool attached = o->argv == NULL && o->cpus == NULL;

    for (;;) {
        const double now = now_s();
        double until = earlier(next, stop);
        if (!c->enabled)
            until = earlier(until, start);
        if (attached)
            until = earlier(until, now + ALIVE_S);
        if (c->probes != NULL)
            until = earlier(until, now + DRAIN_S);
        if (child_wait(&c->child, until > 1e299 ? -1
                                  : until > now ? until - now
                                                : 0))
            return;
        probe_drain(c->probes);
        const double then = now_s();
        if (!c->enabled && then >= start)
            control(c, 0, PERF_EVENT_IOC_ENABLE);
        if (then >= next) {
            tell_interval(c);
            while (next <= then)
                next += o->interval_s;
            if (++c->intervals == o->interval_count) {
                stop = then;
                next = 1e300;
            }
        }
        if (then >= stop) {
            if (c->child.pid <= 0)
                return;
            kill(c->child.pid, SIGTERM);
            stop = 1e300; /* it may take its time to end */
        }
        if (attached && !targets_live(c))
            return;
    }
}

static void
finish_counting(struct counting *c)
{
    const size_t rows = (c->target_count + c->uncore_count) * c->o->event_count;

    for (size_t i = 0; c->opened != NULL && i < rows; i++)
        if (c->opened[i].fd >= 0)
            close(c->opened[i].fd);
    probe_close(c->probes);
    child_finish(&c->child);
    free(c->opened);
    if (c->descriptors.rlim_cur > 0)
        setrlimit(RLIMIT_NOFILE, &c->descriptors);
}

static void
run_counting(struct counting *c)
{
    const struct host_count_options *o = c->o;
    const bool own = o->argv != NULL && o->pid_count == 0 &&
                     o->tid_count == 0 && o->cpus == NULL;

    c->began_s = now_s();
    /* The exec enables what counts the program; all else is for us. */
    if (o->delay_s == 0)
        control(c, own ? c->target_count : 0, PERF_EVENT_IOC_ENABLE);
    child_go(&c->child);
    wait_and_tick(c);
    /* A program of ours has ended; else what goes on must stand still. */
    if (!own)
        control(c, 0, PERF_EVENT_IOC_DISABLE);
    const bool all_told =
        o->interval_count != 0 && c->intervals >= o->interval_count;
    if (o->interval_s > 0 && c->child.exec_error == 0 && !all_told)
        tell_interval(c);
}

int
host_count(const struct host_count_options *o, const struct tally_log *log,
           struct host_count_result *result)
{
    struct counting c = {.o = o};
    struct host_counts counts;
    int error;

    const struct child_program program = {.argv = o->argv};

    error = child_start(&c.child, o->signals, &program, log);
    if (error != 0)
        return error;
    raise_descriptors(&c);
    error = find_targets(&c, log);
    if (error == 0)
        error = make_room(&c);
    if (error == 0 && o->probes != NULL)
        error = open_probed(&c, log);
    else if (error == 0)
        open_all(&c);
    if (error == 0) {
        tell_opened(&c);
        run_counting(&c);
        probe_end(c.probes);
        read_all(&c, false, &counts);
        *result = (struct host_count_result){
            .counts = counts,
            .wall_s = now_s() - c.began_s,
            .user_s = c.child.user_s,
            .sys_s = c.child.sys_s,
            .status = c.child.status,
            .exec_error = c.child.exec_error,
            .interrupted = c.child.interrupted,
            .from_hits = probe_hits(c.probes, PROBE_FROM),
            .to_hits = probe_hits(c.probes, PROBE_TO),
        };
    }
    finish_counting(&c);
    if (error != 0) {
        free(c.targets);
        free(c.values);
        free(c.of_target);
    }
    return error == TALLY_ENOMEM
               ? tally_fail(log, error, "no memory for %zu events",
                            o->event_count)
               : error;
}

void
host_count_result_finish(struct host_count_result *result)
{
    free((void *)result->counts.targets);
    free((void *)result->counts.values);
    free((void *)result->counts.of_target);
    *result = (struct host_count_result){0};
}
