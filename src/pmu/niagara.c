/* SPDX-License-Identifier: MIT */
/*
 * The counters of a strand of UltraSPARC T1, T2 and T2 Plus: PCR and PIC (ASR
 * 16 and 17), two counters of 32 bits. T1 counts instructions in count1 and one
 * of eight events in count0. T2 counts any two events, by group (sl) and lines
 * (mask).
 *
 * T1: an overflow sets PCR.ovf; the trap is pending until software writes ovf
 * to 0. There is no trap enable. Hyperprivileged mode is never counted
 * (OpenSPARC T1 tlu_pib.v).
 *
 * T2: the trap is pending while ov and toe are 1. With toe, the trap comes
 * early: an event that finds its count in -16..-1 sets ov, and the count has
 * "not yet wrapped" when the trap arrives; illumos then sets the count to 0.
 * Without toe, the wrap sets ov (OpenSPARC T2 pmu_pct_ctl.v; illumos
 * niagara2_pcbe.c). Reserved groups and lines count nothing; sl 0 has no lines.
 * L2 PERF_CONFIG of T2 Plus narrows the L2 misses of sl 3 (Victoria Falls
 * performance register API, 3).
 *
 * Not modelled: PIL, PSTATE.IE and SOFTINT, which decide when the trap is
 * taken; traps that come some instructions late; erratum 108 of T2 (the
 * overflow trap of L2_dmiss_ld, 0x320, must be off): that trap comes like any
 * other.
 */
#include "pmu/pmu.h"

#include <string.h>

#define COUNTERS 2
#define NO_GROUP 0xff
#define INSTRUCTIONS1 8 /* T1: the signal of Instr_cnt */
#define INSTRUCTIONS2 2
#define CACHES2 3
#define L2_LINES2 UINT32_C(0x30) /* of CACHES2: L2_imiss and L2_dmiss_ld */
#define ALL_LINES 0x100          /* in `lines`: any line counts */

struct niagara_strand {
    uint64_t pcr;
    uint64_t pc, npc; /* of the overflow that made the trap pending */
    /* Four members are derived from PCR and level. A sum above `limit` sets the
     * overflow bit; `group` is the group that counts, or NO_GROUP; `lines` are
     * its lines that count. */
    uint64_t limit[COUNTERS];
    uint32_t pic[COUNTERS];
    uint16_t lines[COUNTERS];
    uint8_t group[COUNTERS];
    uint8_t level; /* enum tally_pmu_level */
};

struct niagara {
    struct tally_pmu base;
    struct niagara_strand strand[];
};

/* PCR of T1 and T2. */
#define PCR_PRIV (UINT64_C(1) << 0)
#define PCR_ST (UINT64_C(1) << 1)
#define PCR_UT (UINT64_C(1) << 2)

/* PCR of T1. */
#define PCR1_OVF(i) (UINT64_C(1) << (8 + (i)))
#define PCR1_SL(pcr) ((pcr) >> 4 & 7)

/* PCR of T2. */
#define PCR_HT (UINT64_C(1) << 3)
#define PCR_TOE(i) (UINT64_C(1) << (4 + (i)))
#define PCR_OV(i) ((i) == 0 ? UINT64_C(1) << 18 : UINT64_C(1) << 31)
#define PCR_HOLD(i) (UINT64_C(1) << (62 + (i)))
#define PCR_MASK(pcr, i) ((pcr) >> ((i) == 0 ? 6 : 19) & 0xff)
#define PCR_SL(pcr, i) ((pcr) >> ((i) == 0 ? 14 : 27) & 0xf)

#define LIMIT_WRAP UINT64_C(0xffffffff)
#define LIMIT_EARLY UINT64_C(0xfffffff0)

static struct niagara_strand *
strand_of(struct tally_pmu *pmu, unsigned strand)
{
    return &((struct niagara *)pmu)->strand[strand];
}

static const struct niagara_strand *
strand_const(const struct tally_pmu *pmu, unsigned strand)
{
    return &((const struct niagara *)pmu)->strand[strand];
}

