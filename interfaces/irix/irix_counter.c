/* SPDX-License-Identifier: MIT */
/*
 * The event counters of r10k_evcntrs(5) over tally/counter.h, on this host:
 * what data/irix/perf.toml has in the events' place. Each event is a handle of
 * its own, so that each has its threshold.
 *
 * Blocks of processes are in this process's memory: another process that uses
 * the library has its own, so EBUSY and lost counters are between the users in
 * one process. A child of fork() has its parent's block anew. What a child
 * counts is in the parent's sums while it runs, on IRIX when it is waited for.
 *
 * Not here: HWPERF_PROFENABLE.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "irix_counter.h"
#include "irix_guest.h"
#include "irix_perf.h"

struct irix_state irix = {.lock = PTHREAD_MUTEX_INITIALIZER,
                          .once = PTHREAD_ONCE_INIT,
                          .watched = PTHREAD_ONCE_INIT,
                          .processor = 10000,
                          .generation = 1};

/* Where it runs. */
static void
look_around(void)
{
    char machine[40];

    if (!irix_guest_hello(machine))
        return;
    const bool r10000 = strncmp(machine, "r10000", 6) == 0;
    irix.emulated = r10000 || strcmp(machine, "r12000") == 0;
    if (irix.emulated)
        irix.processor = r10000 ? 10000 : 12000;
}

const struct irix_ops *
irix_default(void)
{
    pthread_once(&irix.once, look_around);
    return irix.emulated ? &irix_guest_ops : &irix_counter_ops;
}

__attribute__((visibility("default"))) int
irix_processor(void)
{
    pthread_once(&irix.once, look_around);
    return irix.processor;
}

__attribute__((visibility("default"))) void
irix_processor_set(int processor)
{
    pthread_once(&irix.once, look_around);
    if (!irix.emulated)
        irix.processor = processor;
}

static int
errno_of(int error)
{
    switch (error) {
    case TALLY_EPERMISSION:
        return -EPERM;
    case TALLY_ENOMEM:
        return -ENOMEM;
    case TALLY_ESYSTEM:
        return -EMFILE;
    default: /* no such event here, or not so */
        return -EINVAL;
    }
}

/* The specifier's number stands under its own index. */
static bool
is_placed(unsigned index, uint16_t spec)
{
    return irix.processor == 12000 ? spec >> 5 == index
                                   : spec >> 5 == index % HWPERF_CNT1BASE;
}

int
irix_check(const struct virtual_request *r, bool *system)
{
    bool any = false, privileged = false;

    *system = false;
    if (r->signal < 0 || r->signal > VIRTUAL_SIGNALS)
        return -EINVAL;
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        const uint16_t spec = r->spec[i];
        if (r->threshold[i] < 0)
            return -EINVAL;
        if (spec == 0)
            continue;
        if ((spec & VIRTUAL_MODES) == 0 || !is_placed(i, spec))
            return -EINVAL;
        any = true;
        privileged |= (spec & VIRTUAL_MODES & ~VIRTUAL_USER) != 0;
        *system |= (spec & VIRTUAL_KERNEL) != 0;
    }
    if (!any)
        return -EINVAL;
    return privileged && geteuid() != 0 ? -EPERM : 0;
}

/* What to add to a handle; false: nothing counts it. */
static bool
event_name(unsigned index, uint16_t spec, char *text, size_t size)
{
    const char *name =
        irix.processor == 12000 ? perf_r12000[index] : perf_r10000[index];

    if (name != NULL)
        snprintf(text, size, "%s:%s%s", name, spec & VIRTUAL_USER ? "u" : "",
                 spec & (VIRTUAL_KERNEL | VIRTUAL_EXCEPTION) ? "k" : "");
    return name != NULL;
}

void
irix_close_all(struct block *b)
{
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        tally_counter_close(b->counter[i]);
        b->counter[i] = NULL;
    }
}

/* Handles of the process `pid`, or of a cpu if that is 0. */
static int
open_event(struct block *b, unsigned i, const struct virtual_request *r,
           pid_t pid, unsigned cpu)
{
    struct tally_counter_options o;
    char name[64];

    if (!event_name(i, r->spec[i], name, sizeof(name)))
        return -EINVAL;
    tally_counter_options_init(&o, sizeof(o));
    if (pid == 0) {
        o.scope = TALLY_COUNTER_CPU;
        o.id = (int)cpu;
    } else if (r->threshold[i] == 0) {
        o.scope = TALLY_COUNTER_PROCESS;
        o.id = pid == getpid() ? 0 : (int)pid;
        o.inherit = true;
    } else if (pid != getpid()) {
        return -EINVAL;
    }
    if (r->threshold[i] != 0) {
        o.period = (uint64_t)r->threshold[i];
        o.signal = r->signal;
    }
    int error = tally_counter_open(&o, &b->counter[i]);
    if (error == 0)
        error = tally_counter_add(b->counter[i], name);
    return error == 0 ? 0 : errno_of(error);
}

