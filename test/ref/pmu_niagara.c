/* SPDX-License-Identifier: MIT */
/*
 * PCR and PIC of UltraSPARC T1, T2 and T2 Plus, as facts.md 1 and 2 have them
 * and src/pmu/niagara.c says that it takes them: every field by itself, one
 * increment at a time.
 */
#include <string.h>

#include "ref/pmu_ref.h"

enum { STRANDS = 3, PCR = 0, PIC = 1 };

struct counter {
    unsigned sl, mask;
    bool toe, ov; /* T1: ov only */
    uint32_t count;
};

struct strand {
    bool priv, st, ut, ht;
    struct counter counter[2];
    enum tally_pmu_level level;
    uint64_t pc, npc;
};

struct twin {
    bool t1;
    struct strand strand[STRANDS];
};

static void
create(void *ref, const char *machine, unsigned strands)
{
    struct twin *t = ref;

    t->t1 = strcmp(machine, "ultrasparc-t1") == 0;
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

static void
write_pcr1(struct strand *s, uint64_t value)
{
    s->priv = field(value, 0, 1);
    s->st = field(value, 1, 1);
    s->ut = field(value, 2, 1);
    s->counter[0].sl = field(value, 4, 3);
    s->counter[0].ov = field(value, 8, 1);
    s->counter[1].ov = field(value, 9, 1);
}

static void
write_pcr2(struct strand *s, enum tally_pmu_level level, uint64_t value)
{
    s->priv = field(value, 0, 1);
    s->st = field(value, 1, 1);
    s->ut = field(value, 2, 1);
    if (level == TALLY_PMU_HYPERPRIVILEGED)
        s->ht = field(value, 3, 1);
    s->counter[0].toe = field(value, 4, 1);
    s->counter[1].toe = field(value, 5, 1);
    s->counter[0].mask = field(value, 6, 8);
    s->counter[0].sl = field(value, 14, 4);
    if (!field(value, 62, 1))
        s->counter[0].ov = field(value, 18, 1);
    s->counter[1].mask = field(value, 19, 8);
    s->counter[1].sl = field(value, 27, 4);
    if (!field(value, 63, 1))
        s->counter[1].ov = field(value, 31, 1);
}

/* `bit` if the flag is set. */
static uint64_t
when(bool flag, uint64_t bit)
{
    return flag ? bit : 0;
}

static uint64_t
read_pcr(const struct twin *t, const struct strand *s)
{
    const struct counter *const c = s->counter;
    const uint64_t modes =
        when(s->priv, 1) + when(s->st, 2) + when(s->ut, 4) + when(s->ht, 8);

    if (t->t1)
        return modes + c[0].sl * 0x10u + when(c[0].ov, 0x100) +
               when(c[1].ov, 0x200);
    return modes + when(c[0].toe, 0x10) + when(c[1].toe, 0x20) +
           c[0].mask * 0x40u + c[0].sl * 0x4000u + when(c[0].ov, 0x40000) +
           c[1].mask * 0x80000u + c[1].sl * 0x8000000u +
           when(c[1].ov, 0x80000000);
}

/* 0, or the trap of an access. */
static int
refused(const struct strand *s, unsigned reg, enum tally_pmu_level level)
{
    if (level != TALLY_PMU_USER)
        return 0;
    if (reg == PCR)
        return TALLY_PMU_PRIVILEGED_OPCODE;
    return s->priv ? TALLY_PMU_PRIVILEGED_ACTION : 0;
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
    if (reg == PIC) {
        s->counter[0].count = value % 0x100000000;
        s->counter[1].count = (uint32_t)(value / 0x100000000);
    } else if (t->t1)
        write_pcr1(s, value);
    else
        write_pcr2(s, level, value);
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
    *value = reg == PCR ? read_pcr(t, s)
                        : s->counter[1].count * UINT64_C(0x100000000) +
                              s->counter[0].count;
    return 0;
}

static int
set_state(void *ref, unsigned strand, enum tally_pmu_state state,
          uint64_t value)
{
    struct twin *t = ref;

    if (state != TALLY_PMU_LEVEL || value > 2)
        return TALLY_ERANGE;
    t->strand[strand].level = (enum tally_pmu_level)value;
    return 0;
}

/* T1 never counts the hypervisor: its ht is never set. */
static bool
mode_counts(const struct strand *s)
{
    return (s->level == TALLY_PMU_USER && s->ut) ||
           (s->level == TALLY_PMU_PRIVILEGED && s->st) ||
           (s->level == TALLY_PMU_HYPERPRIVILEGED && s->ht);
}

static bool
chosen1(const struct counter *c, unsigned number, unsigned group)
{
    return number == 1 ? group == 8 : group == c->sl;
}

/* The lines that T2 has in each group; sl 0 has one, and no mask for it. */
static bool
chosen2(const struct counter *c, unsigned group, unsigned lines)
{
    static const unsigned char has[16] = {
        [2] = 0xff, [3] = 0x33, [4] = 0x3c, [5] = 0x3f,
        [6] = 0x3f, [7] = 0x3f, [11] = 0x0c};

    if (group != c->sl)
        return false;
    return group == 0 || (lines & c->mask & has[group]) != 0;
}

/* Bits of the counters that ask for the trap. */
static uint32_t
asking(const struct twin *t, const struct strand *s)
{
    uint32_t counters = 0;

    for (unsigned i = 0; i < 2; i++) {
        if (s->counter[i].ov && (t->t1 || s->counter[i].toe))
            counters += 1u << i;
    }
    return counters;
}

/* One occurrence at one counter. With toe T2 asks for the trap early. */
static void
increment(const struct twin *t, struct strand *s, struct counter *c,
          const struct tally_pmu_context *context)
{
    const bool last = c->count == 0xffffffff;
    const bool early = !t->t1 && c->toe && c->count >= 0xfffffff0;

    c->count = last ? 0 : c->count + 1;
    if ((!last && !early) || c->ov)
        return;
    /* The address is that since which the trap pends. */
    if (asking(t, s) == 0) {
        s->pc = context->pc;
        s->npc = context->npc;
    }
    c->ov = true;
}

static void
signal_rises(void *ref, unsigned strand, uint32_t signal, uint64_t n,
             const struct tally_pmu_context *context)
{
    struct twin *t = ref;
    struct strand *s = &t->strand[strand];
    const unsigned group = signal >> 8 & 0xff, lines = signal & 0xff;

    if (!mode_counts(s))
        return;
    for (uint64_t once = 0; once < n * context->cycles; once++) {
        for (unsigned i = 0; i < 2; i++) {
            struct counter *const c = &s->counter[i];
            if (t->t1 ? chosen1(c, i, group) : chosen2(c, group, lines))
                increment(t, s, c, context);
        }
    }
}

static uint32_t
pending(const void *ref, unsigned strand)
{
    const struct twin *t = ref;

    return asking(t, &t->strand[strand]) != 0 ? TALLY_PMU_PIC_OVERFLOW : 0;
}

static int
take(void *ref, unsigned strand, enum tally_pmu_trap trap,
     struct tally_pmu_taken *taken)
{
    const struct twin *t = ref;
    const struct strand *s = &t->strand[strand];

    if (trap != TALLY_PMU_PIC_OVERFLOW || pending(ref, strand) == 0)
        return TALLY_ERULE;
    taken->pc = s->pc;
    taken->npc = s->npc;
    taken->counters = asking(t, s);
    taken->executed = 1;
    return 0;
}

/* A count close to where something happens, or any. */
static uint32_t
draw_count(uint64_t *random)
{
    static const uint64_t edges[] = {0, 0xfffffff0, 0x100000000};

    if (random_below(random, 4) == 0)
        return (uint32_t)random_next(random);
    return (uint32_t)(edges[random_below(random, 3)] -
                      random_below(random, 60));
}

/* Often modes that count, groups that are there, no overflow yet. */
static uint64_t
draw_pcr(const struct twin *t, uint64_t *random)
{
    static const unsigned groups[] = {0, 2, 2, 3, 4, 5, 6, 7, 11};
    uint64_t value = random_next(random);

    if (random_below(random, 2) == 0)
        value &= t->t1 ? ~UINT64_C(0x300) : ~UINT64_C(0x80040000);
    if (!t->t1 && random_below(random, 4) != 0) {
        value &= ~UINT64_C(0x7803c000);
        value |= (uint64_t)groups[random_below(random, 9)] << 14;
        value |= (uint64_t)groups[random_below(random, 9)] << 27;
    }
    return random_below(random, 4) == 0 ? value : value | 0xe;
}

/* Mostly an event that a counter has chosen. */
static void
draw_signal(const struct twin *t, uint64_t *random, struct pmu_step *step)
{
    const struct strand *s = &t->strand[step->strand];
    const unsigned i = (unsigned)random_below(random, 2);
    unsigned group = t->t1 && i == 1 ? 8 : s->counter[i].sl;

    if (random_below(random, 4) == 0)
        group = (unsigned)random_below(random, 256);
    step->signal =
        TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, group, random_next(random) & 0xff);
    step->n = random_below(random, 24);
    step->context.pc = random_next(random);
    step->context.npc = step->context.pc + 4;
    if (random_below(random, 8) == 0)
        step->context.cycles = (uint32_t)random_below(random, 8) + 1;
}

