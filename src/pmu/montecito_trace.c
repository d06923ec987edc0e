/* SPDX-License-Identifier: MIT */
#include "pmu/montecito.h"

void
montecito_trace_reset(struct montecito_thread *t)
{
    t->trace = (struct montecito_trace){0};
}

void
montecito_trace_update(struct montecito_thread *t)
{
    (void)t;
}

uint64_t
montecito_trace_retire(struct montecito_thread *t, uint64_t n,
                       const struct tally_pmu_context *c)
{
    (void)t;
    (void)n;
    (void)c;
    return 0;
}
