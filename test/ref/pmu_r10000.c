/* SPDX-License-Identifier: MIT */
/*
 * R10000 and R12000 as r10k_evcntrs(5) describes them: every field of a
 * control register by itself, one increment at a time.
 */
#include <string.h>

#include "ref/pmu_ref.h"

struct counter {
    unsigned event; /* as written: of R10000 4 bits, of R12000 5 */
    bool interrupt, user, supervisor, kernel, exception;
    uint32_t count;
};

struct twin {
    bool r12000;
    struct counter counter[2];
    unsigned ksu, exl, erl;
};

enum { USER = 2, SUPERVISOR = 1, KERNEL = 0 };

static void
create(void *ref, const char *machine, unsigned strands)
{
    struct twin *t = ref;

    (void)strands;
    t->r12000 = strcmp(machine, "r12000") == 0;
}

static bool
bit(uint64_t value, unsigned n)
{
    return (value >> n & 1) != 0;
}

static void
write_control(const struct twin *t, struct counter *c, uint64_t value)
{
    c->exception = bit(value, 0);
    c->kernel = bit(value, 1);
    c->supervisor = bit(value, 2);
    c->user = bit(value, 3);
    c->interrupt = bit(value, 4);
    c->event = 0;
    for (unsigned i = 0; i < (t->r12000 ? 5 : 4); i++) {
        if (bit(value, 5 + i))
            c->event += 1u << i;
    }
}

static uint64_t
read_control(const struct counter *c)
{
    return c->event * 32u + (c->interrupt ? 16 : 0) + (c->user ? 8 : 0) +
           (c->supervisor ? 4 : 0) + (c->kernel ? 2 : 0) +
           (c->exception ? 1 : 0);
}

static int
write_register(void *ref, unsigned strand, unsigned reg,
               enum tally_pmu_level level, uint64_t value)
{
    struct twin *t = ref;

    (void)strand;
    if (level == TALLY_PMU_USER)
        return TALLY_PMU_COPROCESSOR_UNUSABLE;
    if (reg < 2)
        write_control(t, &t->counter[reg], value);
    else
        t->counter[reg - 2].count = value % 0x100000000;
    return 0;
}

static int
read_register(const void *ref, unsigned strand, unsigned reg,
              enum tally_pmu_level level, uint64_t *value)
{
    const struct twin *t = ref;

    (void)strand;
    if (level == TALLY_PMU_USER)
        return TALLY_PMU_COPROCESSOR_UNUSABLE;
    *value =
        reg < 2 ? read_control(&t->counter[reg]) : t->counter[reg - 2].count;
    return 0;
}

static int
set_state(void *ref, unsigned strand, enum tally_pmu_state state,
          uint64_t value)
{
    struct twin *t = ref;

    (void)strand;
    if (state == TALLY_PMU_KSU && value < 3)
        t->ksu = (unsigned)value;
    else if (state == TALLY_PMU_EXL && value < 2)
        t->exl = (unsigned)value;
    else if (state == TALLY_PMU_ERL && value < 2)
        t->erl = (unsigned)value;
    else if (state == TALLY_PMU_LEVEL && value < 3) {
        t->ksu = value == TALLY_PMU_USER ? USER : KERNEL;
        t->exl = 0;
        t->erl = 0;
    } else
        return TALLY_ERANGE;
    return 0;
}

/* The table of the page's THE CONTROL REGISTERS. */
static bool
counts(const struct twin *t, const struct counter *c)
{
    if (c->user && t->ksu == USER && t->exl == 0 && t->erl == 0)
        return true;
    if (c->supervisor && t->ksu == SUPERVISOR && t->exl == 0 && t->erl == 0)
        return true;
    if (c->kernel && t->ksu == KERNEL && t->exl == 0 && t->erl == 0)
        return true;
    return c->exception && t->exl == 1 && t->erl == 0;
}

static void
signal_rises(void *ref, unsigned strand, uint32_t signal, uint64_t n,
             const struct tally_pmu_context *context)
{
    struct twin *t = ref;
    const unsigned event = signal >> 8 & 0xff;

    (void)strand;
    for (uint32_t cycle = 0; cycle < context->cycles; cycle++) {
        for (uint64_t once = 0; once < n; once++) {
            for (unsigned i = 0; i < 2; i++) {
                struct counter *const c = &t->counter[i];
                const unsigned base = i == 1 && !t->r12000 ? 16 : 0;
                if (counts(t, c) && base + c->event == event)
                    c->count++;
            }
        }
    }
}

