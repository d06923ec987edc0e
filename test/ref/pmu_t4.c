/* SPDX-License-Identifier: MIT */
/*
 * PCR0 to PCR3, PIC0 to PIC3 and the DRAM counters of SPARC T4, as chapter 10
 * of its supplement has them (rules of sparc-t4.md) and src/pmu/t4.c says that
 * it takes them: every field by itself, one increment at a time.
 *
 * Not here: the race of sl 28 (T4-R18), which a read of the PCR ends, as its
 * driver reads after each step; flags.
 */
#include "ref/pmu_ref.h"

enum {
    STRANDS = 3,
    COUNTERS = 4,
    CONTROLLERS = 4,
    /* Registers, as they are listed below. */
    PCR0 = 0,
    PIC0 = 4,
    DRAM = 8,
    REGISTERS = DRAM + 3 * CONTROLLERS
};

struct counter {
    bool ov, toe, ut, st, ht, picnpt, picnht, ntc;
    unsigned mask, sl;
    uint32_t pic;
    bool precise_trap; /* waits to be taken */
};

struct strand {
    struct counter counter[COUNTERS];
    enum tally_pmu_level level;
    bool halted;
    struct tally_pmu_taken precise, disrupting; /* pc, npc, executed */
};

struct controller {
    unsigned select[4];
    uint32_t count[4];
    bool sticky[4];
};

struct twin {
    unsigned strands;
    struct strand strand[STRANDS];
    struct controller controller[CONTROLLERS];
};

/* TABLE 10-2: what of the mask is not ignored (T4-R57, T4-R60, T4-R64), which
 * lines are not of one virtual processor (T4-R54), and whether the trap is
 * precise (T4-R32). What is not here is reserved, and counts nothing (T4-R06).
 */
static const struct {
    unsigned mask, crossing;
    bool precise;
} table[256] = {
    [1] = {.mask = 0x1f},
    [2] = {.mask = 0x0f},
    [3] = {.mask = 0x3f, .precise = true},
    [4] = {.mask = 0x3f, .precise = true},
    [5] = {.mask = 0x1f, .precise = true},
    [6] = {.mask = 0x3f},
    [7] = {.mask = 0x0f},
    [8] = {.mask = 0x0f, .crossing = 0x02},
    [9] = {.mask = 0x1f, .crossing = 0x1f},
    [10] = {.mask = 0x3f},
    [11] = {.mask = 0x03},
    [16] = {.mask = 0x07, .precise = true},
    [17] = {.mask = 0x3f},
    [18] = {.mask = 0x07, .crossing = 0x01},
    [19] = {.mask = 0x0f},
    [20] = {.mask = 0x1f, .crossing = 0x1f},
    [21] = {.mask = 0x3f},
    [22] = {.mask = 0x3f},
    [23] = {.mask = 0x07},
    [24] = {.mask = 0x3f, .crossing = 0x3f},
    [25] = {.mask = 0x0f, .precise = true},
    [28] = {.mask = 0x0f, .crossing = 0x02}, /* Commit-0-all */
};

enum { SL_CYCLES = 26 };

static void
create(void *ref, const char *machine, unsigned strands)
{
    struct twin *t = ref;

    (void)machine;
    t->strands = strands;
    for (unsigned i = 0; i < strands; i++)
        t->strand[i].level = TALLY_PMU_HYPERPRIVILEGED;
}

static unsigned
field(uint64_t value, unsigned low, unsigned width)
{
    unsigned result = 0;

    for (unsigned i = 0; i < width; i++)
        result += (unsigned)(value >> (low + i) & 1) << i;
    return result;
}

/* T4-R02, T4-R20 to T4-R23; 0, or the trap of an access. */
static int
refused(const struct strand *s, unsigned reg, enum tally_pmu_level level)
{
    if (level == TALLY_PMU_HYPERPRIVILEGED)
        return 0;
    if (reg >= DRAM)
        return TALLY_PMU_DATA_ACCESS_EXCEPTION;
    if (reg < PIC0)
        return TALLY_PMU_PRIVILEGED_ACTION;
    const struct counter *const c = &s->counter[reg - PIC0];
    if (c->picnht || (level == TALLY_PMU_USER && c->picnpt))
        return TALLY_PMU_PRIVILEGED_ACTION;
    return 0;
}

