/* SPDX-License-Identifier: MIT */
#include "ref/virtual_mips.h"

#define COUNTERS 2
#define BASE1 16 /* the first index of counter 1 of R10000 */

int
virtual_mips_init(struct virtual_mips *mips, struct tally_pmu **monitors)
{
    static const char *const controls[COUNTERS] = {"CTRL0", "CTRL1"};
    static const char *const counts[COUNTERS] = {"CNT0", "CNT1"};

    mips->monitors = monitors;
    for (unsigned i = 0; i < COUNTERS; i++) {
        const int control = tally_pmu_register_find(monitors[0], controls[i]);
        const int count = tally_pmu_register_find(monitors[0], counts[i]);
        if (control < 0 || count < 0)
            return VIRTUAL_EINVAL;
        mips->control[i] = (unsigned)control;
        mips->count[i] = (unsigned)count;
    }
    return 0;
}

static uint32_t
r10000_places(void *monitor, unsigned index, uint16_t spec)
{
    (void)monitor;
    if (spec >> 5 != index % BASE1)
        return 0;
    return index < BASE1 ? 1 : 2;
}

static uint32_t
r12000_places(void *monitor, unsigned index, uint16_t spec)
{
    (void)monitor;
    return spec >> 5 == index ? 3 : 0;
}

static void
mips_control(void *monitor, unsigned cpu, unsigned counter, unsigned index,
             uint16_t spec)
{
    const struct virtual_mips *const m = monitor;

    (void)index;
    tally_pmu_write(m->monitors[cpu], 0, m->control[counter],
                    TALLY_PMU_PRIVILEGED, spec);
}

static uint64_t
mips_read(void *monitor, unsigned cpu, unsigned counter)
{
    const struct virtual_mips *const m = monitor;
    uint64_t value = 0;

    tally_pmu_read(m->monitors[cpu], 0, m->count[counter], TALLY_PMU_PRIVILEGED,
                   &value);
    return value;
}

static void
mips_write(void *monitor, unsigned cpu, unsigned counter, uint64_t value)
{
    const struct virtual_mips *const m = monitor;

    tally_pmu_write(m->monitors[cpu], 0, m->count[counter],
                    TALLY_PMU_PRIVILEGED, value);
}

const struct virtual_pmu_ops virtual_r10000_ops = {
    .counters = COUNTERS,
    .width = 32,
    .limit = UINT64_C(1) << 31,
    .places = r10000_places,
    .control = mips_control,
    .read = mips_read,
    .write = mips_write,
};

const struct virtual_pmu_ops virtual_r12000_ops = {
    .counters = COUNTERS,
    .width = 32,
    .limit = UINT64_C(1) << 31,
    .places = r12000_places,
    .control = mips_control,
    .read = mips_read,
    .write = mips_write,
};
