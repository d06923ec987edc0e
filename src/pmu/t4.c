/* SPDX-License-Identifier: MIT */
/*
 * The four counters of a strand of SPARC T4, each a PIC with a PCR of its own,
 * and access to the registers of the memory controllers, which shared.c counts.
 * SPARC T4 Supplement D0.4, chapter 10.
 *
 * Calls are in the order of time. An event of a PCR write itself is a signal
 * after that write, so hardware wins and ov is 1. Only the race of sl 28 is
 * lost: an overflow in the two cycles after the PCR was set, with the PIC at -1
 * to -3, is undone by another write of the PCR. Signals of sl 26 and retire let
 * cycles pass; reading the PCR or taking the trap ends the race too.
 *
 * A precise trap is pending until the strand takes it. The trap is lost when
 * the strand enters hyperprivileged mode or the PCR is written. Setting toe
 * over an old ov makes no precise trap, since only hyperprivileged software can
 * do that. A disrupting trap is pending while toe and ov are 1. It has the
 * place of the event that overflowed; the embedder knows how far the strand has
 * run since.
 *
 * Lines that cross strands count for all strands of the PMU.
 */
#include "pmu/pmu.h"

#include <string.h>

#define COUNTERS 4

#define PCR_OV (UINT32_C(1) << 0)
#define PCR_TOE (UINT32_C(1) << 1)
#define PCR_UT (UINT32_C(1) << 2) /* then st and ht, in the order of levels */
#define PCR_HT (UINT32_C(1) << 4)
#define PCR_MASK(pcr) ((pcr) >> 5 & 0x3f)
#define PCR_SL(pcr) ((pcr) >> 11 & 0x1f)
#define PCR_PICNPT (UINT32_C(1) << 16)
#define PCR_PICNHT (UINT32_C(1) << 17)
#define PCR_NTC (UINT32_C(1) << 18)

#define SL_INSTRUCTIONS 3
#define SL_CYCLES 26
#define SL_COMMIT 28

#define WINDOW 2 /* cycles */

struct t4_counter {
    uint32_t pic, pcr;
    uint32_t flight; /* PCR bits that a write in the window clears */
    uint8_t window;  /* cycles left */
    uint8_t sl;
    uint8_t chosen; /* lines that the mask selects */
    uint8_t lines;  /* `chosen` if the counter counts in this mode, else 0 */
    bool precise;
    bool spent; /* TALLY_PMU_REARM_QUIRK: overflows no longer set ov */
};

struct t4_strand {
    struct t4_counter counter[COUNTERS];
    struct tally_pmu_taken precise, disrupting;
    uint32_t own;        /* groups that its counters count, as bits */
    uint32_t common;     /* those of `own` with lines that cross strands */
    uint8_t armed, late; /* bits: counters with a pending precise trap, and
                            with a pending disrupting trap */
    uint8_t level;       /* enum tally_pmu_level */
    bool halted;
    bool racing; /* some counter has a window */
};

struct t4 {
    struct tally_pmu base;
    uint64_t listeners[32]; /* by group: strands that count crossing lines */
    uint32_t common;        /* groups that have listeners */
    uint32_t running;       /* strands neither parked nor halted */
    struct t4_strand strand[];
};

static struct t4 *
t4(struct tally_pmu *pmu)
{
    return (struct t4 *)pmu;
}

static const struct t4 *
t4_const(const struct tally_pmu *pmu)
{
    return (const struct t4 *)pmu;
}

/* Returns the row of a group. TABLE 10-2 has rows for all 32. */
static const struct pmu_group *
group(const struct t4 *t, unsigned sl)
{
    return &t->base.machine->groups[sl];
}

/* Lets the strand's groups, and those that cross strands, through. */
static void
hear(struct t4 *t, unsigned strand)
{
    t->base.heard[strand][0] = t->strand[strand].own | t->common;
}

/* Has the strand listen to the crossing lines of exactly these groups. */
static void
listen(struct t4 *t, unsigned strand, uint32_t groups)
{
    struct t4_strand *const s = &t->strand[strand];
    const uint32_t before = t->common;
    uint32_t changed = s->common ^ groups;

    s->common = groups;
    for (unsigned sl = 0; changed != 0; sl++, changed >>= 1) {
        if ((changed & 1) == 0)
            continue;
        t->listeners[sl] ^= UINT64_C(1) << strand;
        t->common &= ~(UINT32_C(1) << sl);
        if (t->listeners[sl] != 0)
            t->common |= UINT32_C(1) << sl;
    }
    for (unsigned i = 0; t->common != before && i < t->base.strands; i++)
        hear(t, i);
}