/* T4-R11: ov and ntc can be written to 0 only. */
static void
write_pcr(struct counter *c, uint64_t value)
{
    if (!field(value, 0, 1))
        c->ov = false;
    c->toe = field(value, 1, 1);
    c->ut = field(value, 2, 1);
    c->st = field(value, 3, 1);
    c->ht = field(value, 4, 1);
    c->mask = field(value, 5, 6);
    c->sl = field(value, 11, 5);
    c->picnpt = field(value, 16, 1);
    c->picnht = field(value, 17, 1);
    if (!field(value, 18, 1))
        c->ntc = false;
    c->precise_trap = false;
}

static uint64_t
read_pcr(const struct counter *c)
{
    uint64_t value = c->mask * 0x20u + c->sl * 0x800u;

    value += (c->ov ? 1u : 0) + (c->toe ? 2u : 0) + (c->ut ? 4u : 0);
    value += (c->st ? 8u : 0) + (c->ht ? 0x10u : 0);
    value += (c->picnpt ? 0x10000u : 0) + (c->picnht ? 0x20000u : 0);
    return value + (c->ntc ? 0x40000u : 0);
}

/* T4-R73: of a count register, which counter is above and which below. */
static unsigned
half(unsigned which, bool high)
{
    if (which == 1)
        return high ? 0 : 1;
    return high ? 3 : 2;
}

static void
write_dram(struct controller *m, unsigned which, uint64_t value)
{
    if (which == 0) {
        for (unsigned i = 0; i < 4; i++)
            m->select[i] = field(value, 4 * i, 4);
        return;
    }
    m->count[half(which, true)] = field(value, 32, 31);
    m->sticky[half(which, true)] = field(value, 63, 1);
    m->count[half(which, false)] = field(value, 0, 31);
    m->sticky[half(which, false)] = field(value, 31, 1);
}

static uint64_t
read_half(const struct controller *m, unsigned i)
{
    return m->count[i] + (m->sticky[i] ? UINT64_C(0x80000000) : 0);
}

static uint64_t
read_dram(const struct controller *m, unsigned which)
{
    if (which == 0)
        return m->select[0] + m->select[1] * 0x10u + m->select[2] * 0x100u +
               m->select[3] * 0x1000u;
    return read_half(m, half(which, true)) * UINT64_C(0x100000000) +
           read_half(m, half(which, false));
}

static int
write_register(void *ref, unsigned strand, unsigned reg,
               enum tally_pmu_level level, uint64_t value)
{
    struct twin *t = ref;
    struct strand *s = &t->strand[strand];
    const int trap = refused(s, reg, level);

    if (trap != 0)
        return trap;
    if (reg >= DRAM)
        write_dram(&t->controller[(reg - DRAM) / 3], (reg - DRAM) % 3, value);
    else if (reg >= PIC0)
        s->counter[reg - PIC0].pic = field(value, 0, 32);
    else
        write_pcr(&s->counter[reg], value);
    return 0;
}

static int
read_register(const void *ref, unsigned strand, unsigned reg,
              enum tally_pmu_level level, uint64_t *value)
{
    const struct twin *t = ref;
    const struct strand *s = &t->strand[strand];
    const int trap = refused(s, reg, level);

    if (trap != 0)
        return trap;
    if (reg >= DRAM)
        *value = read_dram(&t->controller[(reg - DRAM) / 3], (reg - DRAM) % 3);
    else if (reg >= PIC0)
        *value = s->counter[reg - PIC0].pic;
    else
        *value = read_pcr(&s->counter[reg]);
    return 0;
}

/* T4-R33: a precise trap is lost in hyperprivileged mode. */
static int
set_state(void *ref, unsigned strand, enum tally_pmu_state state,
          uint64_t value)
{
    struct twin *t = ref;
    struct strand *s = &t->strand[strand];

    if (state == TALLY_PMU_HALTED && value < 2) {
        s->halted = value == 1;
        return 0;
    }
    if (state != TALLY_PMU_LEVEL || value > 2)
        return TALLY_ERANGE;
    s->level = (enum tally_pmu_level)value;
    for (unsigned i = 0; i < COUNTERS; i++) {
        if (s->level == TALLY_PMU_HYPERPRIVILEGED)
            s->counter[i].precise_trap = false;
    }
    return 0;
}

