/* SPDX-License-Identifier: MIT */
/*
 * Event address registers: the instruction EAR (PMC37 to PMD34 and 35) and the
 * data EAR (PMC40 to PMD32, 33 and 36), sections 3.3.8 and 3.3.9. A register
 * keeps the last candidate that qualified; at most one in each cycle qualifies.
 *
 * Choices of this model: unit masks that the manual leaves undefined capture
 * nothing; fields that the manual leaves undefined become 0. Every candidate
 * load is tracked, since the embedder chooses the candidates. Dispersal windows
 * are 32 bytes, aligned, so the second bundle has address bit 4 set. For 7
 * clocks after a captured load miss no other is captured, if retirements move
 * the clock; a PMU that has seen no retirement since its reset ignores the 7
 * clocks.
 */
#include "pmu/montecito.h"

#define KIND(miss) (1u << (miss))
#define LOAD_CLOCKS 7
#define WINDOW UINT64_C(31) /* bytes of two bundles or of a line, less 1 */

#define INST_LATENCY 0xfffu
#define INST_OVERFLOW (UINT64_C(1) << 12)
#define DATA_LATENCY 0x1fffu
#define DATA_OVERFLOW (UINT64_C(1) << 13)
#define DATA_STAT 14
#define DATA_VALID (UINT64_C(1) << 3)
#define DATA_BUNDLE 2

/* PMC40.mode; 2 and 3: ALAT */
enum { DATA_CACHE, DATA_TLB };

void
montecito_ear_reset(struct montecito_thread *t)
{
    t->ear = (struct montecito_ear){0};
}

/* Returns the least latency by PMC37's unit mask (Table 3-16); 0: undefined. */
static uint16_t
inst_least(unsigned umask)
{
    if (umask >> 6 == 1)
        return 1;
    switch (umask) {
    case 0xff:
        return 4;
    case 0xfe:
        return 8;
    case 0xfc:
        return 16;
    case 0xf8:
        return 32;
    case 0xf0:
        return 128;
    case 0xe0:
        return 256;
    case 0xc0:
        return 1024;
    case 0x80:
        return 4096;
    }
    return 0;
}

/* Returns the kinds of TLB misses that three bits select. */
static uint8_t
tlb_kinds(uint64_t bits)
{
    return (uint8_t)((bits & 1 ? KIND(TALLY_PMU_MISS_TLB2) : 0) |
                     (bits & 2 ? KIND(TALLY_PMU_MISS_VHPT) : 0) |
                     (bits & 4 ? KIND(TALLY_PMU_MISS_FAULT) : 0));
}

/* Returns whether the instruction EAR captures cache misses: bit 13. Bit 12
 * belongs to the unit mask then (rule X9). */
static bool
inst_is_cache(const struct montecito_thread *t)
{
    return t->pmc[37] >> 13 & 1;
}

static void
update_inst(struct montecito_thread *t)
{
    const uint64_t pmc = t->pmc[37];
    struct montecito_ear *ear = &t->ear;

    ear->inst_kinds = 0;
    ear->inst_least = 0;
    if (!montecito_enabled(t, 37))
        return;
    if (!inst_is_cache(t)) {
        ear->inst_kinds = pmc >> 12 & 1 ? 0 : tlb_kinds(pmc >> 5);
        return;
    }
    const unsigned umask = pmc >> 5 & 0xff;
    ear->inst_least = inst_least(umask);
    if (umask == 0)
        ear->inst_kinds = KIND(TALLY_PMU_MISS_RAB);
    else if (ear->inst_least != 0)
        ear->inst_kinds = KIND(TALLY_PMU_MISS_CACHE) | KIND(TALLY_PMU_MISS_RAB);
}

static unsigned
data_mode(const struct montecito_thread *t)
{
    return t->pmc[40] >> 7 & 3;
}

static void
update_data(struct montecito_thread *t)
{
    const unsigned umask = MONTECITO_UMASK(t->pmc[40]);
    struct montecito_ear *ear = &t->ear;

    ear->data_kinds = 0;
    ear->data_least = 0;
    if (!montecito_enabled(t, 40))
        return;
    switch (data_mode(t)) {
    case DATA_CACHE:
        ear->data_kinds = umask <= 10 ? KIND(TALLY_PMU_MISS_CACHE) : 0;
        ear->data_least = (uint16_t)(4u << umask);
        break;
    case DATA_TLB:
        ear->data_kinds = tlb_kinds(umask >> 1);
        break;
    default:
        ear->data_kinds = KIND(TALLY_PMU_MISS_ALAT);
        break;
    }
}

