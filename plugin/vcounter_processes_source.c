/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the processes of the session have counted, from their counts. */
#include "plugin/vcounter_processes_own.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "machine/chip.h"
#include "source/counts_view.h"
#include "table/signals.h"

/* Totals are summed once while the lock is held. */
static struct {
    bool known, failed;
    uint32_t process;
    struct totals totals;
    struct totals *strands; /* of the machine, owned; NULL: not yet */
} summed;

static const struct machine_row *
machine(void)
{
    return &tally_machines[tally_plugin.request.machine];
}

static const uint64_t *
params(void)
{
    return tally_plugin.request.params;
}

/* What an index stands for, or NULL. */
const struct event_row *
vcounter_event(unsigned index)
{
    for (size_t i = 0; i < machine()->event_count; i++)
        if (machine()->events[i].number == (int)index)
            return &machine()->events[i];
    return NULL;
}

/* Each block raises it by what is fixed. */
static bool
is_fixed(const struct event_row *e)
{
    for (size_t i = 0; i < e->signal_count; i++) {
        if (e->signals[i] >= SIGNAL_FIXED_COUNT)
            return false;
    }
    return true;
}

static bool
source_has(void *user, unsigned index, bool at_once)
{
    const struct event_row *e = vcounter_event(index);

    (void)user;
    return e != NULL && event_is_live(e) && !tally_plugin.data_filter &&
           (!at_once || is_fixed(e));
}

/* Counts */

/* Takes what a thread on a strand has counted, with these components of the
 * model.
 */
typedef void take_thread(void *user, uint32_t components, uint32_t strand,
                         struct totals *sum);

static void
add_thread(void *user, uint32_t components, uint32_t strand, struct totals *sum)
{
    struct totals *const to = user;

    (void)strand;
    signals_derive(params(), components, sum->signal);
    totals_add(to, sum);
}

unsigned
vcounter_strand_count(void)
{
    const struct chip *chip = &tally_plugin.chip;

    return chip->core_count * chip->strands_per_core;
}

static void
add_to_strand(void *user, uint32_t components, uint32_t strand,
              struct totals *sum)
{
    struct totals *const strands = user;

    add_thread(&strands[strand % vcounter_strand_count()], components, strand,
               sum);
}

struct taking {
    take_thread *take;
    void *user;
};

static void
take_mapped(void *user, const struct process_counts *process, uint32_t strand,
            struct totals *sum)
{
    const struct taking *const t = user;

    t->take(t->user, process->head->components, strand, sum);
}

/* The same of this process, which need not be able to open its session: it may
 * have another user by now. */
static void
each_own_thread(take_thread *take, void *user)
{
    const struct plugin *p = &tally_plugin;
    struct taking taking = {take, user};
    struct totals sum;

    counts_each_ended(&p->process, take_mapped, &taking);
    for (unsigned i = 0; i < p->chip.slots_used; i++) {
        if (p->counts[i] == NULL || p->counts[i] == p->spare)
            continue;
        counts_sum_now(&p->process, p->counts[i], &sum);
        take(user, p->process.head->components, p->counts[i]->strand, &sum);
    }
}

/* Copies of another process's records: large for the stack of a guest thread.
 */
static struct {
    struct counts_thread thread;
    struct counts_view_strand strand;
} copied;

/* Sums the slices of a thread; of those that accesses are kept apart in, blocks
 * raise nothing. */
static void
sum_slices(const struct totals *slices, const struct counts_rules *rules,
           struct totals *sum)
{
    memset(sum, 0, sizeof(*sum));
    for (unsigned slice = 0; slice < rules->slices; slice++) {
        struct totals one = slices[slice];
        if (slice >= rules->own_slices)
            memset(one.signal, 0, SIGNAL_FIXED_COUNT * sizeof(*one.signal));
        totals_add(sum, &one);
    }
}

/* Reads a process that runs or has ended by checked copies, whatever its counts
 * or others say of it; false: some of it cannot be had. */
static bool
each_thread_of(int fd, uint32_t index, take_thread *take, void *user)
{
    const struct counts_rules rules = counts_rules_of(&tally_plugin.request);
    struct counts_view view;
    struct totals sum;

    if (index >= SESSION_PROCESSES ||
        counts_view_open(&view, fd, index, &rules) != 0)
        return false;
    if (view.state == COUNTS_FREE)
        return true;
    for (unsigned i = 0; counts_view_thread(&view, i, &copied.thread); i++) {
        sum_slices(copied.thread.totals, &rules, &sum);
        take(user, view.components, copied.thread.strand, &sum);
    }
    for (unsigned i = 0; view.state != COUNTS_ENDED &&
                         counts_view_strand(&view, &i, &copied.strand);) {
        sum_slices(copied.strand.totals, &rules, &sum);
        take(user, view.components, copied.strand.strand, &sum);
    }
    return view.wrong == NULL && view.lost == 0 &&
           (view.state == COUNTS_ENDED || view.apart == 0);
}

