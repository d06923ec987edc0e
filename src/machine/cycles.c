/* SPDX-License-Identifier: MIT */
#include "machine/cycles.h"

#include "machine/bubble.h"

/* What requests wait that missed the L1, the L2 and the L3. A level that the
 * machine lacks costs nothing, and misses what it is asked for. */
static uint64_t
wait_of(const uint64_t *params, uint64_t l1_misses, uint64_t l2_misses,
        uint64_t l3_misses)
{
    const bool l2 = params[PARAM_L2_SIZE] != 0, l3 = params[PARAM_L3_SIZE] != 0;
    const uint64_t past_l2 = l2 ? l2_misses : l1_misses;

    return (l2 ? l1_misses * params[PARAM_TIME_L2] : 0) +
           (l3 ? past_l2 * params[PARAM_TIME_L3] : 0) +
           (l3 ? l3_misses : past_l2) * params[PARAM_TIME_MEMORY];
}

/* Likewise, beyond that, what another node serves: its signals stand behind
 * that of local service. */
static uint64_t
far_wait(const uint64_t *params, const uint64_t *n, enum signal_id local)
{
    return (n[local + 1] + n[local + 2]) * params[PARAM_TIME_REMOTE];
}

static uint64_t
itlb_stall(const uint64_t *params, const uint64_t *n)
{
    return n[SIGNAL_ITLB_MISSES] * params[PARAM_TIME_WALK] +
           wait_of(params, n[SIGNAL_ITLB_WALK_REFS], n[SIGNAL_ITLB_WALK_MISSES],
                   n[SIGNAL_ITLB_WALK_L3_MISSES]);
}

/* With what other nodes serve of either walk. */
static uint64_t
dtlb_stall(const uint64_t *params, const uint64_t *n)
{
    const uint64_t misses =
        n[SIGNAL_DTLB_LOAD_MISSES] + n[SIGNAL_DTLB_STORE_MISSES];

    return misses * params[PARAM_TIME_WALK] +
           wait_of(params, n[SIGNAL_DTLB_WALK_REFS], n[SIGNAL_DTLB_WALK_MISSES],
                   n[SIGNAL_DTLB_WALK_L3_MISSES]) +
           far_wait(params, n, SIGNAL_L2_WALK_LOCAL);
}

static uint64_t
mispredicts(const uint64_t *n)
{
    return n[SIGNAL_CONDITIONAL_MISPREDICTS] + n[SIGNAL_FAR_MISPREDICTS] +
           n[SIGNAL_INDIRECT_MISPREDICTS] + n[SIGNAL_RETURN_MISPREDICTS];
}

static uint64_t
taken_stall(const uint64_t *params, const uint64_t *n)
{
    const bool hidden = params[PARAM_BTC_HIDES] == BTC_HIDES_TAKEN &&
                        params[PARAM_BTC_ENTRIES] != 0;

    return (hidden
                ? n[SIGNAL_BTC_MISSES] + n[SIGNAL_BTC_MISPREDICTS]
                : n[SIGNAL_CONDITIONAL_TAKEN] + n[SIGNAL_UNCONDITIONAL_TAKEN]) *
           params[PARAM_TIME_TAKEN];
}

unsigned
cycles_group(const uint64_t *params)
{
    if (params[PARAM_ISSUE_GROUPS] != ISSUE_GROUPS_BLOCK)
        return 0;
    return params[PARAM_TIME_ISSUE] == 1 ? 1 : 2;
}

/* The cycles that so many instructions issue in. */
static uint64_t
issue_of(const uint64_t *params, uint64_t instructions)
{
    return instructions * params[PARAM_TIME_INSTRUCTION] /
           params[PARAM_TIME_ISSUE];
}

static uint64_t
retire_cycles(const uint64_t *n)
{
    uint64_t cycles = 0;

    for (unsigned i = SIGNAL_RETIRE_1; i <= SIGNAL_RETIRE_6; i++)
        cycles += n[i];
    return cycles;
}

static uint64_t
issue_cycles(const uint64_t *params, const uint64_t *n)
{
    if (params[PARAM_ISSUE_GROUPS] == ISSUE_GROUPS_BUNDLES)
        return retire_cycles(n);
    if (cycles_group(params) != 0)
        return n[SIGNAL_SELECT_1] + n[SIGNAL_SELECT_2];
    return issue_of(params, n[SIGNAL_INSTRUCTIONS]);
}

static uint64_t
less(uint64_t from, uint64_t by)
{
    return from > by ? from - by : 0;
}

