/* SPDX-License-Identifier: MIT */
#include "tally/sun4v.h"

#include "pmu/pmu.h"

uint64_t
tally_sun4v_call(struct tally_pmu *pmu, unsigned strand, unsigned trap,
                 uint64_t function, const uint64_t args[5], uint64_t *result)
{
    (void)pmu;
    (void)strand;
    (void)trap;
    (void)function;
    (void)args;
    *result = 0;
    return TALLY_SUN4V_EBADTRAP;
}

void
tally_sun4v_contend(struct tally_pmu *pmu, uint32_t count)
{
    (void)pmu;
    (void)count;
}
