/* SPDX-License-Identifier: MIT */
#include "machine/bubble.h"

#include "table/table.h"

/* Bundles enter and leave the instruction buffer so many a cycle. */
#define BUNDLES 2u
#define SYLLABLES 3u

/* What stops the back end, but for flushes. */
static uint64_t
back_end(const uint64_t *n)
{
    return n[SIGNAL_STALL_LOAD] + n[SIGNAL_STALL_ATOMIC] + n[SIGNAL_STALL_FP] +
           n[SIGNAL_STALL_DTLB] + n[SIGNAL_STALL_STORE] +
           n[SIGNAL_STALL_WINDOW] + n[SIGNAL_STALL_SPILL] +
           n[SIGNAL_STALL_FILL];
}

void
bubble_derive(const uint64_t *params, uint64_t missed, uint64_t *n)
{
    const uint64_t resolve = params[PARAM_TIME_RESOLVE];
    const uint64_t flush = params[PARAM_TIME_MISPREDICT];
    const uint64_t wrong = missed * (resolve < flush ? resolve : flush);
    const uint64_t front =
        n[SIGNAL_STALL_FETCH] + n[SIGNAL_STALL_ITLB] + n[SIGNAL_STALL_TAKEN];

    n[SIGNAL_CORE_CYCLES] = n[SIGNAL_CYCLES] - n[SIGNAL_STALL_ISSUE];
    n[SIGNAL_WRONG_PATH_SYLLABLES] = wrong * BUNDLES * SYLLABLES;
    n[SIGNAL_STALL_REFILL] =
        n[SIGNAL_STALL_MISPREDICT] - wrong + n[SIGNAL_STALL_SYSTEM];
    n[SIGNAL_STALL_BACK] = back_end(n);
    n[SIGNAL_LOST_REFILL] = BUNDLES * n[SIGNAL_STALL_REFILL];
    n[SIGNAL_LOST_FETCH] = BUNDLES * n[SIGNAL_STALL_FETCH];
    n[SIGNAL_LOST_ITLB] = BUNDLES * n[SIGNAL_STALL_ITLB];
    n[SIGNAL_LOST_TAKEN] = BUNDLES * n[SIGNAL_STALL_TAKEN];
    n[SIGNAL_LOST_FULL] = BUNDLES * n[SIGNAL_STALL_BACK];
    n[SIGNAL_LOST_SYLLABLES] =
        SYLLABLES * (BUNDLES * front + n[SIGNAL_UNREACHED_BUNDLES]);
}
