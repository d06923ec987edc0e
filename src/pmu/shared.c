/* SPDX-License-Identifier: MIT */
/*
 * Counters of memory controllers, JBus and Zambezi hubs. Tables say where each
 * has its select field and its count; a count of 31 bits has its sticky bit
 * above it, set when it wraps, until software writes it.
 */
#include "pmu/pmu.h"

void
pmu_shared_reset(struct tally_pmu *pmu)
{
    for (size_t i = 0; i < pmu->machine->registers_count && i < PMU_SHARED; i++)
        pmu->shared[i] = pmu->machine->registers[i].reset;
}

static void
count(struct tally_pmu *pmu, const struct pmu_shared *c, uint64_t n)
{
    uint64_t *const value = &pmu->shared[c->value];

    if (c->bits == 64) {
        *value += n;
        return;
    }
    const uint64_t mask = (UINT64_C(1) << c->bits) - 1;
    const uint64_t old = *value >> c->value_low & mask;
    const uint64_t sticky = n > mask - old ? mask + 1 : 0;

    *value = (*value & ~(mask << c->value_low)) |
             ((old + n) & mask) << c->value_low | sticky << c->value_low;
}

void
pmu_shared_signal(struct tally_pmu *pmu, uint32_t signal, uint64_t n,
                  const struct tally_pmu_context *context)
{
    const struct pmu_machine *m = pmu->machine;

    n *= context->cycles;
    for (size_t i = 0; i < m->shared_count; i++) {
        const struct pmu_shared *c = &m->shared[i];
        const uint64_t select = pmu->shared[c->select] >> c->select_low &
                                ((UINT64_C(1) << c->select_width) - 1);

        if (c->unit == signal >> 24 && c->instance == (signal >> 16 & 0xff) &&
            select == (signal >> 8 & 0xff))
            count(pmu, c, n);
    }
}