/* Waits for loads by what fills behind them, each load as long as any other. */
static void
derive_tags(uint64_t *n)
{
    const uint64_t stall = n[SIGNAL_STALL_LOAD];
    const uint64_t loads =
        n[SIGNAL_ROB_LOADS] + n[SIGNAL_LB_LOADS] + n[SIGNAL_SB_LOADS];
    const unsigned __int128 lb = n[SIGNAL_LB_LOADS], sb = n[SIGNAL_SB_LOADS];

    n[SIGNAL_STALL_LB] = loads == 0 ? 0 : (uint64_t)(lb * stall / loads);
    n[SIGNAL_STALL_SB] = loads == 0 ? 0 : (uint64_t)(sb * stall / loads);
    n[SIGNAL_STALL_ROB] = stall - n[SIGNAL_STALL_LB] - n[SIGNAL_STALL_SB];
}

/* What the stages of a SPARC T4 do in the cycles that are now known. */
static void
derive_stages(uint64_t *n)
{
    const uint64_t cycles = n[SIGNAL_CYCLES] - n[SIGNAL_STALL_ISSUE];
    const uint64_t behind = n[SIGNAL_ISSUE_CYCLES] + n[SIGNAL_STALL_LOAD] +
                            n[SIGNAL_STALL_ATOMIC] + n[SIGNAL_STALL_FP];

    n[SIGNAL_COMMIT_WAIT] =
        less(cycles, n[SIGNAL_COMMIT_1] + n[SIGNAL_COMMIT_2]);
    n[SIGNAL_FETCH_WAIT] = less(cycles, n[SIGNAL_FETCH_CYCLES]);
    n[SIGNAL_FETCH_FULL] = less(behind, n[SIGNAL_FETCH_CYCLES]);
}

/* What stores that miss wait, each by itself. */
static uint64_t
store_wait(const uint64_t *params, const uint64_t *n)
{
    return wait_of(params, n[SIGNAL_L1D_STORE_MISSES],
                   n[SIGNAL_L2_STORE_MISSES], n[SIGNAL_L3_STORE_MISSES]) +
           far_wait(params, n, SIGNAL_L2_STORE_LOCAL);
}

/* Requests that no cache served, of those that missed each level. */
static uint64_t
past_all(const uint64_t *params, uint64_t l1_misses, uint64_t l2_misses,
         uint64_t l3_misses)
{
    if (params[PARAM_L3_SIZE] != 0)
        return l3_misses;
    return params[PARAM_L2_SIZE] != 0 ? l2_misses : l1_misses;
}

/* The miss handling table: a miss has an entry as long as it waits. */
static void
derive_misses(const uint64_t *params, uint64_t *n)
{
    const uint64_t l1 = n[SIGNAL_L1I_MISSES] + n[SIGNAL_L1D_LOAD_MISSES] +
                        n[SIGNAL_L1D_STORE_MISSES];
    const uint64_t l2 = n[SIGNAL_L2_FETCH_MISSES] + n[SIGNAL_L2_LOAD_MISSES] +
                        n[SIGNAL_L2_STORE_MISSES];
    const uint64_t l3 = n[SIGNAL_L3_FETCH_MISSES] + n[SIGNAL_L3_LOAD_MISSES] +
                        n[SIGNAL_L3_STORE_MISSES];

    n[SIGNAL_MISS_ENTRY_CYCLES] =
        n[SIGNAL_STALL_FETCH] + n[SIGNAL_STALL_LOAD] + store_wait(params, n);
    n[SIGNAL_MISS_MEMORY_CYCLES] =
        past_all(params, l1, l2, l3) * params[PARAM_TIME_MEMORY];
}

void
cycles_derive_bus(const uint64_t *params, struct totals *totals)
{
    const unsigned __int128 cycles = totals->signal[SIGNAL_CYCLES];

    totals->signal[SIGNAL_BUS_CYCLES] =
        (uint64_t)(cycles * params[PARAM_BUS_CLOCK] / params[PARAM_CLOCK]);
}

/* Accesses that order others, as long as one takes. */
static void
derive_orders(const uint64_t *params, uint64_t *n)
{
    const uint64_t cycles = params[PARAM_TIME_ATOMIC];

    n[SIGNAL_RELEASE_CYCLES] = n[SIGNAL_BARRIERS] * cycles;
    n[SIGNAL_ACQUIRE_CYCLES] =
        (n[SIGNAL_BARRIERS] + n[SIGNAL_CLASS_ATOMIC]) * cycles;
}

