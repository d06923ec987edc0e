/* SPDX-License-Identifier: MIT */
#include "gateway/vcounter_processes.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The value at which a counter interrupts, far above any count. */
#define LIMIT (UINT64_C(1) << 63)

/* No process holds the lock, or sets up the memory, for so long: after that
 * time the memory counts as forged. */
#define PATIENCE_S 60
#define SIGNAL_LAST 64

static struct vcounter_seat *
seat_of_cpu(struct vcounter_processes *o, unsigned cpu)
{
    return &o->seats[cpu - o->strands];
}

/* Returns how often an event has risen on a CPU: on a strand of the machine, or
 * in the process of a seat. */
static uint64_t
happened(const struct vcounter_client *c, unsigned cpu, unsigned index)
{
    struct vcounter_processes *const o = c->shared;

    return cpu < o->strands ? c->source->strand(c->user, cpu, index)
                            : c->source->process(
                                  c->user, seat_of_cpu(o, cpu)->process, index);
}

static uint32_t
pmu_places(void *pmu, unsigned index, uint16_t spec)
{
    const struct vcounter_client *const c = pmu;

    return spec >> 5 == index % c->source->numbers &&
                   c->source->has(c->user, index, false)
               ? UINT32_C(1) << index
               : 0;
}

/* Returns whether the events are possible together: a threshold needs an event
 * that blocks show at once, and no kernel mode, since no process sees at once
 * how far the events of a strand rise. */
static bool
pmu_fits(void *pmu, const struct virtual_request *r)
{
    const struct vcounter_client *const c = pmu;
    bool kernel = false, threshold = false;

    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        const bool told = r->spec[i] != 0 && r->threshold[i] != 0;
        kernel |= (r->spec[i] & VIRTUAL_KERNEL) != 0;
        threshold |= told;
        if (told && !c->source->has(c->user, i, true))
            return false;
    }
    return !kernel || !threshold;
}

static uint64_t
pmu_read(void *pmu, unsigned cpu, unsigned counter)
{
    const struct vcounter_client *const c = pmu;
    const struct vcounter_counter *const k = &c->shared->counters[cpu][counter];

    return k->on ? k->value + (happened(c, cpu, k->index) - k->base) : k->value;
}

static void
pmu_control(void *pmu, unsigned cpu, unsigned counter, unsigned index,
            uint16_t spec)
{
    const struct vcounter_client *const c = pmu;
    struct vcounter_counter *const k = &c->shared->counters[cpu][counter];

    k->value = pmu_read(pmu, cpu, counter);
    k->index = (uint8_t)index;
    k->on = (spec & VIRTUAL_USER) != 0 &&
            (cpu < c->shared->strands || !c->shared->system.active);
    if (k->on)
        k->base = happened(c, cpu, index);
}

static void
pmu_write(void *pmu, unsigned cpu, unsigned counter, uint64_t value)
{
    const struct vcounter_client *const c = pmu;
    struct vcounter_counter *const k = &c->shared->counters[cpu][counter];

    k->value = value;
    if (k->on)
        k->base = happened(c, cpu, k->index);
}

static const struct virtual_pmu_ops pmu_ops = {
    .counters = VIRTUAL_EVENTS,
    .width = 64,
    .limit = LIMIT,
    .places = pmu_places,
    .fits = pmu_fits,
    .control = pmu_control,
    .read = pmu_read,
    .write = pmu_write,
};

static uint64_t
kernel_time(void *kernel, unsigned cpu)
{
    const struct vcounter_client *const c = kernel;

    (void)cpu;
    return c->source->time(c->user);
}

static void
kernel_signal(void *kernel, struct virtual_owner *owner, int signal,
              unsigned index)
{
    const struct vcounter_client *const c = kernel;
    const struct vcounter_seat *const seat = owner->user;

    (void)signal;
    (void)index;
    c->source->send(c->user, seat->pid, seat->host_signal);
}

static const struct virtual_kernel_ops kernel_ops = {
    .time = kernel_time,
    .signal = kernel_signal,
};

static void
set_up(struct vcounter_client *c)
{
    struct vcounter_processes *const o = c->shared;
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&o->lock, &attr);
    pthread_mutexattr_destroy(&attr);
    o->strands = c->strands < VCOUNTER_STRANDS ? c->strands : VCOUNTER_STRANDS;
    virtual_init(&o->system, &pmu_ops, c, &kernel_ops, c, o->cpus, o->strands);
}

static bool
is_late(const struct timespec *end)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > end->tv_sec;
}