/* Everything of process `index`; false: some of it cannot be had. */
static bool
each_thread(uint32_t index, take_thread *take, void *user)
{
    struct taking taking = {take, user};
    struct process_counts process;

    if (index == tally_plugin.counts_index) {
        each_own_thread(take, user);
        return atomic_load(&tally_plugin.process.head->lost) == 0;
    }
    const int fd = session_open(tally_plugin.session_place);
    bool whole = true;
    if (fd >= 0) {
        whole = each_thread_of(fd, index, take, user);
        close(fd);
        return whole;
    }
    const bool mapped =
        counts_map_session(tally_plugin.session, fd, index, &process) == 0;
    if (mapped) {
        const bool ended = atomic_load(&process.head->state) == COUNTS_ENDED;
        whole = atomic_load(&process.head->lost) == 0 &&
                (ended || atomic_load(&process.head->apart) == 0);
        if (atomic_load(&process.head->state) != COUNTS_FREE)
            counts_each(&process, take_mapped, &taking);
        counts_unmap(&process);
    }
    return mapped && whole;
}

static uint64_t
value_of(const struct totals *totals, unsigned index)
{
    const struct event_row *e = vcounter_event(index);
    uint64_t sum = 0;

    for (size_t i = 0; e != NULL && i < e->signal_count; i++)
        sum += totals->signal[e->signals[i]];
    return sum;
}

static uint64_t
source_process(void *user, uint32_t process, unsigned index)
{
    (void)user;
    if (!summed.known || summed.process != process) {
        memset(&summed.totals, 0, sizeof(summed.totals));
        summed.known = each_thread(process, add_thread, &summed.totals);
        summed.failed |= !summed.known;
        summed.process = process;
    }
    return value_of(&summed.totals, index);
}

static void
sum_strands(struct totals *strands)
{
    const unsigned processes = atomic_load(&tally_plugin.session->processes);

    for (unsigned i = 0; i < processes && i < SESSION_PROCESSES; i++)
        summed.failed |= !each_thread(i, add_to_strand, strands);
}

static uint64_t
source_strand(void *user, unsigned strand, unsigned index)
{
    (void)user;
    if (summed.strands == NULL) {
        summed.strands = calloc(vcounter_strand_count(), sizeof(struct totals));
        summed.failed |= summed.strands == NULL;
        if (summed.strands == NULL)
            return 0;
        sum_strands(summed.strands);
    }
    return value_of(&summed.strands[strand], index);
}

void
vcounter_forget_sums(void)
{
    summed.known = summed.failed = false;
    free(summed.strands);
    summed.strands = NULL;
}

bool
vcounter_sums_failed(void)
{
    return summed.failed;
}

static uint64_t
source_time(void *user)
{
    struct timespec now;

    (void)user;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The thread that has reached a threshold has its own signal. */
static void
source_send(void *user, pid_t pid, int number)
{
    (void)user;
    if (pid == getpid())
        syscall(SYS_tgkill, pid, (pid_t)syscall(SYS_gettid), number);
    else
        kill(pid, number);
}

pid_t
vcounter_parent(pid_t pid)
{
    char path[32], text[512];
    int parent = 0;
    char state;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    const size_t n = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *rest = strrchr(text, ')');
    if (rest == NULL || sscanf(rest, ") %c %d", &state, &parent) != 2 ||
        state == 'Z')
        return 0;
    return (pid_t)parent;
}

/* The counts of a process that runs, the last of those that it has had. */
bool
vcounter_counts(pid_t pid, struct process_counts *process, uint32_t *index)
{
    const int fd = session_open(tally_plugin.session_place);
    uint32_t i = atomic_load(&tally_plugin.session->processes);
    bool found = false;

    for (i = i < SESSION_PROCESSES ? i : SESSION_PROCESSES; i > 0 && !found;
         i--) {
        if (counts_map_session(tally_plugin.session, fd, i - 1, process) != 0)
            break;
        found = process->head->pid == pid &&
                atomic_load(&process->head->state) == COUNTS_RUNNING;
        *index = i - 1;
        if (!found)
            counts_unmap(process);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

static bool
source_find(void *user, pid_t pid, uint32_t *index, pid_t *parent)
{
    struct process_counts process;

    (void)user;
    if (!vcounter_counts(pid, &process, index))
        return false;
    counts_unmap(&process);
    *parent = vcounter_parent(pid);
    return true;
}

/* An R10000's numbers are of a counter, and it has two. */
struct vcounter_source
vcounter_source(void)
{
    return (struct vcounter_source){
        .numbers =
            strncmp(machine()->name, "r10000", 6) == 0 ? 16 : VIRTUAL_EVENTS,
        .has = source_has,
        .process = source_process,
        .strand = source_strand,
        .time = source_time,
        .send = source_send,
        .find = source_find,
    };
}
