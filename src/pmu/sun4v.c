/* SPDX-License-Identifier: MIT */
/*
 * The calls of the sun4v hypervisor for its guest's performance counters: one
 * API group for each of four machines, with the registers that the calls reach.
 * Numbers and errors follow the Victoria Falls performance register API (1.11,
 * 2007) and, for the other machines, public sources. The OpenSPARC hypervisor
 * decides the order of checks and all that the text leaves open.
 *
 * Guests, their memory and their MMU are not modelled: of MMU statistics only
 * the address of the buffer is kept, and every address counts as memory.
 */
#include "tally/sun4v.h"

#include "pmu/pmu.h"

#define MAJOR 1 /* of every group */

#define MMUSTAT_CONF 0x102
#define MMUSTAT_INFO 0x103
#define MMUSTAT_ALIGN 8

#define PCR2_HT (UINT64_C(1) << 3)
#define PCR4_HT (UINT64_C(1) << 4)

#define NONE UINT16_MAX

/* The API group of a machine. PerfRegs below `own` are of the calling strand.
 */
struct group {
    uint16_t number;
    uint16_t minor; /* the highest */
    uint16_t get;   /* function number; the next number is set */
    uint16_t count; /* of PerfRegs */
    uint16_t own;   /* PerfRegs below have their number as register id */
    uint16_t rest;  /* register id of PerfReg `own` */
    uint16_t dram;  /* first PerfReg of memory controllers that can be off */
    uint16_t hubs;  /* first PerfReg of Zambezi, from minor version 1 on */
    uint64_t ht;    /* the bit ht of the strand's own registers */
};

static const struct group groups[PMU_MACHINES] = {
    [PMU_MACHINE_ULTRASPARC_T1] = {.number = 0x200,
                                   .get = 0x100,
                                   .count = 10,
                                   .rest = ULTRASPARC_T1_JBUS_CTL,
                                   .dram = NONE,
                                   .hubs = NONE},
    [PMU_MACHINE_ULTRASPARC_T2] = {.number = 0x202,
                                   .get = 0x104,
                                   .count = 9,
                                   .own = 1,
                                   .rest = ULTRASPARC_T2_DRAM_CTL0,
                                   .dram = 1,
                                   .hubs = NONE,
                                   .ht = PCR2_HT},
    [PMU_MACHINE_ULTRASPARC_T2PLUS] = {.number = 0x205,
                                       .minor = 1,
                                       .get = 0x106,
                                       .count = 90,
                                       .own = 1,
                                       .rest = ULTRASPARC_T2PLUS_L2_CONTROL,
                                       .dram = 2,
                                       .hubs = 18,
                                       .ht = PCR2_HT},
    [PMU_MACHINE_SPARC_T4] = {.number = 0x20c,
                              .get = 0x184,
                              .count = 4,
                              .own = 4,
                              .dram = NONE,
                              .hubs = NONE,
                              .ht = PCR4_HT},
};

_Static_assert(ULTRASPARC_T1_DRAM_COUNT3 == ULTRASPARC_T1_JBUS_CTL + 9 &&
                   ULTRASPARC_T2_DRAM_COUNT3 == ULTRASPARC_T2_DRAM_CTL0 + 7 &&
                   ULTRASPARC_T2PLUS_PCR == 0 &&
                   ULTRASPARC_T2PLUS_NODE0_MCU0_PCR == 2 &&
                   ULTRASPARC_T2PLUS_ZAM3_ASU_PIC1 == 89 &&
                   SPARC_T4_PCR0 == 0 && SPARC_T4_PCR3 == 3,
               "registers are in the order of their PerfReg numbers");

void
pmu_sun4v_reset(struct tally_pmu *pmu)
{
    const uint32_t disabled = pmu->sun4v.disabled;

    pmu->sun4v = (struct pmu_sun4v){.disabled = disabled};
}

static uint64_t
set_version(struct tally_pmu *pmu, const struct group *g, const uint64_t *args,
            uint64_t *results)
{
    if (args[0] != g->number)
        return TALLY_SUN4V_EINVAL;
    if (args[1] > MAJOR)
        return TALLY_SUN4V_ENOTSUPPORTED;
    const uint64_t highest = args[1] == 0 ? 0 : g->minor;
    pmu->sun4v.major = (uint32_t)args[1];
    pmu->sun4v.minor = (uint32_t)(args[2] < highest ? args[2] : highest);
    results[0] = pmu->sun4v.minor;
    return TALLY_SUN4V_EOK;
}

static uint64_t
core_trap(struct tally_pmu *pmu, const struct group *g, uint64_t function,
          const uint64_t *args, uint64_t *results)
{
    if (function == TALLY_SUN4V_API_SET_VERSION)
        return set_version(pmu, g, args, results);
    if (function != TALLY_SUN4V_API_GET_VERSION)
        return TALLY_SUN4V_EBADTRAP;
    if (args[0] != g->number)
        return TALLY_SUN4V_EINVAL;
    results[0] = pmu->sun4v.major;
    results[1] = pmu->sun4v.minor;
    return TALLY_SUN4V_EOK;
}

static unsigned
register_id(const struct group *g, unsigned perfreg)
{
    return perfreg < g->own ? perfreg : perfreg - g->own + g->rest;
}