static bool
is_t1(const struct tally_pmu *pmu)
{
    return pmu->machine->family == PMU_NIAGARA1;
}

static bool
is_t2plus(const struct tally_pmu *pmu)
{
    return pmu->machine == &tally_pmu_machines[PMU_MACHINE_ULTRASPARC_T2PLUS];
}

_Static_assert(ULTRASPARC_T1_PCR == 0 && ULTRASPARC_T2_PCR == 0 &&
                   ULTRASPARC_T2PLUS_PCR == 0 &&
                   (int)ULTRASPARC_T1_PIC == (int)ULTRASPARC_T2_PIC,
               "register numbers of PCR and PIC");

static unsigned
pic_id(const struct tally_pmu *pmu)
{
    return is_t2plus(pmu) ? ULTRASPARC_T2PLUS_PIC : ULTRASPARC_T2_PIC;
}

static uint64_t
overflow_bit(const struct tally_pmu *pmu, unsigned i)
{
    return is_t1(pmu) ? PCR1_OVF(i) : PCR_OV(i);
}

static bool
in_counted_mode(const struct niagara_strand *s, bool t1)
{
    switch (s->level) {
    case TALLY_PMU_USER:
        return s->pcr & PCR_UT;
    case TALLY_PMU_PRIVILEGED:
        return s->pcr & PCR_ST;
    default:
        return !t1 && s->pcr & PCR_HT;
    }
}

static void
derive_t1(struct niagara_strand *s)
{
    s->group[0] = (uint8_t)PCR1_SL(s->pcr);
    s->group[1] = INSTRUCTIONS1;
    for (unsigned i = 0; i < COUNTERS; i++) {
        s->lines[i] = ALL_LINES;
        s->limit[i] = LIMIT_WRAP;
    }
}

static void
derive_t2(const struct tally_pmu *pmu, struct niagara_strand *s)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        const struct pmu_group *g =
            pmu_group(pmu->machine, (unsigned)PCR_SL(s->pcr, i));
        const bool idle = g->sl == 0;

        s->lines[i] =
            (uint16_t)(idle ? ALL_LINES : PCR_MASK(s->pcr, i) & g->lines);
        s->group[i] = g->reserved ? NO_GROUP : g->sl;
        s->limit[i] = s->pcr & PCR_TOE(i) ? LIMIT_EARLY : LIMIT_WRAP;
    }
}

/* Derives what the counters count, after PCR or the level has changed. */
static void
derive(struct tally_pmu *pmu, unsigned strand)
{
    struct niagara_strand *s = strand_of(pmu, strand);
    const bool counted = in_counted_mode(s, is_t1(pmu));

    if (is_t1(pmu))
        derive_t1(s);
    else
        derive_t2(pmu, s);
    memset(pmu->heard[strand], 0, sizeof(pmu->heard[strand]));
    for (unsigned i = 0; i < COUNTERS; i++) {
        if (!counted || s->lines[i] == 0)
            s->group[i] = NO_GROUP;
        if (s->group[i] != NO_GROUP)
            pmu_hear(pmu, strand, s->group[i]);
    }
}

static void
reset(struct tally_pmu *pmu)
{
    for (unsigned i = 0; i < pmu->strands; i++) {
        struct niagara_strand *s = strand_of(pmu, i);

        memset(s, 0, sizeof(*s));
        s->level = TALLY_PMU_HYPERPRIVILEGED;
        derive(pmu, i);
    }
}

static int
read_register(struct tally_pmu *pmu, unsigned strand, unsigned id,
              enum tally_pmu_level level, uint64_t *value)
{
    const struct niagara_strand *s = strand_of(pmu, strand);

    if (id == pic_id(pmu)) {
        if (level == TALLY_PMU_USER && s->pcr & PCR_PRIV)
            return TALLY_PMU_PRIVILEGED_ACTION;
        *value = (uint64_t)s->pic[1] << 32 | s->pic[0];
        return 0;
    }
    if (id != 0)
        return pmu_shared_read(pmu, id, level, value);
    if (level == TALLY_PMU_USER)
        return TALLY_PMU_PRIVILEGED_OPCODE;
    *value = s->pcr;
    return 0;
}

