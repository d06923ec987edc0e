/* SPDX-License-Identifier: MIT */
/*
 * Montecito's generic counters of one core as section 3.3.1 to 3.3.4 and 4.2.1
 * describe them: two threads, every field by itself, a counter of 47 bits that
 * ripples, cycle after cycle. Some events of each kind stand for all; none of a
 * restricted set, and no filter but MESI.
 */
#include <string.h>

#include "ref/pmu_ref.h"

#define COUNTERS 12
#define DUPLICATED 6 /* the others are banked */
#define BITS 47
#define FIRST 4 /* PMC4 and PMD4 are counter 0's */

struct counter {
    bool level[4]; /* plm */
    bool ev, oi, pm;
    unsigned event, umask, threshold, ism;
    bool all;
    bool mesi[4];
    bool bit[BITS];
};

struct thread {
    struct counter counter[COUNTERS];
    bool overflow[COUNTERS], frozen;
    unsigned cpl;
    bool up, pp, sp, is, i, ic, active;
    bool dcr_pp;
    unsigned vector, class;  /* PMV.vector, TPR.mic */
    bool masked, all_masked; /* PMV.m, TPR.mmi */
    bool interrupt, notification;
    uint64_t pc, npc;
};

struct twin {
    struct thread thread[2];
};

/* Whose an event is (4.2.1): of its thread while it is active, of its thread
 * in the background too, of the active thread; SELF: of its thread with unit
 * mask xx10, of the active thread with the others. */
enum owner { ACTIVE, FLOATING, CAUSAL, SELF };

enum umask { ANY, LOW_1, LOW_2, LOW_2_NOT_3, LOW_2_NOT_0, EACH_BIT };

static const struct event {
    unsigned code;
    enum umask umask;
    enum owner owner;
    bool mesi, few; /* few: PMD4 to 9 only */
} events[] = {
    {0x00, LOW_2_NOT_3, ACTIVE, false, false}, /* BACK_END_BUBBLE */
    {0x12, LOW_1, CAUSAL, false, false},       /* CPU_OP_CYCLES */
    {0x13, EACH_BIT, ACTIVE, false, false},    /* CPU_CPL_CHANGES */
    {0x4e, EACH_BIT, ACTIVE, false, false},    /* SYLL_NOT_DISPERSED */
    {0x90, LOW_2, SELF, false, true},          /* BUS_IO */
    {0xcb, ANY, FLOATING, false, false},       /* L2D_MISSES */
    {0xda, ANY, FLOATING, true, false},        /* L3_INSERTS */
    {0xdc, ANY, FLOATING, false, false},       /* L3_MISSES */
    {0xdd, LOW_2_NOT_0, FLOATING, true, false} /* L3_READS */
};
#define EVENTS (sizeof(events) / sizeof(events[0]))

static const char *const machines[] = {"montecito", NULL};

enum {
    PMC0,
    PMC4 = 4,
    PMD4 = 16,
    PMV = 28,
    TPR,
    DCR,
    REGISTERS,
};

static const char *const registers[] = {
    "PMC0",  "PMC1",  "PMC2",  "PMC3",  "PMC4",  "PMC5",  "PMC6",  "PMC7",
    "PMC8",  "PMC9",  "PMC10", "PMC11", "PMC12", "PMC13", "PMC14", "PMC15",
    "PMD4",  "PMD5",  "PMD6",  "PMD7",  "PMD8",  "PMD9",  "PMD10", "PMD11",
    "PMD12", "PMD13", "PMD14", "PMD15", "PMV",   "TPR",   "DCR",   NULL};

static void
create(void *ref, const char *machine, unsigned strands)
{
    struct twin *t = ref;

    (void)machine;
    (void)strands;
    for (unsigned s = 0; s < 2; s++)
        t->thread[s].masked = true;
    t->thread[0].active = true;
}

static bool
bit(uint64_t value, unsigned n)
{
    return (value >> n & 1) != 0;
}

static unsigned
field(uint64_t value, unsigned low, unsigned width)
{
    unsigned field = 0;

    for (unsigned n = 0; n < width; n++) {
        if (bit(value, low + n))
            field += 1u << n;
    }
    return field;
}

