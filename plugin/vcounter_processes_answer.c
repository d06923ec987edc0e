/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers what guest programs ask of virtual counters. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "machine/chip.h"
#include "plugin/vcounter_processes_own.h"
#include "table/signals.h"

static_assert(GATEWAY_VIRTUALS == VIRTUAL_EVENTS, "each has a word");

/* A guest's request: who asks, and whose counters the request is about. */
struct asked {
    struct vcounter_client *client;
    struct virtual_system *system;
    struct vcounter_seat *caller, *target;
    struct virtual_request request;
    uint32_t events; /* of the request, as bits */
};

/* Reads the events, thresholds and signal of a request. Returns the events as
 * bits. */
static uint32_t
read_request(const struct gateway_virtual *from, struct virtual_request *to)
{
    uint32_t events = 0;

    memset(to, 0, sizeof(*to));
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        to->spec[i] = (uint16_t)gateway_word(from->spec[i]);
        to->threshold[i] = (int32_t)gateway_word(from->threshold[i]);
        events |= (uint32_t)(to->spec[i] != 0) << i;
    }
    to->signal = (int32_t)gateway_word(from->signal);
    return events;
}

/* Returns the components of the model that the events need. */
static uint64_t
components_for(uint32_t events)
{
    const uint64_t *const params = tally_plugin.request.params;
    uint64_t components = 0;

    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        const struct event_row *e = events >> i & 1 ? vcounter_event(i) : NULL;
        components |= e != NULL ? components_of(&e, 1, params) : 0;
    }
    return components;
}

/* Returns whether process `process` of the session has these components, or can
 * add them, as a process of one strand can. */
static bool
can_have(uint32_t process, uint64_t components)
{
    if (process == tally_plugin.counts_index)
        return (components & ~tally_plugin.components) == 0;
    const int fd = session_open(tally_plugin.session_place);
    struct process_counts r;
    bool can = false;

    if (counts_map_session(tally_plugin.session, fd, process, &r) == 0) {
        can = (components & ~r.head->components) == 0 ||
              atomic_load(&r.head->strands) == 1;
        counts_unmap(&r);
    }
    if (fd >= 0)
        close(fd);
    return can;
}

/* Has the process of a seat, or with NULL every process, count the events. */
static void
request_events(struct vcounter_processes *o, struct vcounter_seat *seat,
               uint32_t events)
{
    if (seat != NULL)
        seat->wanted |= events;
    else
        o->wanted |= events;
    atomic_fetch_add(&o->changes, 1);
}

static void
report_counts(const struct counter_reading *from, struct gateway_virtual *to)
{
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        to->value[i] = gateway_word(from[i].value);
        to->enabled[i] = gateway_word(from[i].enabled);
        to->running[i] = gateway_word(from[i].running);
    }
}

static void
report_control(const uint16_t *from, struct gateway_virtual *to)
{
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++)
        to->spec[i] = gateway_word(from[i]);
}

/* Reports how many system calls a process has made. */
static void
report_calls(pid_t pid, struct gateway_virtual *to)
{
    struct process_counts process;
    uint32_t index;

    if (!vcounter_counts(pid, &process, &index))
        return;
    to->calls = gateway_word(atomic_load(&process.head->calls));
    to->reads = gateway_word(atomic_load(&process.head->reads));
    to->writes = gateway_word(atomic_load(&process.head->writes));
    counts_unmap(&process);
}

/* Returns whether the caller may use the target's counters. */
static bool
is_allowed(const struct asked *a)
{
    return a->caller->owner.root ||
           a->caller->owner.group == a->target->owner.group;
}

static int
start(const struct asked *a, bool change, const struct gateway_virtual *q)
{
    /* A caller without the right is refused by the core, with another error. */
    if (is_allowed(a) &&
        !can_have(a->target->process, components_for(a->events)))
        return VIRTUAL_EINVAL;
    const int result = (change ? virtual_change : virtual_start)(
        a->system, &a->caller->owner, &a->target->owner, &a->request);
    if (result > 0) {
        a->target->host_signal = (int)gateway_word(q->host_signal);
        request_events(a->client->shared, a->system->active ? NULL : a->target,
                       a->events);
    }
    return result;
}

static int
profile(const struct asked *a, const struct gateway_virtual *q)
{
    int result = VIRTUAL_EINVAL;
    const struct virtual_range *const ranges =
        vcounter_profile_claim(q, &result);

    if (ranges == NULL)
        return result;
    if (can_have(a->caller->process, components_for(a->events)))
        result =
            virtual_profile(a->system, &a->caller->owner, &a->request, ranges,
                            (uint32_t)gateway_word(q->range_count));
    if (result > 0)
        a->caller->host_signal = (int)gateway_word(q->host_signal);
    vcounter_profile_choose(result > 0);
    return result;
}

/* Starts or changes system mode, if every process that runs can count the
 * events. */
