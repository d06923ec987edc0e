/* SPDX-License-Identifier: MIT */
/*
 * The counters of a strand of UltraSPARC T1, T2 and T2 Plus: PCR and PIC (ASR
 * 16 and 17), two counters of 32 bits. T1 counts one of eight events beside
 * instructions; T2 any two, by group (sl) and lines (mask).
 *
 * OpenSPARC T1 tlu and T2 pmu_pct_ctl.v, as rules F1 and F2 of the facts have
 * them; Netra DPS profiler, TABLE 3-2 and 3-5.
 */
#include "pmu/pmu.h"

struct niagara_strand {
    uint64_t pcr;
    uint32_t pic[2];
    uint8_t level; /* enum tally_pmu_level */
};

struct niagara {
    struct tally_pmu base;
    struct niagara_strand strand[];
};

/* PCR of both. */
#define PCR_PRIV (UINT64_C(1) << 0)
#define PCR_ST (UINT64_C(1) << 1)
#define PCR_UT (UINT64_C(1) << 2)

/* PCR of T2. */
#define PCR_HT (UINT64_C(1) << 3)
#define PCR_TOE(i) (UINT64_C(1) << (4 + (i)))
#define PCR_OV(i) ((i) == 0 ? UINT64_C(1) << 18 : UINT64_C(1) << 31)
#define PCR_HOLD(i) (UINT64_C(1) << (62 + (i)))
#define PCR_MASK(pcr, i) ((pcr) >> ((i) == 0 ? 6 : 19) & 0xff)
#define PCR_SL(pcr, i) ((pcr) >> ((i) == 0 ? 14 : 27) & 0xf)

static struct niagara *
niagara(struct tally_pmu *pmu)
{
    return (struct niagara *)pmu;
}

static const struct niagara *
niagara_const(const struct tally_pmu *pmu)
{
    return (const struct niagara *)pmu;
}

const struct pmu_ops pmu_niagara1_ops = {.strands = 0};

const struct pmu_ops pmu_niagara2_ops = {.strands = 0};