static void
write_control(struct counter *c, uint64_t value)
{
    for (unsigned n = 0; n < 4; n++) {
        c->level[n] = bit(value, n);
        c->mesi[n] = bit(value, 27 + n);
    }
    c->ev = bit(value, 4);
    c->oi = bit(value, 5);
    c->pm = bit(value, 6);
    c->event = field(value, 8, 8);
    c->umask = field(value, 16, 4);
    c->threshold = field(value, 20, 3);
    c->ism = field(value, 24, 2);
    c->all = bit(value, 26);
}

static uint64_t
read_control(const struct counter *c)
{
    uint64_t value = 0;

    for (unsigned n = 0; n < 4; n++) {
        value |= (uint64_t)c->level[n] << n;
        value |= (uint64_t)c->mesi[n] << (27 + n);
    }
    return value | (uint64_t)c->ev << 4 | (uint64_t)c->oi << 5 |
           (uint64_t)c->pm << 6 | (uint64_t)c->event << 8 |
           (uint64_t)c->umask << 16 | (uint64_t)c->threshold << 20 |
           (uint64_t)c->ism << 24 | (uint64_t)c->all << 26;
}

/* ov and sxt47 both read as the count's highest bit. */
static uint64_t
read_count(const struct counter *c)
{
    uint64_t value = 0;

    for (unsigned n = 0; n < 64; n++)
        value |= (uint64_t)c->bit[n < BITS ? n : BITS - 1] << n;
    return value;
}

static uint64_t
read_status(const struct thread *t)
{
    uint64_t value = t->frozen;

    for (unsigned i = 0; i < COUNTERS; i++)
        value |= (uint64_t)t->overflow[i] << (FIRST + i);
    return value;
}

static uint64_t
value_of(const struct thread *t, unsigned reg)
{
    if (reg == PMC0)
        return read_status(t);
    if (reg < PMC4)
        return 0;
    if (reg < PMD4)
        return read_control(&t->counter[reg - PMC4]);
    if (reg < PMV)
        return read_count(&t->counter[reg - PMD4]);
    if (reg == PMV)
        return t->vector + (t->masked ? 0x10000u : 0);
    if (reg == TPR)
        return t->class * 16u + (t->all_masked ? 0x10000u : 0);
    return t->dcr_pp;
}

static int
read_register(const void *ref, unsigned strand, unsigned reg,
              enum tally_pmu_level level, uint64_t *value)
{
    const struct thread *t = &((const struct twin *)ref)->thread[strand];
    const bool data = reg >= PMD4 && reg < PMV;

    if (level == TALLY_PMU_USER) {
        if (!data)
            return TALLY_PMU_PRIVILEGED_OPERATION;
        if (t->sp || t->counter[reg - PMD4].pm) {
            *value = 0;
            return 0;
        }
    }
    *value = value_of(t, reg);
    return 0;
}

static int
write_register(void *ref, unsigned strand, unsigned reg,
               enum tally_pmu_level level, uint64_t value)
{
    struct thread *t = &((struct twin *)ref)->thread[strand];

    if (level == TALLY_PMU_USER)
        return TALLY_PMU_PRIVILEGED_OPERATION;
    if (reg == PMC0) {
        t->frozen = bit(value, 0);
        for (unsigned i = 0; i < COUNTERS; i++)
            t->overflow[i] = bit(value, FIRST + i);
    } else if (reg >= PMC4 && reg < PMD4) {
        write_control(&t->counter[reg - PMC4], value);
    } else if (reg >= PMD4 && reg < PMV) {
        for (unsigned n = 0; n < BITS; n++)
            t->counter[reg - PMD4].bit[n] = bit(value, n);
    } else if (reg == PMV) {
        t->vector = field(value, 0, 8);
        t->masked = bit(value, 16);
    } else if (reg == TPR) {
        t->class = field(value, 4, 4);
        t->all_masked = bit(value, 16);
    } else if (reg == DCR) {
        t->dcr_pp = bit(value, 0);
    }
    return 0;
}