/* T4-R31, T4-R36: while toe and ov are 1, whatever else is. */
static bool
disrupts(const struct counter *c)
{
    return c->toe && c->ov && !table[c->sl].precise;
}

/* Bits of the counters that wait for the trap. */
static uint32_t
waiting(const struct strand *s, enum tally_pmu_trap trap)
{
    uint32_t counters = 0;

    for (unsigned i = 0; i < COUNTERS; i++) {
        const struct counter *const c = &s->counter[i];
        if (trap == TALLY_PMU_PRECISE_EVENT ? c->precise_trap : disrupts(c))
            counters += 1u << i;
    }
    return counters;
}

static uint32_t
pending(const void *ref, unsigned strand)
{
    const struct twin *t = ref;
    const struct strand *s = &t->strand[strand];
    uint32_t traps = 0;

    if (waiting(s, TALLY_PMU_PRECISE_EVENT) != 0)
        traps |= TALLY_PMU_PRECISE_EVENT;
    if (waiting(s, TALLY_PMU_DISRUPTING_EVENT) != 0)
        traps |= TALLY_PMU_DISRUPTING_EVENT;
    return traps;
}

static int
take(void *ref, unsigned strand, enum tally_pmu_trap trap,
     struct tally_pmu_taken *taken)
{
    struct twin *t = ref;
    struct strand *s = &t->strand[strand];

    if (trap != TALLY_PMU_PRECISE_EVENT && trap != TALLY_PMU_DISRUPTING_EVENT)
        return TALLY_ERULE;
    const uint32_t counters = waiting(s, trap);
    if (counters == 0)
        return TALLY_ERULE;
    *taken = trap == TALLY_PMU_PRECISE_EVENT ? s->precise : s->disrupting;
    taken->counters = counters;
    for (unsigned i = 0; i < COUNTERS; i++) {
        if (trap == TALLY_PMU_PRECISE_EVENT)
            s->counter[i].precise_trap = false;
    }
    return 0;
}

/* T4-R10, T4-R12, T4-R32 to T4-R35. */
static void
overflow(struct strand *s, struct counter *c,
         const struct tally_pmu_context *context)
{
    const bool next = (context->flags & TALLY_PMU_NEXT_TO_COMMIT) != 0;
    struct tally_pmu_taken place = {.pc = context->pc, .npc = context->npc};

    if (!table[c->sl].precise) {
        if (waiting(s, TALLY_PMU_DISRUPTING_EVENT) == 0)
            s->disrupting = place;
    } else if (c->toe && !c->ht && s->level != TALLY_PMU_HYPERPRIVILEGED) {
        place.executed = next;
        if (waiting(s, TALLY_PMU_PRECISE_EVENT) == 0)
            s->precise = place;
        c->precise_trap = true;
    }
    c->ov = true;
    if (next)
        c->ntc = true;
}

/* T4-R07 */
static bool
mode_counts(const struct strand *s, const struct counter *c)
{
    return (s->level == TALLY_PMU_USER && c->ut) ||
           (s->level == TALLY_PMU_PRIVILEGED && c->st) ||
           (s->level == TALLY_PMU_HYPERPRIVILEGED && c->ht);
}

/* T4-R40, T4-R63: several lines of the mask are one event. */
static bool
chosen(const struct counter *c, unsigned group, unsigned lines)
{
    if (group != c->sl)
        return false;
    return group == SL_CYCLES || (lines & c->mask & table[group].mask) != 0;
}

static unsigned
running(const struct twin *t)
{
    unsigned count = 0;

    for (unsigned i = 0; i < t->strands; i++)
        count += t->strand[i].halted ? 0 : 1;
    return count;
}

/* What is up when these are: T4-R41, T4-R50, T4-R53, T4-R58, T4-R59, T4-R62. */
static unsigned
lines_up(const struct twin *t, unsigned group, unsigned lines)
{
    if (group == 1 && (lines & 0x01) != 0)
        lines |= 0x02; /* draining is waiting */
    if ((group == 4 || group == 7) && (lines & 0x02) != 0)
        lines |= 0x01; /* a taken branch; a microtag miss with a ptag hit */
    if (group == 18 && running(t) == 1)
        lines &= ~0x04u;
    if (group == 19 && (lines & 0x03) != 0)
        lines &= ~0x0cu;
    if (group == 25 && (lines & 0x08) != 0)
        lines |= 0x02;
    return lines;
}