int
irix_open_all(struct block *b, const struct virtual_request *r, pid_t pid,
              unsigned cpu)
{
    int error = 0;

    for (unsigned i = 0; i < VIRTUAL_EVENTS && error == 0; i++)
        if (r->spec[i] != 0)
            error = open_event(b, i, r, pid, cpu);
    for (unsigned i = 0; i < VIRTUAL_EVENTS && error == 0; i++)
        if (b->counter[i] != NULL &&
            (error = tally_counter_start(b->counter[i])) != 0)
            error = errno_of(error);
    if (error != 0)
        irix_close_all(b);
    return error;
}

int
irix_add_readings(const struct block *b,
                  struct counter_reading readings[VIRTUAL_EVENTS])
{
    int error = b->lost ? -EIO : 0;

    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        struct tally_reading now[8];
        readings[i].value += b->kept[i].value;
        readings[i].enabled += b->kept[i].enabled;
        readings[i].running += b->kept[i].running;
        if (b->counter[i] == NULL)
            continue;
        const size_t count = tally_counter_count(b->counter[i]);
        if (count > 8 || tally_counter_read(b->counter[i], now, count) != 0) {
            error = -EIO;
            continue;
        }
        /* Two kinds of cores are two events. */
        for (size_t k = 0; k < count; k++) {
            readings[i].value += now[k].value;
            readings[i].enabled += now[k].enabled;
            readings[i].running += now[k].running;
        }
    }
    return error;
}

/* Its handles are closed, their counts kept. */
void
irix_keep(struct block *b)
{
    struct counter_reading now[VIRTUAL_EVENTS] = {0};

    b->lost = irix_add_readings(b, now) != 0;
    irix_close_all(b);
    memcpy(b->kept, now, sizeof(now));
    b->active = false;
}

/* Whoever the block is of, it is another's after the process's end; and a
 * number may come again. */
static bool
is_gone(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

static struct block *
find(pid_t pid)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        if (irix.blocks[i].pid == pid)
            return &irix.blocks[i];
    return NULL;
}

static struct block *
find_or_add(pid_t pid)
{
    struct block *b = find(pid);

    for (unsigned i = 0; b == NULL && i < BLOCKS; i++) {
        struct block *old = &irix.blocks[i];
        if (old->pid != 0 && (old->save || !is_gone(old->pid)))
            continue;
        irix_close_all(old);
        *old = (struct block){.pid = pid, .generation = 1};
        b = old;
    }
    return b;
}

/* In the child of fork(): the handles are the parent's. Its own block begins
 * anew, what it had of others is forgotten. */
static void
forget_parent(void)
{
    const pid_t parent = irix.forker;

    pthread_mutex_init(&irix.lock, NULL);
    irix.active = false;
    for (unsigned i = 0; i < BLOCKS; i++) {
        struct block *b = &irix.blocks[i];
        const bool own = b->pid == parent && b->active;
        const struct block old = *b;
        if (b->pid == 0)
            continue;
        irix_close_all(b);
        *b = (struct block){0};
        if (!own)
            continue;
        b->pid = getpid();
        b->generation = old.generation;
        b->request = old.request;
        b->active = irix_open_all(b, &b->request, b->pid, 0) == 0;
    }
    for (unsigned c = 0; c < irix.cpu_count; c++)
        irix_close_all(&irix.cpus[c]);
    irix.cpu_count = 0;
}

static void
before_fork(void)
{
    pthread_mutex_lock(&irix.lock);
    irix.forker = getpid();
}

static void
after_fork(void)
{
    pthread_mutex_unlock(&irix.lock);
}

/* After the first counters were opened, so that libraries below, which need
 * their locks back in a child before we call them, are there first. */
static void
watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, forget_parent);
}

/* Takes the lock; the block, or NULL and why: not the caller's to look at. */
static struct block *
enter(pid_t target, int *error)
{
    irix_lock();
    struct block *b = NULL;
    if (target != getpid() && is_gone(target))
        *error = -ESRCH;
    else if (target != getpid() && geteuid() != 0 &&
             getpgid(target) != getpgid(0))
        *error = -EPERM;
    else if ((b = find_or_add(target)) == NULL)
        *error = -EMFILE;
    return b;
}

void
irix_lock(void)
{
    pthread_once(&irix.once, look_around);
    pthread_mutex_lock(&irix.lock);
}

int
irix_leave(int result)
{
    pthread_mutex_unlock(&irix.lock);
    return result;
}

static int
counter_open(void *system, pid_t target)
{
    (void)system;
    pthread_once(&irix.once, look_around);
    if (target == getpid())
        return 0;
    if (is_gone(target))
        return -ENOENT;
    return geteuid() == 0 || getpgid(target) == getpgid(0) ? 0 : -EACCES;
}

