/* SPDX-License-Identifier: MIT */
#include "counter/virtual_t4.h"

#include <string.h>

#include "counter/virtual_registers.h"

/* Fields of a PCR; SPARC T4 Supplement, TABLE 10-1. */
#define PCR_OV (UINT64_C(1) << 0)
#define PCR_TOE (UINT64_C(1) << 1)
#define PCR_UT (UINT64_C(1) << 2)
#define PCR_ST (UINT64_C(1) << 3)
#define PCR_MASK_AT 5 /* and sl above */

int
virtual_t4_init(struct virtual_t4 *t, struct tally_pmu *pmu)
{
    static const char *const pcrs[] = {"PCR0", "PCR1", "PCR2", "PCR3"};
    static const char *const pics[] = {"PIC0", "PIC1", "PIC2", "PIC3"};

    memset(t, 0, sizeof(*t));
    t->pmu = pmu;
    const int error = virtual_registers(pmu, pcrs, VIRTUAL_T4_COUNTERS, t->pcr);
    return error != 0
               ? error
               : virtual_registers(pmu, pics, VIRTUAL_T4_COUNTERS, t->pic);
}

static uint32_t
places(void *monitor, unsigned index, uint16_t spec)
{
    const struct virtual_t4 *const t = monitor;

    return spec >> 5 == index && t->event[index] != 0 &&
                   (spec & (VIRTUAL_SUPERVISOR | VIRTUAL_EXCEPTION)) == 0
               ? (UINT32_C(1) << VIRTUAL_T4_COUNTERS) - 1
               : 0;
}

/* This also takes an overflow away. */
static void
control(void *monitor, unsigned cpu, unsigned counter, unsigned index,
        uint16_t spec)
{
    const struct virtual_t4 *const t = monitor;
    uint64_t pcr = 0;

    if (spec != 0)
        pcr = (uint64_t)t->event[index] << PCR_MASK_AT | PCR_TOE |
              (spec & VIRTUAL_USER ? PCR_UT : 0) |
              (spec & VIRTUAL_KERNEL ? PCR_ST : 0);
    tally_pmu_write(t->pmu, cpu, t->pcr[counter], TALLY_PMU_HYPERPRIVILEGED,
                    pcr);
}

static uint64_t
read_register(const struct virtual_t4 *t, unsigned cpu, unsigned id)
{
    uint64_t value = 0;

    tally_pmu_read(t->pmu, cpu, id, TALLY_PMU_HYPERPRIVILEGED, &value);
    return value;
}

static uint64_t
read_counter(void *monitor, unsigned cpu, unsigned counter)
{
    const struct virtual_t4 *const t = monitor;

    return read_register(t, cpu, t->pic[counter]);
}

static void
write_counter(void *monitor, unsigned cpu, unsigned counter, uint64_t value)
{
    const struct virtual_t4 *const t = monitor;
    const uint64_t pcr = read_register(t, cpu, t->pcr[counter]);

    tally_pmu_write(t->pmu, cpu, t->pic[counter], TALLY_PMU_HYPERPRIVILEGED,
                    value);
    tally_pmu_write(t->pmu, cpu, t->pcr[counter], TALLY_PMU_HYPERPRIVILEGED,
                    pcr & ~PCR_OV);
}

const struct virtual_monitor_ops virtual_t4_ops = {
    .counters = VIRTUAL_T4_COUNTERS,
    .width = 32,
    .limit = UINT64_C(1) << 32,
    .places = places,
    .control = control,
    .read = read_counter,
    .write = write_counter,
};
