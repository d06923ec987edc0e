/* SPDX-License-Identifier: MIT */
/*
 * The two counters of R10000 and R12000: coprocessor 0 register 25, which has
 * two control registers (MTPS, MFPS) and two counts of 32 bits (MTPC, MFPC).
 * r10k_evcntrs(5), rules I01 to I12; MIPS R10000 User's Manual, 14.20.
 *
 * A signal's group is the event's number as IRIX writes it. R10000 has events 0
 * to 15 on counter 0 and 16 to 31 on counter 1, whose control register holds
 * the number less 16; R12000 has all 32 on both counters. Cycles and graduated
 * instructions of R10000 have a number on each counter; the embedder raises
 * both signals.
 *
 * An event that adds more than one in a cycle is raised with that n. A multiply
 * or divide graduates as two; the embedder passes that number.
 *
 * Not modelled: the other interrupts of Cause and Status.IM, CU0 (user and
 * supervisor mode have no coprocessor 0), the four counters that some sources
 * give R12000, and "negated conditional counting", which no document at hand
 * describes (I12). The word hwperf_ctrlreg belongs to IRIX, not to the
 * processor.
 */
#include "pmu/pmu.h"

#include <string.h>

enum { COUNTERS = 2, NOTHING = 0xff };

#define CONTROL_IE (1u << 4)
#define OVERFLOWN (UINT32_C(1) << 31)

struct r10000_strand {
    uint32_t control[COUNTERS], count[COUNTERS];
    /* Derived from `control` and the mode: the signal that a counter counts, or
     * NOTHING; the bit of its count that interrupts, or 0. */
    uint32_t takes[COUNTERS], interrupts[COUNTERS];
    uint8_t ksu, exl, erl;
};

struct r10000 {
    struct tally_pmu base;
    struct r10000_strand strand[];
};

enum { CTRL0, CTRL1, CNT0, CNT1 };

_Static_assert(CTRL0 == (int)R10000_CTRL0 && CTRL0 == (int)R10000_REV2_CTRL0 &&
                   CTRL0 == (int)R12000_CTRL0 && CNT0 == (int)R10000_CNT0 &&
                   CNT0 == (int)R10000_REV2_CNT0 && CNT0 == (int)R12000_CNT0 &&
                   CNT1 == CNT0 + 1 && CTRL1 == CTRL0 + 1,
               "the order of data/machines/r1*000/registers.toml");

static struct r10000_strand *
strand_of(struct tally_pmu *pmu, unsigned strand)
{
    return &((struct r10000 *)pmu)->strand[strand];
}

static const struct r10000_strand *
const_strand_of(const struct tally_pmu *pmu, unsigned strand)
{
    return &((const struct r10000 *)pmu)->strand[strand];
}

/* Returns the bit of a control register that lets it count in the present mode,
 * or 0. */
static uint32_t
mode_bit(const struct r10000_strand *s)
{
    if (s->erl)
        return 0;
    return s->exl ? 1u : 2u << s->ksu;
}

/* Returns the event that a control register selects, as IRIX numbers it. */
static unsigned
event_of(const struct tally_pmu *pmu, unsigned counter, uint32_t control)
{
    const bool any = pmu->machine == &tally_pmu_machines[PMU_MACHINE_R12000];

    return (control >> 5) + (any ? 0 : 16 * counter);
}

/* Derives what the counters count, after a control register or the mode has
 * changed. */
static void
update(struct tally_pmu *pmu, unsigned strand)
{
    struct r10000_strand *const s = strand_of(pmu, strand);

    memset(pmu->heard[strand], 0, sizeof(pmu->heard[strand]));
    for (unsigned i = 0; i < COUNTERS; i++) {
        const uint32_t control = s->control[i];

        s->takes[i] = NOTHING;
        s->interrupts[i] = control & CONTROL_IE ? OVERFLOWN : 0;
        if (control & mode_bit(s)) {
            s->takes[i] = event_of(pmu, i, control);
            pmu_hear(pmu, strand, s->takes[i]);
        }
    }
}

/* Starts in kernel mode, as if firmware had left the error level of a reset. */
static void
r10000_reset(struct tally_pmu *pmu)
{
    for (unsigned i = 0; i < pmu->strands; i++) {
        memset(strand_of(pmu, i), 0, sizeof(struct r10000_strand));
        update(pmu, i);
    }
}

static int
r10000_read(struct tally_pmu *pmu, unsigned strand, unsigned id,
            enum tally_pmu_level level, uint64_t *value)
{
    const struct r10000_strand *const s = strand_of(pmu, strand);

    if (id > CNT1)
        return TALLY_ERANGE;
    if (level == TALLY_PMU_USER)
        return TALLY_PMU_COPROCESSOR_UNUSABLE;
    *value = id >= CNT0 ? s->count[id - CNT0] : s->control[id];
    return 0;
}

static int
r10000_write(struct tally_pmu *pmu, unsigned strand, unsigned id,
             enum tally_pmu_level level, uint64_t value)
{
    struct r10000_strand *const s = strand_of(pmu, strand);