static bool
is_used(void)
{
    bool used = false;

    for (unsigned i = 0; i < BLOCKS; i++)
        used = used || irix.blocks[i].active;
    return used;
}

static int
counter_start(void *system, pid_t target, const struct virtual_request *r)
{
    bool whole = false;
    int error = 0;

    (void)system;
    struct block *b = enter(target, &error);
    if (b == NULL)
        return irix_leave(error);
    error = irix_check(r, &whole);
    if (error == 0 && (irix.active || (whole && is_used())))
        error = -EBUSY;
    if (error == 0 && whole)
        return irix_leave(irix_begin_system(r));
    struct block fresh = {.pid = target, .generation = b->generation + 1};
    if (error == 0)
        error = irix_open_all(&fresh, r, target, 0);
    if (error != 0)
        return irix_leave(error);
    pthread_once(&irix.watched, watch_forks);
    irix_close_all(b);
    fresh.active = true;
    fresh.request = *r;
    *b = fresh;
    return irix_leave(b->generation);
}

/* What the children counted that are gone, where that was asked for. */
static void
absorb(struct block *own)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        struct block *b = &irix.blocks[i];
        if (b == own || !b->save || !is_gone(b->pid))
            continue;
        struct counter_reading now[VIRTUAL_EVENTS] = {0};
        if (irix_add_readings(b, now) != 0)
            own->lost = true;
        for (unsigned e = 0; e < VIRTUAL_EVENTS; e++) {
            own->kept[e].value += now[e].value;
            own->kept[e].enabled += now[e].enabled;
            own->kept[e].running += now[e].running;
        }
        irix_close_all(b);
        *b = (struct block){0};
    }
}

static int
counter_read(void *system, pid_t target,
             struct counter_reading readings[VIRTUAL_EVENTS])
{
    int error = 0;

    (void)system;
    struct block *b = enter(target, &error);
    if (b == NULL)
        return irix_leave(error);
    if (target == getpid())
        absorb(b);
    memset(readings, 0, VIRTUAL_EVENTS * sizeof(*readings));
    error = irix_add_readings(b, readings);
    return irix_leave(error != 0 ? error : b->generation);
}

static int
counter_usage(void *system, pid_t target, hwperf_prusage_t *usage)
{
    int error = 0;

    (void)system;
    struct block *b = enter(target, &error);
    if (b != NULL)
        error = irix_usage(target, usage);
    return irix_leave(error != 0 ? error : b->generation);
}

static int
counter_control(void *system, pid_t target, uint16_t spec[VIRTUAL_EVENTS])
{
    int error = 0;

    (void)system;
    const struct block *b = enter(target, &error);
    if (b == NULL)
        return irix_leave(error);
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++)
        spec[i] = b->active ? b->request.spec[i] : 0;
    return irix_leave(b->generation);
}

static int
counter_change(void *system, pid_t target, const struct virtual_request *r)
{
    struct block fresh = {0};
    bool whole = false;
    int error = 0;

    (void)system;
    struct block *b = enter(target, &error);
    if (b == NULL)
        return irix_leave(error);
    error = !b->active ? -EINVAL : irix_check(r, &whole);
    if (error == 0 && whole)
        error = -EINVAL;
    if (error == 0)
        error = irix_open_all(&fresh, r, target, 0);
    if (error != 0)
        return irix_leave(error);
    irix_keep(b);
    memcpy(b->counter, fresh.counter, sizeof(b->counter));
    b->request = *r;
    b->active = true;
    return irix_leave(++b->generation);
}

static int
counter_release(void *system, pid_t target)
{
    int error = 0;

    (void)system;
    struct block *b = enter(target, &error);
    if (b != NULL)
        irix_keep(b);
    return irix_leave(error);
}

static int
counter_save(void *system, pid_t target)
{
    int error = 0;

    (void)system;
    struct block *b = enter(target, &error);
    if (b != NULL)
        b->save = true;
    return irix_leave(error);
}

static int
counter_profile(void *system, const struct virtual_request *r,
                const struct virtual_range *ranges, uint32_t count)
{
    (void)system;
    (void)r;
    (void)ranges;
    (void)count;
    return -ENOTSUP;
}

const struct irix_ops irix_counter_ops = {
    .open = counter_open,
    .start = counter_start,
    .read = counter_read,
    .usage = counter_usage,
    .control = counter_control,
    .change = counter_change,
    .release = counter_release,
    .save = counter_save,
    .profile = counter_profile,
    .system_start = irix_system_start,
    .system_read = irix_system_read,
    .system_read_cpu = irix_system_read_cpu,
    .system_control = irix_system_control,
    .system_change = irix_system_change,
    .system_release = irix_system_release,
};
