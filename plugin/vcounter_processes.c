/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/vcounter_processes_own.h"

#include <sys/wait.h>
#include <unistd.h>

#include "plugin/calls.h"
#include "plugin/watch.h"

static_assert(sizeof(struct vcounter_processes) <= SESSION_VCOUNTERS,
              "the session has room");

/* An event that is to be told of. */
struct threshold {
    const struct event_row *event;
    int64_t left;
};

static struct {
    struct vcounter_source source;
    struct vcounter_client client; /* shared NULL: not mapped */
    bool refused;                  /* and it cannot be */
    unsigned seen;                 /* of vcounter_processes.changes */
    uint32_t learned;              /* events */
    struct threshold thresholds[VIRTUAL_EVENTS];
    unsigned threshold_count;
} own;

static bool
map(void)
{
    const struct plugin *p = &tally_plugin;

    if (own.client.shared != NULL)
        return true;
    if (own.refused)
        return false;
    own.client.shared = session_map_vcounters(p->session, VCOUNTER_AT);
    own.refused = own.client.shared == NULL;
    own.source = vcounter_source();
    own.client.source = &own.source;
    own.client.strands = vcounter_strand_count();
    return !own.refused;
}

struct vcounter_client *
vcounter_begin(void)
{
    if (!atomic_load(&tally_plugin.session->vcounters_used) || !map())
        return NULL;
    vcounter_forget_sums();
    if (vcounter_enter(&own.client) != 0) {
        own.client.shared = NULL;
        own.client.seat = NULL;
        own.refused = true;
        own.threshold_count = 0;
        tally_plugin.gateway.rise = NULL;
        return NULL;
    }
    return &own.client;
}

void
vcounter_finish(void)
{
    vcounter_leave(&own.client);
    vcounter_forget_sums();
}

/* What the process does for its own counters */

void
vcounter_learn(uint32_t events)
{
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        const struct event_row *e =
            events & ~own.learned & UINT32_C(1) << i ? vcounter_event(i) : NULL;
        if (e != NULL)
            gateway_learn(e);
    }
    own.learned |= events;
}

/* From now on blocks are looked at. */
void
vcounter_watch(void)
{
    if (tally_plugin.gateway.watching || !gateway_ready())
        return;
    tally_plugin.gateway.watching = true;
    gateway_translate_again();
}

static void rise(const int16_t *fixed, uint64_t pc);

/* How far each threshold is. */
void
vcounter_arm(void)
{
    const struct vcounter_seat *seat = own.client.seat;

    own.threshold_count = 0;
    for (unsigned i = 0; seat != NULL && i < VIRTUAL_EVENTS; i++) {
        const uint64_t left = vcounter_left(&own.client, seat, i);
        if (left == 0)
            continue;
        own.thresholds[own.threshold_count++] = (struct threshold){
            .event = vcounter_event(i),
            .left = left < INT64_MAX ? (int64_t)left : INT64_MAX,
        };
    }
    if (own.threshold_count > 0)
        vcounter_watch();
    tally_plugin.gateway.rise = own.threshold_count > 0 ? rise : NULL;
}

static int64_t
rise_of(const struct event_row *e, const int16_t *fixed)
{
    int64_t sum = 0;

    for (size_t i = 0; i < e->signal_count; i++)
        sum += fixed[e->signals[i]];
    return sum;
}

/* The sums know better whether it has: a block may be counted there later. */
static void
reach(uint64_t pc)
{
    pthread_mutex_lock(&tally_plugin.lock);
    if (vcounter_begin() != NULL) {
        if (own.client.seat != NULL)
            vcounter_overflow(&own.client, own.client.seat, pc);
        if (own.client.seat != NULL && own.client.seat->owner.ranges != NULL)
            vcounter_profile_give();
        vcounter_forget_sums();
        vcounter_arm();
        vcounter_finish();
    }
    pthread_mutex_unlock(&tally_plugin.lock);
}

static void
rise(const int16_t *fixed, uint64_t pc)
{
    bool reached = false;

    for (unsigned i = 0; i < own.threshold_count; i++) {
        struct threshold *const t = &own.thresholds[i];
        const int64_t rise = rise_of(t->event, fixed);
        reached |= __atomic_sub_fetch(&t->left, rise, __ATOMIC_RELAXED) <= 0;
    }
    if (reached)
        reach(pc);
}