/* One occurrence, as one strand sees it. */
static void
occur(struct strand *s, unsigned group, unsigned lines,
      const struct tally_pmu_context *context)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        struct counter *const c = &s->counter[i];
        if (!mode_counts(s, c) || !chosen(c, group, lines))
            continue;
        c->pic++;
        if (c->pic == 0)
            overflow(s, c, context);
    }
}

/* T4-R54: the other strands see the lines that cross, and not whose they are.
 */
static void
occur_everywhere(struct twin *t, unsigned strand, unsigned group,
                 unsigned lines, const struct tally_pmu_context *context)
{
    static const struct tally_pmu_context unknown = {.cycles = 1};

    lines = lines_up(t, group, lines);
    for (unsigned i = 0; i < t->strands; i++) {
        if (i == strand)
            occur(&t->strand[i], group, lines, context);
        else if ((lines & table[group].crossing) != 0)
            occur(&t->strand[i], group, lines & table[group].crossing,
                  &unknown);
    }
}

/* T4-R71, T4-R74 to T4-R80. */
static void
occur_in_dram(struct controller *m, unsigned code, unsigned ports)
{
    for (unsigned i = 0; i < 4; i++) {
        const bool own = code < 8;
        if (m->select[i] != code || code > 0xc ||
            (own && (ports >> i & 1) == 0))
            continue;
        if (m->count[i] == 0x7fffffff)
            m->sticky[i] = true;
        m->count[i] = (m->count[i] + 1) % 0x80000000;
    }
}

static void
signal_rises(void *ref, unsigned strand, uint32_t signal, uint64_t n,
             const struct tally_pmu_context *context)
{
    struct twin *t = ref;
    const unsigned unit = signal >> 24, instance = signal >> 16 & 0xff;
    const unsigned group = signal >> 8 & 0xff, lines = signal & 0xff;

    for (uint64_t once = 0; once < n * context->cycles; once++) {
        if (unit == TALLY_PMU_CPU)
            occur_everywhere(t, strand, group, lines, context);
        else if (unit == TALLY_PMU_DRAM && instance < CONTROLLERS)
            occur_in_dram(&t->controller[instance], group, lines);
    }
}

/* A count close to where something happens, or any. */
static uint64_t
draw_count(uint64_t *random, uint64_t edge)
{
    if (random_below(random, 4) == 0)
        return random_next(random);
    return edge - random_below(random, 40);
}

/* Often modes that count, groups that are there, no overflow yet. */
static uint64_t
draw_pcr(uint64_t *random)
{
    static const unsigned groups[] = {1,  3,  3,  4,  5,  7,  8,  9,
                                      11, 16, 18, 18, 19, 20, 24, 25,
                                      26, 28, 0,  2,  12, 27, 31};
    uint64_t value = random_next(random);

    if (random_below(random, 2) == 0)
        value &= ~UINT64_C(0x40001);
    if (random_below(random, 4) != 0)
        value &= ~UINT64_C(0x30000);
    if (random_below(random, 4) != 0) {
        value &= ~UINT64_C(0xf800);
        value |= (uint64_t)groups[random_below(random, 23)] << 11;
    }
    return random_below(random, 4) == 0 ? value : value | 0xc;
}

static uint64_t
draw_value(uint64_t *random, unsigned reg)
{
    if (reg < PIC0)
        return draw_pcr(random);
    if (reg < DRAM)
        return draw_count(random, UINT64_C(0x100000000));
    if ((reg - DRAM) % 3 != 0)
        return (draw_count(random, UINT64_C(0x80000000)) << 32) +
               (draw_count(random, UINT64_C(0x80000000)) & 0xffffffff);
    /* Several counters at the same code, more often than by chance. */
    return random_below(random, 2) == 0 ? random_next(random)
                                        : random_below(random, 16) * 0x1111;
}