static bool *
flag_of(struct thread *t, enum tally_pmu_state state)
{
    switch (state) {
    case TALLY_PMU_UP:
        return &t->up;
    case TALLY_PMU_PP:
        return &t->pp;
    case TALLY_PMU_SP:
        return &t->sp;
    case TALLY_PMU_IS:
        return &t->is;
    case TALLY_PMU_I:
        return &t->i;
    case TALLY_PMU_IC:
        return &t->ic;
    case TALLY_PMU_ACTIVE:
        return &t->active;
    default:
        return NULL;
    }
}

static int
set_state(void *ref, unsigned strand, enum tally_pmu_state state,
          uint64_t value)
{
    struct twin *twin = ref;
    struct thread *t = &twin->thread[strand];
    bool *const flag = flag_of(t, state);

    if (state == TALLY_PMU_LEVEL && value <= TALLY_PMU_HYPERPRIVILEGED) {
        t->cpl = value == TALLY_PMU_USER ? 3 : 0;
        return 0;
    }
    if (state == TALLY_PMU_CPL && value <= 3) {
        t->cpl = (unsigned)value;
        return 0;
    }
    if (flag == NULL || value > 1)
        return TALLY_ERANGE;
    *flag = value == 1;
    /* One of the two owns the core. */
    if (state == TALLY_PMU_ACTIVE)
        twin->thread[1 - strand].active = value == 0;
    return 0;
}

static const struct event *
event_of(unsigned code)
{
    for (unsigned i = 0; i < EVENTS; i++) {
        if (events[i].code == code)
            return &events[i];
    }
    return NULL;
}

/* Whether the unit mask takes an occurrence that is written with `lines`. */
static bool
umask_takes(const struct event *e, unsigned umask, unsigned lines)
{
    switch (e->umask) {
    case ANY:
        return lines == 0;
    case LOW_1:
        return lines == umask % 2;
    case LOW_2:
        return lines == umask % 4;
    case LOW_2_NOT_3:
        return umask % 4 != 3 && lines == umask % 4;
    case LOW_2_NOT_0:
        return umask % 4 != 0 && lines == umask;
    default:
        for (unsigned n = 0; n < 4; n++) {
            if (bit(umask, n) && bit(lines, n))
                return true;
        }
        return false;
    }
}

/* The monitor enable equation, for PMC4 to 15. */
static bool
enabled(const struct thread *t, const struct counter *c)
{
    return !t->frozen && c->level[t->cpl] && c->ism == 2 &&
           ((!c->pm && t->up) || (c->pm && t->pp));
}

static bool
mesi_takes(const struct counter *c, unsigned mesi)
{
    for (unsigned n = 0; n < 4; n++) {
        if (c->mesi[n] && bit(mesi, n))
            return true;
    }
    return false;
}

/* Whether counter i of a thread counts an occurrence that is of the thread
 * itself (`own`), or of the other. */
static bool
counts(const struct thread *t, unsigned i, bool own, const struct event *e,
       unsigned lines, const struct tally_pmu_context *context)
{
    const struct counter *c = &t->counter[i];

    if (c->event != e->code || !enabled(t, c) ||
        !umask_takes(e, c->umask, lines))
        return false;
    if (e->mesi && !mesi_takes(c, context->mesi))
        return false;
    if (i < DUPLICATED)
        return own || c->all;
    return own && t->active && !e->few;
}

/* One more; whether it carries out of the highest bit. */
static bool
increment(struct counter *c)
{
    for (unsigned n = 0; n < BITS; n++) {
        c->bit[n] = !c->bit[n];
        if (c->bit[n])
            return false;
    }
    return true;
}

/* A value of n in one cycle. */
static bool
add(struct counter *c, uint64_t n)
{
    bool carry = false;

    if (c->threshold > 0)
        n = n > c->threshold ? 1 : 0;
    for (; n > 0; n--)
        carry |= increment(c);
    return carry;
}

static void
one_cycle(struct thread *t, bool own, const struct event *e, unsigned lines,
          uint64_t n, const struct tally_pmu_context *context)
{
    bool freeze = false;

    for (unsigned i = 0; i < COUNTERS; i++) {
        if (!counts(t, i, own, e, lines, context) || !add(&t->counter[i], n))
            continue;
        t->overflow[i] = true;
        t->notification |= t->counter[i].ev;
        freeze |= t->counter[i].oi;
        t->pc = context->pc;
        t->npc = context->npc;
    }
    t->interrupt |= freeze;
    t->frozen |= freeze;
}

