/* SPDX-License-Identifier: MIT */
#include "counter/virtual_montecito.h"

#include <string.h>

#include "counter/virtual_registers.h"

#define FIRST 4 /* of PMC and PMD */
#define WIDTH 47
#define ALL ((UINT32_C(1) << VIRTUAL_MONTECITO_COUNTERS) - 1)
#define RULES_L1D (1 << 1)          /* PMC5 */
#define RULES_L2D (1 << 0 | 1 << 2) /* PMC4, PMC6 */

/* Fields of PMC4 to PMC15 and PMC0; chapter 3, tables 3-4 and 3-5. */
#define PMC_USER (UINT64_C(1) << 3)
#define PMC_KERNEL (UINT64_C(1) << 0)
#define PMC_OI (UINT64_C(1) << 5)
#define PMC_PM (UINT64_C(1) << 6)
#define PMC_ES_AT 8
#define PMC_UMASK_AT 16
#define PMC_ISM (UINT64_C(2) << 24)
#define PMC_MESI (UINT64_C(15) << 27)
#define STATUS_FR (UINT64_C(1) << 0)
#define STATUS_OVERFLOWS UINT64_C(0xfff0)

int
virtual_montecito_init(struct virtual_montecito *m, struct tally_pmu *pmu)
{
    static const char *const pmcs[] = {"PMC4",  "PMC5",  "PMC6",  "PMC7",
                                       "PMC8",  "PMC9",  "PMC10", "PMC11",
                                       "PMC12", "PMC13", "PMC14", "PMC15"};
    static const char *const pmds[] = {"PMD4",  "PMD5",  "PMD6",  "PMD7",
                                       "PMD8",  "PMD9",  "PMD10", "PMD11",
                                       "PMD12", "PMD13", "PMD14", "PMD15"};
    static const char *const status[] = {"PMC0"};

    memset(m, 0, sizeof(*m));
    m->pmu = pmu;
    int error = virtual_registers(pmu, status, 1, &m->status);
    if (error == 0)
        error =
            virtual_registers(pmu, pmcs, VIRTUAL_MONTECITO_COUNTERS, m->pmc);
    if (error == 0)
        error =
            virtual_registers(pmu, pmds, VIRTUAL_MONTECITO_COUNTERS, m->pmd);
    return error;
}

static uint32_t
places(void *monitor, unsigned index, uint16_t spec)
{
    const struct virtual_montecito *const m = monitor;
    const struct virtual_montecito_event *const e = &m->event[index];

    if (spec >> 5 != index || !e->known ||
        (spec & (VIRTUAL_SUPERVISOR | VIRTUAL_EXCEPTION)) != 0)
        return 0;
    return (e->counters != 0 ? e->counters : ALL) & (e->l1d ? RULES_L1D : ALL) &
           (e->l2d ? RULES_L2D : ALL);
}

static void
write_register(const struct virtual_montecito *m, unsigned cpu, unsigned id,
               uint64_t value)
{
    tally_pmu_write(m->pmu, cpu, id, TALLY_PMU_PRIVILEGED, value);
}

/* The counters go on when no overflow is left. */
static void
clear_overflow(const struct virtual_montecito *m, unsigned cpu,
               unsigned counter)
{
    uint64_t status = 0;

    tally_pmu_read(m->pmu, cpu, m->status, TALLY_PMU_PRIVILEGED, &status);
    status &= ~(UINT64_C(1) << (FIRST + counter));
    if ((status & STATUS_OVERFLOWS) == 0)
        status &= ~STATUS_FR;
    write_register(m, cpu, m->status, status);
}

static void
control(void *monitor, unsigned cpu, unsigned counter, unsigned index,
        uint16_t spec)
{
    const struct virtual_montecito *const m = monitor;
    const struct virtual_montecito_event *const e = &m->event[index];
    uint64_t pmc = PMC_ISM | PMC_MESI;

    if (spec != 0)
        pmc |= PMC_PM | PMC_OI | (uint64_t)e->code << PMC_ES_AT |
               (uint64_t)e->umask << PMC_UMASK_AT |
               (spec & VIRTUAL_USER ? PMC_USER : 0) |
               (spec & VIRTUAL_KERNEL ? PMC_KERNEL : 0);
    write_register(m, cpu, m->pmc[counter], pmc);
    clear_overflow(m, cpu, counter);
}

static uint64_t
read_counter(void *monitor, unsigned cpu, unsigned counter)
{
    const struct virtual_montecito *const m = monitor;
    uint64_t value = 0;

    tally_pmu_read(m->pmu, cpu, m->pmd[counter], TALLY_PMU_PRIVILEGED, &value);
    return value & ((UINT64_C(1) << WIDTH) - 1);
}

static void
write_counter(void *monitor, unsigned cpu, unsigned counter, uint64_t value)
{
    const struct virtual_montecito *const m = monitor;

    write_register(m, cpu, m->pmd[counter], value);
    clear_overflow(m, cpu, counter);
}

const struct virtual_monitor_ops virtual_montecito_ops = {
    .counters = VIRTUAL_MONTECITO_COUNTERS,
    .width = WIDTH,
    .limit = UINT64_C(1) << WIDTH,
    .places = places,
    .control = control,
    .read = read_counter,
    .write = write_counter,
};
