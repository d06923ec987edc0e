/* SPDX-License-Identifier: MIT */
#include "profile/modelled.h"

#include <stdlib.h>

#include "machine/chip.h"
#include "machine/pipeline.h"
#include "profile/switches.h"
#include "table/signals.h"

#define STRANDS_MAX 4096u

/* Returns the index of the thread with the number among `count` in order, or
 * PIPELINE_NO_MAKER. */
static uint32_t
find_thread(const struct session_thread *threads, size_t count, unsigned number)
{
    size_t low = 0;

    while (low < count && threads[low].thread < number) {
        const size_t middle = low + (count - low) / 2;
        if (threads[middle].thread < number)
            low = middle + 1;
        else
            count = middle;
    }
    return low < count && threads[low].thread == number ? (uint32_t)low
                                                        : PIPELINE_NO_MAKER;
}

/* Returns the cycles, at most 2^52: beyond that the schedule's times, which are
 * doubles, would stand still. Only forged counts are more. */
static uint64_t
bounded(uint64_t cycles)
{
    const uint64_t most = UINT64_C(1) << 52;

    return (int64_t)cycles < 0 ? 0 : cycles < most ? cycles : most;
}

/* Shares the pipelines among the threads of one process: fills in their waits
 * and what derives from these. */
static int
share(const uint64_t *params, uint64_t components,
      struct session_thread *threads, size_t count)
{
    struct pipeline_thread *rows = calloc(count, sizeof(*rows));

    if (rows == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct session_thread *t = &threads[i];
        const uint32_t maker = find_thread(threads, i, t->maker);
        const bool made = maker != PIPELINE_NO_MAKER;
        rows[i] = (struct pipeline_thread){
            .strand = t->strand,
            .maker = maker,
            .born = made && t->born > threads[maker].born
                        ? t->born - threads[maker].born
                        : 0,
            .issue = bounded(t->totals.signal[SIGNAL_ISSUE_CYCLES]),
            .cycles = bounded(t->totals.signal[SIGNAL_CYCLES]),
        };
    }
    const int error = pipeline_share(params, rows, count);
    for (size_t i = 0; error == 0 && i < count; i++) {
        uint64_t *n = threads[i].totals.signal;
        n[SIGNAL_STALL_ISSUE] = rows[i].wait;
        signals_derive(params, components, n);
        n[SIGNAL_CORE_IDLE] = rows[i].idle;
    }
    free(rows);
    return error;
}

/* Returns the cycles of the strand that ran longest. */
static uint64_t
busiest(const struct session_thread *threads, size_t count)
{
    uint64_t cycles[STRANDS_MAX] = {0}, most = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t *strand = &cycles[threads[i].strand % STRANDS_MAX];
        *strand += threads[i].totals.signal[SIGNAL_CYCLES];
        most = *strand > most ? *strand : most;
    }
    return most;
}

int
session_time(const uint64_t *params, struct session_result *result)
{
    uint64_t all = 0;

    for (size_t i = 0; i < result->thread_count; i++)
        signals_derive(params, result->components,
                       result->threads[i].totals.signal);
    for (size_t first = 0, next = 0; first < result->thread_count;
         first = next) {
        struct session_thread *threads = &result->threads[first];
        while (next < result->thread_count &&
               result->threads[next].process == threads->process)
            next++;
        if (next - first > 1 && (result->components & COMPONENT_TIME)) {
            const int error =
                share(params, result->components, threads, next - first);
            if (error != 0)
                return error;
            switches_count(params, threads, next - first);
        }
        all += busiest(threads, next - first);
    }
    result->modelled_s = (double)all / (double)params[PARAM_CLOCK];
    return 0;
}