/* Finds the lines that the strand's counters count in its present mode. */
static void
tune(struct t4 *t, unsigned strand)
{
    struct t4_strand *const s = &t->strand[strand];
    uint32_t own = 0, common = 0;

    s->racing = false;
    for (unsigned i = 0; i < COUNTERS; i++) {
        struct t4_counter *const c = &s->counter[i];
        const uint32_t bit = UINT32_C(1) << c->sl;

        c->lines = (c->pcr & PCR_UT << s->level) == 0 ? 0 : c->chosen;
        if (c->lines != 0)
            own |= bit;
        if ((c->lines & group(t, c->sl)->crossing) != 0)
            common |= bit;
        s->racing |= c->window != 0;
    }
    if (s->racing)
        own |= UINT32_C(1) << SL_CYCLES;
    s->own = own;
    listen(t, strand, common);
    hear(t, strand);
}

static void
reset(struct tally_pmu *pmu)
{
    struct t4 *const t = t4(pmu);

    memset(t->listeners, 0, sizeof(t->listeners));
    t->common = 0;
    t->running = pmu->strands;
    for (unsigned i = 0; i < pmu->strands; i++) {
        t->strand[i] = (struct t4_strand){.level = TALLY_PMU_HYPERPRIVILEGED};
        hear(t, i);
    }
}

/* Ends the race of sl 28 for one counter of the strand. */
static void
settle(struct t4 *t, unsigned strand, struct t4_counter *c)
{
    c->flight = 0;
    if (c->window == 0)
        return;
    c->window = 0;
    tune(t, strand);
}

/* Lets cycles pass on a strand. */
static void
pass(struct t4 *t, unsigned strand, uint64_t cycles)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        struct t4_counter *const c = &t->strand[strand].counter[i];

        if (cycles >= c->window)
            settle(t, strand, c);
        else
            c->window -= (uint8_t)cycles;
    }
}

/* Sets the overflow bit of counter `i`, and the trap that follows from it. */
static __attribute__((noinline)) void
overflow(struct t4 *t, struct t4_strand *s, unsigned i,
         const struct tally_pmu_context *context)
{
    struct t4_counter *const c = &s->counter[i];
    const bool next = (context->flags & TALLY_PMU_NEXT_TO_COMMIT) != 0;
    const uint32_t set = next ? PCR_OV | PCR_NTC : PCR_OV;
    const struct tally_pmu_taken place = {
        .pc = context->pc, .npc = context->npc, .executed = next};

    if (c->spent)
        return;
    c->spent = (t->base.flags & TALLY_PMU_REARM_QUIRK) != 0;
    if (c->window != 0)
        c->flight |= set & ~c->pcr;
    c->pcr |= set;
    if (!c->precise) {
        if (s->late == 0)
            s->disrupting = place;
        if ((c->pcr & PCR_TOE) != 0)
            s->late |= (uint8_t)(1 << i);
    } else if ((c->pcr & (PCR_TOE | PCR_HT)) == PCR_TOE) {
        /* Without ht nothing is counted in hyperprivileged mode. */
        if (s->armed == 0)
            s->precise = place;
        s->armed |= (uint8_t)(1 << i);
    }
}

/* Counts `n` occurrences of `lines` of a group. */
static void
count(struct t4 *t, struct t4_strand *s, unsigned sl, unsigned lines,
      uint64_t n, const struct tally_pmu_context *context)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        struct t4_counter *const c = &s->counter[i];

        if (c->sl != sl || (c->lines & lines) == 0)
            continue;
        const bool wraps = n > UINT32_MAX - c->pic;
        c->pic += (uint32_t)n;
        if (wraps)
            overflow(t, s, i, context);
    }
}

/* Returns the lines that a mask selects: the lines of its bits, and a line that
 * is a part of one of these lines. Group 26 ignores the mask. */
static uint8_t
chosen(const struct t4 *t, unsigned sl, unsigned mask)
{
    const struct pmu_group *const g = group(t, sl);
    const unsigned lines = mask & g->lines;

    if (sl == SL_CYCLES)
        return 0xff;
    return (uint8_t)((lines & g->whole) != 0 ? lines | g->part : lines);
}

/* Groups whose signals raise other lines than those they name: see raised(). */
#define SPECIAL \
    (UINT32_C(1) << 18 | UINT32_C(1) << 19 | UINT32_C(1) << SL_CYCLES)

/* Returns the lines that a signal of a special group raises. A strand that runs
 * alone drops no software prefetch for a full miss buffer (sl 18); a hit in the
 * store buffer supersedes a hit in the store queue (sl 19). */
static unsigned
raised(const struct t4 *t, unsigned sl, unsigned lines)
{
    if (sl == 18)
        return t->running == 1 ? lines & ~4U : lines;
    if (sl == 19)
        return (lines & 3) != 0 ? lines & 3 : lines;
    return 0xff;
}

