/* SPDX-License-Identifier: MIT */
/*
 * The register models against their slow twins (ref/pmu_ref.h): random
 * register writes, signals, changes of state, traps and snapshots, done on
 * both. `pmu_ref [STEPS [FAMILY]]`: steps of a family, divided over its
 * machines. TAP, a test a machine; the first difference ends one and prints
 * the steps that led to it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ref/pmu_ref.h"

#define REGISTERS 64
#define HISTORY 12
#define STEPS_DEFAULT 1000000

struct pair {
    const struct pmu_ref *ref;
    const char *machine;
    struct tally_pmu *model, *kept_model;
    void *twin, *kept_twin;
    bool kept;
    unsigned strands, registers;
    unsigned ids[REGISTERS]; /* the model's */
    uint64_t seed, random, steps;
    struct pmu_step history[HISTORY];
};

static struct tally_pmu *
make_model(const struct pmu_ref *ref, const char *machine)
{
    struct tally_pmu_options options;
    struct tally_pmu *pmu = NULL;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = machine;
    options.strands = ref->strands;
    const size_t size = tally_pmu_size(&options);
    void *memory = size > 0 ? aligned_alloc(16, size) : NULL;
    if (memory == NULL || tally_pmu_init(memory, size, &options, &pmu) != 0)
        free(memory);
    return pmu;
}

static bool
find_registers(struct pair *p)
{
    for (const char *const *name = p->ref->registers; *name != NULL; name++) {
        const int id = tally_pmu_register_find(p->model, *name);
        if (id < 0 || p->registers == REGISTERS)
            return false;
        p->ids[p->registers++] = (unsigned)id;
    }
    return true;
}

static void
finish(struct pair *p)
{
    free(p->model);
    free(p->kept_model);
    free(p->twin);
    free(p->kept_twin);
}

static bool
start(struct pair *p)
{
    p->model = make_model(p->ref, p->machine);
    p->kept_model = make_model(p->ref, p->machine);
    p->twin = calloc(1, p->ref->size);
    p->kept_twin = calloc(1, p->ref->size);
    if (p->model == NULL || p->kept_model == NULL || p->twin == NULL ||
        p->kept_twin == NULL || !find_registers(p))
        return false;
    p->strands = tally_pmu_strands(p->model);
    p->ref->create(p->twin, p->machine, p->strands);
    p->random = p->seed;
    return true;
}

static void
print_step(const struct pair *p, const struct pmu_step *s)
{
    static const char *const kinds[] = {"write", "read", "signal", "state",
                                        "take"};

    printf("#   strand %u %s", s->strand, kinds[s->kind]);
    if (s->kind == PMU_STEP_WRITE || s->kind == PMU_STEP_READ)
        printf(" %s %#" PRIx64 " at level %d", p->ref->registers[s->reg],
               s->value, (int)s->level);
    else if (s->kind == PMU_STEP_SIGNAL)
        printf(" %#x n=%" PRIu64 " cycles=%u pc=%#" PRIx64 " flags=%#x",
               s->signal, s->n, s->context.cycles, s->context.pc,
               s->context.flags);
    else if (s->kind == PMU_STEP_STATE)
        printf(" %d = %" PRIu64, (int)s->state, s->value);
    else
        printf(" %#x", (unsigned)s->trap);
    putchar('\n');
}

static bool
differ(const struct pair *p, const char *what, uint64_t model, uint64_t twin)
{
    const uint64_t first = p->steps < HISTORY ? 0 : p->steps + 1 - HISTORY;

    printf("# %s, seed %" PRIu64 ", step %" PRIu64 ": %s is %#" PRIx64
           ", of the twin %#" PRIx64 "; the last steps:\n",
           p->machine, p->seed, p->steps, what, model, twin);
    for (uint64_t i = first; i <= p->steps; i++)
        print_step(p, &p->history[i % HISTORY]);
    return false;
}

static bool
same_registers(const struct pair *p, unsigned strand)
{
    const enum tally_pmu_level level = TALLY_PMU_HYPERPRIVILEGED;

    for (unsigned i = 0; i < p->registers; i++) {
        uint64_t model = 0, twin = 0;
        const int a =
            tally_pmu_read(p->model, strand, p->ids[i], level, &model);
        const int b = p->ref->read(p->twin, strand, i, level, &twin);
        if (a != b)
            return differ(p, "the trap of a read", (uint64_t)a, (uint64_t)b);
        if (model != twin)
            return differ(p, p->ref->registers[i], model, twin);
    }
    const uint32_t model = tally_pmu_pending(p->model, strand);
    const uint32_t twin = p->ref->pending(p->twin, strand);

    return model == twin || differ(p, "what pends", model, twin);
}

static bool
do_take(struct pair *p, const struct pmu_step *s)
{
    struct tally_pmu_taken model = {0}, twin = {0};

    if (p->ref->take == NULL)
        return true;
    const int a = tally_pmu_take(p->model, s->strand, s->trap, &model);
    const int b = p->ref->take(p->twin, s->strand, s->trap, &twin);
    if (a != b)
        return differ(p, "taking a trap", (uint64_t)a, (uint64_t)b);
    if (model.counters != twin.counters)
        return differ(p, "counters", model.counters, twin.counters);
    if (model.executed != twin.executed)
        return differ(p, "executed", model.executed, twin.executed);
    if (model.pc != twin.pc)
        return differ(p, "pc", model.pc, twin.pc);
    return model.npc == twin.npc || differ(p, "npc", model.npc, twin.npc);
}

