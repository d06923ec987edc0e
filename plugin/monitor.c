/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/monitor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/gateway_read.h"
#include "plugin/monitor_shared.h"
#include "pmu/pmu.h"
#include "tally/pmu.h"
#include "tally/sun4v.h"

/* More of each line at once could make a counter wrap twice. */
#define STEP (UINT64_C(1) << 28)

#define NAME_MOST 256u /* bytes of a register's name */

/* What can rise, and how often it has on each strand's thread. */
struct line {
    const struct event_row *event;
    uint32_t signal;
    int part; /* another line, which counts here too; -1: none */
};

static struct {
    struct tally_pmu *pmu;          /* NULL: nobody has looked yet */
    void *memory;                   /* its, owned */
    struct line *lines;             /* owned */
    struct tally_pmu_total *totals; /* beside the lines, owned */
    size_t count;
    uint64_t *last[COUNTS_VCPUS]; /* by vCPU and line, owned */
} monitor;

static const struct machine_row *
machine(void)
{
    return &tally_machines[tally_plugin.request.machine];
}

/* An event of several lines of a group is the sum of theirs, or rises by itself
 * where the model has none of them. */
static bool
is_line(const struct event_row *e, uint32_t *signal)
{
    return event_is_live(e) &&
           tally_pmu_signal_find(monitor.pmu, e->name, signal) == 0 &&
           !event_has_lines(machine(), e);
}

/* Two names of one signal are one line. */
static bool
is_known(uint32_t signal)
{
    for (size_t i = 0; i < monitor.count; i++) {
        if (monitor.lines[i].signal == signal)
            return true;
    }
    return false;
}

/* On T4 taken branches are branches (rule T4-R50), and what the return stack
 * mispredicted is with the far table's (sl 25). */
static void
find_parts(void)
{
    static const struct {
        int sl, whole, part;
    } nested[] = {{4, 0x01, 0x02}, {25, 0x02, 0x08}};

    for (size_t i = 0; i < monitor.count; i++)
        monitor.lines[i].part = -1;
    if (machine()->family != FAMILY_SPARC_T4)
        return;
    for (size_t n = 0; n < sizeof(nested) / sizeof(*nested); n++) {
        int part = -1, whole = -1;
        for (size_t i = 0; i < monitor.count; i++) {
            const struct event_row *e = monitor.lines[i].event;
            if (e->sl == nested[n].sl && e->mask == nested[n].part)
                part = (int)i;
            if (e->sl == nested[n].sl && e->mask == nested[n].whole)
                whole = (int)i;
        }
        if (part >= 0 && whole >= 0)
            monitor.lines[whole].part = part;
    }
}

static void
add_line(const struct event_row *e)
{
    uint32_t signal = 0;

    if (!is_line(e, &signal) || is_known(signal))
        return;
    monitor.totals[monitor.count] =
        (struct tally_pmu_total){.signal = signal, .cycles = 1};
    monitor.lines[monitor.count++] =
        (struct line){.event = e, .signal = signal};
}

/* With a unit mask an event is a line of its own. */
static bool
find_lines(void)
{
    const struct machine_row *m = machine();
    const size_t most = m->event_count + m->narrowed_event_count;

    monitor.lines = calloc(most, sizeof(*monitor.lines));
    monitor.totals = calloc(most, sizeof(*monitor.totals));
    if (monitor.lines == NULL || monitor.totals == NULL)
        return false;
    for (size_t i = 0; i < m->narrowed_event_count; i++)
        add_line(&m->narrowed_events[i]);
    for (size_t i = 0; i < m->event_count; i++)
        add_line(&m->events[i]);
    find_parts();
    return true;
}

/* Of the T2 Plus, which alone has several as it is set at first: 1, 2 or 4. */
static uint32_t
node_count(void)
{
    const uint64_t nodes = tally_plugin.request.params[PARAM_NODES];

    if (machine()->params[PARAM_NODES].value == 1)
        return 1;
    return nodes == 3 ? 4 : (uint32_t)nodes;
}