/* Returns n * cycles modulo 2^64; at least 2^63 where the product overflows. */
static uint64_t
product(uint64_t n, uint32_t cycles)
{
    uint64_t all;

    if (__builtin_mul_overflow(n, cycles, &all))
        all |= UINT64_C(1) << 63;
    return all;
}

/* Counts a signal of a special group, or of a group with listeners. */
static __attribute__((noinline)) void
rise_further(struct t4 *t, unsigned strand, uint32_t signal, uint64_t n,
             const struct tally_pmu_context *context)
{
    struct t4_strand *const s = &t->strand[strand];
    const unsigned sl = signal >> 8 & 0x1f;
    unsigned lines = signal & 0xff;

    if ((SPECIAL >> sl & 1) != 0)
        lines = raised(t, sl, lines);
    count(t, s, sl, lines, n, context);
    if (sl == SL_CYCLES && s->racing)
        pass(t, strand, n);
    uint64_t others = t->listeners[sl] & ~(UINT64_C(1) << strand);
    lines &= group(t, sl)->crossing;
    for (unsigned i = 0; others != 0; i++, others >>= 1) {
        if ((others & 1) != 0)
            count(t, &t->strand[i], sl, lines, n, &pmu_no_context);
    }
}

/* Counts a signal. Handles only the usual case, so that no stack is needed: a
 * batch of 64 signals, 23 of them heard, takes 79 ns, and 108 ns if
 * rise_further() is inlined. */
static void
rise(struct tally_pmu *pmu, unsigned strand, uint32_t signal, uint64_t n,
     const struct tally_pmu_context *context)
{
    struct t4 *const t = t4(pmu);
    const unsigned sl = signal >> 8 & 0x1f;

    n = product(n, context->cycles);
    if (((t->common | SPECIAL) >> sl & 1) != 0)
        rise_further(t, strand, signal, n, context);
    else
        count(t, &t->strand[strand], sl, signal & 0xff, n, context);
}

static void
batch(struct tally_pmu *pmu, unsigned strand,
      const struct tally_pmu_total *totals, size_t count,
      const struct tally_pmu_context *context)
{
    pmu_batch(pmu, strand, totals, count, context, rise);
}

static void
retire(struct tally_pmu *pmu, unsigned strand, uint64_t n,
       const struct tally_pmu_context *context)
{
    struct t4 *const t = t4(pmu);
    struct t4_strand *const s = &t->strand[strand];

    count(t, s, SL_INSTRUCTIONS, context->lines, n, context);
    if (s->racing)
        pass(t, strand, product(n, context->cycles));
}

static uint32_t
pending(const struct tally_pmu *pmu, unsigned strand)
{
    const struct t4_strand *const s = &t4_const(pmu)->strand[strand];

    return (s->armed == 0 ? 0U : TALLY_PMU_PRECISE_EVENT) |
           (s->late == 0 ? 0U : TALLY_PMU_DISRUPTING_EVENT);
}

static int
take(struct tally_pmu *pmu, unsigned strand, enum tally_pmu_trap trap,
     struct tally_pmu_taken *taken)
{
    struct t4_strand *const s = &t4(pmu)->strand[strand];

    if ((trap != TALLY_PMU_PRECISE_EVENT &&
         trap != TALLY_PMU_DISRUPTING_EVENT) ||
        (pending(pmu, strand) & (uint32_t)trap) == 0)
        return TALLY_ERULE;
    if (trap == TALLY_PMU_PRECISE_EVENT) {
        *taken = s->precise;
        taken->counters = s->armed;
        s->armed = 0;
    } else {
        *taken = s->disrupting;
        taken->counters = s->late;
        taken->executed = 0;
    }
    for (unsigned i = 0; i < COUNTERS; i++) {
        if ((taken->counters >> i & 1) != 0)
            settle(t4(pmu), strand, &s->counter[i]);
    }
    return 0;
}

static void
write_pcr(struct t4 *t, unsigned strand, unsigned i, uint64_t value)
{
    struct t4_strand *const s = &t->strand[strand];
    struct t4_counter *const c = &s->counter[i];
    const struct pmu_register *row = &t->base.machine->registers[i];
    const uint8_t bit = (uint8_t)(1 << i);

    c->pcr = (uint32_t)pmu_merge(row, c->pcr & ~c->flight, value);
    c->sl = (uint8_t)PCR_SL(c->pcr);
    c->precise = group(t, c->sl)->precise;
    c->chosen = chosen(t, c->sl, PCR_MASK(c->pcr));
    c->flight = 0;
    c->window = 0;
    s->armed &= (uint8_t)~bit;
    s->late &= (uint8_t)~bit;
    if (!c->precise && (c->pcr & PCR_TOE) != 0 && (c->pcr & PCR_OV) != 0)
        s->late |= bit;
    if (c->sl == SL_COMMIT && c->chosen >= 1 && c->chosen <= 3 &&
        c->pic >= UINT32_MAX - 2 && (c->pcr & PCR_UT << s->level) != 0)
        c->window = WINDOW;
    tune(t, strand);
}

