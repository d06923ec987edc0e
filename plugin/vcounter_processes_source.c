/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads for virtual counters what the processes of the session have counted. */
#include "plugin/vcounter_processes_own.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "machine/chip.h"
#include "plugin/qemu.h"
#include "source/counts_view.h"
#include "table/signals.h"

static const struct machine_row *
machine(void)
{
    return &tally_machines[tally_plugin.request.machine];
}

const struct event_row *
vcounter_event(unsigned index)
{
    for (size_t i = 0; i < machine()->event_count; i++)
        if (machine()->events[i].number == (int)index)
            return &machine()->events[i];
    return NULL;
}

/* Returns whether the event has counts; `at_once`: whether each of its signals
 * is fixed, so that each block shows at once how far the event rises. */
static bool
source_has(void *user, unsigned index, bool at_once)
{
    const struct event_row *e = vcounter_event(index);

    (void)user;
    if (e == NULL || !event_is_live(e) || tally_plugin.data_filter)
        return false;
    for (size_t i = 0; at_once && i < e->signal_count; i++)
        if (e->signals[i] >= SIGNAL_FIXED_COUNT)
            return false;
    return true;
}

/* Counts */

/* Where the counts of threads are added up: into one struct, or into one for
 * each strand of the machine. */
struct sink {
    struct totals *totals;
    bool by_strand;
};

unsigned
vcounter_strand_count(void)
{
    const struct chip *chip = &tally_plugin.chip;

    return chip->core_count * chip->strands_per_core;
}

/* Adds what a thread on a strand has counted with these components of the
 * model. Derives signals in `counted`. */
static void
add(const struct sink *to, uint64_t components, uint32_t strand,
    struct totals *counted)
{
    const unsigned i = to->by_strand ? strand % vcounter_strand_count() : 0;

    signals_derive(tally_plugin.request.params, components, counted->signal);
    totals_add(&to->totals[i], counted);
}

/* Adds a thread of a process whose counts are mapped. */
static void
add_mapped(void *user, const struct process_counts *process, uint32_t strand,
           struct totals *counted)
{
    add(user, process->head->components, strand, counted);
}

/* Adds the threads of this process. The counts are mapped already: this process
 * may have another user by now, who cannot open the session. */
static void
add_own(struct sink *to)
{
    const struct plugin *p = &tally_plugin;
    struct totals counted;

    counts_each_ended(&p->process, add_mapped, to);
    for (unsigned i = 0; i < p->chip.slots_used; i++) {
        if (p->counts[i] == NULL || p->counts[i] == p->spare)
            continue;
        counts_sum_now(&p->process, p->counts[i], &counted);
        add(to, p->process.head->components, p->counts[i]->strand, &counted);
    }
}

/* Sums the slices of a thread. Slices of --filter data= hold no fixed signals:
 * whatever stands there is cleared. */
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

/* Adds the threads of a process that runs or has ended, from checked copies: a
 * guest may have forged any of its counts. False: some counts are missing. */
static bool
add_checked(int fd, uint32_t index, struct sink *to)
{
    const struct counts_rules rules = counts_rules_of(&tally_plugin.request);
    struct counts_thread *const ended = &tally_plugin.vcounters.sums.thread;
    struct counts_view_strand *const live = &tally_plugin.vcounters.sums.strand;
    struct counts_view view;
    struct totals sum;

    if (index >= SESSION_PROCESSES ||
        counts_view_open(&view, fd, index, &rules) != 0)
        return false;
    if (view.state == COUNTS_FREE)
        return true;
    for (unsigned i = 0; counts_view_thread(&view, i, ended); i++) {
        sum_slices(ended->totals, &rules, &sum);
        add(to, view.components, ended->strand, &sum);
    }
    for (unsigned i = 0;
         view.state != COUNTS_ENDED && counts_view_strand(&view, &i, live);) {
        sum_slices(live->totals, &rules, &sum);
        add(to, view.components, live->strand, &sum);
    }
    return view.wrong == NULL && view.lost == 0 &&
           (view.state == COUNTS_ENDED || view.apart == 0);
}

/* Adds all threads of process `index`. False: some counts are missing. */
static bool
add_process(uint32_t index, struct sink *to)
{
    struct process_counts process;
    bool whole = false;

    if (index == tally_plugin.counts_index) {
        add_own(to);
        return atomic_load(&tally_plugin.process.head->lost) == 0;
    }
    const int fd = session_open(tally_plugin.session_place);
    if (fd >= 0) {
        whole = add_checked(fd, index, to);
        close(fd);
    } else if (counts_map_session(tally_plugin.session, fd, index, &process) ==
               0) {
        const bool ended = atomic_load(&process.head->state) == COUNTS_ENDED;
        whole = atomic_load(&process.head->lost) == 0 &&
                (ended || atomic_load(&process.head->apart) == 0);
        if (atomic_load(&process.head->state) != COUNTS_FREE)
            counts_each(&process, add_mapped, to);
        counts_unmap(&process);
    }
    return whole;
}

static uint64_t
event_count(const struct totals *totals, unsigned index)
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
    struct vcounter_sums *const sums = &tally_plugin.vcounters.sums;

    (void)user;
    if (!sums->known || sums->process != process) {
        struct sink sink = {&sums->totals, false};
        memset(&sums->totals, 0, sizeof(sums->totals));
        sums->known = add_process(process, &sink);
        sums->failed |= !sums->known;
        sums->process = process;
    }
    return event_count(&sums->totals, index);
}

static uint64_t
source_strand(void *user, unsigned strand, unsigned index)
{
    struct vcounter_sums *const sums = &tally_plugin.vcounters.sums;

    (void)user;
    if (sums->strands == NULL) {
        const unsigned processes =
            atomic_load(&tally_plugin.session->processes);
        sums->strands = calloc(vcounter_strand_count(), sizeof(struct totals));
        sums->failed |= sums->strands == NULL;
        if (sums->strands == NULL)
            return 0;
        struct sink sink = {sums->strands, true};
        for (unsigned i = 0; i < processes && i < SESSION_PROCESSES; i++)
            sums->failed |= !add_process(i, &sink);
    }
    return event_count(&sums->strands[strand], index);
}

void
vcounter_forget_sums(void)
{
    struct vcounter_sums *const sums = &tally_plugin.vcounters.sums;

    sums->known = sums->failed = false;
    free(sums->strands);
    sums->strands = NULL;
}

bool
vcounter_sums_failed(void)
{
    return tally_plugin.vcounters.sums.failed;
}

static uint64_t
source_time(void *user)
{
    struct timespec now;

    (void)user;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Sends the signal of an overflow: within this process, to the thread that has
 * reached the threshold. */
static void
source_send(void *user, pid_t pid, int number)
{
    (void)user;
    if (pid == getpid())
        qemu_signal_thread(number);
    else
        kill(pid, qemu_host_signal(number));
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

/* Returns the functions by which src/gateway reads counts. An R10000 numbers
 * the 16 events of each of its two counters from 0. */
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