static bool
start(void)
{
    struct tally_pmu_options options;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = machine()->name;
    options.nodes = node_count();
    const size_t size = tally_pmu_size(&options);
    monitor.memory = size != 0 ? aligned_alloc(16, size) : NULL;
    if (monitor.memory == NULL ||
        tally_pmu_init(monitor.memory, size, &options, &monitor.pmu) != 0 ||
        !find_lines() || !shared_start(monitor.pmu, machine())) {
        monitor_forget();
        return false;
    }
    for (unsigned i = 0; i < tally_pmu_strands(monitor.pmu); i++) {
        tally_pmu_set_state(monitor.pmu, i, TALLY_PMU_LEVEL, TALLY_PMU_USER);
        /* Montecito: what a system sets for programs that are monitored. */
        tally_pmu_set_state(monitor.pmu, i, TALLY_PMU_UP, 1);
        tally_pmu_set_state(monitor.pmu, i, TALLY_PMU_PP, 1);
    }
    return true;
}

void
monitor_thread_ends(unsigned vcpu)
{
    free(monitor.last[vcpu]);
    monitor.last[vcpu] = NULL;
}

void
monitor_forget(void)
{
    for (unsigned i = 0; i < tally_plugin.chip.slots_used; i++)
        monitor_thread_ends(i);
    shared_forget();
    free(monitor.memory);
    free(monitor.lines);
    free(monitor.totals);
    monitor.memory = NULL;
    monitor.lines = NULL;
    monitor.totals = NULL;
    monitor.pmu = NULL;
    monitor.count = 0;
}

static unsigned
strand_of(unsigned vcpu)
{
    return tally_plugin.counts[vcpu]->strand % tally_pmu_strands(monitor.pmu);
}

/* Told once: the thread has another one's registers. */
static void
tell_shared(unsigned vcpu)
{
    const unsigned strands = tally_pmu_strands(monitor.pmu);
    static bool told;

    if (told || tally_plugin.counts[vcpu]->strand < strands)
        return;
    told = true;
    fprintf(stderr,
            "tally: warning: more guest threads than the %u strand%s with "
            "registers of %s: threads share them\n",
            strands, strands == 1 ? "" : "s", machine()->name);
}

static bool
is_heard(unsigned vcpu, const struct line *line)
{
    return pmu_heard(monitor.pmu, strand_of(vcpu), line->signal);
}

static uint64_t
line_count(unsigned vcpu, const struct line *line)
{
    uint64_t n = gateway_event_count(vcpu, line->event);

    if (line->part >= 0)
        n -= gateway_event_count(vcpu, monitor.lines[line->part].event);
    return n;
}

/* What each line has risen since the last time; those that no counter has
 * chosen stay behind. The greatest. */
static uint64_t
take_counts(unsigned vcpu, uint64_t *news)
{
    uint64_t *last = monitor.last[vcpu], most = 0;

    for (size_t i = 0; i < monitor.count; i++) {
        news[i] = 0;
        if (!is_heard(vcpu, &monitor.lines[i]))
            continue;
        const uint64_t now = line_count(vcpu, &monitor.lines[i]);
        /* A branch that is a part may be known before its whole. */
        news[i] = (int64_t)(now - last[i]) > 0 ? now - last[i] : 0;
        last[i] += news[i];
        most = news[i] > most ? news[i] : most;
    }
    return most;
}

/* The strand's counters become what they are now. */
static void
sync_counters(unsigned vcpu)
{
    uint64_t *news = calloc(monitor.count + 1, sizeof(*news));

    if (news == NULL)
        return;
    const uint64_t most = take_counts(vcpu, news);
    for (uint64_t done = 0; done < most; done += STEP) {
        for (size_t i = 0; i < monitor.count; i++) {
            const uint64_t left = news[i] > done ? news[i] - done : 0;
            monitor.totals[i].n = left < STEP ? left : STEP;
        }
        tally_pmu_batch(monitor.pmu, strand_of(vcpu), monitor.totals,
                        monitor.count, NULL);
    }
    free(news);
}

/* What the strand's counters have chosen is counted from here on. */
static void
choose(unsigned vcpu, const bool *heard_before)
{
    for (size_t i = 0; i < monitor.count; i++) {
        const struct line *line = &monitor.lines[i];
        if (!is_heard(vcpu, line))
            continue;
        gateway_learn(line->event);
        if (line->part >= 0)
            gateway_learn(monitor.lines[line->part].event);
        if (!heard_before[i])
            monitor.last[vcpu][i] = line_count(vcpu, line);
    }
}

