/* SPDX-License-Identifier: MIT */
#include "profile/switches.h"

#include <assert.h>

#include "machine/switch.h"

static_assert(SIGNAL_SWITCH_STALLS_4096 ==
                  SIGNAL_SWITCH_STALLS_4 + SWITCH_STALLS - 1,
              "signals of stalls in the order of switch_counts.stalls");

/* Adds a thread to the load of its strand. `first`: no thread of the strand was
 * added before; later threads run after it. */
static void
add_load(const struct switch_times *times, const struct session_thread *t,
         struct switch_load *load, bool first)
{
    const uint64_t *n = t->totals.signal;
    /* L3 misses that the thread waits for: not those of stores, nor of code
     * that is fetched ahead, except where the thread needs that code before it
     * has come. */
    const uint64_t misses =
        n[SIGNAL_L3_LOAD_MISSES] + n[SIGNAL_L3_FLOAT_MISSES] +
        n[SIGNAL_L3_FETCH_MISSES] + n[SIGNAL_FETCH_WAITS_MEMORY] +
        n[SIGNAL_ITLB_WALK_L3_MISSES] + n[SIGNAL_DTLB_WALK_L3_MISSES];
    const uint64_t waits = misses * (times->probe + times->memory);
    const uint64_t own = n[SIGNAL_CYCLES] - n[SIGNAL_STALL_ISSUE];

    if (first)
        load->start = t->born;
    load->run += own > waits ? own - waits : 0;
    load->misses += misses;
    load->hints += n[SIGNAL_YIELDS] + n[SIGNAL_PAUSES];
}

/* Fills in the switches between the two strands of a core. The threads of a
 * strand count as one, and the first of them gets the counts. */
static void
count_core(const struct switch_times *times, uint32_t core,
           struct session_thread *threads, size_t count)
{
    struct session_thread *firsts[2] = {NULL, NULL};
    struct switch_load loads[2] = {{0}, {0}};
    struct switch_counts counts[2];

    for (size_t i = 0; i < count; i++) {
        const unsigned side = threads[i].strand & 1;
        if (threads[i].strand >> 1 != core)
            continue;
        add_load(times, &threads[i], &loads[side], firsts[side] == NULL);
        if (firsts[side] == NULL)
            firsts[side] = &threads[i];
    }
    if (firsts[0] == NULL || firsts[1] == NULL)
        return;
    switch_run(times, loads, counts);
    for (unsigned side = 0; side < 2; side++) {
        const struct switch_counts *c = &counts[side];
        uint64_t *n = firsts[side]->totals.signal;
        n[SIGNAL_SWITCHES_L3] = c->by_l3;
        n[SIGNAL_SWITCHES_TIMER] = c->by_timer;
        n[SIGNAL_SWITCHES_HINT] = c->by_hint;
        n[SIGNAL_SWITCHES_HALT] = c->by_halt;
        n[SIGNAL_SWITCHES_MISSED] = c->missed;
        n[SIGNAL_SWITCHES_GATED] = c->gated;
        n[SIGNAL_SWITCH_GATED_CYCLES] = c->gated_cycles;
        n[SIGNAL_SWITCH_CYCLES] = c->cycles;
        for (unsigned i = 0; i < SWITCH_STALLS; i++)
            n[SIGNAL_SWITCH_STALLS_4 + i] = c->stalls[i];
    }
}

void
switches_count(const uint64_t *params, struct session_thread *threads,
               size_t count)
{
    const struct switch_times times = {
        .probe = params[PARAM_TIME_L2] + params[PARAM_TIME_L3],
        .memory = params[PARAM_TIME_MEMORY],
        .change = params[PARAM_TIME_SWITCH],
        .quantum = params[PARAM_TIME_QUANTUM],
    };
    const uint64_t cores = params[PARAM_NODES] * params[PARAM_CORES];

    if (times.change == 0 || params[PARAM_STRANDS] != 2)
        return;
    for (uint32_t core = 0; core < cores; core++)
        count_core(&times, core, threads, count);
}
