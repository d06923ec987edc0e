/* SPDX-License-Identifier: MIT */
#include "machine/lacks.h"

#include "machine/ahead.h"
#include "machine/buffers.h"
#include "machine/bus.h"
#include "machine/inclusion.h"
#include "machine/memory.h"
#include "machine/nodes.h"

static bool
is_link(unsigned signal)
{
    return signal >= SIGNAL_LINK_MEM_SHARES_0 &&
           signal <= SIGNAL_LINK_INVALIDATIONS_63;
}

/* Of bundles of an Itanium 2, and of the cycles in which they disperse. */
static bool
is_of_bundles(unsigned signal)
{
    return signal >= SIGNAL_RETIRE_1 && signal <= SIGNAL_UNREACHED_BUNDLES;
}

/* Of two threads that own a core by turns; see profile/switches.h. */
static bool
is_of_switches(unsigned signal)
{
    return signal >= SIGNAL_SWITCHES_L3 && signal <= SIGNAL_SWITCH_STALLS_4096;
}

/* Of table walks: their requests, and what served them. */
static bool
is_of_walks(unsigned signal)
{
    return (signal >= SIGNAL_ITLB_WALK_REFS &&
            signal <= SIGNAL_DTLB_WALK_L3_MISSES) ||
           (signal >= SIGNAL_ITLB_WALK_L2_HITS &&
            signal <= SIGNAL_DTLB_WALK_MEMORY) ||
           (signal >= SIGNAL_L2_WALK_LOCAL && signal <= SIGNAL_L2_WALK_CACHE);
}

/* Without an L2 the memory serves what the L1s lack, and a prefetch for the L2
 * is not performed. */
static bool
is_of_l2(unsigned signal)
{
    return (tally_signals[signal].parts & PART_L2) != 0 &&
           signal != SIGNAL_FETCH_MEMORY && signal != SIGNAL_LOAD_MEMORY &&
           signal != SIGNAL_NEAR_PREFETCH_MEMORY &&
           signal != SIGNAL_UNPERFORMED_PREFETCHES;
}

static bool
is_of_l3(unsigned signal)
{
    static const uint16_t those[] = {
        SIGNAL_BULK_L3_MISSES,          SIGNAL_L3_FETCH_MISSES,
        SIGNAL_L3_LOAD_MISSES,          SIGNAL_L3_STORE_MISSES,
        SIGNAL_ITLB_WALK_L3_MISSES,     SIGNAL_DTLB_WALK_L3_MISSES,
        SIGNAL_FETCH_L3_HITS,           SIGNAL_LOAD_L3_HITS,
        SIGNAL_ITLB_WALK_L3_HITS,       SIGNAL_DTLB_WALK_L3_HITS,
        SIGNAL_STORE_L3_HITS,           SIGNAL_L3_WRITEBACKS,
        SIGNAL_NEAR_PREFETCH_L3_MISSES, SIGNAL_NEAR_PREFETCH_L3_HITS,
        SIGNAL_FAR_PREFETCH_L3_MISSES,  SIGNAL_FAR_PREFETCH_L3_HITS,
    };

    for (size_t i = 0; i < sizeof(those) / sizeof(those[0]); i++) {
        if (signal == those[i])
            return true;
    }
    return false;
}

/* Of what one bank does, which bank; else 0. */
static uint64_t
bank_of(unsigned signal)
{
    static const uint16_t firsts[] = {
        SIGNAL_MEMORY_READS_0,       SIGNAL_MEMORY_WRITES_0,
        SIGNAL_DRAM_READ_LATENCY_0,  SIGNAL_DRAM_STALLS_0,
        SIGNAL_DRAM_WRITE_LATENCY_0, SIGNAL_DRAM_DEFERRED_0,
        SIGNAL_DRAM_STARVED_0,
    };

    for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
        if (signal - firsts[i] < MEMORY_BANKS)
            return signal - firsts[i];
    }
    return 0;
}

/* The entries of the L2's buffer that a signal tells of; of any buffer, some.
 */
static uint64_t
buffer_of(unsigned signal, const uint64_t *params)
{
    switch (signal) {
    case SIGNAL_L2_MISSES_FULL:
        return params[PARAM_L2_MISSES];
    case SIGNAL_L2_FILLS_FULL:
        return params[PARAM_L2_FILLS];
    case SIGNAL_L2_WRITEBACKS_FULL:
        return params[PARAM_L2_WRITEBACKS];
    default:
        return 1;
    }
}

