/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/guest_pmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/gateway_read.h"
#include "plugin/plugin.h"
#include "pmu/pmu.h"
#include "tally/pmu.h"
#include "tally/sun4v.h"

/* src/pmu gets at most so much of each line at once: with more, a counter
 * could wrap twice and show one overflow. */
#define STEP (UINT64_C(1) << 28)

#define NAME_MOST 256u /* bytes of a register's name */

/* An event that can rise, and its signal in src/pmu. */
struct guest_pmu_line {
    const struct event_row *event;
    uint32_t signal;
    int part; /* another line, whose counts this one includes; -1: none */
};

static const struct machine_row *
machine(void)
{
    return &tally_machines[tally_plugin.request.machine];
}

/* Adds a line for the event, unless the event never rises, is the sum of other
 * lines of its group, or has the signal of a line that there is. */
static void
add_line(struct guest_pmu *g, const struct event_row *e)
{
    uint32_t signal = 0;

    if (!event_is_live(e) ||
        tally_pmu_signal_find(g->pmu, e->name, &signal) != 0 ||
        event_has_lines(machine(), e))
        return;
    for (size_t i = 0; i < g->count; i++)
        if (g->lines[i].signal == signal)
            return;
    g->totals[g->count] =
        (struct tally_pmu_total){.signal = signal, .cycles = 1};
    g->lines[g->count++] =
        (struct guest_pmu_line){.event = e, .signal = signal, .part = -1};
}

/* Finds the lines of a SPARC T4 whose counts include those of another line:
 * branches include taken branches (rule T4-R50), and mispredictions of the far
 * table include those of the return stack (sl 25). */
static void
find_parts(struct guest_pmu *g)
{
    static const struct {
        int sl, whole, part;
    } nested[] = {{4, 0x01, 0x02}, {25, 0x02, 0x08}};

    for (size_t n = 0; n < sizeof(nested) / sizeof(*nested); n++) {
        int part = -1, whole = -1;
        for (size_t i = 0; i < g->count; i++) {
            const struct event_row *e = g->lines[i].event;
            if (e->sl == nested[n].sl && e->mask == nested[n].part)
                part = (int)i;
            if (e->sl == nested[n].sl && e->mask == nested[n].whole)
                whole = (int)i;
        }
        if (part >= 0 && whole >= 0)
            g->lines[whole].part = part;
    }
}

/* Finds the lines: the events with a unit mask first, since the event without
 * one may have the same signal. False: out of memory. */
static bool
find_lines(struct guest_pmu *g)
{
    const struct machine_row *m = machine();
    const size_t most = m->event_count + m->narrowed_event_count;

    g->lines = calloc(most, sizeof(*g->lines));
    g->totals = calloc(most, sizeof(*g->totals));
    if (g->lines == NULL || g->totals == NULL)
        return false;
    for (size_t i = 0; i < m->narrowed_event_count; i++)
        add_line(g, &m->narrowed_events[i]);
    for (size_t i = 0; i < m->event_count; i++)
        add_line(g, &m->events[i]);
    if (m->family == FAMILY_SPARC_T4)
        find_parts(g);
    return true;
}

/* Makes the PMU. False: out of memory. */
static bool
start(struct guest_pmu *g)
{
    const uint64_t nodes = tally_plugin.request.params[PARAM_NODES];
    struct tally_pmu_options options;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = machine()->name;
    /* Only the T2 Plus has several nodes by default: 1, 2 or 4. */
    options.nodes = machine()->params[PARAM_NODES].value == 1 ? 1
                    : nodes == 3                              ? 4
                                                              : (uint32_t)nodes;
    const size_t size = tally_pmu_size(&options);
    g->memory = size != 0 ? aligned_alloc(16, size) : NULL;
    if (g->memory == NULL ||
        tally_pmu_init(g->memory, size, &options, &g->pmu) != 0 ||
        !find_lines(g) ||
        !guest_pmu_shared_start(&g->shared, g->pmu, machine())) {
        guest_pmu_forget();
        return false;
    }
    for (unsigned i = 0; i < tally_pmu_strands(g->pmu); i++) {
        tally_pmu_set_state(g->pmu, i, TALLY_PMU_LEVEL, TALLY_PMU_USER);
        /* On a Montecito a system sets both for programs that it monitors. */
        tally_pmu_set_state(g->pmu, i, TALLY_PMU_UP, 1);
        tally_pmu_set_state(g->pmu, i, TALLY_PMU_PP, 1);
    }
    return true;
}

