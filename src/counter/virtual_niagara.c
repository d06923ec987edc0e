/* SPDX-License-Identifier: MIT */
#include "counter/virtual_niagara.h"

#include <string.h>

/* Fields of the PCR by counter. */
#define PCR_ST (UINT64_C(1) << 1)
#define PCR_UT (UINT64_C(1) << 2)
#define PCR_TOE(c) (UINT64_C(1) << (4 + (c)))
#define PCR_MASK_AT(c) ((c) == 0 ? 6 : 19)
#define PCR_SL_AT(c) ((c) == 0 ? 14 : 27)
#define PCR_OV(c) ((c) == 0 ? UINT64_C(1) << 18 : UINT64_C(1) << 31)
#define PCR_HOLD(c) (UINT64_C(1) << (62 + (c)))

int
virtual_niagara_init(struct virtual_niagara *n, struct tally_pmu *pmu)
{
    const int pcr = tally_pmu_register_find(pmu, "PCR");
    const int pic = tally_pmu_register_find(pmu, "PIC");
    uint32_t signal;

    memset(n, 0, sizeof(*n));
    if (pcr < 0 || pic < 0 ||
        tally_pmu_signal_find(pmu, "Idle_strands", &signal) != 0)
        return VIRTUAL_EINVAL;
    n->pmu = pmu;
    n->pcr = (unsigned)pcr;
    n->pic = (unsigned)pic;
    return 0;
}

static uint32_t
places(void *monitor, unsigned index, uint16_t spec)
{
    const struct virtual_niagara *const n = monitor;

    return spec >> 5 == index && n->event[index] != 0 &&
                   (spec & (VIRTUAL_SUPERVISOR | VIRTUAL_EXCEPTION)) == 0
               ? 3
               : 0;
}

static bool
fits(void *monitor, const struct virtual_request *request)
{
    unsigned modes = 0;

    (void)monitor;
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        const unsigned mine = request->spec[i] & VIRTUAL_MODES;
        if (request->spec[i] == 0)
            continue;
        if (modes != 0 && mine != modes)
            return false;
        modes = mine;
    }
    return true;
}

static uint64_t
read_register(const struct virtual_niagara *n, unsigned cpu, unsigned id)
{
    uint64_t value = 0;

    tally_pmu_read(n->pmu, cpu, id, TALLY_PMU_PRIVILEGED, &value);
    return value;
}

/* Leaves the overflow of the other counter as it is. */
static void
write_control(const struct virtual_niagara *n, unsigned cpu, unsigned counter,
              uint64_t pcr)
{
    tally_pmu_write(n->pmu, cpu, n->pcr, TALLY_PMU_PRIVILEGED,
                    pcr | PCR_HOLD(1 - counter));
}

/* A counter without lines counts nothing. The modes are those of what was
 * written last, and so of every event. */
static void
control(void *monitor, unsigned cpu, unsigned counter, unsigned index,
        uint16_t spec)
{
    const struct virtual_niagara *const n = monitor;
    const uint64_t event = spec != 0 ? n->event[index] : 2 << 8;
    uint64_t pcr = read_register(n, cpu, n->pcr);

    pcr &= ~(UINT64_C(0xff) << PCR_MASK_AT(counter) |
             UINT64_C(0xf) << PCR_SL_AT(counter));
    pcr |= (event & 0xff) << PCR_MASK_AT(counter) |
           event >> 8 << PCR_SL_AT(counter);
    pcr &= ~PCR_TOE(counter);
    if (spec != 0) {
        pcr &= ~(PCR_UT | PCR_ST);
        pcr |= PCR_TOE(counter) | (spec & VIRTUAL_USER ? PCR_UT : 0) |
               (spec & VIRTUAL_KERNEL ? PCR_ST : 0);
    }
    tally_pmu_write(n->pmu, cpu, n->pcr, TALLY_PMU_PRIVILEGED,
                    pcr | PCR_HOLD(0) | PCR_HOLD(1));
}

static uint64_t
read_counter(void *monitor, unsigned cpu, unsigned counter)
{
    const struct virtual_niagara *const n = monitor;

    return read_register(n, cpu, n->pic) >> 32 * counter & UINT32_MAX;
}

static void
write_counter(void *monitor, unsigned cpu, unsigned counter, uint64_t value)
{
    const struct virtual_niagara *const n = monitor;
    const uint64_t other = read_register(n, cpu, n->pic) &
                           UINT64_C(0xffffffff) << 32 * (1 - counter);

    tally_pmu_write(n->pmu, cpu, n->pic, TALLY_PMU_PRIVILEGED,
                    other | value << 32 * counter);
    write_control(n, cpu, counter,
                  read_register(n, cpu, n->pcr) & ~PCR_OV(counter));
}

const struct virtual_monitor_ops virtual_niagara_ops = {
    .counters = 2,
    .width = 32,
    .limit = UINT64_C(0xfffffff1),
    .places = places,
    .fits = fits,
    .control = control,
    .read = read_counter,
    .write = write_counter,
};