    if (id > CNT1)
        return TALLY_ERANGE;
    if (level == TALLY_PMU_USER)
        return TALLY_PMU_COPROCESSOR_UNUSABLE;
    if (id >= CNT0) {
        s->count[id - CNT0] = (uint32_t)value;
        return 0;
    }
    s->control[id] = (uint32_t)pmu_merge(&pmu->machine->registers[id],
                                         s->control[id], value);
    update(pmu, strand);
    return 0;
}

static int
r10000_set_state(struct tally_pmu *pmu, unsigned strand,
                 enum tally_pmu_state state, uint64_t value)
{
    struct r10000_strand *const s = strand_of(pmu, strand);

    switch (state) {
    case TALLY_PMU_LEVEL:
        if (value > TALLY_PMU_HYPERPRIVILEGED)
            return TALLY_ERANGE;
        s->ksu = value == TALLY_PMU_USER ? 2 : 0;
        s->exl = 0;
        s->erl = 0;
        break;
    case TALLY_PMU_KSU:
        if (value > 2)
            return TALLY_ERANGE;
        s->ksu = (uint8_t)value;
        break;
    case TALLY_PMU_EXL:
    case TALLY_PMU_ERL:
        if (value > 1)
            return TALLY_ERANGE;
        *(state == TALLY_PMU_EXL ? &s->exl : &s->erl) = (uint8_t)value;
        break;
    default:
        return TALLY_ERANGE;
    }
    update(pmu, strand);
    return 0;
}

/* Returns a part of the state. The level is the one that accesses have: a
 * supervisor counts as a user, since neither has coprocessor 0. */
static int
r10000_state(const struct tally_pmu *pmu, unsigned strand,
             enum tally_pmu_state state, uint64_t *value)
{
    const struct r10000_strand *const s = const_strand_of(pmu, strand);

    switch (state) {
    case TALLY_PMU_LEVEL:
        *value = s->ksu == 0 || s->exl || s->erl ? TALLY_PMU_PRIVILEGED
                                                 : TALLY_PMU_USER;
        return 0;
    case TALLY_PMU_KSU:
        *value = s->ksu;
        return 0;
    case TALLY_PMU_EXL:
        *value = s->exl;
        return 0;
    case TALLY_PMU_ERL:
        *value = s->erl;
        return 0;
    default:
        return TALLY_ERANGE;
    }
}

static void
r10000_signal(struct tally_pmu *pmu, unsigned strand, uint32_t signal,
              uint64_t n, const struct tally_pmu_context *context)
{
    struct r10000_strand *const s = strand_of(pmu, strand);
    const uint32_t event = signal >> 8 & 0xff;
    const uint32_t sum = (uint32_t)(n * context->cycles);

    for (unsigned i = 0; i < COUNTERS; i++) {
        if (s->takes[i] == event)
            s->count[i] += sum;
    }
}

static void
r10000_batch(struct tally_pmu *pmu, unsigned strand,
             const struct tally_pmu_total *totals, size_t count,
             const struct tally_pmu_context *context)
{
    pmu_batch(pmu, strand, totals, count, context, r10000_signal);
}

/* Counts graduated instructions: event 15, and on R10000 also event 17, which
 * is another event on R12000. */
static void
r10000_retire(struct tally_pmu *pmu, unsigned strand, uint64_t n,
              const struct tally_pmu_context *context)
{
    struct r10000_strand *const s = strand_of(pmu, strand);
    const bool any = pmu->machine == &tally_pmu_machines[PMU_MACHINE_R12000];

    (void)context;
    for (unsigned i = 0; i < COUNTERS; i++) {
        if (s->takes[i] == (any || i == 0 ? 15 : 17))
            s->count[i] += (uint32_t)n;
    }
}

/* Returns the counters that interrupt, as bits. A counter interrupts as long as
 * its highest bit is 1. */
static uint32_t
interrupting(const struct r10000_strand *s)
{
    return (s->count[0] & s->interrupts[0]) >> 31 |
           (s->count[1] & s->interrupts[1]) >> 30;
}

static uint32_t
r10000_pending(const struct tally_pmu *pmu, unsigned strand)
{
    return interrupting(const_strand_of(pmu, strand)) != 0
               ? TALLY_PMU_COUNTER_INTERRUPT
               : 0;
}

/* Takes the interrupt, unless the exception or error level masks it. The
 * interrupt names no instruction, and stays pending until the count or the
 * control register is written. */
static int
r10000_take(struct tally_pmu *pmu, unsigned strand, enum tally_pmu_trap trap,
            struct tally_pmu_taken *taken)
{
    const struct r10000_strand *const s = strand_of(pmu, strand);

    if (trap != TALLY_PMU_COUNTER_INTERRUPT || interrupting(s) == 0 || s->exl ||
        s->erl)
        return TALLY_ERULE;
    *taken = (struct tally_pmu_taken){.counters = interrupting(s)};
    return 0;
}

const struct pmu_ops pmu_r10000_ops = {
    .strands = 1,
    .base = sizeof(struct r10000),
    .strand = sizeof(struct r10000_strand),
    .reset = r10000_reset,
    .read = r10000_read,
    .write = r10000_write,
    .set_state = r10000_set_state,
    .state = r10000_state,
    .signal = r10000_signal,
    .batch = r10000_batch,
    .retire = r10000_retire,
    .pending = r10000_pending,
    .take = r10000_take,
};