void
guest_pmu_thread_ends(unsigned vcpu)
{
    free(tally_plugin.guest_pmu.last[vcpu]);
    tally_plugin.guest_pmu.last[vcpu] = NULL;
}

void
guest_pmu_forget(void)
{
    struct guest_pmu *const g = &tally_plugin.guest_pmu;

    for (unsigned i = 0; i < tally_plugin.chip.slots_used; i++)
        guest_pmu_thread_ends(i);
    guest_pmu_shared_finish(&g->shared);
    free(g->memory);
    free(g->lines);
    free(g->totals);
    g->memory = NULL;
    g->lines = NULL;
    g->totals = NULL;
    g->pmu = NULL;
    g->count = 0;
}

static unsigned
strand_of(const struct guest_pmu *g, unsigned vcpu)
{
    return tally_plugin.counts[vcpu]->strand % tally_pmu_strands(g->pmu);
}

static bool
is_heard(const struct guest_pmu *g, unsigned vcpu,
         const struct guest_pmu_line *line)
{
    return pmu_heard(g->pmu, strand_of(g, vcpu), line->signal);
}

/* Returns how often the line has risen for the thread so far. */
static uint64_t
line_count(const struct guest_pmu *g, unsigned vcpu,
           const struct guest_pmu_line *line)
{
    uint64_t n = gateway_event_count(vcpu, line->event);

    if (line->part >= 0)
        n -= gateway_event_count(vcpu, g->lines[line->part].event);
    return n;
}

/* Brings the counters of the thread's strand up to date with the model. */
static void
sync_counters(struct guest_pmu *g, unsigned vcpu)
{
    uint64_t *risen = calloc(g->count + 1, sizeof(*risen));
    uint64_t *const last = g->last[vcpu];
    uint64_t most = 0;

    if (risen == NULL)
        return;
    for (size_t i = 0; i < g->count; i++) {
        if (!is_heard(g, vcpu, &g->lines[i]))
            continue;
        const uint64_t now = line_count(g, vcpu, &g->lines[i]);
        /* A part may be counted before its whole: then the count goes back. */
        risen[i] = (int64_t)(now - last[i]) > 0 ? now - last[i] : 0;
        last[i] += risen[i];
        most = risen[i] > most ? risen[i] : most;
    }
    for (uint64_t done = 0; done < most; done += STEP) {
        for (size_t i = 0; i < g->count; i++) {
            const uint64_t left = risen[i] > done ? risen[i] - done : 0;
            g->totals[i].n = left < STEP ? left : STEP;
        }
        tally_pmu_batch(g->pmu, strand_of(g, vcpu), g->totals, g->count, NULL);
    }
    free(risen);
}

/* Returns which lines some counter of the strand has chosen, by line; the
 * caller frees the array. NULL: out of memory. */
static bool *
heard_lines(const struct guest_pmu *g, unsigned vcpu)
{
    bool *heard = calloc(g->count + 1, sizeof(*heard));

    for (size_t i = 0; heard != NULL && i < g->count; i++)
        heard[i] = is_heard(g, vcpu, &g->lines[i]);
    return heard;
}

/* Has the model count each line that a counter has chosen. A line that no
 * counter had chosen before, by `before`, counts from here on. Frees `before`.
 */
static void
choose_lines(struct guest_pmu *g, unsigned vcpu, bool *before)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct guest_pmu_line *line = &g->lines[i];
        if (!is_heard(g, vcpu, line))
            continue;
        gateway_learn(line->event);
        if (line->part >= 0)
            gateway_learn(g->lines[line->part].event);
        if (!before[i])
            g->last[vcpu][i] = line_count(g, vcpu, line);
    }
    guest_pmu_shared_choose(&g->shared, g->pmu);
    free(before);
}

static int64_t
set_register(struct guest_pmu *g, unsigned vcpu, unsigned id,
             enum tally_pmu_level level, uint64_t value)
{
    bool *const heard = heard_lines(g, vcpu);

    if (heard == NULL)
        return TALLY_ENOMEM;
    const int status =
        tally_pmu_write(g->pmu, strand_of(g, vcpu), id, level, value);
    choose_lines(g, vcpu, heard);
    return status;
}

