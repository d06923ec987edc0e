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

/* Returns the end of the thread on the process's clock: waits for a shared
 * pipeline are left out. */
static uint64_t
clock_of(const struct session_thread *t)
{
    return t->born + t->totals.signal[SIGNAL_CYCLES] -
           t->totals.signal[SIGNAL_STALL_ISSUE];
}

/* Returns amount * part / whole, rounded down; 0 if `whole` is 0. */
static uint64_t
part_of(uint64_t amount, uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0
                      : (uint64_t)((unsigned __int128)amount * part / whole);
}

/* Returns the cycles that a thread stalls for other reasons than the issue of
 * other threads. */
static uint64_t
own_stalls(const struct totals *t)
{
    return t->signal[SIGNAL_CYCLES] - t->signal[SIGNAL_STALL_ISSUE] -
           t->signal[SIGNAL_ISSUE_CYCLES];
}

/* Derives the signals of a snapshot. Waits for the pipeline are known of the
 * whole thread only: the snapshot gets its share of them. */
static void
derive(const uint64_t *params, uint64_t components,
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

/* Adds an interval with what the thread counted after `before`. */
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

/* Makes an interval for each snapshot of each thread, and one for the time
 * after the thread's last snapshot. cycles: between boundaries; 0: boundaries
 * are no times. */
static void
cut(const uint64_t *params, uint64_t cycles, struct session_result *result)
{
    size_t next = 0;

    for (size_t i = 0; i < result->thread_count; i++) {
        const struct session_thread *t = &result->threads[i];
        struct totals before = {0};
        for (; next < result->snapshot_count; next++) {
            struct session_snapshot *s = &result->snapshots[next];
            /* Nothing else is known of the thread: skip the snapshot. */
            if (s->process < t->process ||
                (s->process == t->process && s->thread < t->thread))
                continue;
            if (s->process != t->process || s->thread != t->thread)
                break;
            derive(params, result->components, t, &s->totals);
            add_piece(result, t, s->boundary, &s->totals, &before);
            before = s->totals;
        }
        add_piece(result, t,
                  cycles == 0 ? UINT64_MAX : clock_of(t) / cycles + 1,
                  &t->totals, &before);
    }
}

/* Adds up the intervals of one process that end at one boundary. */
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

/* Sets the intervals' times. Processes are laid one after another, as their
 * modelled times are added up. */
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
            /* The process ends with the thread that ends last. */
            end = 0;
            for (; thread < result->thread_count; thread++) {
                const struct session_thread *t = &result->threads[thread];
                if (t->process != interval->process)
                    break;
                end = clock_of(t) > end ? clock_of(t) : end;
            }
        }
        const uint64_t boundary = interval->boundary * cycles;
        interval->start_s = (double)now / clock;
        now = base + (boundary < end ? boundary : end);
        interval->end_s = (double)now / clock;
    }
}

/* Makes the intervals, without their times. */
static int
make_intervals(const uint64_t *params, uint64_t cycles,
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
    return 0;
}

int
session_cut(const uint64_t *params, struct session_result *result)
{
    return make_intervals(params, 0, result);
}

int
session_intervals(const uint64_t *params, uint64_t cycles,
                  struct session_result *result)
{
    const int error = make_intervals(params, cycles, result);

    if (error == 0)
        set_times(params, cycles, result);
    return error;
}