static bool
is_causal(const struct event *e, unsigned lines)
{
    return e->owner == CAUSAL || (e->owner == SELF && lines != 2);
}

static void
signal_rises(void *ref, unsigned strand, uint32_t signal, uint64_t n,
             const struct tally_pmu_context *context)
{
    struct twin *t = ref;
    const struct event *e = event_of(signal >> 8 & 0xff);
    const unsigned lines = signal & 0xff;

    if (e == NULL)
        return;
    if (is_causal(e, lines) && !t->thread[strand].active)
        strand = 1 - strand;
    for (uint32_t cycle = 0; cycle < context->cycles; cycle++) {
        one_cycle(&t->thread[strand], true, e, lines, n, context);
        one_cycle(&t->thread[1 - strand], false, e, lines, n, context);
    }
}

static uint32_t
pending(const void *ref, unsigned strand)
{
    const struct thread *t = &((const struct twin *)ref)->thread[strand];

    return (t->interrupt ? TALLY_PMU_MONITOR_INTERRUPT : 0u) |
           (t->notification ? TALLY_PMU_NOTIFICATION : 0u);
}

/* Section 3.3.11, and what an interruption makes of PSR. */
static int
take_interrupt(struct thread *t)
{
    if (!t->interrupt || t->masked || t->vector < 16 || !t->i || !t->ic ||
        t->all_masked || t->class >= t->vector / 16)
        return TALLY_ERULE;
    t->interrupt = false;
    t->cpl = 0;
    t->i = t->ic = t->sp = t->is = false;
    t->pp = t->dcr_pp;
    return 0;
}

static int
take(void *ref, unsigned strand, enum tally_pmu_trap trap,
     struct tally_pmu_taken *taken)
{
    struct thread *t = &((struct twin *)ref)->thread[strand];
    int error = TALLY_ERULE;

    if (trap == TALLY_PMU_MONITOR_INTERRUPT) {
        error = take_interrupt(t);
    } else if (trap == TALLY_PMU_NOTIFICATION && t->notification) {
        t->notification = false;
        error = 0;
    }
    if (error == 0)
        *taken = (struct tally_pmu_taken){
            .pc = t->pc,
            .npc = t->npc,
            .counters = (uint32_t)read_status(t) & 0xfff0,
        };
    return error;
}

static bool
chance(uint64_t *random, unsigned of)
{
    return random_below(random, of) == 0;
}

/* A control register that counts more often than not. */
static uint64_t
draw_control(uint64_t *random)
{
    const uint64_t event = events[random_below(random, EVENTS)].code;
    uint64_t value = random_next(random) & ~UINT64_C(0x0370ff0f);

    if (chance(random, 16))
        return random_next(random);
    value |= chance(random, 4) ? random_below(random, 16) : 15;
    value |= chance(random, 2) ? random_below(random, 8) << 20 : 0;
    value |= chance(random, 16) ? random_below(random, 4) << 24 : 2u << 24;
    return value | event << 8;
}

static uint64_t
draw_count(uint64_t *random)
{
    const uint64_t end = UINT64_C(1) << BITS;

    if (chance(random, 8))
        return random_next(random);
    return end * random_below(random, 2) - random_below(random, 48) +
           (chance(random, 2) ? 0 : end / 2);
}

static void
draw_write(uint64_t *random, struct pmu_step *step)
{
    const uint64_t kind = random_below(random, 16);

    step->kind = PMU_STEP_WRITE;
    if (kind < 5) {
        step->reg = PMC4 + (unsigned)random_below(random, COUNTERS);
        step->value = draw_control(random);
    } else if (kind < 10) {
        step->reg = PMD4 + (unsigned)random_below(random, COUNTERS);
        step->value = draw_count(random);
    } else if (kind < 13) {
        step->reg = PMC0;
        step->value = chance(random, 4) ? random_next(random) : 0;
    } else if (kind == 13) {
        step->reg = PMV;
        step->value = random_next(random) & 0x100ff;
    } else if (kind == 14) {
        step->reg = TPR;
        step->value = random_next(random) & 0x100ff &
                      (chance(random, 2) ? ~UINT64_C(0) : 0x5f);
    } else {
        step->reg =
            chance(random, 2) ? DCR : 1 + (unsigned)random_below(random, 3);
        step->value =
            random_next(random) & (step->reg == DCR ? 1 : ~UINT64_C(0));
    }
}