static uint64_t
call_sun4v(struct guest_pmu *g, unsigned vcpu,
           const struct gateway_register *request, uint64_t *results)
{
    bool *const heard = heard_lines(g, vcpu);
    uint64_t args[5];

    if (heard == NULL)
        return TALLY_SUN4V_EWOULDBLOCK;
    for (size_t i = 0; i < 5; i++)
        args[i] = gateway_word(request->args[i]);
    const uint64_t status = tally_sun4v_call(
        g->pmu, strand_of(g, vcpu), (unsigned)gateway_word(request->id),
        gateway_word(request->value), args, results);
    choose_lines(g, vcpu, heard);
    return status;
}

static int64_t
take_trap(struct guest_pmu *g, unsigned vcpu, uint64_t trap, uint64_t *results)
{
    struct tally_pmu_taken taken = {0};
    const int status = tally_pmu_take(g->pmu, strand_of(g, vcpu),
                                      (enum tally_pmu_trap)trap, &taken);

    if (status == 0) {
        results[0] = taken.counters;
        results[1] = taken.executed;
    }
    return status;
}

static int64_t
find_register(const struct guest_pmu *g, uint64_t text)
{
    char *const name = plugin_read_string(text, NAME_MOST);
    const int id =
        name != NULL ? tally_pmu_register_find(g->pmu, name) : TALLY_EUNKNOWN;

    free(name);
    return id >= 0 ? id : TALLY_EUNKNOWN;
}

/* Does what the request asks for; returns its status. */
static int64_t
execute(struct guest_pmu *g, unsigned vcpu, struct gateway_register *request,
        uint64_t *value, uint64_t *results)
{
    const unsigned id = (unsigned)gateway_word(request->id);
    const enum tally_pmu_level level =
        (enum tally_pmu_level)gateway_word(request->level);

    switch ((enum gateway_access)gateway_word(request->access)) {
    case GATEWAY_FIND:
        return find_register(g, gateway_word(request->text));
    case GATEWAY_GET:
        return tally_pmu_read(g->pmu, strand_of(g, vcpu), id, level, value);
    case GATEWAY_SET:
        return set_register(g, vcpu, id, level, *value);
    case GATEWAY_PENDING:
        *value = tally_pmu_pending(g->pmu, strand_of(g, vcpu));
        return 0;
    case GATEWAY_TAKE:
        return take_trap(g, vcpu, *value, results);
    case GATEWAY_SUN4V:
        return (int64_t)call_sun4v(g, vcpu, request, results);
    default:
        return TALLY_ERANGE;
    }
}

/* Makes the PMU at the first request, and the thread's counts at the thread's
 * first request: both count from then on. False: out of memory. */
static bool
ready(struct guest_pmu *g, unsigned vcpu)
{
    if (g->pmu == NULL && !start(g))
        return false;
    if (g->last[vcpu] == NULL) {
        g->last[vcpu] = calloc(g->count + 1, sizeof(uint64_t));
        for (size_t i = 0; g->last[vcpu] != NULL && i < g->count; i++)
            g->last[vcpu][i] = line_count(g, vcpu, &g->lines[i]);
    }
    return g->last[vcpu] != NULL;
}

/* Warns once if the thread uses the registers of another thread's strand. */
static void
warn_shared_registers(struct guest_pmu *g, unsigned vcpu)
{
    const unsigned strands = tally_pmu_strands(g->pmu);

    if (g->warned || tally_plugin.counts[vcpu]->strand < strands)
        return;
    g->warned = true;
    fprintf(stderr,
            "tally: warning: more guest threads than the %u strand%s with "
            "registers of %s: threads share them\n",
            strands, strands == 1 ? "" : "s", machine()->name);
}

void
guest_pmu_answer(unsigned vcpu, struct gateway_register *request)
{
    struct guest_pmu *const g = &tally_plugin.guest_pmu;
    uint64_t value = gateway_word(request->value);
    uint64_t results[2] = {gateway_word(request->results[0]),
                           gateway_word(request->results[1])};

    if (!ready(g, vcpu)) {
        request->status = gateway_word((uint64_t)(int64_t)TALLY_EUNKNOWN);
        return;
    }
    warn_shared_registers(g, vcpu);
    sync_counters(g, vcpu);
    guest_pmu_shared_sync(&g->shared, g->pmu);
    const int64_t status = execute(g, vcpu, request, &value, results);
    request->value = gateway_word(value);
    request->results[0] = gateway_word(results[0]);
    request->results[1] = gateway_word(results[1]);
    request->status = gateway_word((uint64_t)status);
    request->epoch = gateway_word(gateway_epoch());
}
