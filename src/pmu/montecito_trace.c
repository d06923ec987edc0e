/* SPDX-License-Identifier: MIT */
/*
 * Execution trace buffer (PMC39) and IP-EAR (PMC42), which share PMD48 to 63,
 * the index PMD38 and the extension PMD39; section 3.3.10.
 *
 * Choices of this model, where the manual leaves them open: a captured event
 * always makes two entries, its source and its target (rule X43); an excepting
 * branch makes only its source. Two bundles of a dispersal window are 32 bytes,
 * aligned. Undefined fields are 0; with PMC39.ds = 1 the target of an event
 * that is no branch is 0 too. The IP-EAR's clock is that of retirements. Its
 * last entry names the first instruction that retires after the delay, or the
 * last one before if there is no delay. An early freeze makes an entry whenever
 * PSR or a switch of threads turns the IP-EAR off, frozen or not; the IP-EAR
 * runs on when it is turned on again, unless the PMU was frozen.
 */
#include "pmu/montecito.h"

#define ENTRIES 16
#define INDEX 0xfu
#define FULL (UINT64_C(1) << 5)

/* PMD48 to 63 as trace buffer */
#define SOURCE 1u
#define MISPREDICTED 2u /* of a target: valid */
#define SLOT 2
#define NOT_TAKEN 3u
#define ADDRESS (~UINT64_C(15))
#define WINDOW UINT64_C(31)

/* The trace buffer's nibbles in PMD39 */
#define BUNDLE_1 1u
#define BACK_END_FLUSH 2u

/* The IP-EAR's nibbles in PMD39 */
#define EARLY 1u
#define FLUSHED 2u
#define CYCLES_MAX 63

#define DIVERTED (TALLY_PMU_RFI | TALLY_PMU_EXCEPTION | TALLY_PMU_CHK_FAILED)

/* PMC42.mode */
enum { MODE_TRACE = 0, MODE_IP = 4 };

/* The IP-EAR is off, or was frozen before it ran; captures; captures during the
 * delay after a freeze; is frozen. */
enum ip_state { IP_OFF, IP_RUNS, IP_DELAYED, IP_FROZEN };

static unsigned
buffer_mode(const struct montecito_thread *t)
{
    return t->pmc[42] >> 8 & 7;
}

void
montecito_trace_reset(struct montecito_thread *t)
{
    t->trace = (struct montecito_trace){0};
}

/* Moves the index on by `entries` entries. */
static void
advance(struct montecito_thread *t, uint64_t entries)
{
    const uint64_t next = (t->pmd[38] & INDEX) + entries;

    t->pmd[38] =
        (next & INDEX) | (t->pmd[38] & FULL) | (next >= ENTRIES ? FULL : 0);
}

/* Writes the next entry and its nibble. The nibbles of PMD39 belong to PMD48,
 * 56, 49, 57 and so on. */
static void
record(struct montecito_thread *t, uint64_t entry, uint64_t extension)
{
    const unsigned i = t->pmd[38] & INDEX;
    const unsigned low = 4 * ((i & 7) * 2 + (i >> 3));

    t->pmd[48 + i] = entry;
    t->pmd[39] = (t->pmd[39] & ~(UINT64_C(15) << low)) | extension << low;
    advance(t, 1);
}

/* Skips all but the last of n equal groups of entries, which would overwrite
 * the others. Returns how many groups are left to write. */
static uint64_t
skip(struct montecito_thread *t, uint64_t n, unsigned entries)
{
    if (n <= ENTRIES)
        return n;
    advance(t, (n - ENTRIES) % ENTRIES * entries);
    return ENTRIES;
}

/* Returns whether a field of two bits captures this outcome. */
static bool
outcome(unsigned mask, bool mispredicted)
{
    return mask >> (mispredicted ? 0 : 1) & 1;
}

/* Returns whether PMC39.brt captures a branch of these flags. */
static bool
branch_type(unsigned brt, uint32_t flags)
{
    switch (brt) {
    case 1:
        return !(flags & (TALLY_PMU_RETURN | TALLY_PMU_INDIRECT));
    case 2:
        return flags & TALLY_PMU_RETURN;
    case 3:
        return flags & TALLY_PMU_INDIRECT;
    }
    return true;
}

/* Applies the equation of section 3.3.10.1.1 in the form of rule X42: a branch
 * with a mispredicted path has no target prediction. */
static bool
branch_captured(const struct montecito_thread *t,
                const struct tally_pmu_context *c)
{
    const uint64_t pmc = t->pmc[39];
    const bool ds = pmc >> 7 & 1;
    const unsigned tm = pmc >> 8 & 3, ptm = pmc >> 10 & 3, ppm = pmc >> 12 & 3;
    const bool path = c->flags & TALLY_PMU_PATH_MISPREDICTED;

    if (t->psr & MONTECITO_PSR_IS || ds ||
        !outcome(tm, !(c->flags & TALLY_PMU_TAKEN)) || !outcome(ppm, path))
        return false;
    if (path ? ptm != 3
             : !outcome(ptm, c->flags & TALLY_PMU_TARGET_MISPREDICTED))
        return false;
    return branch_type(pmc >> 14 & 3, c->flags) && montecito_tags(t, c) & 1;
}

static bool
trace_captured(const struct montecito_thread *t,
               const struct tally_pmu_context *c)
{
    if (!montecito_enabled(t, 39))
        return false;
    return c->flags & DIVERTED ||
           (c->type == 'B' && !(c->flags & TALLY_PMU_NO_BRANCH) &&
            branch_captured(t, c));
}