static void
write_pic(struct t4_counter *c, uint64_t value)
{
    c->pic = (uint32_t)value;
    if (c->sl == 0 || (c->pcr & (PCR_UT | PCR_UT << 1 | PCR_HT)) == 0)
        c->spent = false;
}

/* Returns whether software at `level` may use the PIC that `pcr` controls. */
static bool
open_to(uint32_t pcr, enum tally_pmu_level level)
{
    switch (level) {
    case TALLY_PMU_USER:
        return (pcr & (PCR_PICNHT | PCR_PICNPT)) == 0;
    case TALLY_PMU_PRIVILEGED:
        return (pcr & PCR_PICNHT) == 0;
    default:
        return true;
    }
}

/* Returns 0, or the trap that an access to a register causes. */
static int
denied(const struct t4 *t, unsigned strand, unsigned id,
       enum tally_pmu_level level)
{
    const struct t4_counter *const c = t->strand[strand].counter;

    if (id <= SPARC_T4_PCR3 && level != TALLY_PMU_HYPERPRIVILEGED)
        return TALLY_PMU_PRIVILEGED_ACTION;
    if (id >= SPARC_T4_PIC0 && id <= SPARC_T4_PIC3 &&
        !open_to(c[id - SPARC_T4_PIC0].pcr, level))
        return TALLY_PMU_PRIVILEGED_ACTION;
    if ((id == SPARC_T4_DRAM_PERF_COUNT23_REG2 ||
         id == SPARC_T4_DRAM_PERF_COUNT23_REG3) &&
        (t->base.flags & TALLY_PMU_PRINTED_DRAM) != 0)
        return TALLY_PMU_DATA_ACCESS_EXCEPTION;
    return 0;
}

static int
read(struct tally_pmu *pmu, unsigned strand, unsigned id,
     enum tally_pmu_level level, uint64_t *value)
{
    struct t4 *const t = t4(pmu);
    struct t4_counter *const c = t->strand[strand].counter;
    const int trap = denied(t, strand, id, level);

    if (trap != 0)
        return trap;
    if (id > SPARC_T4_PIC3)
        return pmu_shared_read(pmu, id, level, value);
    if (id > SPARC_T4_PCR3) {
        *value = c[id - SPARC_T4_PIC0].pic;
        return 0;
    }
    *value = c[id].pcr;
    settle(t, strand, &c[id]);
    return 0;
}

static int
write(struct tally_pmu *pmu, unsigned strand, unsigned id,
      enum tally_pmu_level level, uint64_t value)
{
    struct t4 *const t = t4(pmu);
    const int trap = denied(t, strand, id, level);

    if (trap != 0)
        return trap;
    if (id > SPARC_T4_PIC3)
        return pmu_shared_write(pmu, id, level, value);
    if (id > SPARC_T4_PCR3)
        write_pic(&t->strand[strand].counter[id - SPARC_T4_PIC0], value);
    else
        write_pcr(t, strand, id, value);
    return 0;
}

static int
set_state(struct tally_pmu *pmu, unsigned strand, enum tally_pmu_state state,
          uint64_t value)
{
    struct t4 *const t = t4(pmu);
    struct t4_strand *const s = &t->strand[strand];

    if (state == TALLY_PMU_HALTED && value <= 1) {
        t->running += (uint32_t)s->halted - (uint32_t)value;
        s->halted = value != 0;
        return 0;
    }
    if (state != TALLY_PMU_LEVEL || value > TALLY_PMU_HYPERPRIVILEGED)
        return TALLY_ERANGE;
    s->level = (uint8_t)value;
    if (s->level == TALLY_PMU_HYPERPRIVILEGED)
        s->armed = 0;
    tune(t, strand);
    return 0;
}

static int
get_state(const struct tally_pmu *pmu, unsigned strand,
          enum tally_pmu_state state, uint64_t *value)
{
    const struct t4_strand *const s = &t4_const(pmu)->strand[strand];

    if (state != TALLY_PMU_LEVEL && state != TALLY_PMU_HALTED)
        return TALLY_ERANGE;
    *value = state == TALLY_PMU_LEVEL ? s->level : s->halted;
    return 0;
}

const struct pmu_ops pmu_t4_ops = {
    .strands = 64,
    .base = sizeof(struct t4),
    .strand = sizeof(struct t4_strand),
    .reset = reset,
    .read = read,
    .write = write,
    .set_state = set_state,
    .state = get_state,
    .signal = rise,
    .batch = batch,
    .retire = retire,
    .pending = pending,
    .take = take,
};