static int
write_pcr(struct tally_pmu *pmu, unsigned strand, enum tally_pmu_level level,
          uint64_t value)
{
    struct niagara_strand *s = strand_of(pmu, strand);
    uint64_t kept = 0;

    if (level == TALLY_PMU_USER)
        return TALLY_PMU_PRIVILEGED_OPCODE;
    if (!is_t1(pmu)) {
        if (level != TALLY_PMU_HYPERPRIVILEGED)
            kept |= PCR_HT;
        for (unsigned i = 0; i < COUNTERS; i++)
            kept |= value & PCR_HOLD(i) ? PCR_OV(i) : 0;
    }
    s->pcr = (s->pcr & kept) |
             (pmu_merge(&pmu->machine->registers[0], s->pcr, value) & ~kept);
    derive(pmu, strand);
    return 0;
}

static int
write_register(struct tally_pmu *pmu, unsigned strand, unsigned id,
               enum tally_pmu_level level, uint64_t value)
{
    struct niagara_strand *s = strand_of(pmu, strand);

    if (id == 0)
        return write_pcr(pmu, strand, level, value);
    if (id != pic_id(pmu))
        return pmu_shared_write(pmu, id, level, value);
    if (level == TALLY_PMU_USER && s->pcr & PCR_PRIV)
        return TALLY_PMU_PRIVILEGED_ACTION;
    s->pic[0] = (uint32_t)value;
    s->pic[1] = (uint32_t)(value >> 32);
    return 0;
}

static int
set_state(struct tally_pmu *pmu, unsigned strand, enum tally_pmu_state state,
          uint64_t value)
{
    if (state != TALLY_PMU_LEVEL || value > TALLY_PMU_HYPERPRIVILEGED)
        return TALLY_ERANGE;
    strand_of(pmu, strand)->level = (uint8_t)value;
    derive(pmu, strand);
    return 0;
}

static int
get_state(const struct tally_pmu *pmu, unsigned strand,
          enum tally_pmu_state state, uint64_t *value)
{
    if (state != TALLY_PMU_LEVEL)
        return TALLY_ERANGE;
    *value = strand_const(pmu, strand)->level;
    return 0;
}

/* Returns the counters whose trap is pending, as bits. */
static uint32_t
trapping(const struct tally_pmu *pmu, const struct niagara_strand *s)
{
    const uint64_t pcr = s->pcr;

    if (is_t1(pmu))
        return pcr >> 8 & 3;
    return (pcr >> 18 & pcr >> 4 & 1) | (pcr >> 30 & pcr >> 4 & 2);
}

static void
overflow(struct tally_pmu *pmu, struct niagara_strand *s, unsigned i,
         const struct tally_pmu_context *context)
{
    const uint64_t bit = overflow_bit(pmu, i);

    if (s->pcr & bit)
        return;
    if (trapping(pmu, s) == 0) {
        s->pc = context->pc;
        s->npc = context->npc;
    }
    s->pcr |= bit;
}

/* Counts `n` occurrences of the lines in each of `cycles` cycles. */
static void
count(struct tally_pmu *pmu, unsigned strand, unsigned group, uint32_t lines,
      uint64_t n, uint32_t cycles, const struct tally_pmu_context *context)
{
    struct niagara_strand *s = strand_of(pmu, strand);
    /* A product that may not fit in 64 bits keeps its low 32 bits, and bit 32,
     * which makes the sum exceed every limit. */
    const uint64_t total = n > UINT32_MAX
                               ? (n * cycles & UINT32_MAX) | UINT64_C(1) << 32
                               : n * cycles;

    for (unsigned i = 0; i < COUNTERS; i++) {
        if (group != s->group[i] || ((lines | ALL_LINES) & s->lines[i]) == 0)
            continue;
        const uint64_t sum = s->pic[i] + total;

        s->pic[i] = (uint32_t)sum;
        if (sum > s->limit[i] && n != 0)
            overflow(pmu, s, i, context);
    }
}