static void
record_source(struct montecito_thread *t, const struct tally_pmu_context *c)
{
    const uint32_t mispredicted = DIVERTED | TALLY_PMU_TARGET_MISPREDICTED |
                                  TALLY_PMU_PATH_MISPREDICTED |
                                  TALLY_PMU_BACK_END_FLUSH;
    const bool jumps = c->flags & (DIVERTED | TALLY_PMU_TAKEN);
    const unsigned slot = jumps ? c->slot & 3 : NOT_TAKEN;

    record(t,
           (c->pc & ~WINDOW) | slot << SLOT |
               (c->flags & mispredicted ? MISPREDICTED : 0) | SOURCE,
           (c->pc >> 4 & BUNDLE_1) |
               (c->flags & TALLY_PMU_BACK_END_FLUSH ? BACK_END_FLUSH : 0));
}

static uint64_t
trace_retire(struct montecito_thread *t, uint64_t n,
             const struct tally_pmu_context *c)
{
    const bool target = c->type != 'B' || !(c->flags & TALLY_PMU_EXCEPTION);
    const bool ds = t->pmc[39] >> 7 & 1;
    const unsigned entries = target ? 2 : 1;

    if (!trace_captured(t, c))
        return 0;
    for (uint64_t left = skip(t, n, entries); left > 0; left--) {
        record_source(t, c);
        if (target)
            record(t, ds ? 0 : (c->npc & ADDRESS) | MISPREDICTED, 0);
    }
    return n * entries;
}

/* Writes an entry of 68 bits (figures 3-28 and 3-29). `low` is the delay field,
 * or the low bits of the address. */
static void
record_ip(struct montecito_thread *t, uint64_t cycles, uint64_t low, bool early)
{
    const uint64_t cycl = cycles < CYCLES_MAX ? cycles : CYCLES_MAX;

    record(t, (cycl & 15) << 60 | t->trace.ip >> 12 << 8 | low,
           cycl >> 4 << 2 | (t->trace.flushed ? FLUSHED : 0) |
               (early ? EARLY : 0));
    t->trace.flushed = false;
}

static void
record_retired(struct montecito_thread *t, uint64_t cycles)
{
    record_ip(t, cycles, t->trace.ip >> 4 & 0xff, false);
}

/* Applies the monitor enable equation without PMC0.fr: the IP-EAR freezes
 * later, after its delay. */
static bool
ip_enabled(const struct montecito_thread *t)
{
    const uint64_t pmc = t->pmc[42];
    const uint64_t on =
        t->psr & (pmc & MONTECITO_PM ? MONTECITO_PSR_PP : MONTECITO_PSR_UP);

    return buffer_mode(t) == MODE_IP && t->active && on &&
           MONTECITO_PLM(pmc) >> MONTECITO_PSR_CPL(t->psr) & 1;
}

void
montecito_trace_update(struct montecito_thread *t)
{
    struct montecito_trace *trace = &t->trace;
    const bool frozen = t->pmc[0] & MONTECITO_FR, enabled = ip_enabled(t);

    if (trace->config != t->pmc[42]) {
        trace->config = t->pmc[42];
        trace->state = IP_OFF;
    }
    if (!enabled && (trace->state == IP_RUNS || trace->state == IP_DELAYED)) {
        record_ip(t, 0, trace->left, true);
        trace->state = IP_FROZEN;
    }
    if (!frozen) {
        trace->state = enabled ? IP_RUNS : IP_OFF;
        trace->left = (uint8_t)(trace->config >> 11);
    } else if (trace->state == IP_RUNS) {
        trace->state = trace->left == 0 ? IP_FROZEN : IP_DELAYED;
        if (trace->left == 0)
            record_retired(t, 0);
    }
}

/* Writes the entries of the delay. The entry in whose time the delay ends is
 * the last. */
static uint64_t
ip_delayed(struct montecito_thread *t, uint64_t n, uint32_t cycles)
{
    struct montecito_trace *trace = &t->trace;
    uint64_t entries = 0;

    while (entries < n && trace->state == IP_DELAYED) {
        const uint8_t went =
            cycles < trace->left ? (uint8_t)cycles : trace->left;

        record_retired(t, went);
        entries++;
        trace->left -= went;
        if (trace->left == 0)
            trace->state = IP_FROZEN;
    }
    return entries;
}

static uint64_t
ip_retire(struct montecito_thread *t, uint64_t n, uint32_t cycles)
{
    if (t->trace.state == IP_DELAYED)
        return ip_delayed(t, n, cycles);
    if (t->trace.state != IP_RUNS)
        return 0;
    for (uint64_t left = skip(t, n, 1); left > 0; left--)
        record_retired(t, cycles);
    return n;
}

uint64_t
montecito_trace_retire(struct montecito_thread *t, uint64_t n,
                       const struct tally_pmu_context *c)
{
    const bool began = !(c->flags & TALLY_PMU_SAME_BUNDLE);

    if (n == 0)
        return 0;
    if (began)
        montecito_ear_pass(t, n, c->cycles);
    t->trace.ip = c->pc;
    if (c->flags & TALLY_PMU_FLUSH)
        t->trace.flushed = true;
    switch (buffer_mode(t)) {
    case MODE_TRACE:
        return trace_retire(t, n, c);
    case MODE_IP:
        return began ? ip_retire(t, n, c->cycles) : 0;
    }
    return 0;
}
