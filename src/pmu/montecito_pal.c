/* SPDX-License-Identifier: MIT */
/*
 * The facts that Montecito's firmware (PAL) reports of the processor and its
 * PMU: Table 3-34, sections 2.1.1 and 2.9.
 */
#include "pmu/montecito.h"

/* From the width on, Table 3-34 prints values of the older Itanium 2. These
 * values follow from Montecito's own structure (decisions X17 and X18). */
static const struct tally_pmu_pal structural = {
    .pmc_mask = {UINT64_C(0x7ff0000ffff)},
    .pmd_mask = {UINT64_C(0xffff00df0000fff0)},
    .cycles_mask = {0xfff0},
    .retired_mask = {0xfff0},
    .features = 1 << 18, /* hyper-threading; no low power or two-way part */
    .family = 0x20,
    .model = 0,
    .retired = MONTECITO_INST_RETIRED,
    .cycles = MONTECITO_CPU_OP_CYCLES,
    .width = 47,
    .pairs = MONTECITO_COUNTERS,
};

int
tally_pmu_pal_info(const struct tally_pmu *pmu, struct tally_pmu_pal *pal)
{
    if (pmu->machine->family != PMU_MONTECITO)
        return TALLY_EUNKNOWN;
    *pal = structural;
    if ((pmu->flags & TALLY_PMU_PRINTED_PAL) != 0) {
        pal->width = 48;
        pal->pairs = 4;
        pal->pmc_mask[0] = 0x3fff;
        pal->pmd_mask[0] = 0x3ffff;
        pal->cycles_mask[0] = pal->retired_mask[0] = 0xf0;
    }
    return 0;
}

int
tally_pmu_pal_brand(const struct tally_pmu *pmu, uint64_t which,
                    uint64_t *value)
{
    if (pmu->machine->family != PMU_MONTECITO)
        return TALLY_EUNKNOWN;
    switch (which) {
    case 16: /* Hz */
        *value = 1600000000;
        return 0;
    case 17: /* bytes: 12 MB a core */
        *value = 24 << 20;
        return 0;
    case 18: /* Hz, of the system bus */
        *value = 533000000;
        return 0;
    default:
        return TALLY_ERANGE;
    }
}