static bool
supported(const struct tally_pmu *pmu, const struct group *g, unsigned perfreg)
{
    if (perfreg >= g->hubs && pmu->sun4v.minor == 0 &&
        (pmu->flags & TALLY_PMU_LENIENT_API) == 0)
        return false;
    return pmu_shared_present(pmu, register_id(g, perfreg));
}

/* Returns the status of an access that writes `value`, or 0 for a read. */
static uint64_t
check(struct tally_pmu *pmu, const struct group *g, uint64_t perfreg,
      uint64_t value)
{
    if ((pmu->flags & TALLY_PMU_DENY_GUEST) != 0)
        return TALLY_SUN4V_ENOACCESS;
    if (perfreg >= g->count)
        return TALLY_SUN4V_EINVAL;
    if (!supported(pmu, g, (unsigned)perfreg))
        return TALLY_SUN4V_ENOTSUPPORTED;
    if (perfreg < g->own && (value & g->ht) != 0 &&
        (pmu->flags & TALLY_PMU_DENY_HT) != 0)
        return TALLY_SUN4V_ENOACCESS;
    if (perfreg >= g->hubs && pmu->sun4v.busy != 0) {
        pmu->sun4v.busy--;
        return TALLY_SUN4V_EWOULDBLOCK;
    }
    return TALLY_SUN4V_EOK;
}

/* Returns whether the PerfReg is of a memory controller that is off. Each
 * controller has two PerfRegs. */
static bool
is_off(const struct tally_pmu *pmu, const struct group *g, unsigned perfreg)
{
    return perfreg >= g->dram && perfreg < g->hubs &&
           (pmu->sun4v.disabled >> (perfreg - g->dram) / 2 & 1) != 0;
}

static uint64_t
get_perfreg(struct tally_pmu *pmu, unsigned strand, const struct group *g,
            const uint64_t *args, uint64_t *results)
{
    const uint64_t status = check(pmu, g, args[0], 0);
    const unsigned perfreg = (unsigned)args[0];

    if (status != TALLY_SUN4V_EOK)
        return status;
    if (is_off(pmu, g, perfreg))
        results[0] = 0;
    else
        pmu->ops->read(pmu, strand, register_id(g, perfreg),
                       TALLY_PMU_HYPERPRIVILEGED, &results[0]);
    return TALLY_SUN4V_EOK;
}

static uint64_t
set_perfreg(struct tally_pmu *pmu, unsigned strand, const struct group *g,
            const uint64_t *args)
{
    const uint64_t status = check(pmu, g, args[0], args[1]);
    const unsigned perfreg = (unsigned)args[0];

    if (status == TALLY_SUN4V_EOK && !is_off(pmu, g, perfreg))
        pmu->ops->write(pmu, strand, register_id(g, perfreg),
                        TALLY_PMU_HYPERPRIVILEGED, args[1]);
    return status;
}

/* Sets the address of the buffer, and returns the old address; 0: no buffer. */
static uint64_t
mmustat_conf(struct tally_pmu *pmu, unsigned strand, uint64_t address,
             uint64_t *results)
{
    if (address % MMUSTAT_ALIGN != 0)
        return TALLY_SUN4V_EBADALIGN;
    results[0] = pmu->sun4v.buffer[strand];
    pmu->sun4v.buffer[strand] = address;
    return TALLY_SUN4V_EOK;
}

static uint64_t
fast_trap(struct tally_pmu *pmu, unsigned strand, const struct group *g,
          uint64_t function, const uint64_t *args, uint64_t *results)
{
    const bool mmustat =
        g == &groups[PMU_MACHINE_ULTRASPARC_T1]; /* only T1 has these calls */

    if (pmu->sun4v.major == 0)
        return TALLY_SUN4V_EBADTRAP;
    if (function == g->get)
        return get_perfreg(pmu, strand, g, args, results);
    if (function == g->get + 1U)
        return set_perfreg(pmu, strand, g, args);
    if (mmustat && function == MMUSTAT_CONF)
        return mmustat_conf(pmu, strand, args[0], results);
    if (!mmustat || function != MMUSTAT_INFO)
        return TALLY_SUN4V_EBADTRAP;
    results[0] = pmu->sun4v.buffer[strand];
    return TALLY_SUN4V_EOK;
}

uint64_t
tally_sun4v_call(struct tally_pmu *pmu, unsigned strand, unsigned trap,
                 uint64_t function, const uint64_t args[5], uint64_t results[2])
{
    const struct group *const g = &groups[pmu->machine - tally_pmu_machines];

    if (strand >= pmu->strands)
        return TALLY_SUN4V_EINVAL;
    if (g->number != 0 && trap == TALLY_SUN4V_CORE_TRAP)
        return core_trap(pmu, g, function, args, results);
    if (g->number != 0 && trap == TALLY_SUN4V_FAST_TRAP)
        return fast_trap(pmu, strand, g, function, args, results);
    return TALLY_SUN4V_EBADTRAP;
}

void
tally_sun4v_contend(struct tally_pmu *pmu, uint32_t count)
{
    pmu->sun4v.busy = count;
}

void
tally_sun4v_disable_dram(struct tally_pmu *pmu, uint32_t banks)
{
    pmu->sun4v.disabled = banks;
}
