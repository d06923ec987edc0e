/* SPDX-License-Identifier: MIT */
#include "machine/branch.h"

#include "table/table.h"

uint64_t
branch_history_mask(const uint64_t *params)
{
    const uint64_t counters = params[PARAM_BRANCH_ENTRIES];
    const uint64_t wanted = (uint64_t)1 << params[PARAM_BRANCH_HISTORY];

    if (params[PARAM_BRANCH_PREDICTOR] != BRANCH_PREDICTOR_GSHARE)
        return 0;
    return (wanted < counters ? wanted : counters) - 1;
}
