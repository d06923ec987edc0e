/* SPDX-License-Identifier: MIT */
/* What follows from a strand's signals once its totals are summed. */
#include "machine/bus.h"
#include "machine/chip.h"
#include "machine/cycles.h"

/* Requests of one kind, those that each level lacked, and what follows: where
 * they were served. */
static const struct service {
    enum signal_id missed[3]; /* the L1 or the TLB, the L2, the L3 */
    enum signal_id l2_hits, l3_hits, memory;
    enum signal_id apart; /* of `missed`, what does not count; or 0 */
} services[] = {
    {{SIGNAL_NEAR_PREFETCH_MISSES, SIGNAL_NEAR_PREFETCH_L2_MISSES,
      SIGNAL_NEAR_PREFETCH_L3_MISSES},
     SIGNAL_NEAR_PREFETCH_L2_HITS,
     SIGNAL_NEAR_PREFETCH_L3_HITS,
     SIGNAL_NEAR_PREFETCH_MEMORY,
     0},
    {{SIGNAL_FAR_PREFETCHES, SIGNAL_FAR_PREFETCH_L2_MISSES,
      SIGNAL_FAR_PREFETCH_L3_MISSES},
     SIGNAL_FAR_PREFETCH_L2_HITS,
     SIGNAL_FAR_PREFETCH_L3_HITS,
     SIGNAL_FAR_PREFETCH_MEMORY,
     0},
    {{SIGNAL_L1I_MISSES, SIGNAL_L2_FETCH_MISSES, SIGNAL_L3_FETCH_MISSES},
     SIGNAL_FETCH_L2_HITS,
     SIGNAL_FETCH_L3_HITS,
     SIGNAL_FETCH_MEMORY,
     0},
    {{SIGNAL_L1D_LOAD_MISSES, SIGNAL_L2_LOAD_MISSES, SIGNAL_L3_LOAD_MISSES},
     SIGNAL_LOAD_L2_HITS,
     SIGNAL_LOAD_L3_HITS,
     SIGNAL_LOAD_MEMORY,
     SIGNAL_BULK_L1D_MISSES},
    {{SIGNAL_ITLB_WALK_REFS, SIGNAL_ITLB_WALK_MISSES,
      SIGNAL_ITLB_WALK_L3_MISSES},
     SIGNAL_ITLB_WALK_L2_HITS,
     SIGNAL_ITLB_WALK_L3_HITS,
     SIGNAL_ITLB_WALK_MEMORY,
     0},
    {{SIGNAL_DTLB_WALK_REFS, SIGNAL_DTLB_WALK_MISSES,
      SIGNAL_DTLB_WALK_L3_MISSES},
     SIGNAL_DTLB_WALK_L2_HITS,
     SIGNAL_DTLB_WALK_L3_HITS,
     SIGNAL_DTLB_WALK_MEMORY,
     0},
};

static uint64_t
missed(const struct service *s, const uint64_t *n, unsigned level)
{
    return n[s->missed[level]] - (s->apart != 0 ? n[s->apart + level] : 0);
}

/* A level that the machine lacks serves nothing. */
static void
derive_services(const uint64_t *params, uint64_t *n)
{
    const bool l2 = params[PARAM_L2_SIZE] != 0, l3 = params[PARAM_L3_SIZE] != 0;

    for (size_t i = 0; i < sizeof(services) / sizeof(*services); i++) {
        const struct service *s = &services[i];
        const uint64_t past_l2 = missed(s, n, l2 ? 1 : 0);
        const uint64_t past_l3 = l3 ? missed(s, n, 2) : past_l2;

        n[s->l2_hits] = missed(s, n, 0) - past_l2;
        n[s->l3_hits] = past_l2 - past_l3;
        n[s->memory] = past_l3;
    }
}

static uint64_t
less(uint64_t from, uint64_t by)
{
    return from > by ? from - by : 0;
}

/* Each store asks for one line. A block store, or one that crosses a line, may
 * miss with two, and so hide another's hit. */
static void
derive_stores(const uint64_t *params, uint64_t *n)
{
    const uint64_t stores = n[SIGNAL_STORES] + n[SIGNAL_REP_STORES];
    const uint64_t past_l2 = n[SIGNAL_L2_STORE_MISSES];
    const uint64_t beside = n[SIGNAL_L2_STORE_TRANSFERS];
    const uint64_t past_l3 = params[PARAM_L3_SIZE] != 0
                                 ? n[SIGNAL_L3_STORE_MISSES]
                                 : past_l2 - beside;

    n[SIGNAL_STORE_L2_HITS] = stores > past_l2 ? stores - past_l2 : 0;
    n[SIGNAL_STORE_L3_HITS] = past_l2 - past_l3 - beside;
    n[SIGNAL_STORE_MEMORY] = past_l3;
}

/* No instruction is performed twice, nor in both. */
static void
derive_prefetches(uint64_t *n)
{
    n[SIGNAL_UNPERFORMED_PREFETCHES] =
        less(n[SIGNAL_PREFETCHES], n[SIGNAL_NEAR_PREFETCH_HITS] +
                                       n[SIGNAL_NEAR_PREFETCH_MISSES] +
                                       n[SIGNAL_FAR_PREFETCHES]);
}

/* By the size of the page that a walk finds. */
static void
derive_fills(const uint64_t *params, uint64_t *n)
{
    static const uint64_t sizes[] = {
        UINT64_C(8) << 10,   UINT64_C(64) << 10, UINT64_C(4) << 20,
        UINT64_C(256) << 20, UINT64_C(2) << 30,
    };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const uint64_t all = params[PARAM_TLB_PAGE] == sizes[i];
        n[SIGNAL_ITLB_FILLS_0 + i] = all * n[SIGNAL_ITLB_MISSES];
        n[SIGNAL_DTLB_FILLS_0 + i] =
            all * (n[SIGNAL_DTLB_LOAD_MISSES] + n[SIGNAL_DTLB_STORE_MISSES]);
    }
}

