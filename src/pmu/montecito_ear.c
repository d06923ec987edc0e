/* SPDX-License-Identifier: MIT */
#include "pmu/montecito.h"

void
montecito_ear_reset(struct montecito_thread *t)
{
    t->ear = (struct montecito_ear){0};
}

void
montecito_ear_update(struct montecito_thread *t)
{
    (void)t;
}

bool
montecito_ear_hears(const struct montecito_thread *t, unsigned code)
{
    (void)t;
    (void)code;
    return false;
}

uint64_t
montecito_ear_capture(struct montecito_thread *t, unsigned code, uint64_t n,
                      const struct tally_pmu_context *c)
{
    (void)t;
    (void)code;
    (void)c;
    return n;
}