/* What others have asked for since. */
static void
look(void)
{
    if (vcounter_begin() == NULL)
        return;
    own.seen = atomic_load(&own.client.shared->changes);
    vcounter_learn(own.client.shared->wanted |
                   (own.client.seat != NULL ? own.client.seat->wanted : 0));
    vcounter_arm();
    vcounter_finish();
}

static bool
has_news(void)
{
    return atomic_load(&tally_plugin.session->vcounters_used) && map() &&
           atomic_load(&own.client.shared->changes) != own.seen;
}

static void
look_if_news(void)
{
    if (!has_news())
        return;
    pthread_mutex_lock(&tally_plugin.lock);
    look();
    pthread_mutex_unlock(&tally_plugin.lock);
}

/* System calls */

/* Returns the child that a system call waits for, VCOUNTER_ANY if any child
 * will do, 0 if the call waits for no child. The architecture may have no call
 * of which this is known. */
static pid_t
awaited(int64_t number, const uint64_t args[4])
{
    const struct isa *isa = tally_plugin.shape.isa;

    if (isa->waits_unseen)
        return 0;
    if (call_is(CALL_WAIT4, isa, number) && (args[2] & WNOHANG) == 0)
        return (pid_t)args[0] > 0 ? (pid_t)args[0] : VCOUNTER_ANY;
    if (call_is(CALL_WAITID, isa, number) && (args[3] & WNOHANG) == 0)
        return args[0] == P_PID ? (pid_t)args[1] : VCOUNTER_ANY;
    return 0;
}

static void
wait_for(pid_t pid)
{
    pthread_mutex_lock(&tally_plugin.lock);
    if (vcounter_begin() != NULL) {
        if (own.client.seat != NULL)
            own.client.seat->waits = pid;
        vcounter_finish();
    }
    pthread_mutex_unlock(&tally_plugin.lock);
}

static __thread bool waiting;

static void
count_call(int64_t number)
{
    const struct isa *isa = tally_plugin.shape.isa;
    struct counts_head *const head = tally_plugin.process.head;

    atomic_fetch_add(&head->calls, 1);
    if (call_is(CALL_READ, isa, number))
        atomic_fetch_add(&head->reads, 1);
    else if (call_is(CALL_WRITE, isa, number))
        atomic_fetch_add(&head->writes, 1);
}

void
vcounter_syscall(int64_t number, const uint64_t args[4])
{
    count_call(number);
    if (!atomic_load(&tally_plugin.session->vcounters_used))
        return;
    look_if_news();
    const pid_t pid = awaited(number, args);
    waiting = pid != 0;
    if (waiting)
        wait_for(pid);
}

void
vcounter_return(void)
{
    if (waiting)
        wait_for(0);
    waiting = false;
    look_if_news();
}

/* The life of the process */

void
vcounter_forked(void)
{
    own.seen = 0;
    own.threshold_count = 0;
    tally_plugin.gateway.rise = NULL;
    vcounter_profile_forget();
    if (vcounter_begin() == NULL)
        return;
    /* Its thresholds are seen to when the call returns: QEMU's own locks are
     * not to be had while it forks. */
    vcounter_fork(&own.client, getppid(), getpid(), tally_plugin.counts_index);
    vcounter_finish();
}

void
vcounter_executes(void)
{
    if (vcounter_begin() == NULL)
        return;
    if (own.client.seat != NULL)
        vcounter_pause(&own.client, own.client.seat);
    vcounter_finish();
}

void
vcounter_stays(void)
{
    if (vcounter_begin() == NULL)
        return;
    if (own.client.seat != NULL)
        vcounter_resume(&own.client, own.client.seat,
                        tally_plugin.counts_index);
    vcounter_finish();
}

void
vcounter_executed(void)
{
    vcounter_stays();
}

void
vcounter_end(void)
{
    tally_plugin.gateway.rise = NULL;
    if (vcounter_begin() == NULL)
        return;
    if (own.client.seat != NULL)
        vcounter_exit(&own.client, own.client.seat);
    vcounter_finish();
}
