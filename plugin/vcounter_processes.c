/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/vcounter_processes_own.h"

#include <sys/wait.h>
#include <unistd.h>

#include "plugin/calls.h"
#include "plugin/watch.h"

static_assert(sizeof(struct vcounter_processes) <= SESSION_VCOUNTERS,
              "the session has room");

/* Maps the memory of all processes, once. False: it cannot be mapped. */
static bool
map_shared(struct vcounters *v)
{
    if (v->client.shared != NULL)
        return true;
    if (v->refused)
        return false;
    v->client.shared = session_map_vcounters(tally_plugin.session, VCOUNTER_AT);
    v->refused = v->client.shared == NULL;
    v->source = vcounter_source();
    v->client.source = &v->source;
    v->client.strands = vcounter_strand_count();
    return !v->refused;
}

struct vcounter_client *
vcounter_begin(void)
{
    struct vcounters *const v = &tally_plugin.vcounters;

    if (!atomic_load(&tally_plugin.session->vcounters_used) || !map_shared(v))
        return NULL;
    vcounter_forget_sums();
    if (vcounter_enter(&v->client) != 0) {
        v->client.shared = NULL;
        v->client.seat = NULL;
        v->refused = true;
        v->threshold_count = 0;
        tally_plugin.gateway.rise = NULL;
        return NULL;
    }
    return &v->client;
}

void
vcounter_finish(void)
{
    vcounter_leave(&tally_plugin.vcounters.client);
    vcounter_forget_sums();
}

void
vcounter_learn(uint32_t events)
{
    struct vcounters *const v = &tally_plugin.vcounters;

    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        const struct event_row *e =
            events & ~v->learned & UINT32_C(1) << i ? vcounter_event(i) : NULL;
        if (e != NULL)
            gateway_learn(e);
    }
    v->learned |= events;
}

void
vcounter_watch(void)
{
    if (tally_plugin.gateway.watching || !gateway_ready())
        return;
    tally_plugin.gateway.watching = true;
    gateway_translate_again();
}

/* Reads the counts of this process, since some threshold is perhaps reached.
 * The thresholds' own counts are estimates: the block that raised them is
 * perhaps not counted yet. */
static void
overflow(uint64_t pc)
{
    struct vcounters *const v = &tally_plugin.vcounters;

    pthread_mutex_lock(&tally_plugin.lock);
    if (vcounter_begin() != NULL) {
        if (v->client.seat != NULL)
            vcounter_overflow(&v->client, v->client.seat, pc);
        if (v->client.seat != NULL && v->client.seat->owner.ranges != NULL)
            vcounter_profile_report();
        vcounter_forget_sums();
        vcounter_arm();
        vcounter_finish();
    }
    pthread_mutex_unlock(&tally_plugin.lock);
}

/* Counts a block of these fixed signals towards the thresholds. */
static void
rise(const int16_t *fixed, uint64_t pc)
{
    struct vcounters *const v = &tally_plugin.vcounters;
    bool reached = false;

    for (unsigned i = 0; i < v->threshold_count; i++) {
        struct vcounter_threshold *const t = &v->thresholds[i];
        int64_t sum = 0;
        for (size_t k = 0; k < t->event->signal_count; k++)
            sum += fixed[t->event->signals[k]];
        reached |= __atomic_sub_fetch(&t->left, sum, __ATOMIC_RELAXED) <= 0;
    }
    if (reached)
        overflow(pc);
}

void
vcounter_arm(void)
{
    struct vcounters *const v = &tally_plugin.vcounters;
    const struct vcounter_seat *seat = v->client.seat;

    v->threshold_count = 0;
    for (unsigned i = 0; seat != NULL && i < VIRTUAL_EVENTS; i++) {
        const uint64_t left = vcounter_left(&v->client, seat, i);
        if (left == 0)
            continue;
        v->thresholds[v->threshold_count++] = (struct vcounter_threshold){
            .event = vcounter_event(i),
            .left = left < INT64_MAX ? (int64_t)left : INT64_MAX,
        };
    }
    if (v->threshold_count > 0)
        vcounter_watch();
    tally_plugin.gateway.rise = v->threshold_count > 0 ? rise : NULL;
}