static void
signal1(struct tally_pmu *pmu, unsigned strand, uint32_t signal, uint64_t n,
        const struct tally_pmu_context *context)
{
    count(pmu, strand, signal >> 8 & 0xff, 0, n, context->cycles, context);
}

static void
batch1(struct tally_pmu *pmu, unsigned strand,
       const struct tally_pmu_total *totals, size_t count,
       const struct tally_pmu_context *context)
{
    pmu_batch(pmu, strand, totals, count, context, signal1);
}

static void
retire1(struct tally_pmu *pmu, unsigned strand, uint64_t n,
        const struct tally_pmu_context *context)
{
    count(pmu, strand, INSTRUCTIONS1, 0, n, 1, context);
}

/* Returns the lines that PERF_CONFIG lets through: 0 counts all L2 misses, 1
 * those served by local memory, 2 by remote memory, 3 by another cache. */
static uint32_t
narrowed(const struct tally_pmu *pmu, uint32_t lines, uint32_t flags)
{
    const uint64_t config = pmu->shared[ULTRASPARC_T2PLUS_L2_CONTROL] & 3;

    if (config == 0 || flags & (uint32_t)TALLY_PMU_LOCAL << (config - 1))
        return lines;
    return lines & ~L2_LINES2;
}

static void
signal2(struct tally_pmu *pmu, unsigned strand, uint32_t signal, uint64_t n,
        const struct tally_pmu_context *context)
{
    const unsigned group = signal >> 8 & 0xff;
    uint32_t lines = signal & 0xff;

    if (group == CACHES2 && is_t2plus(pmu))
        lines = narrowed(pmu, lines, context->flags);
    count(pmu, strand, group, lines, n, context->cycles, context);
}

static void
batch2(struct tally_pmu *pmu, unsigned strand,
       const struct tally_pmu_total *totals, size_t count,
       const struct tally_pmu_context *context)
{
    pmu_batch(pmu, strand, totals, count, context, signal2);
}

static void
retire2(struct tally_pmu *pmu, unsigned strand, uint64_t n,
        const struct tally_pmu_context *context)
{
    count(pmu, strand, INSTRUCTIONS2, context->lines, n, 1, context);
}

static uint32_t
pending(const struct tally_pmu *pmu, unsigned strand)
{
    const struct niagara_strand *s = strand_const(pmu, strand);

    return trapping(pmu, s) != 0 ? TALLY_PMU_PIC_OVERFLOW : 0;
}

static int
take(struct tally_pmu *pmu, unsigned strand, enum tally_pmu_trap trap,
     struct tally_pmu_taken *taken)
{
    const struct niagara_strand *s = strand_of(pmu, strand);
    const uint32_t counters = trapping(pmu, s);

    if (trap != TALLY_PMU_PIC_OVERFLOW || counters == 0)
        return TALLY_ERULE;
    /* The trap is disrupting: the instruction has completed. */
    *taken = (struct tally_pmu_taken){s->pc, s->npc, counters, 1};
    return 0;
}

const struct pmu_ops pmu_niagara1_ops = {
    .strands = 32,
    .base = sizeof(struct niagara),
    .strand = sizeof(struct niagara_strand),
    .reset = reset,
    .read = read_register,
    .write = write_register,
    .set_state = set_state,
    .state = get_state,
    .signal = signal1,
    .batch = batch1,
    .retire = retire1,
    .pending = pending,
    .take = take,
};

const struct pmu_ops pmu_niagara2_ops = {
    .strands = 64,
    .base = sizeof(struct niagara),
    .strand = sizeof(struct niagara_strand),
    .reset = reset,
    .read = read_register,
    .write = write_register,
    .set_state = set_state,
    .state = get_state,
    .signal = signal2,
    .batch = batch2,
    .retire = retire2,
    .pending = pending,
    .take = take,
};