static const char *
signal_lacks(unsigned signal, const uint64_t *params)
{
    const uint64_t nodes = params[PARAM_NODES];

    if (params[PARAM_L2_SIZE] == 0 &&
        (tally_signals[signal].parts & PART_WRITEBACK) != 0)
        return "what passes to memory and from it is known behind an L2 only";
    if (params[PARAM_TLB_WALK] == 0 && is_of_walks(signal))
        return "no table is walked as the machine is set; see the parameter "
               "tlb.walk";
    if (params[PARAM_L2_SIZE] == 0 && is_of_l2(signal))
        return "the machine has no L2 as it is set; see the parameter l2.size";
    if (params[PARAM_L3_SIZE] == 0 && is_of_l3(signal))
        return "the machine has no L3 as it is set; see the parameter l3.size";
    if (params[PARAM_L2_FORETOLD] == 0 &&
        (tally_signals[signal].parts & PART_WAYS) != 0)
        return "no way of the L2 is foretold as the machine is set; see the "
               "parameter l2.foretold";
    if ((signal == SIGNAL_L1I_EVICTION_INVALIDATIONS ||
         signal == SIGNAL_L1D_EVICTION_INVALIDATIONS) &&
        !inclusion_is(params))
        return "a line that leaves the L2 stays in the L1s as the machine is "
               "set; see the parameter l2.inclusive";
    if ((signal == SIGNAL_STALL_LB || signal == SIGNAL_STALL_SB) &&
        (params[PARAM_ROB_ENTRIES] == 0 ||
         params[PARAM_ISSUE_GROUPS] != ISSUE_GROUPS_BLOCK))
        return "what fills behind a load is not asked as the machine is set; "
               "see the parameters rob.entries and issue.groups";
    if (params[PARAM_L1I_MICROTAG] == 0 &&
        (signal == SIGNAL_L1I_MICROTAG_FINDS ||
         signal == SIGNAL_L1I_MICROTAG_MISSES))
        return "lines have no microtags as the machine is set; see the "
               "parameter l1i.microtag";
    if (signal >= SIGNAL_L2_MISSES_FULL && signal <= SIGNAL_L2_STALLS &&
        (!buffers_are(params) || buffer_of(signal, params) == 0))
        return "the L2 has no such buffer as the machine is set; see the "
               "parameters l2.misses, l2.fills and l2.writebacks";
    if ((params[PARAM_RSE_REGISTERS] == 0 || params[PARAM_RETURN_DEPTH] == 0) &&
        (tally_signals[signal].parts & PART_FRAMES) != 0)
        return "no frames of registers are modelled as the machine is set; see "
               "the parameters rse.registers and return.depth";
    if ((tally_signals[signal].parts & PART_BUS) != 0 && !bus_is(params))
        return "cores snoop each other where each has an L3; see the parameter "
               "l3.shared";
    if (signal >= SIGNAL_STREAM_PREFETCHES &&
        signal <= SIGNAL_REQUESTS_ALMOST_FULL_CYCLES && !ahead_is(params))
        return "no line of code is fetched ahead as the machine is set; see "
               "the parameters prefetch.lines and l2i.size";
    if (is_of_switches(signal) &&
        (params[PARAM_TIME_SWITCH] == 0 || params[PARAM_STRANDS] != 2))
        return "no two threads own a core by turns as the machine is set; see "
               "the parameters time.switch and strands";
    if (signal >= SIGNAL_NEAR_PREFETCH_HITS &&
        signal <= SIGNAL_FAR_PREFETCH_MEMORY && !chip_prefetches(params))
        return "prefetches are counted and not performed as the machine is "
               "set; see the parameter prefetch.data";
    if ((signal == SIGNAL_BUS_CASTOUTS ||
         signal == SIGNAL_CASTOUT_QUEUE_CLOCKS) &&
        params[PARAM_BUS_CASTOUTS] == BUS_CASTOUTS_NONE)
        return "clean lines that leave the L3 are not told on the bus as the "
               "machine is set; see the parameter bus.castouts";
    if (is_link(signal) && nodes < HUBS_FROM)
        return "systems of one and two nodes have no hubs; see --set nodes";
    if (bank_of(signal) >= nodes * params[PARAM_MEMORY_BANKS])
        return "the machine has no such memory controller as it is set; see "
               "the parameters nodes and memory.banks";
    return NULL;
}

/* Of syllables a part alone would be told: those of wrong paths, and those that
 * the front end loses. */
static const char *
bundles_lacking(const struct event_row *event, const uint64_t *params)
{
    if (params[PARAM_ISSUE_GROUPS] == ISSUE_GROUPS_BUNDLES)
        return NULL;
    for (size_t i = 0; i < event->signal_count; i++) {
        if (is_of_bundles(event->signals[i]))
            return "instructions are put in no bundles as the machine is set; "
                   "see the parameter issue.groups";
    }
    return NULL;
}

const char *
machine_lacks(const struct event_row *event, const uint64_t *params)
{
    const char *why = bundles_lacking(event, params);

    if (why != NULL)
        return why;
    for (size_t i = 0; i < event->signal_count; i++) {
        why = signal_lacks(event->signals[i], params);
        if (why == NULL)
            return NULL;
    }
    return why;
}