/* Does what other processes have asked this one for since the last look. */
static void
look(void)
{
    struct vcounters *const v = &tally_plugin.vcounters;

    if (!atomic_load(&tally_plugin.session->vcounters_used) || !map_shared(v) ||
        atomic_load(&v->client.shared->changes) == v->seen)
        return;
    pthread_mutex_lock(&tally_plugin.lock);
    if (vcounter_begin() != NULL) {
        v->seen = atomic_load(&v->client.shared->changes);
        vcounter_learn(v->client.shared->wanted |
                       (v->client.seat != NULL ? v->client.seat->wanted : 0));
        vcounter_arm();
        vcounter_finish();
    }
    pthread_mutex_unlock(&tally_plugin.lock);
}

/* Returns the child that a system call waits for, VCOUNTER_ANY if any child
 * will do, 0 if the call waits for no child, or if the arguments of such calls
 * are not known for the architecture. */
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

/* Notes which child this process waits for; 0: none. */
static void
wait_for(pid_t pid)
{
    const struct vcounters *const v = &tally_plugin.vcounters;

    pthread_mutex_lock(&tally_plugin.lock);
    if (vcounter_begin() != NULL) {
        if (v->client.seat != NULL)
            v->client.seat->waits = pid;
        vcounter_finish();
    }
    pthread_mutex_unlock(&tally_plugin.lock);
}

void
vcounter_syscall(int64_t number, const uint64_t args[4], bool *waits)
{
    const struct isa *isa = tally_plugin.shape.isa;
    struct counts_head *const head = tally_plugin.process.head;

    atomic_fetch_add(&head->calls, 1);
    if (call_is(CALL_READ, isa, number))
        atomic_fetch_add(&head->reads, 1);
    else if (call_is(CALL_WRITE, isa, number))
        atomic_fetch_add(&head->writes, 1);
    *waits = false;
    if (!atomic_load(&tally_plugin.session->vcounters_used))
        return;
    look();
    const pid_t pid = awaited(number, args);
    *waits = pid != 0;
    if (*waits)
        wait_for(pid);
}

void
vcounter_return(bool waits)
{
    if (waits)
        wait_for(0);
    look();
}

void
vcounter_forked(void)
{
    struct vcounters *const v = &tally_plugin.vcounters;

    v->seen = 0;
    v->threshold_count = 0;
    tally_plugin.gateway.rise = NULL;
    vcounter_profile_forget();
    if (vcounter_begin() == NULL)
        return;
    /* The thresholds are armed when fork() returns: until then QEMU holds locks
     * that translating again needs. */
    vcounter_fork(&v->client, getppid(), getpid(), tally_plugin.counts_index);
    vcounter_finish();
}

void
vcounter_before_exec(void)
{
    struct vcounters *const v = &tally_plugin.vcounters;

    if (vcounter_begin() == NULL)
        return;
    if (v->client.seat != NULL)
        vcounter_pause(&v->client, v->client.seat);
    vcounter_finish();
}

void
vcounter_after_exec(void)
{
    struct vcounters *const v = &tally_plugin.vcounters;

    if (vcounter_begin() == NULL)
        return;
    if (v->client.seat != NULL)
        vcounter_resume(&v->client, v->client.seat, tally_plugin.counts_index);
    vcounter_finish();
}

void
vcounter_end(void)
{
    struct vcounters *const v = &tally_plugin.vcounters;

    tally_plugin.gateway.rise = NULL;
    if (vcounter_begin() == NULL)
        return;
    if (v->client.seat != NULL)
        vcounter_exit(&v->client, v->client.seat);
    vcounter_finish();
}