static bool
interrupts(const struct counter *c)
{
    return c->interrupt && bit(c->count, 31);
}

static uint32_t
pending(const void *ref, unsigned strand)
{
    const struct twin *t = ref;

    (void)strand;
    return interrupts(&t->counter[0]) || interrupts(&t->counter[1])
               ? TALLY_PMU_COUNTER_INTERRUPT
               : 0;
}

static int
take(void *ref, unsigned strand, enum tally_pmu_trap trap,
     struct tally_pmu_taken *taken)
{
    const struct twin *t = ref;

    if (trap != TALLY_PMU_COUNTER_INTERRUPT || pending(ref, strand) == 0)
        return TALLY_ERULE;
    if (t->exl == 1 || t->erl == 1)
        return TALLY_ERULE;
    memset(taken, 0, sizeof(*taken));
    for (unsigned i = 0; i < 2; i++)
        taken->counters += interrupts(&t->counter[i]) ? 1u << i : 0;
    return 0;
}

/* A count close to where something happens, or any. */
static uint64_t
draw_count(uint64_t *random)
{
    static const uint64_t edges[] = {0, 0x80000000, 0x100000000};

    if (random_below(random, 4) == 0)
        return random_next(random);
    return edges[random_below(random, 3)] - random_below(random, 60);
}

static void
draw_write(const struct twin *t, uint64_t *random, struct pmu_step *step)
{
    step->reg = (unsigned)random_below(random, 4);
    step->value = step->reg >= 2 ? draw_count(random) : random_next(random);
    /* Both counters at the same event, more often than by chance. */
    if (step->reg < 2 && random_below(random, 2) == 0)
        step->value =
            t->counter[1 - step->reg].event << 5 | random_below(random, 32);
}

/* Mostly an event that a counter has chosen. */
static void
draw_signal(const struct twin *t, uint64_t *random, struct pmu_step *step)
{
    const unsigned i = (unsigned)random_below(random, 2);
    unsigned event = t->counter[i].event + (i == 1 && !t->r12000 ? 16 : 0);

    if (random_below(random, 4) == 0)
        event = (unsigned)random_below(random, 256);
    step->signal = TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, event, 1);
    step->n = random_below(random, 32);
    if (random_below(random, 8) == 0)
        step->context.cycles = (uint32_t)random_below(random, 8) + 1;
}

static void
draw_state(uint64_t *random, struct pmu_step *step)
{
    static const enum tally_pmu_state states[] = {
        TALLY_PMU_LEVEL, TALLY_PMU_KSU, TALLY_PMU_KSU,
        TALLY_PMU_EXL,   TALLY_PMU_ERL, TALLY_PMU_CPL};

    step->state = states[random_below(random, 6)];
    step->value = random_below(random, 4);
    if (step->state == TALLY_PMU_EXL || step->state == TALLY_PMU_ERL)
        step->value = random_below(random, 8) % 5 % 3;
}

static void
draw(const void *ref, uint64_t *random, struct pmu_step *step)
{
    static const enum pmu_step_kind kinds[] = {
        PMU_STEP_WRITE,  PMU_STEP_READ,   PMU_STEP_STATE, PMU_STEP_TAKE,
        PMU_STEP_SIGNAL, PMU_STEP_SIGNAL, PMU_STEP_SIGNAL};

    step->kind = kinds[random_below(random, 7)];
    step->level = (enum tally_pmu_level)random_below(random, 3);
    if (step->kind == PMU_STEP_WRITE)
        draw_write(ref, random, step);
    else if (step->kind == PMU_STEP_READ)
        step->reg = (unsigned)random_below(random, 4);
    else if (step->kind == PMU_STEP_SIGNAL)
        draw_signal(ref, random, step);
    else if (step->kind == PMU_STEP_STATE)
        draw_state(random, step);
    else
        step->trap = random_below(random, 8) == 0 ? TALLY_PMU_PIC_OVERFLOW
                                                  : TALLY_PMU_COUNTER_INTERRUPT;
}

const struct pmu_ref pmu_ref_r10000 = {
    .machines = (const char *const[]){"r10000", "r10000-rev2", "r12000", NULL},
    .registers = (const char *const[]){"CTRL0", "CTRL1", "CNT0", "CNT1", NULL},
    .size = sizeof(struct twin),
    .strands = 1,
    .create = create,
    .read = read_register,
    .write = write_register,
    .set_state = set_state,
    .signal = signal_rises,
    .pending = pending,
    .take = take,
    .draw = draw,
};
