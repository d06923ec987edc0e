/* SPDX-License-Identifier: MIT */
/*
 * What scripts cannot ask of a monitor: that it lives in the memory it was
 * given, whatever was there, and in no other; that it hears nothing where no
 * counter is on; options, strands, registers and names that are not there;
 * batches.
 */
#include "pmu/pmu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref/random.h"

#define GUARD 4096 /* bytes before and behind a monitor */
#define GUARD_BYTE 0x5a
#define STEPS 2000
#define BATCH 16

struct place {
    unsigned char *memory;
    size_t size; /* without the guards */
    struct tally_pmu *pmu;
    const struct pmu_machine *machine;
};

/* NULL in `pmu` if the machine has no monitor, or fewer strands. */
static struct place
make(const struct pmu_machine *machine, uint32_t strands, int filled)
{
    struct tally_pmu_options options;
    struct place p = {.machine = machine};

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = machine->name;
    options.strands = strands;
    p.size = tally_pmu_size(&options);
    if (p.size == 0)
        return p;
    p.memory = aligned_alloc(16, p.size + 2 * GUARD);
    assert_non_null(p.memory);
    memset(p.memory, GUARD_BYTE, p.size + 2 * GUARD);
    memset(p.memory + GUARD, filled, p.size);
    assert_int_equal(tally_pmu_init(p.memory + GUARD, p.size, &options, &p.pmu),
                     0);
    return p;
}

static void
drop(struct place *p)
{
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(p->memory[i], GUARD_BYTE);
        assert_int_equal(p->memory[GUARD + p->size + i], GUARD_BYTE);
    }
    free(p->memory);
}

static void
compare(const struct place *a, const struct place *b)
{
    for (unsigned s = 0; s < tally_pmu_strands(a->pmu); s++) {
        for (unsigned id = 0; id < a->machine->registers_count; id++) {
            uint64_t x = 0, y = 0;
            assert_int_equal(
                tally_pmu_read(a->pmu, s, id, TALLY_PMU_HYPERPRIVILEGED, &x),
                tally_pmu_read(b->pmu, s, id, TALLY_PMU_HYPERPRIVILEGED, &y));
            assert_int_equal(x, y);
        }
        assert_int_equal(tally_pmu_pending(a->pmu, s),
                         tally_pmu_pending(b->pmu, s));
    }
}

static void
write_any(struct tally_pmu *pmu, const struct pmu_machine *m, unsigned strand,
          uint64_t *random)
{
    const unsigned id = (unsigned)random_below(random, m->registers_count);
    const uint64_t value = random_next(random);

    tally_pmu_write(pmu, strand, id, TALLY_PMU_HYPERPRIVILEGED,
                    random_below(random, 2) ? value : value & 0xffff);
}

static uint32_t
any_signal(const struct pmu_machine *m, uint64_t *random)
{
    return m->signals[random_below(random, m->signals_count)].value;
}

/* A step of any kind; the answer. */
static uint64_t
step(struct place *p, uint64_t *random)
{
    const unsigned strand =
        (unsigned)random_below(random, tally_pmu_strands(p->pmu));
    const struct tally_pmu_context context = {
        .pc = random_next(random), .cycles = 1, .known = 1, .type = 'B'};
    struct tally_pmu_taken taken;

    switch (random_below(random, 8)) {
    case 0: {
        const unsigned state = (unsigned)random_below(random, TALLY_PMU_STATES);
        return (uint64_t)tally_pmu_set_state(p->pmu, strand,
                                             (enum tally_pmu_state)state,
                                             random_below(random, 4));
    }
    case 1:
        return tally_pmu_retire(p->pmu, strand, 1, &context);
    case 2: {
        const unsigned bit = 8 + (unsigned)random_below(random, 6);
        return (uint64_t)tally_pmu_take(
            p->pmu, strand, (enum tally_pmu_trap)(1u << bit), &taken);
    }
    case 3:
    case 4:
        return tally_pmu_signal(p->pmu, strand, any_signal(p->machine, random),
                                random_below(random, 9), &context);
    default:
        write_any(p->pmu, p->machine, strand, random);
        return 0;
    }
}