void
cycles_derive(const uint64_t *params, struct totals *totals)
{
    uint64_t *n = totals->signal;

    n[SIGNAL_ISSUE_CYCLES] = issue_cycles(params, n);
    n[SIGNAL_UNIT_CYCLES] =
        issue_of(params, n[SIGNAL_INSTRUCTIONS] - n[SIGNAL_CLASS_LOAD] -
                             n[SIGNAL_CLASS_STORE]);
    n[SIGNAL_STALL_FETCH] =
        wait_of(params, n[SIGNAL_L1I_MISSES] - n[SIGNAL_STREAM_HITS],
                n[SIGNAL_L2_FETCH_MISSES] + n[SIGNAL_FETCH_WAITS_L3] +
                    n[SIGNAL_FETCH_WAITS_MEMORY],
                n[SIGNAL_L3_FETCH_MISSES] + n[SIGNAL_FETCH_WAITS_MEMORY]) +
        far_wait(params, n, SIGNAL_L2_FETCH_LOCAL);
    n[SIGNAL_STALL_PLAIN_LOAD] =
        wait_of(params, n[SIGNAL_L1D_LOAD_MISSES], n[SIGNAL_L2_LOAD_MISSES],
                n[SIGNAL_L3_LOAD_MISSES]) +
        far_wait(params, n, SIGNAL_L2_LOAD_LOCAL) + n[SIGNAL_SECONDARY_WAIT];
    n[SIGNAL_STALL_FLOAT_LOAD] = wait_of(params, 0, n[SIGNAL_L2_FLOAT_MISSES],
                                         n[SIGNAL_L3_FLOAT_MISSES]);
    n[SIGNAL_STALL_LOAD] =
        n[SIGNAL_STALL_PLAIN_LOAD] + n[SIGNAL_STALL_FLOAT_LOAD];
    /* Those of stores overlap in the table; without one they cost nothing. */
    const uint64_t entries = params[PARAM_MISS_ENTRIES];
    n[SIGNAL_STALL_STORE] =
        n[SIGNAL_STORE_FULL] +
        (entries != 0 ? (store_wait(params, n) + entries - 1) / entries : 0);
    derive_misses(params, n);
    n[SIGNAL_STALL_MISPREDICT] = mispredicts(n) * params[PARAM_TIME_MISPREDICT];
    n[SIGNAL_STALL_TAKEN] = taken_stall(params, n);
    n[SIGNAL_STALL_BRANCH] = n[SIGNAL_STALL_TAKEN] + n[SIGNAL_STALL_MISPREDICT];
    n[SIGNAL_STALL_ITLB] = itlb_stall(params, n);
    n[SIGNAL_STALL_DTLB] = dtlb_stall(params, n);
    n[SIGNAL_STALL_TLB] = n[SIGNAL_STALL_ITLB] + n[SIGNAL_STALL_DTLB];
    n[SIGNAL_STALL_WINDOW] =
        (n[SIGNAL_WINDOW_SPILLS] + n[SIGNAL_WINDOW_FILLS]) *
        params[PARAM_TIME_WINDOW];
    n[SIGNAL_STALL_ATOMIC] =
        n[SIGNAL_CLASS_ATOMIC] * params[PARAM_TIME_ATOMIC] +
        n[SIGNAL_ATOMIC_WAIT];
    n[SIGNAL_STALL_SPILL] =
        n[SIGNAL_FRAME_SPILLS] * params[PARAM_TIME_REGISTER];
    n[SIGNAL_STALL_FILL] = n[SIGNAL_FRAME_FILLS] * params[PARAM_TIME_REGISTER];
    n[SIGNAL_STALL_SYSTEM] = (n[SIGNAL_SYSTEM_CALLS] + n[SIGNAL_SERIALIZERS]) *
                             params[PARAM_TIME_SYSTEM];
    n[SIGNAL_STALL_FP] = n[SIGNAL_FP_INSTRUCTIONS] * params[PARAM_TIME_FP];
    derive_orders(params, n);
    n[SIGNAL_CYCLES] =
        n[SIGNAL_ISSUE_CYCLES] + n[SIGNAL_STALL_FETCH] + n[SIGNAL_STALL_LOAD] +
        n[SIGNAL_STALL_BRANCH] + n[SIGNAL_STALL_TLB] + n[SIGNAL_STALL_WINDOW] +
        n[SIGNAL_STALL_ATOMIC] + n[SIGNAL_STALL_FP] + n[SIGNAL_STALL_STORE] +
        n[SIGNAL_STALL_SPILL] + n[SIGNAL_STALL_FILL] + n[SIGNAL_STALL_SYSTEM] +
        n[SIGNAL_STALL_ISSUE];
    /* As of a strand alone on its core; machine/pipeline.h knows better. */
    n[SIGNAL_CORE_IDLE] =
        less(n[SIGNAL_CYCLES] - n[SIGNAL_STALL_ISSUE], n[SIGNAL_ISSUE_CYCLES]);
    derive_stages(n);
    derive_tags(n);
    bubble_derive(params, mispredicts(n), n);
    cycles_derive_bus(params, totals);
}
