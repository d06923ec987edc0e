/* SPDX-License-Identifier: MIT */
/*
 * The event counters of r10k_evcntrs(5) in a program that tally runs on an
 * emulated R10000 or R12000. The state is the session's, which all processes of
 * one `tally count` share; here is nothing to lock, and a signal's handler may
 * call.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gateway/doorbell.h"
#include "gateway/register.h"
#include "gateway/host_signal.h"
#include "irix_guest.h"

#define TRIES 1000 /* of a millisecond */

static struct gateway_hello hello;

bool
irix_guest_hello(char machine[40])
{
    if (!gateway_hello(&hello))
        return false;
    memcpy(machine, hello.machine, sizeof(hello.machine));
    return true;
}

static int
ring(struct gateway_virtual *q, enum gateway_virtual_call call, pid_t target)
{
    q->call = call;
    q->target = (uint64_t)target;
    q->result = (uint64_t)-ENOTSUP;
    gateway_ring(GATEWAY_VIRTUAL, q);
    return (int)(int64_t)q->result;
}

static int
ask(enum gateway_virtual_call call, pid_t target)
{
    struct gateway_virtual q;

    memset(&q, 0, sizeof(q));
    return ring(&q, call, target);
}

static void
put_request(struct gateway_virtual *q, const struct virtual_request *r)
{
    memset(q, 0, sizeof(*q));
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        q->spec[i] = r->spec[i];
        q->threshold[i] = (uint64_t)(int64_t)r->threshold[i];
    }
    q->signal = (uint64_t)(int64_t)r->signal;
    q->host_signal = gateway_host_signal(r->signal);
}

/* What the machine needs for it is there before anything counts: starts take
 * the same number of instructions whenever. */
static int
ring_ready(struct gateway_virtual *q, enum gateway_virtual_call call,
           pid_t target)
{
    if (ring(q, GATEWAY_PREPARE, target) == 0)
        gateway_await((const struct gateway_page *)(uintptr_t)hello.page,
                      q->epoch);
    return ring(q, call, target);
}

static int
ask_request(enum gateway_virtual_call call, pid_t target,
            const struct virtual_request *r)
{
    struct gateway_virtual q;

    put_request(&q, r);
    return ring_ready(&q, call, target);
}

static int
ask_counts(enum gateway_virtual_call call, pid_t target, unsigned cpu,
           struct counter_reading readings[VIRTUAL_EVENTS])
{
    struct gateway_virtual q;

    memset(&q, 0, sizeof(q));
    q.cpu = cpu;
    const int result = ring(&q, call, target);
    for (unsigned i = 0; result > 0 && i < VIRTUAL_EVENTS; i++)
        readings[i] =
            (struct counter_reading){q.value[i], q.enabled[i], q.running[i]};
    return result;
}

static int
ask_control(enum gateway_virtual_call call, pid_t target,
            uint16_t spec[VIRTUAL_EVENTS])
{
    struct gateway_virtual q;

    memset(&q, 0, sizeof(q));
    const int result = ring(&q, call, target);
    for (unsigned i = 0; result > 0 && i < VIRTUAL_EVENTS; i++)
        spec[i] = (uint16_t)q.spec[i];
    return result;
}

/* A child that has just been made may not be there yet. */
static int
guest_open(void *system, pid_t target)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    int error = ask(GATEWAY_OPEN, target);

    (void)system;
    for (int i = 0; error == -EAGAIN && i < TRIES; i++) {
        nanosleep(&moment, NULL);
        error = ask(GATEWAY_OPEN, target);
    }
    return error == -ESRCH || error == -EAGAIN ? -ENOENT : error;
}

static int
guest_start(void *system, pid_t target, const struct virtual_request *r)
{
    (void)system;
    return ask_request(GATEWAY_START, target, r);
}

static int
guest_read(void *system, pid_t target,
           struct counter_reading readings[VIRTUAL_EVENTS])
{
    (void)system;
    return ask_counts(GATEWAY_COUNTS, target, 0, readings);
}

static int
guest_usage(void *system, pid_t target, hwperf_prusage_t *usage)
{
    struct gateway_virtual q;

    (void)system;
    memset(&q, 0, sizeof(q));
    const int result = ring(&q, GATEWAY_USAGE, target);
    const int error = result > 0 ? irix_usage(target, usage) : result;
    if (error < 0)
        return error;
    usage->pu_sysc = q.calls;
    usage->pu_syscr = q.reads;
    usage->pu_syscw = q.writes;
    return result;
}

static int
guest_control(void *system, pid_t target, uint16_t spec[VIRTUAL_EVENTS])
{
    (void)system;
    return ask_control(GATEWAY_CONTROL, target, spec);
}

static int
guest_change(void *system, pid_t target, const struct virtual_request *r)
{
    (void)system;
    return ask_request(GATEWAY_CHANGE, target, r);
}

static int
guest_release(void *system, pid_t target)
{
    (void)system;
    return ask(GATEWAY_RELEASE, target);
}

static int
guest_save(void *system, pid_t target)
{
    (void)system;
    return ask(GATEWAY_SAVE, target);
}

#define RANGES_MAX 64 /* as irix.c takes them */

static int
guest_profile(void *system, const struct virtual_request *r,
              const struct virtual_range *ranges, uint32_t count)
{
    struct gateway_range rows[RANGES_MAX];
    struct gateway_virtual q;

    (void)system;
    if (count > RANGES_MAX)
        return -EINVAL;
    for (uint32_t i = 0; i < count; i++)
        rows[i] = (struct gateway_range){
            .offset = ranges[i].offset,
            .scale = ranges[i].scale,
            .count = ranges[i].count,
            .buckets = (uintptr_t)ranges[i].buckets,
        };
    put_request(&q, r);
    q.range_count = count;
    q.ranges = (uintptr_t)rows;
    return ring_ready(&q, GATEWAY_PROFILE, getpid());
}

static int
guest_system_start(void *system, const struct virtual_request *r)
{
    (void)system;
    return ask_request(GATEWAY_SYSTEM_START, 0, r);
}

static int
guest_system_read(void *system, struct counter_reading readings[VIRTUAL_EVENTS])
{
    (void)system;
    return ask_counts(GATEWAY_SYSTEM_COUNTS, 0, 0, readings);
}

static int
guest_system_read_cpu(void *system, unsigned cpu,
                      struct counter_reading readings[VIRTUAL_EVENTS])
{
    (void)system;
    return ask_counts(GATEWAY_SYSTEM_CPU, 0, cpu, readings);
}

static int
guest_system_control(void *system, uint16_t spec[VIRTUAL_EVENTS])
{
    (void)system;
    return ask_control(GATEWAY_SYSTEM_CONTROL, 0, spec);
}

static int
guest_system_change(void *system, const struct virtual_request *r)
{
    (void)system;
    return ask_request(GATEWAY_SYSTEM_CHANGE, 0, r);
}

static int
guest_system_release(void *system)
{
    (void)system;
    return ask(GATEWAY_SYSTEM_RELEASE, 0);
}

const struct irix_ops irix_guest_ops = {
    .open = guest_open,
    .start = guest_start,
    .read = guest_read,
    .usage = guest_usage,
    .control = guest_control,
    .change = guest_change,
    .release = guest_release,
    .save = guest_save,
    .profile = guest_profile,
    .system_start = guest_system_start,
    .system_read = guest_system_read,
    .system_read_cpu = guest_system_read_cpu,
    .system_control = guest_system_control,
    .system_change = guest_system_change,
    .system_release = guest_system_release,
};