/* Two go the same way, one of them on memory that was not zeroed. */
static void
check_memory(const struct pmu_machine *machine, uint32_t strands, uint64_t seed)
{
    struct place a = make(machine, strands, 0);
    struct place b = make(machine, strands, 0xff);
    uint64_t random[2] = {seed, seed};

    if (a.pmu == NULL)
        return;
    compare(&a, &b);
    for (int i = 0; i < STEPS; i++)
        assert_int_equal(step(&a, &random[0]), step(&b, &random[1]));
    compare(&a, &b);
    tally_pmu_reset(a.pmu);
    for (int i = 0; i < STEPS; i++)
        step(&a, &random[0]);
    assert_int_equal(tally_pmu_copy(b.pmu, a.pmu), 0);
    compare(&a, &b);
    drop(&a);
    drop(&b);
}

static void
test_memory(void **state)
{
    const uint64_t seed = random_seed();

    (void)state;
    for (size_t i = 0; i < PMU_MACHINES; i++) {
        check_memory(&tally_pmu_machines[i], 1, seed);
        check_memory(&tally_pmu_machines[i], 3, seed);
        check_memory(&tally_pmu_machines[i], 0, seed);
    }
}

/* Memory that is not aligned to 16 bytes is refused, and *pmu stays. */
static void
test_alignment(void **state)
{
    const struct tally_pmu_options options = {sizeof(options), "montecito", 1,
                                              1, 0};
    const size_t size = tally_pmu_size(&options);
    unsigned char *const memory = aligned_alloc(16, size + 16);
    struct tally_pmu *pmu = NULL;

    (void)state;
    assert_non_null(memory);
    assert_int_equal(size % 16, 0);
    for (size_t i = 1; i < 16; i++)
        assert_int_equal(tally_pmu_init(memory + i, size, &options, &pmu),
                         TALLY_ERANGE);
    assert_null(pmu);
    assert_int_equal(tally_pmu_init(memory + 16, size, &options, &pmu), 0);
    assert_ptr_equal(pmu, memory + 16);
    free(memory);
}

static void
check_quiet(const struct tally_pmu *pmu)
{
    for (unsigned s = 0; s < tally_pmu_strands(pmu); s++) {
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(pmu->heard[s][i], 0);
    }
}

static void
write_zeros(const struct place *p)
{
    for (unsigned s = 0; s < tally_pmu_strands(p->pmu); s++) {
        for (unsigned id = 0; id < p->machine->registers_count; id++)
            tally_pmu_write(p->pmu, s, id, TALLY_PMU_HYPERPRIVILEGED, 0);
    }
}

/* Signals cost nothing where all counters are off, whatever was before. */
static void
test_quiet(void **state)
{
    uint64_t random = random_seed();

    (void)state;
    for (size_t i = 0; i < PMU_MACHINES; i++) {
        struct place p = make(&tally_pmu_machines[i], 0, 0);
        if (p.pmu == NULL)
            continue;
        for (int k = 0; k < STEPS; k++)
            step(&p, &random);
        tally_pmu_reset(p.pmu);
        check_quiet(p.pmu);
        for (int k = 0; k < STEPS; k++)
            step(&p, &random);
        write_zeros(&p);
        check_quiet(p.pmu);
        drop(&p);
    }
}

/* The machine's strands where the options say nothing; one more is refused. */
static void
check_strands(const char *machine, uint32_t nodes, uint32_t strands)
{
    struct tally_pmu_options options;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = machine;
    options.nodes = nodes;
    const size_t size = tally_pmu_size(&options);
    options.strands = strands;
    assert_true(size > 0 && tally_pmu_size(&options) == size);
    options.strands = strands + 1;
    assert_int_equal(tally_pmu_size(&options), 0);
}

static void
test_strands(void **state)
{
    (void)state;
    check_strands("ultrasparc-t1", 0, 32);
    check_strands("ultrasparc-t2", 1, 64);
    check_strands("ultrasparc-t2plus", 0, 64);
    check_strands("ultrasparc-t2plus", 2, 128);
    check_strands("ultrasparc-t2plus", 4, 256);
    check_strands("sparc-t4", 0, 64);
    check_strands("r10000", 0, 1);
    check_strands("r12000", 0, 1);
    check_strands("montecito", 0, 4);
}