void
montecito_ear_update(struct montecito_thread *t)
{
    update_inst(t);
    update_data(t);
}

bool
montecito_ear_hears(const struct montecito_thread *t, unsigned code)
{
    return (code == MONTECITO_L1I_EAR ? t->ear.inst_kinds
                                      : t->ear.data_kinds) != 0;
}

/* Returns the status field of the TLB modes: where the miss was served. */
static uint64_t
tlb_status(const struct tally_pmu_context *c)
{
    return c->miss - TALLY_PMU_MISS_TLB2 + UINT64_C(1);
}

static uint64_t
capture_inst(struct montecito_thread *t, const struct tally_pmu_context *c)
{
    const struct montecito_ear *ear = &t->ear;
    const bool cache = inst_is_cache(t);

    if (!(ear->inst_kinds >> c->miss & 1) || c->latency < ear->inst_least ||
        (cache && c->flags & TALLY_PMU_PREFETCH))
        return 0;
    t->pmd[34] = (c->pc & ~WINDOW) | (cache ? 1 : tlb_status(c));
    t->pmd[35] = cache ? (c->latency & INST_LATENCY) |
                             (c->latency > INST_LATENCY ? INST_OVERFLOW : 0)
                       : 0;
    return c->cycles;
}

/* Returns in how many of `cycles` consecutive cycles a load miss is captured.
 * Keeps how many clocks are left until the next capture. */
static uint64_t
spaced(struct montecito_ear *ear, uint32_t cycles)
{
    const uint32_t wait = ear->timed ? ear->quiet : 0;

    if (cycles <= wait)
        return 0;
    const uint32_t after = (cycles - wait - 1) % LOAD_CLOCKS;
    ear->quiet = (uint8_t)(LOAD_CLOCKS - after);
    return (cycles - wait - 1) / LOAD_CLOCKS + 1;
}

static uint64_t
data_status(unsigned mode, const struct tally_pmu_context *c)
{
    switch (mode) {
    case DATA_CACHE:
        return UINT64_C(1) << DATA_STAT | (c->latency & DATA_LATENCY) |
               (c->latency > DATA_LATENCY ? DATA_OVERFLOW : 0);
    case DATA_TLB:
        return tlb_status(c) << DATA_STAT;
    default:
        return UINT64_C(1) << DATA_STAT;
    }
}

static uint64_t
capture_data(struct montecito_thread *t, const struct tally_pmu_context *c)
{
    const unsigned mode = data_mode(t);
    struct montecito_ear *ear = &t->ear;

    if (!(ear->data_kinds >> c->miss & 1) || c->latency < ear->data_least)
        return 0;
    const uint64_t captured =
        mode == DATA_CACHE ? spaced(ear, c->cycles) : c->cycles;
    if (captured == 0)
        return 0;
    t->pmd[32] = mode <= DATA_TLB ? c->ea : 0;
    t->pmd[33] = data_status(mode, c);
    t->pmd[36] = c->known & 1 && !(c->flags & TALLY_PMU_NO_ADDRESS)
                     ? (c->pc & ~WINDOW) | DATA_VALID | (c->slot & 3) |
                           (c->pc >> 4 & 1) << DATA_BUNDLE
                     : 0;
    return captured;
}

uint64_t
montecito_ear_capture(struct montecito_thread *t, unsigned code, uint64_t n,
                      const struct tally_pmu_context *c)
{
    if (n == 0 || c->miss > TALLY_PMU_MISS_ALAT)
        return 0;
    return code == MONTECITO_L1I_EAR ? capture_inst(t, c) : capture_data(t, c);
}

void
montecito_ear_pass(struct montecito_thread *t, uint64_t n, uint32_t cycles)
{
    const uint64_t passed = n < LOAD_CLOCKS ? n * cycles : LOAD_CLOCKS;
    struct montecito_ear *ear = &t->ear;

    ear->timed = true;
    ear->quiet = passed < ear->quiet ? (uint8_t)(ear->quiet - passed) : 0;
}