static int
lock(struct vcounter_client *c)
{
    struct vcounter_processes *const o = c->shared;
    struct timespec end;
    unsigned fresh = 0;

    if (atomic_compare_exchange_strong(&o->state, &fresh, 1)) {
        set_up(c);
        atomic_store(&o->state, 2);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += PATIENCE_S;
    while (atomic_load(&o->state) != 2) {
        if (atomic_load(&o->state) != 1 || is_late(&end))
            return -EIO;
        sched_yield();
    }
    int error;
    while ((error = pthread_mutex_trylock(&o->lock)) == EBUSY && !is_late(&end))
        sched_yield();
    if (error == EOWNERDEAD)
        pthread_mutex_consistent(&o->lock);
    return error == 0 || error == EOWNERDEAD ? 0 : -EIO;
}

/* Returns whether a bool holds 0 or 1. Any process of the session may have
 * written any bytes, and other bytes must not be read as a bool. */
static bool
is_bool(const bool *value)
{
    unsigned char byte;

    memcpy(&byte, value, sizeof(byte));
    return byte <= 1;
}

static bool
is_block(const struct virtual_block *block)
{
    for (unsigned i = 0; i < VIRTUAL_HARDWARE; i++)
        if (block->turn[i] >= VIRTUAL_EVENTS)
            return false;
    return true;
}

/* Returns whether the owner is NULL or that of a seat. */
static bool
is_seated(const struct vcounter_processes *o, const struct virtual_owner *owner)
{
    for (unsigned i = 0; i < o->seat_count; i++)
        if (owner == &o->seats[i].owner)
            return true;
    return owner == NULL;
}

/* Returns whether the cpu is sound: that of a seat, or with NULL a strand of
 * the machine. */
static bool
is_cpu(const struct vcounter_processes *o, const struct virtual_cpu *cpu,
       const struct vcounter_counter *counters,
       const struct vcounter_seat *seat)
{
    const bool none = cpu->plan == NULL && cpu->block == NULL;
    const bool all = cpu->plan == &o->system.plan && cpu->block == &cpu->own;
    const bool own = seat != NULL && cpu->plan == &seat->owner.plan &&
                     cpu->block == &seat->owner.block;

    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++)
        if (counters[i].index >= VIRTUAL_EVENTS || !is_bool(&counters[i].on))
            return false;
    return (none || all || own) && is_block(&cpu->own) &&
           (cpu->owner == NULL || (seat != NULL && cpu->owner == &seat->owner));
}

static bool
is_seat(const struct vcounter_processes *o, const struct vcounter_seat *seat)
{
    const struct virtual_owner *const owner = &seat->owner;
    const int32_t cpu = (int32_t)(o->strands + (unsigned)(seat - o->seats));

    return seat->pid >= 0 && seat->parent >= 0 && seat->host_signal >= 0 &&
           seat->host_signal <= SIGNAL_LAST && is_bool(&owner->root) &&
           is_bool(&owner->active) && is_bool(&owner->save) &&
           is_bool(&owner->summed) && is_block(&owner->block) &&
           (owner->cpu == VCOUNTER_NOWHERE || owner->cpu == cpu);
}

/* Returns whether each number, index and pointer in the memory is one that some
 * process of the session has put there: the one place where they are checked.
 */
static bool
is_sound(const struct vcounter_client *c)
{
    const struct vcounter_processes *const o = c->shared;
    const struct virtual_system *const s = &o->system;
    const uint32_t strands =
        c->strands < VCOUNTER_STRANDS ? c->strands : VCOUNTER_STRANDS;

    if (o->strands != strands || o->seat_count > VCOUNTER_SEATS ||
        s->count != strands + o->seat_count || s->cpus != o->cpus ||
        !is_bool(&s->active) || !is_seated(o, s->holder) ||
        !is_seated(o, s->watcher))
        return false;
    for (unsigned n = 0; n < s->count; n++)
        if (!is_cpu(o, &o->cpus[n], o->counters[n],
                    n < strands ? NULL : &o->seats[n - strands]))
            return false;
    for (unsigned i = 0; i < o->seat_count; i++)
        if (!is_seat(o, &o->seats[i]))
            return false;
    return true;
}

/* Points the memory at this process's functions and ranges, which have other
 * addresses in other processes. */
static void
adopt(struct vcounter_client *c)
{
    struct virtual_system *const s = &c->shared->system;

    s->ops = &pmu_ops;
    s->pmu = c;
    s->kernel_ops = &kernel_ops;
    s->kernel = c;
    for (unsigned i = 0; i < c->shared->seat_count; i++) {
        struct vcounter_seat *const seat = &c->shared->seats[i];
        seat->owner.user = seat;
        seat->owner.ranges = NULL;
        seat->owner.range_count = 0;
    }
    c->seat = vcounter_find(c->shared, getpid());
    if (c->seat == NULL)
        return;
    /* Only this process has the buckets of its profile. */
    c->seat->owner.ranges = c->ranges;
    c->seat->owner.range_count = c->range_count;
}

static bool
is_awaited(const struct vcounter_seat *parent, pid_t child)
{
    return parent != NULL &&
           (parent->waits == VCOUNTER_ANY || parent->waits == child);
}

void
vcounter_exit(struct vcounter_client *c, struct vcounter_seat *seat)
{
    struct vcounter_seat *const parent = vcounter_find(c->shared, seat->parent);

    virtual_exit(&c->shared->system, &seat->owner,
                 parent != NULL ? &parent->owner : NULL,
                 is_awaited(parent, seat->pid));
    seat->pid = 0;
    if (c->seat == seat)
        c->seat = NULL;
}