/* A call that may change what counters choose. */
static int64_t
set_register(unsigned vcpu, unsigned id, enum tally_pmu_level level,
             uint64_t value)
{
    bool *heard = calloc(monitor.count + 1, sizeof(*heard));

    if (heard == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < monitor.count; i++)
        heard[i] = is_heard(vcpu, &monitor.lines[i]);
    const int status =
        tally_pmu_write(monitor.pmu, strand_of(vcpu), id, level, value);
    choose(vcpu, heard);
    shared_choose(monitor.pmu);
    free(heard);
    return status;
}

static uint64_t
call_sun4v(unsigned vcpu, const struct gateway_register *request,
           uint64_t *results)
{
    bool *heard = calloc(monitor.count + 1, sizeof(*heard));
    uint64_t args[5];

    if (heard == NULL)
        return TALLY_SUN4V_EWOULDBLOCK;
    for (size_t i = 0; i < 5; i++)
        args[i] = gateway_word(request->args[i]);
    for (size_t i = 0; i < monitor.count; i++)
        heard[i] = is_heard(vcpu, &monitor.lines[i]);
    const uint64_t status = tally_sun4v_call(
        monitor.pmu, strand_of(vcpu), (unsigned)gateway_word(request->id),
        gateway_word(request->value), args, results);
    choose(vcpu, heard);
    shared_choose(monitor.pmu);
    free(heard);
    return status;
}

static int64_t
take(unsigned vcpu, uint64_t trap, uint64_t *results)
{
    struct tally_pmu_taken taken = {0};
    const int status = tally_pmu_take(monitor.pmu, strand_of(vcpu),
                                      (enum tally_pmu_trap)trap, &taken);

    if (status == 0) {
        results[0] = taken.counters;
        results[1] = taken.executed;
    }
    return status;
}

static int64_t
find_register(uint64_t text)
{
    char *const name = plugin_read_string(text, NAME_MOST);
    const int id = name != NULL ? tally_pmu_register_find(monitor.pmu, name)
                                : TALLY_EUNKNOWN;

    free(name);
    return id >= 0 ? id : TALLY_EUNKNOWN;
}

static int64_t
answer(unsigned vcpu, struct gateway_register *request, uint64_t *value,
       uint64_t *results)
{
    const unsigned id = (unsigned)gateway_word(request->id);
    const enum tally_pmu_level level =
        (enum tally_pmu_level)gateway_word(request->level);

    switch ((enum gateway_access)gateway_word(request->access)) {
    case GATEWAY_FIND:
        return find_register(gateway_word(request->text));
    case GATEWAY_GET:
        return tally_pmu_read(monitor.pmu, strand_of(vcpu), id, level, value);
    case GATEWAY_SET:
        return set_register(vcpu, id, level, *value);
    case GATEWAY_PENDING:
        *value = tally_pmu_pending(monitor.pmu, strand_of(vcpu));
        return 0;
    case GATEWAY_TAKE:
        return take(vcpu, *value, results);
    case GATEWAY_SUN4V:
        return (int64_t)call_sun4v(vcpu, request, results);
    default:
        return TALLY_ERANGE;
    }
}

/* A thread's first look finds its counters at rest. */
static bool
ready(unsigned vcpu)
{
    if (monitor.pmu == NULL && !start())
        return false;
    if (monitor.last[vcpu] == NULL) {
        monitor.last[vcpu] = calloc(monitor.count + 1, sizeof(uint64_t));
        for (size_t i = 0; monitor.last[vcpu] != NULL && i < monitor.count; i++)
            monitor.last[vcpu][i] = line_count(vcpu, &monitor.lines[i]);
    }
    return monitor.last[vcpu] != NULL;
}

void
monitor_answer(unsigned vcpu, struct gateway_register *request)
{
    uint64_t value = gateway_word(request->value);
    uint64_t results[2] = {gateway_word(request->results[0]),
                           gateway_word(request->results[1])};

    if (!ready(vcpu)) {
        request->status = gateway_word((uint64_t)(int64_t)TALLY_EUNKNOWN);
        return;
    }
    tell_shared(vcpu);
    sync_counters(vcpu);
    shared_sync(monitor.pmu);
    const int64_t status = answer(vcpu, request, &value, results);
    request->value = gateway_word(value);
    request->results[0] = gateway_word(results[0]);
    request->results[1] = gateway_word(results[1]);
    request->status = gateway_word((uint64_t)status);
    request->epoch = gateway_word(gateway_epoch());
}
