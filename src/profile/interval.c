/* SPDX-License-Identifier: MIT */
#include "profile/interval.h"

#include <stdlib.h>

#include "machine/chip.h"
#include "table/signals.h"

uint64_t
interval_cycles(const uint64_t *params, uint64_t ms)
{
    return (uint64_t)((double)ms * 1e-3 * (double)params[PARAM_CLOCK]);
}

static int
compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int
by_thread_and_time(const void *a, const void *b)
{
    const struct session_snapshot *x = a, *y = b;
    int order = compare(x->process, y->process);

    if (order == 0)
        order = compare(x->thread, y->thread);
    return order != 0 ? order : compare(x->boundary, y->boundary);
}

static int
by_process_and_time(const void *a, const void *b)
{
    const struct session_interval *x = a, *y = b;
    const int order = compare(x->process, y->process);

    return order != 0 ? order : compare(x->boundary, y->boundary);
}

/* The cycles that the thread's clock shows. */
static uint64_t
clock_of(const struct session_thread *t)
{
    return t->born + t->totals.signal[SIGNAL_CYCLES] -
           t->totals.signal[SIGNAL_STALL_ISSUE];
}

/* `part` of `whole` of the amount, rounded down. */
static uint64_t
part_of(uint64_t amount, uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0
                      : (uint64_t)((unsigned __int128)amount * part / whole);
}

/* What it stalls for itself. */
static uint64_t
own_stalls(const struct totals *t)
{
    return t->signal[SIGNAL_CYCLES] - t->signal[SIGNAL_STALL_ISSUE] -
           t->signal[SIGNAL_ISSUE_CYCLES];
}

/* What follows from a snapshot's counts, as it does for the thread's. */
static void
derive(const uint64_t *params, uint32_t components,
       const struct session_thread *t, struct totals *totals)
{
    signals_derive(params, components, totals->signal);
    const uint64_t waits = part_of(t->totals.signal[SIGNAL_STALL_ISSUE],
                                   totals->signal[SIGNAL_ISSUE_CYCLES],
                                   t->totals.signal[SIGNAL_ISSUE_CYCLES]);
    totals->signal[SIGNAL_STALL_ISSUE] = waits;
    signals_derive(params, components, totals->signal);
    totals->signal[SIGNAL_CORE_IDLE] =
        part_of(t->totals.signal[SIGNAL_CORE_IDLE], own_stalls(totals),
                own_stalls(&t->totals));
}

static void
add_piece(struct session_result *result, const struct session_thread *t,
          uint64_t boundary, const struct totals *until,
          const struct totals *before)
{
    struct session_interval *piece =
        &result->intervals[result->interval_count++];

    *piece = (struct session_interval){
        .process = t->process,
        .boundary = boundary,
    };
    for (size_t s = 0; s < SIGNAL_COUNT; s++)
        piece->totals.signal[s] = until->signal[s] - before->signal[s];
}

/* A snapshot of a thread of which nothing else is known. */
static bool
is_before(const struct session_snapshot *s, const struct session_thread *t)
{
    return s->process < t->process ||
           (s->process == t->process && s->thread < t->thread);
}

/* A piece for each snapshot of each thread, and one for what it did after. */
static void
cut(const uint64_t *params, uint64_t cycles, struct session_result *result)
{
    size_t next = 0;

    for (size_t i = 0; i < result->thread_count; i++) {
        const struct session_thread *t = &result->threads[i];
        struct totals before = {0};
        while (next < result->snapshot_count &&
               is_before(&result->snapshots[next], t))
            next++;
        for (; next < result->snapshot_count; next++) {
            struct session_snapshot *s = &result->snapshots[next];
            if (s->process != t->process || s->thread != t->thread)
                break;
            derive(params, result->components, t, &s->totals);
            add_piece(result, t, s->boundary, &s->totals, &before);
            before = s->totals;
        }
        add_piece(result, t, clock_of(t) / cycles + 1, &t->totals, &before);
    }
}

static void
join(struct session_result *result)
{
    struct session_interval *all = result->intervals;
    size_t kept = 0;

    qsort(all, result->interval_count, sizeof(*all), by_process_and_time);
    for (size_t i = 0; i < result->interval_count; i++) {
        if (kept > 0 && by_process_and_time(&all[kept - 1], &all[i]) == 0)
            totals_add(&all[kept - 1].totals, &all[i].totals);
        else
            all[kept++] = all[i];
    }
    result->interval_count = kept;
}

/* The last clock of the process; the thread after its last. */
static size_t
end_of_process(const struct session_result *result, unsigned process,
               size_t thread, uint64_t *end)
{
    *end = 0;
    for (; thread < result->thread_count; thread++) {
        const struct session_thread *t = &result->threads[thread];
        if (t->process != process)
            break;
        *end = clock_of(t) > *end ? clock_of(t) : *end;
    }
    return thread;
}

/* Processes are laid one after another, as modelled time adds them up. */
static void
set_times(const uint64_t *params, uint64_t cycles,
          struct session_result *result)
{
    const double clock = (double)params[PARAM_CLOCK];
    uint64_t base = 0, now = 0, end = 0;
    size_t thread = 0;

    for (size_t i = 0; i < result->interval_count; i++) {
        struct session_interval *interval = &result->intervals[i];
        if (i == 0 || interval->process != interval[-1].process) {
            base += end;
            thread = end_of_process(result, interval->process, thread, &end);
        }
        const uint64_t boundary = interval->boundary * cycles;
        interval->start_s = (double)now / clock;
        now = base + (boundary < end ? boundary : end);
        interval->end_s = (double)now / clock;
    }
}

int
session_intervals(const uint64_t *params, uint64_t cycles,
                  struct session_result *result)
{
    const size_t most = result->snapshot_count + result->thread_count;

    if (most == 0)
        return 0;
    result->intervals = calloc(most, sizeof(*result->intervals));
    if (result->intervals == NULL)
        return TALLY_ENOMEM;
    if (result->snapshot_count > 0)
        qsort(result->snapshots, result->snapshot_count,
              sizeof(*result->snapshots), by_thread_and_time);
    cut(params, cycles, result);
    join(result);
    set_times(params, cycles, result);
    return 0;
}