static void
refuses(const struct tally_pmu_options *options, size_t size, int error)
{
    static _Alignas(16) unsigned char memory[GUARD];
    struct tally_pmu *pmu = NULL;

    assert_int_equal(tally_pmu_init(memory, size, options, &pmu), error);
    assert_null(pmu);
}

static void
test_options(void **state)
{
    struct tally_pmu_options options;

    (void)state;
    tally_pmu_options_init(&options, sizeof(options));
    refuses(&options, GUARD, TALLY_ERANGE);
    options.machine = "r10000";
    refuses(&options, tally_pmu_size(&options) - 1, TALLY_ENOMEM);
    options.size--;
    refuses(&options, GUARD, TALLY_ERANGE);
    tally_pmu_options_init(&options, sizeof(options));
    options.machine = "r11000";
    refuses(&options, GUARD, TALLY_EUNKNOWN);
    options.machine = "ultrasparc-t2";
    options.nodes = 2;
    refuses(&options, GUARD, TALLY_ERANGE);
    options.machine = "ultrasparc-t2plus";
    options.nodes = 3;
    refuses(&options, GUARD, TALLY_ERANGE);
    options.nodes = 0;
    options.flags = TALLY_PMU_DENY_GUEST << 1;
    refuses(&options, GUARD, TALLY_ERANGE);
    options.flags = UINT32_C(1) << 31;
    refuses(&options, GUARD, TALLY_ERANGE);
    assert_int_equal(tally_pmu_size(&options), 0);
    options.flags = TALLY_PMU_DENY_GUEST | (TALLY_PMU_DENY_GUEST - 1);
    assert_int_not_equal(tally_pmu_size(&options), 0);
}

static struct tally_pmu *
with(const char *machine, uint32_t strands, uint32_t nodes, uint32_t flags)
{
    const struct tally_pmu_options options = {sizeof(options), machine, strands,
                                              nodes, flags};
    const size_t size = tally_pmu_size(&options);
    struct tally_pmu *pmu = NULL;
    void *const memory = aligned_alloc(16, size);

    assert_non_null(memory);
    assert_int_equal(tally_pmu_init(memory, size, &options, &pmu), 0);
    return pmu;
}

/* A snapshot goes to a monitor of the same options alone. */
static void
test_copy(void **state)
{
    struct tally_pmu *const pmus[] = {
        with("ultrasparc-t2", 64, 1, 0),
        with("ultrasparc-t2plus", 64, 1, 0),
        with("ultrasparc-t2plus", 64, 2, 0),
        with("ultrasparc-t2plus", 32, 2, 0),
        with("ultrasparc-t2plus", 32, 2, TALLY_PMU_DENY_HT),
        with("r10000", 1, 1, 0),
        with("r12000", 1, 1, 0),
    };
    const size_t count = sizeof(pmus) / sizeof(pmus[0]);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++)
            assert_int_equal(tally_pmu_copy(pmus[i], pmus[k]),
                             i == k ? 0 : TALLY_ERANGE);
    }
    for (size_t i = 0; i < count; i++)
        free(pmus[i]);
}

/* Nobody is there: mistakes of the embedder, and nothing counts. */
static void
check_absent(struct place *p, unsigned strand)
{
    const uint32_t signal = p->machine->signals[0].value;
    const struct tally_pmu_total total = {.signal = signal, .n = 1};
    const enum tally_pmu_level level = TALLY_PMU_HYPERPRIVILEGED;
    struct tally_pmu_taken taken;
    uint64_t value = 1;

    assert_int_equal(tally_pmu_read(p->pmu, strand, 0, level, &value),
                     TALLY_ERANGE);
    assert_int_equal(tally_pmu_write(p->pmu, strand, 0, level, 1),
                     TALLY_ERANGE);
    assert_int_equal(tally_pmu_state(p->pmu, strand, TALLY_PMU_LEVEL, &value),
                     TALLY_ERANGE);
    assert_int_equal(tally_pmu_set_state(p->pmu, strand, TALLY_PMU_LEVEL, 0),
                     TALLY_ERANGE);
    assert_int_equal(
        tally_pmu_take(p->pmu, strand, TALLY_PMU_PIC_OVERFLOW, &taken),
        TALLY_ERANGE);
    assert_int_equal(tally_pmu_signal(p->pmu, strand, signal, 1, NULL), 0);
    assert_int_equal(tally_pmu_batch(p->pmu, strand, &total, 1, NULL), 0);
    assert_int_equal(tally_pmu_retire(p->pmu, strand, 1, NULL), 0);
    assert_int_equal(tally_pmu_pending(p->pmu, strand), 0);
    assert_int_equal(value, 1);
}