static int
start_system(const struct asked *a, bool change)
{
    struct vcounter_processes *const o = a->client->shared;
    const uint64_t components = components_for(a->events);

    if (!a->caller->owner.root)
        return VIRTUAL_EPERM;
    for (unsigned i = 0; i < o->seat_count; i++)
        if (o->seats[i].pid != 0 && !can_have(o->seats[i].process, components))
            return VIRTUAL_EINVAL;
    const int result =
        change
            ? virtual_system_change(a->system, &a->caller->owner, &a->request)
            : virtual_system_start(a->system, &a->caller->owner, &a->request);
    if (result > 0)
        request_events(o, NULL, a->events);
    return result;
}

static int
answer_process(const struct asked *a, struct gateway_virtual *q)
{
    struct counter_reading readings[VIRTUAL_EVENTS];
    uint16_t spec[VIRTUAL_EVENTS] = {0};
    struct virtual_owner *const caller = &a->caller->owner;
    struct virtual_owner *const target = &a->target->owner;
    int result;

    switch ((enum gateway_virtual_call)gateway_word(q->call)) {
    case GATEWAY_OPEN:
        return is_allowed(a) ? 0 : -EACCES;
    case GATEWAY_START:
        return start(a, false, q);
    case GATEWAY_CHANGE:
        return start(a, true, q);
    case GATEWAY_PROFILE:
        return profile(a, q);
    case GATEWAY_USAGE:
        report_calls(a->target->pid, q);
        /* fall through */
    case GATEWAY_COUNTS:
        result = virtual_read(a->system, caller, target, readings);
        if (result > 0)
            report_counts(readings, q);
        return result;
    case GATEWAY_CONTROL:
        result = virtual_control(a->system, caller, target, spec);
        report_control(spec, q);
        return result;
    case GATEWAY_RELEASE:
        return virtual_release(a->system, caller, target);
    case GATEWAY_SAVE:
        return virtual_save(a->system, caller, target);
    default:
        return VIRTUAL_EINVAL;
    }
}

static int
answer_system(const struct asked *a, struct gateway_virtual *q)
{
    struct counter_reading readings[VIRTUAL_EVENTS];
    uint16_t spec[VIRTUAL_EVENTS] = {0};
    int result;

    switch ((enum gateway_virtual_call)gateway_word(q->call)) {
    case GATEWAY_SYSTEM_START:
        return start_system(a, false);
    case GATEWAY_SYSTEM_CHANGE:
        return start_system(a, true);
    case GATEWAY_SYSTEM_COUNTS:
        result = virtual_system_read(a->system, readings);
        break;
    case GATEWAY_SYSTEM_CPU:
        result = vcounter_read_cpu(a->client, (unsigned)gateway_word(q->cpu),
                                   readings);
        break;
    case GATEWAY_SYSTEM_CONTROL:
        result = virtual_system_control(a->system, spec);
        report_control(spec, q);
        return result;
    case GATEWAY_SYSTEM_RELEASE:
        return virtual_system_release(a->system, &a->caller->owner);
    default:
        return VIRTUAL_EINVAL;
    }
    if (result > 0)
        report_counts(readings, q);
    return result;
}

/* Finds the processes that the request is about, and answers. */
static int
answer(struct vcounter_client *client, struct gateway_virtual *q)
{
    const uint64_t call = gateway_word(q->call);
    struct asked a = {.client = client, .system = &client->shared->system};
    int error = 0;

    a.events = read_request(q, &a.request);
    a.caller = vcounter_seat_of(client, getpid(), &error);
    if (a.caller == NULL)
        return error;
    if (call >= GATEWAY_SYSTEM_START)
        return answer_system(&a, q);
    a.target = vcounter_seat_of(client, (pid_t)gateway_word(q->target), &error);
    if (a.target != NULL)
        return answer_process(&a, q);
    return call == GATEWAY_OPEN && error == -ESRCH &&
                   vcounter_parent((pid_t)gateway_word(q->target)) == getpid()
               ? -EAGAIN /* a child that has not begun */
               : error;
}

/* Has this process count what a request will start, before it starts. */
static int
prepare(const struct gateway_virtual *q)
{
    struct virtual_request r;
    bool thresholds = false;

    vcounter_learn(read_request(q, &r));
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++)
        thresholds |= r.spec[i] != 0 && r.threshold[i] > 0;
    if (thresholds)
        vcounter_watch();
    return 0;
}

void
vcounter_answer(struct gateway_virtual *q)
{
    struct vcounter_client *client;
    int result = -ENOMEM;

    atomic_store(&tally_plugin.session->vcounters_used, 1);
    if (gateway_word(q->call) == GATEWAY_PREPARE) {
        result = prepare(q);
    } else if ((client = vcounter_begin()) != NULL) {
        result = answer(client, q);
        if (result > 0 && vcounter_sums_failed())
            result = -ENOMEM;
        vcounter_forget_sums();
        vcounter_arm();
        vcounter_finish();
    }
    q->result = gateway_word((uint64_t)(int64_t)result);
    q->epoch = gateway_word(gateway_epoch());
}
