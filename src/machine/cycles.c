/* SPDX-License-Identifier: MIT */
#include "machine/cycles.h"

/* What requests wait that missed the L1, the L2 and the last level. */
static uint64_t
wait_of(const uint64_t *params, uint64_t l1_misses, uint64_t l2_misses,
        uint64_t l3_misses)
{
    const bool l3 = params[PARAM_L3_SIZE] != 0;

    return l1_misses * params[PARAM_TIME_L2] +
           (l3 ? l2_misses * params[PARAM_TIME_L3] : 0) +
           (l3 ? l3_misses : l2_misses) * params[PARAM_TIME_MEMORY];
}

/* Likewise, beyond that, what another node serves: its signals stand behind
 * that of local service. */
static uint64_t
far_wait(const uint64_t *params, const uint64_t *n, enum signal_id local)
{
    return (n[local + 1] + n[local + 2]) * params[PARAM_TIME_REMOTE];
}

static uint64_t
tlb_stall(const uint64_t *params, const uint64_t *n)
{
    const uint64_t misses = n[SIGNAL_ITLB_MISSES] + n[SIGNAL_DTLB_LOAD_MISSES] +
                            n[SIGNAL_DTLB_STORE_MISSES];

    return misses * params[PARAM_TIME_WALK] +
           wait_of(params, n[SIGNAL_ITLB_WALK_REFS] + n[SIGNAL_DTLB_WALK_REFS],
                   n[SIGNAL_ITLB_WALK_MISSES] + n[SIGNAL_DTLB_WALK_MISSES],
                   n[SIGNAL_ITLB_WALK_L3_MISSES] +
                       n[SIGNAL_DTLB_WALK_L3_MISSES]) +
           far_wait(params, n, SIGNAL_L2_WALK_LOCAL);
}

static uint64_t
branch_stall(const uint64_t *params, const uint64_t *n)
{
    const uint64_t taken =
        n[SIGNAL_CONDITIONAL_TAKEN] + n[SIGNAL_UNCONDITIONAL_TAKEN];
    const uint64_t missed =
        n[SIGNAL_CONDITIONAL_MISPREDICTS] + n[SIGNAL_FAR_MISPREDICTS] +
        n[SIGNAL_INDIRECT_MISPREDICTS] + n[SIGNAL_RETURN_MISPREDICTS];

    return taken * params[PARAM_TIME_TAKEN] +
           missed * params[PARAM_TIME_MISPREDICT];
}

void
cycles_derive(const uint64_t *params, struct totals *totals)
{
    uint64_t *n = totals->signal;

    n[SIGNAL_ISSUE_CYCLES] = n[SIGNAL_INSTRUCTIONS] *
                             params[PARAM_TIME_INSTRUCTION] /
                             params[PARAM_TIME_ISSUE];
    n[SIGNAL_STALL_FETCH] =
        wait_of(params, n[SIGNAL_L1I_MISSES], n[SIGNAL_L2_FETCH_MISSES],
                n[SIGNAL_L3_FETCH_MISSES]) +
        far_wait(params, n, SIGNAL_L2_FETCH_LOCAL);
    n[SIGNAL_STALL_LOAD] =
        wait_of(params, n[SIGNAL_L1D_LOAD_MISSES], n[SIGNAL_L2_LOAD_MISSES],
                n[SIGNAL_L3_LOAD_MISSES]) +
        far_wait(params, n, SIGNAL_L2_LOAD_LOCAL);
    n[SIGNAL_STALL_BRANCH] = branch_stall(params, n);
    n[SIGNAL_STALL_TLB] = tlb_stall(params, n);
    n[SIGNAL_STALL_WINDOW] =
        (n[SIGNAL_WINDOW_SPILLS] + n[SIGNAL_WINDOW_FILLS]) *
        params[PARAM_TIME_WINDOW];
    n[SIGNAL_STALL_ATOMIC] = n[SIGNAL_CLASS_ATOMIC] * params[PARAM_TIME_ATOMIC];
    n[SIGNAL_STALL_FP] = n[SIGNAL_FP_INSTRUCTIONS] * params[PARAM_TIME_FP];
    n[SIGNAL_CYCLES] =
        n[SIGNAL_ISSUE_CYCLES] + n[SIGNAL_STALL_FETCH] + n[SIGNAL_STALL_LOAD] +
        n[SIGNAL_STALL_BRANCH] + n[SIGNAL_STALL_TLB] + n[SIGNAL_STALL_WINDOW] +
        n[SIGNAL_STALL_ATOMIC] + n[SIGNAL_STALL_FP] + n[SIGNAL_STALL_ISSUE];
}