static void
check_no_name(const struct tally_pmu *pmu)
{
    uint32_t signal = 1;

    assert_int_equal(tally_pmu_register_find(pmu, "no such"), -1);
    assert_int_equal(tally_pmu_state_find("no such"), -1);
    assert_int_equal(tally_pmu_signal_find(pmu, "no such", &signal),
                     TALLY_EUNKNOWN);
    assert_int_equal(signal, 1);
}

static void
test_absent(void **state)
{
    (void)state;
    for (size_t i = 0; i < PMU_MACHINES; i++) {
        struct place p = make(&tally_pmu_machines[i], 0, 0);
        struct place untouched = make(&tally_pmu_machines[i], 0, 0);
        uint64_t value = 1;
        if (p.pmu == NULL)
            continue;
        check_absent(&p, tally_pmu_strands(p.pmu));
        check_absent(&p, UINT32_MAX);
        const unsigned registers = (unsigned)p.machine->registers_count;
        assert_int_equal(tally_pmu_read(p.pmu, 0, registers,
                                        TALLY_PMU_HYPERPRIVILEGED, &value),
                         TALLY_ERANGE);
        assert_int_equal(tally_pmu_write(p.pmu, 0, registers,
                                         TALLY_PMU_HYPERPRIVILEGED, value),
                         TALLY_ERANGE);
        assert_null(tally_pmu_register_name(p.pmu, registers));
        check_no_name(p.pmu);
        compare(&p, &untouched);
        drop(&p);
        drop(&untouched);
    }
}

/* A batch on one, its signals one by one on the other. */
static void
check_batch(struct place *a, struct place *b, uint64_t *random)
{
    const struct tally_pmu_context known = {
        .pc = random_next(random), .cycles = 3, .known = 1};
    const struct tally_pmu_context *const context =
        random_below(random, 2) ? &known : NULL;
    const unsigned strand =
        (unsigned)random_below(random, tally_pmu_strands(a->pmu));
    struct tally_pmu_total totals[BATCH];

    for (int i = 0; i < BATCH; i++) {
        totals[i] = (struct tally_pmu_total){
            .signal = any_signal(a->machine, random),
            .cycles = (uint32_t)random_below(random, 3),
            .n = random_next(random) >> (24 + random_below(random, 40))};
        struct tally_pmu_context each = {0};
        if (context != NULL)
            each = *context;
        each.cycles = totals[i].cycles == 0 ? 1 : totals[i].cycles;
        tally_pmu_signal(b->pmu, strand, totals[i].signal, totals[i].n, &each);
    }
    assert_int_equal(tally_pmu_batch(a->pmu, strand, totals, BATCH, context),
                     tally_pmu_pending(b->pmu, strand));
}

static void
test_batch(void **state)
{
    const uint64_t seed = random_seed();

    (void)state;
    for (size_t i = 0; i < PMU_MACHINES; i++) {
        struct place a = make(&tally_pmu_machines[i], 1, 0);
        struct place b = make(&tally_pmu_machines[i], 1, 0);
        uint64_t random = seed;
        if (a.pmu == NULL)
            continue;
        for (int turn = 0; turn < STEPS; turn++) {
            uint64_t again = random;
            write_any(a.pmu, a.machine, 0, &random);
            write_any(b.pmu, b.machine, 0, &again);
            check_batch(&a, &b, &random);
        }
        compare(&a, &b);
        drop(&a);
        drop(&b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),  cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_quiet),   cmocka_unit_test(test_strands),
        cmocka_unit_test(test_options), cmocka_unit_test(test_absent),
        cmocka_unit_test(test_copy),    cmocka_unit_test(test_batch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