int
vcounter_enter(struct vcounter_client *c)
{
    const int error = lock(c);

    if (error != 0)
        return error;
    if (!is_sound(c)) {
        pthread_mutex_unlock(&c->shared->lock);
        return -EIO;
    }
    adopt(c);
    for (unsigned i = 0; i < c->shared->seat_count; i++) {
        struct vcounter_seat *const seat = &c->shared->seats[i];
        if (seat->pid != 0 && kill(seat->pid, 0) != 0 && errno == ESRCH)
            vcounter_exit(c, seat);
    }
    return 0;
}

void
vcounter_leave(struct vcounter_client *c)
{
    if (c->seat != NULL) {
        c->ranges = c->seat->owner.ranges;
        c->range_count = c->seat->owner.range_count;
        c->seat->owner.ranges = NULL;
        c->seat->owner.range_count = 0;
    }
    pthread_mutex_unlock(&c->shared->lock);
}

struct vcounter_seat *
vcounter_find(struct vcounter_processes *o, pid_t pid)
{
    for (unsigned i = 0; i < o->seat_count && pid != 0; i++)
        if (o->seats[i].pid == pid)
            return &o->seats[i];
    return NULL;
}

static unsigned
cpu_of(const struct vcounter_processes *o, const struct vcounter_seat *seat)
{
    return o->strands + (unsigned)(seat - o->seats);
}

/* Claims a free seat for the process; the caller sets up its owner. NULL: no
 * seat is free. */
static struct vcounter_seat *
claim_seat(struct vcounter_processes *o, pid_t pid, pid_t parent,
           uint32_t process)
{
    unsigned i = 0;

    while (i < o->seat_count && o->seats[i].pid != 0)
        i++;
    if (i == VCOUNTER_SEATS)
        return NULL;
    if (i == o->seat_count)
        o->system.count = o->strands + ++o->seat_count;
    o->seats[i] = (struct vcounter_seat){
        .pid = pid,
        .parent = parent,
        .process = process,
        .owner.cpu = VCOUNTER_NOWHERE,
    };
    return &o->seats[i];
}

/* Has the owner of a seat run on the CPU of the seat. */
static void
sit_down(struct vcounter_processes *o, struct vcounter_seat *seat)
{
    seat->owner.user = seat;
    virtual_switch(&o->system, cpu_of(o, seat), &seat->owner, 0);
}

struct vcounter_seat *
vcounter_seat_of(struct vcounter_client *c, pid_t pid, int *error)
{
    struct vcounter_seat *seat = vcounter_find(c->shared, pid);
    pid_t parent = 0;
    uint32_t process;

    if (seat == NULL) {
        *error = -ESRCH;
        if (!c->source->find(c->user, pid, &process, &parent))
            return NULL;
        *error = -EMFILE;
        seat = claim_seat(c->shared, pid, parent, process);
        if (seat == NULL)
            return NULL;
        virtual_owner_init(&seat->owner, 0, false);
        sit_down(c->shared, seat);
        if (pid == getpid())
            c->seat = seat;
    }
    seat->owner.group = (uint32_t)getpgid(pid);
    if (pid == getpid())
        seat->owner.root = geteuid() == 0;
    return seat;
}

void
vcounter_fork(struct vcounter_client *c, pid_t parent, pid_t child,
              uint32_t process)
{
    struct vcounter_seat *const from = vcounter_find(c->shared, parent);
    struct vcounter_seat *seat;

    if (from == NULL || vcounter_find(c->shared, child) != NULL)
        return;
    seat = claim_seat(c->shared, child, parent, process);
    if (seat == NULL)
        return;
    virtual_fork(&c->shared->system, &from->owner, &seat->owner);
    seat->host_signal = from->host_signal;
    sit_down(c->shared, seat);
    c->seat = seat;
}

void
vcounter_pause(struct vcounter_client *c, struct vcounter_seat *seat)
{
    virtual_switch(&c->shared->system, cpu_of(c->shared, seat), NULL, 0);
}

void
vcounter_resume(struct vcounter_client *c, struct vcounter_seat *seat,
                uint32_t process)
{
    seat->process = process;
    sit_down(c->shared, seat);
}

uint64_t
vcounter_left(struct vcounter_client *c, const struct vcounter_seat *seat,
              unsigned index)
{
    const unsigned cpu = cpu_of(c->shared, seat);
    const struct virtual_plan *const plan = c->shared->cpus[cpu].plan;

    if (plan != &seat->owner.plan || (plan->chosen >> index & 1) == 0 ||
        plan->request.threshold[index] == 0 ||
        !c->shared->counters[cpu][index].on)
        return 0;
    const uint64_t now = pmu_read(c, cpu, index);
    return now < LIMIT ? LIMIT - now : 1;
}

void
vcounter_overflow(struct vcounter_client *c, struct vcounter_seat *seat,
                  uint64_t pc)
{
    virtual_overflow(&c->shared->system, cpu_of(c->shared, seat), pc);
}

int
vcounter_read_cpu(struct vcounter_client *c, unsigned cpu,
                  struct counter_reading readings[VIRTUAL_EVENTS])
{
    return cpu < c->shared->strands
               ? virtual_system_read_cpu(&c->shared->system, cpu, readings)
               : 0;
}