/* Mostly one that a counter has chosen. */
static void
draw_signal(const struct twin *t, uint64_t *random, struct pmu_step *step)
{
    const unsigned unit = random_below(random, 5) == 0 ? TALLY_PMU_DRAM : 0;
    const unsigned any = (unsigned)random_below(random, COUNTERS);
    const bool chance = random_below(random, 4) == 0;
    unsigned group = t->strand[step->strand].counter[any].sl;
    unsigned lines = (unsigned)random_below(random, 256);

    if (random_below(random, 8) == 0) /* of another strand's */
        group = t->strand[random_below(random, STRANDS)].counter[any].sl;
    if (random_below(random, 2) == 0)
        lines = 1u << random_below(random, 6);
    if (unit == TALLY_PMU_DRAM)
        group = t->controller[any].select[random_below(random, 4)];
    if (unit == TALLY_PMU_DRAM && lines == 0)
        lines = 1;
    if (chance)
        group = (unsigned)random_below(random, 256);
    step->signal = TALLY_PMU_SIGNAL(unit, any, group, lines);
    if (unit != TALLY_PMU_DRAM)
        step->signal &= 0xffff;
    step->n = random_below(random, 24);
    step->context.pc = random_next(random);
    step->context.npc = step->context.pc + 4;
    if (random_below(random, 4) == 0)
        step->context.flags = TALLY_PMU_NEXT_TO_COMMIT;
    if (random_below(random, 8) == 0)
        step->context.cycles = (uint32_t)random_below(random, 8) + 1;
}

static void
draw_state(uint64_t *random, struct pmu_step *step)
{
    static const enum tally_pmu_state states[] = {
        TALLY_PMU_LEVEL, TALLY_PMU_LEVEL,  TALLY_PMU_LEVEL,
        TALLY_PMU_LEVEL, TALLY_PMU_HALTED, TALLY_PMU_EXL};

    step->state = states[random_below(random, 6)];
    step->value = random_below(random, 4);
    if (step->state == TALLY_PMU_LEVEL && random_below(random, 2) == 0)
        step->value &= 1;
}

static void
draw(const void *ref, uint64_t *random, struct pmu_step *step)
{
    static const enum pmu_step_kind kinds[] = {
        PMU_STEP_WRITE,  PMU_STEP_WRITE,  PMU_STEP_READ,
        PMU_STEP_STATE,  PMU_STEP_TAKE,   PMU_STEP_SIGNAL,
        PMU_STEP_SIGNAL, PMU_STEP_SIGNAL, PMU_STEP_SIGNAL};
    static const enum tally_pmu_trap traps[] = {
        TALLY_PMU_PRECISE_EVENT, TALLY_PMU_DISRUPTING_EVENT,
        TALLY_PMU_PRECISE_EVENT, TALLY_PMU_PIC_OVERFLOW};

    step->kind = kinds[random_below(random, 9)];
    step->strand = (unsigned)random_below(random, STRANDS);
    step->level = random_below(random, 2) == 0
                      ? TALLY_PMU_HYPERPRIVILEGED
                      : (enum tally_pmu_level)random_below(random, 3);
    step->reg = (unsigned)random_below(
        random, random_below(random, 3) == 0 ? REGISTERS : DRAM);
    step->trap = traps[random_below(random, 4)];
    if (step->kind == PMU_STEP_SIGNAL)
        draw_signal(ref, random, step);
    else if (step->kind == PMU_STEP_STATE)
        draw_state(random, step);
    else if (step->kind == PMU_STEP_WRITE)
        step->value = draw_value(random, step->reg);
}

#define DRAM_REGISTERS(n)                               \
    "DRAM_PERF_CTL_REG" #n, "DRAM_PERF_COUNT01_REG" #n, \
        "DRAM_PERF_COUNT23_REG" #n

const struct pmu_ref pmu_ref_t4 = {
    .machines = (const char *const[]){"sparc-t4", NULL},
    .registers =
        (const char *const[]){"PCR0", "PCR1", "PCR2", "PCR3", "PIC0", "PIC1",
                              "PIC2", "PIC3", DRAM_REGISTERS(0),
                              DRAM_REGISTERS(1), DRAM_REGISTERS(2),
                              DRAM_REGISTERS(3), NULL},
    .size = sizeof(struct twin),
    .strands = STRANDS,
    .create = create,
    .read = read_register,
    .write = write_register,
    .set_state = set_state,
    .signal = signal_rises,
    .pending = pending,
    .take = take,
    .draw = draw,
};