/* The answers to an access; those of a read are compared by value too. */
static bool
do_access(struct pair *p, const struct pmu_step *s)
{
    uint64_t model = 0, twin = 0;
    int a, b;

    if (s->kind == PMU_STEP_READ) {
        a = tally_pmu_read(p->model, s->strand, p->ids[s->reg], s->level,
                           &model);
        b = p->ref->read(p->twin, s->strand, s->reg, s->level, &twin);
    } else {
        a = tally_pmu_write(p->model, s->strand, p->ids[s->reg], s->level,
                            s->value);
        b = p->ref->write(p->twin, s->strand, s->reg, s->level, s->value);
    }
    if (a != b)
        return differ(p, "the answer", (uint64_t)a, (uint64_t)b);
    return model == twin || differ(p, "the value", model, twin);
}

static bool
do_state(struct pair *p, const struct pmu_step *s)
{
    const int a = tally_pmu_set_state(p->model, s->strand, s->state, s->value);
    const int b = p->ref->set_state(p->twin, s->strand, s->state, s->value);

    return a == b || differ(p, "the state", (uint64_t)a, (uint64_t)b);
}

static bool
do_signal(struct pair *p, const struct pmu_step *s)
{
    const struct tally_pmu_total total = {s->signal, s->context.cycles, s->n};
    /* Families have code of their own for each: the one, then the other. */
    const uint32_t a =
        p->steps % 2 == 0
            ? tally_pmu_signal(p->model, s->strand, s->signal, s->n,
                               &s->context)
            : tally_pmu_batch(p->model, s->strand, &total, 1, &s->context);

    p->ref->signal(p->twin, s->strand, s->signal, s->n, &s->context);
    /* What nobody listens to answers 0, whatever pends. */
    const uint32_t b = p->ref->pending(p->twin, s->strand);
    return a == 0 || a == b || differ(p, "the answer", a, b);
}

static bool
do_step(struct pair *p, const struct pmu_step *s)
{
    switch (s->kind) {
    case PMU_STEP_SIGNAL:
        return do_signal(p, s);
    case PMU_STEP_STATE:
        return do_state(p, s);
    case PMU_STEP_TAKE:
        return do_take(p, s);
    default:
        return do_access(p, s);
    }
}

/* Now and then both are kept, or go back to what was kept. */
static void
snapshot(struct pair *p)
{
    const uint64_t chance = random_below(&p->random, 512);

    if (chance == 0) {
        tally_pmu_copy(p->kept_model, p->model);
        memcpy(p->kept_twin, p->twin, p->ref->size);
        p->kept = true;
    } else if (chance == 1 && p->kept) {
        tally_pmu_copy(p->model, p->kept_model);
        memcpy(p->twin, p->kept_twin, p->ref->size);
    }
}

static bool
step(struct pair *p)
{
    struct pmu_step *const s = &p->history[p->steps % HISTORY];

    *s = (struct pmu_step){.context.cycles = 1};
    p->ref->draw(p->twin, &p->random, s);
    if (!do_step(p, s) || !same_registers(p, s->strand))
        return false;
    if (p->steps % 64 == 0)
        snapshot(p);
    for (unsigned i = 0; p->steps % 16 == 0 && i < p->strands; i++) {
        if (!same_registers(p, i))
            return false;
    }
    p->steps++;
    return true;
}

static bool
compare(const struct pmu_ref *ref, const char *machine, uint64_t seed,
        uint64_t steps)
{
    struct pair p = {.ref = ref, .machine = machine, .seed = seed};
    bool same = start(&p);

    if (!same)
        printf("# %s: no monitor, or a register is not there\n", machine);
    while (same && p.steps < steps)
        same = step(&p);
    finish(&p);
    return same;
}

static const struct {
    const char *name;
    const struct pmu_ref *ref;
} families[] = {
    {"niagara", &pmu_ref_niagara},
    {"r10000", &pmu_ref_r10000},
#ifdef HAVE_PMU_T4
    {"t4", &pmu_ref_t4},
#endif
#ifdef HAVE_PMU_MONTECITO
    {"montecito", &pmu_ref_montecito},
#endif
};
#define FAMILIES (sizeof(families) / sizeof(families[0]))

static size_t
machines_of(const struct pmu_ref *ref)
{
    size_t count = 0;

    while (ref->machines[count] != NULL)
        count++;
    return count;
}

int
main(int argc, char **argv)
{
    const uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
    const uint64_t seed = random_seed();
    int tests = 0, failed = 0;

    for (size_t f = 0; f < FAMILIES; f++) {
        const struct pmu_ref *const ref = families[f].ref;
        const size_t machines = machines_of(ref);
        if (argc > 2 && strcmp(argv[2], families[f].name) != 0)
            continue;
        for (size_t m = 0; m < machines; m++) {
            const uint64_t each =
                (steps > 0 ? steps : STEPS_DEFAULT) / machines;
            const bool same = compare(ref, ref->machines[m], seed, each);
            printf("%sok %d %s, %" PRIu64 " steps\n", same ? "" : "not ",
                   ++tests, ref->machines[m], each);
            fflush(stdout);
            failed += !same;
        }
    }
    printf("1..%d\n", tests);
    return failed > 0;
}