static unsigned
draw_lines(uint64_t *random, const struct event *e)
{
    const unsigned lines = (unsigned)random_below(random, 16);

    switch (e->umask) {
    case ANY:
        return 0;
    case LOW_1:
        return lines % 2;
    case LOW_2:
        return lines % 4;
    case LOW_2_NOT_3:
        return lines % 3;
    case LOW_2_NOT_0:
        return lines - lines % 4 + 1 + lines % 3;
    default:
        return lines;
    }
}

/* Mostly a signal that some counter of the core is programmed for. */
static void
draw_signal(const struct twin *t, uint64_t *random, struct pmu_step *step)
{
    const struct thread *some = &t->thread[random_below(random, 2)];
    const struct counter *c = &some->counter[random_below(random, COUNTERS)];
    const struct event *e = event_of(c->event);

    if (e == NULL || chance(random, 4))
        e = &events[random_below(random, EVENTS)];
    if (e->owner == ACTIVE)
        step->strand = t->thread[0].active ? 0 : 1;
    step->kind = PMU_STEP_SIGNAL;
    const unsigned lines = e->umask == EACH_BIT || chance(random, 2)
                               ? draw_lines(random, e)
                               : c->umask & (e->umask == ANY           ? 0
                                             : e->umask == LOW_1       ? 1
                                             : e->umask == LOW_2_NOT_0 ? 15
                                                                       : 3);
    step->signal = TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, e->code, lines);
    step->n = random_below(random, 10);
    if (chance(random, 4))
        step->context.cycles = 1 + (uint32_t)random_below(random, 24);
    step->context.mesi = (uint8_t)(1 + random_below(random, 15));
    step->context.pc = random_next(random);
    step->context.npc = random_next(random);
}

static void
draw_state(uint64_t *random, struct pmu_step *step)
{
    static const enum tally_pmu_state states[] = {
        TALLY_PMU_LEVEL, TALLY_PMU_CPL, TALLY_PMU_UP,
        TALLY_PMU_PP,    TALLY_PMU_SP,  TALLY_PMU_IS,
        TALLY_PMU_I,     TALLY_PMU_IC,  TALLY_PMU_ACTIVE};
    const size_t count = sizeof(states) / sizeof(states[0]);

    step->kind = PMU_STEP_STATE;
    step->state = states[random_below(random, count)];
    if (chance(random, 32))
        step->state =
            TALLY_PMU_KSU + (enum tally_pmu_state)random_below(random, 3);
    step->value = chance(random, 4) ? random_below(random, 5) : 1;
    if (step->state == TALLY_PMU_LEVEL || step->state == TALLY_PMU_CPL)
        step->value = random_below(random, 5);
}

static void
draw(const void *ref, uint64_t *random, struct pmu_step *step)
{
    const uint64_t kind = random_below(random, 32);

    step->strand = (unsigned)random_below(random, 2);
    step->level = chance(random, 8)
                      ? TALLY_PMU_USER
                      : (enum tally_pmu_level)random_below(random, 3);
    if (kind < 10) {
        draw_write(random, step);
    } else if (kind < 24) {
        draw_signal(ref, random, step);
    } else if (kind < 28) {
        draw_state(random, step);
    } else if (kind < 30) {
        step->kind = PMU_STEP_READ;
        step->reg = (unsigned)random_below(random, REGISTERS);
    } else {
        step->kind = PMU_STEP_TAKE;
        step->trap = chance(random, 4)   ? TALLY_PMU_NOTIFICATION
                     : chance(random, 8) ? TALLY_PMU_PIC_OVERFLOW
                                         : TALLY_PMU_MONITOR_INTERRUPT;
    }
}

const struct pmu_ref pmu_ref_montecito = {
    .machines = machines,
    .registers = registers,
    .size = sizeof(struct twin),
    .strands = 2,
    .create = create,
    .read = read_register,
    .write = write_register,
    .set_state = set_state,
    .signal = signal_rises,
    .pending = pending,
    .take = take,
    .draw = draw,
};