/*
 * What is decoded behind a mispredicted branch and thrown away: as many
 * instructions as the width takes in the cycles that it costs, of which the
 * parameters wrong.* say what 16 are.
 */
static void
derive_wrong_path(const uint64_t *params, uint64_t *n)
{
    const uint64_t wrong = n[SIGNAL_CONDITIONAL_MISPREDICTS] *
                           params[PARAM_TIME_MISPREDICT] *
                           params[PARAM_TIME_ISSUE];

    n[SIGNAL_WRONG_PATH_INSTRUCTIONS] = wrong;
    n[SIGNAL_WRONG_PATH_LOADS] = wrong * params[PARAM_WRONG_LOADS] / 16;
    n[SIGNAL_WRONG_PATH_STORES] = wrong * params[PARAM_WRONG_STORES] / 16;
    n[SIGNAL_WRONG_PATH_BRANCHES] = wrong * params[PARAM_WRONG_BRANCHES] / 16;
}

/* An atomic is one load and one store of the program's, and one reference. */
static void
derive_references(uint64_t *n)
{
    const uint64_t loads = n[SIGNAL_LOADS] + n[SIGNAL_REP_LOADS];
    const uint64_t stores = n[SIGNAL_STORES] + n[SIGNAL_REP_STORES];

    n[SIGNAL_INTEGER_LOADS] = loads - n[SIGNAL_FLOAT_LOADS];
    n[SIGNAL_L1D_READS] =
        loads - n[SIGNAL_CLASS_ATOMIC] - n[SIGNAL_FLOAT_LOADS];
    n[SIGNAL_DATA_REFERENCES] = loads + stores - n[SIGNAL_CLASS_ATOMIC];
    n[SIGNAL_PLAIN_STORES] = stores - n[SIGNAL_CLASS_ATOMIC];
}

/* What was foretold right, of what is not the program's last branch. */
static void
derive_branches(const uint64_t *params, uint64_t *n)
{
    /* A static prediction needs no table: each taken branch was missed. */
    if (params[PARAM_BRANCH_PREDICTOR] == BRANCH_PREDICTOR_NOT_TAKEN)
        n[SIGNAL_TAKEN_MISPREDICTS] = n[SIGNAL_CONDITIONAL_TAKEN];
    n[SIGNAL_CONDITIONAL_MISPREDICTS] =
        n[SIGNAL_TAKEN_MISPREDICTS] + n[SIGNAL_NOT_TAKEN_MISPREDICTS];
    n[SIGNAL_OK_DIRECT] =
        less(n[SIGNAL_CONDITIONAL_BRANCHES] + n[SIGNAL_DIRECT_TAKEN],
             n[SIGNAL_CONDITIONAL_MISPREDICTS]);
    n[SIGNAL_OK_RETURNS] =
        less(n[SIGNAL_RETURNS], n[SIGNAL_RETURN_MISPREDICTS]);
    n[SIGNAL_OK_INDIRECT] =
        less(n[SIGNAL_INDIRECT_TAKEN], n[SIGNAL_INDIRECT_MISPREDICTS]);
    n[SIGNAL_OK_PATH_TAKEN] =
        less(n[SIGNAL_CONDITIONAL_TAKEN], n[SIGNAL_TAKEN_MISPREDICTS]) +
        n[SIGNAL_DIRECT_TAKEN];
    n[SIGNAL_OK_PATH_NOT_TAKEN] =
        less(n[SIGNAL_CONDITIONAL_BRANCHES],
             n[SIGNAL_CONDITIONAL_TAKEN] + n[SIGNAL_NOT_TAKEN_MISPREDICTS]);
}

void
chip_derive(const uint64_t *params, uint32_t parts, struct totals *totals)
{
    uint64_t *n = totals->signal;

    derive_branches(params, n);
    n[SIGNAL_PLAIN_LOAD_MISSES] =
        n[SIGNAL_L1D_LOAD_MISSES] - n[SIGNAL_BULK_L1D_MISSES];
    n[SIGNAL_L1I_MICROTAG_MISSES] =
        n[SIGNAL_L1I_MISSES] - n[SIGNAL_L1I_MICROTAG_FINDS];
    derive_services(params, n);
    derive_stores(params, n);
    derive_prefetches(n);
    derive_fills(params, n);
    n[SIGNAL_L1D_WRITEBACK_QUADWORDS] =
        n[SIGNAL_L1D_WRITEBACKS] * (params[PARAM_L1D_LINE] / 16);
    n[SIGNAL_L2_WRITEBACK_QUADWORDS] =
        n[SIGNAL_L2_WRITEBACKS] * (params[PARAM_L2_LINE] / 16);
    n[SIGNAL_L2_SHARED_UPDATES_AGAIN] = n[SIGNAL_L2_SHARED_UPDATES];
    derive_references(n);
    if (parts & PART_BUS)
        bus_derive(params, n);
    derive_wrong_path(params, n);
    n[SIGNAL_LEVEL_CHANGES] = 2 * n[SIGNAL_SYSTEM_CALLS];
    if (parts & PART_CONDITIONAL)
        n[SIGNAL_FAILED_CONDITIONALS] =
            n[SIGNAL_STORE_CONDITIONALS] - n[SIGNAL_STORED_CONDITIONALS];
    if (parts & PART_TIME)
        cycles_derive(params, totals);
}