static void
draw(const void *ref, uint64_t *random, struct pmu_step *step)
{
    static const enum pmu_step_kind kinds[] = {
        PMU_STEP_WRITE,  PMU_STEP_READ,   PMU_STEP_STATE, PMU_STEP_TAKE,
        PMU_STEP_SIGNAL, PMU_STEP_SIGNAL, PMU_STEP_SIGNAL};
    const struct twin *t = ref;

    step->kind = kinds[random_below(random, 7)];
    step->strand = (unsigned)random_below(random, STRANDS);
    step->level = (enum tally_pmu_level)random_below(random, 3);
    step->reg = random_below(random, 2) == 0 ? PCR : PIC;
    step->state =
        random_below(random, 16) == 0 ? TALLY_PMU_EXL : TALLY_PMU_LEVEL;
    step->trap = random_below(random, 8) == 0 ? TALLY_PMU_COUNTER_INTERRUPT
                                              : TALLY_PMU_PIC_OVERFLOW;
    if (step->kind == PMU_STEP_SIGNAL)
        draw_signal(t, random, step);
    else if (step->kind == PMU_STEP_STATE)
        step->value = random_below(random, 4);
    else if (step->kind == PMU_STEP_WRITE && step->reg == PCR)
        step->value = draw_pcr(t, random);
    else if (step->kind == PMU_STEP_WRITE)
        step->value = (uint64_t)draw_count(random) << 32 | draw_count(random);
}

const struct pmu_ref pmu_ref_niagara = {
    .machines = (const char *const[]){"ultrasparc-t1", "ultrasparc-t2",
                                      "ultrasparc-t2plus", NULL},
    .registers = (const char *const[]){"PCR", "PIC", NULL},
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
