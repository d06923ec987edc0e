/* SPDX-License-Identifier: MIT */
/* Virtual counters on the monitors of SPARC T4 and Montecito: strands are CPUs,
 * each counter has a control register, and overflow is the end of its bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counter/virtual_montecito.h"
#include "counter/virtual_t4.h"

#define U VIRTUAL_USER
#define K VIRTUAL_KERNEL
#define SPEC(index, modes) ((uint16_t)((index) << 5 | (modes)))
#define EVENTS 14 /* indices 3 and up that have an event */
#define CPUS 2

/* A processor below, and how its events are raised. */
struct bench {
    const char *machine;
    const struct virtual_monitor_ops *ops;
    uint32_t (*signal)(unsigned index);
    struct tally_pmu *pmu;
    void *memory, *monitor;
    struct virtual_t4 t4;
    struct virtual_montecito montecito;
    struct virtual_system system;
    struct virtual_cpu cpus[CPUS];
    struct virtual_owner owner;
    unsigned told;
};

static uint64_t
no_time(void *kernel, unsigned cpu)
{
    (void)kernel;
    (void)cpu;
    return 0;
}

static void
count_signal(void *kernel, struct virtual_owner *from, int signal,
             unsigned index)
{
    (void)from;
    (void)signal;
    (void)index;
    ++*(unsigned *)kernel;
}

static const struct virtual_kernel_ops kernel_ops = {.time = no_time,
                                                     .signal = count_signal};

/* Group 10 to 13, lines one by one. */
static unsigned
t4_line(unsigned index)
{
    return 1u << (index - 3) % 2;
}

static unsigned
t4_group(unsigned index)
{
    return 5 + (index - 3) / 2;
}

static uint32_t
t4_signal(unsigned index)
{
    return TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, t4_group(index), t4_line(index));
}

static const char *const names[EVENTS] = {
    "NOPS_RETIRED",
    "PREDICATE_SQUASHED_RETIRED",
    "CPU_CPL_CHANGES.ALL",
    "SYLL_OVERCOUNT.ALL",
    "L1I_PREFETCH_STALL.ALL",
    "FP_OPS_RETIRED",
    "INST_CHKA_LDC_ALAT.ALL",
    "INST_FAILED_CHKS_RETIRED.ALL",
    "INST_FAILED_CHKA_LDC_ALAT.ALL",
    "BE_RSE_BUBBLE.ALL",
    "FE_BUBBLE.ALL",
    "RSE_REFERENCES_RETIRED.ALL",
    "FP_TRUE_SIRSTALL",
    "INST_DISPERSED",
};
static const struct bench *current;

static uint32_t
montecito_signal(unsigned index)
{
    uint32_t signal = 0;

    assert_int_equal(
        tally_pmu_signal_find(current->pmu, names[index - 3], &signal), 0);
    return signal;
}

static void
init_t4(struct bench *b)
{
    assert_int_equal(virtual_t4_init(&b->t4, b->pmu), 0);
    for (unsigned i = 3; i < 3 + EVENTS; i++)
        b->t4.event[i] = (uint16_t)(t4_group(i) << 6 | t4_line(i));
    b->monitor = &b->t4;
}

static void
init_montecito(struct bench *b)
{
    assert_int_equal(virtual_montecito_init(&b->montecito, b->pmu), 0);
    for (unsigned i = 3; i < 3 + EVENTS; i++) {
        const uint32_t signal = montecito_signal(i);
        b->montecito.event[i] = (struct virtual_montecito_event){
            .known = true,
            .code = (uint8_t)(signal >> 8),
            .umask = signal & 0xf,
        };
    }
    b->monitor = &b->montecito;
    for (unsigned n = 0; n < CPUS; n++)
        tally_pmu_set_state(b->pmu, n, TALLY_PMU_PP, 1);
}

static void
make_monitor(struct bench *b, const char *machine)
{
    struct tally_pmu_options options;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = machine;
    const size_t size = tally_pmu_size(&options);
    b->memory = aligned_alloc(16, size);
    assert_non_null(b->memory);
    assert_int_equal(tally_pmu_init(b->memory, size, &options, &b->pmu), 0);
}

static int
begin(void **state, bool t4)
{
    struct bench *const b = calloc(1, sizeof(*b));

    assert_non_null(b);
    current = b;
    *state = b;
    b->machine = t4 ? "sparc-t4" : "montecito";
    b->ops = t4 ? &virtual_t4_ops : &virtual_montecito_ops;
    b->signal = t4 ? t4_signal : montecito_signal;
    make_monitor(b, b->machine);
    (t4 ? init_t4 : init_montecito)(b);
    assert_int_equal(virtual_init(&b->system, b->ops, b->monitor, &kernel_ops,
                                  &b->told, b->cpus, CPUS),
                     0);
    virtual_owner_init(&b->owner, 0, true);
    for (unsigned n = 0; n < CPUS; n++)
        tally_pmu_set_state(b->pmu, n, TALLY_PMU_LEVEL, TALLY_PMU_USER);
    return virtual_switch(&b->system, 0, &b->owner, 0);
}

static int
begin_t4(void **state)
{
    return begin(state, true);
}

static int
begin_montecito(void **state)
{
    return begin(state, false);
}

static int
end(void **state)
{
    struct bench *const b = *state;

    free(b->memory);
    free(b);
    return 0;
}

static void
occur(struct bench *b, unsigned strand, unsigned index, uint64_t n)
{
    const struct tally_pmu_context context = {.cycles = 1};

    if (tally_pmu_signal(b->pmu, strand, b->signal(index), n, &context) != 0)
        virtual_overflow(&b->system, strand, 0);
}

static uint64_t
value_of(struct bench *b, unsigned index)
{
    struct counter_reading readings[VIRTUAL_EVENTS];

    assert_true(virtual_read(&b->system, &b->owner, &b->owner, readings) > 0);
    return readings[index].value;
}

static int
start(struct bench *b, const struct virtual_request *r)
{
    return virtual_start(&b->system, &b->owner, &b->owner, r);
}

/* As many events as counters, over several overflows; another strand's are
 * nobody's. */
static void
test_count(void **state)
{
    struct bench *const b = *state;
    struct virtual_request r = {.signal = 0};
    const uint64_t much = (UINT64_C(1) << (b->ops->width - 2)) + 1;

    for (unsigned i = 0; i < b->ops->counters; i++)
        r.spec[3 + i] = SPEC(3 + i, U);
    assert_true(start(b, &r) > 0);
    for (unsigned n = 0; n < 9; n++)
        for (unsigned i = 0; i < b->ops->counters; i++) {
            occur(b, 0, 3 + i, much + i);
            occur(b, 1, 3 + i, 1);
        }
    for (unsigned i = 0; i < b->ops->counters; i++)
        if (value_of(b, 3 + i) != 9 * (much + i))
            fail_msg("%s: event %u is %ju, not %ju", b->machine, i,
                     (uintmax_t)value_of(b, 3 + i),
                     (uintmax_t)(9 * (much + i)));
    virtual_release(&b->system, &b->owner, &b->owner);
    occur(b, 0, 3, 9);
    assert_true(value_of(b, 3) == 9 * much);
}

/* One more event than counters: two take turns, the others do not. */
static void
test_turns(void **state)
{
    struct bench *const b = *state;
    struct virtual_request r = {.signal = 0};
    const unsigned last = 3 + b->ops->counters;

    for (unsigned i = 3; i <= last; i++)
        r.spec[i] = SPEC(i, U);
    assert_true(start(b, &r) > 0);
    for (unsigned n = 0; n < 100; n++) {
        for (unsigned i = 3; i <= last; i++)
            occur(b, 0, i, 7);
        virtual_tick(&b->system, 0, 0);
    }
    assert_true(value_of(b, 3) == 350 && value_of(b, last) == 350);
    for (unsigned i = 4; i < last; i++)
        assert_true(value_of(b, i) == 700);
}

/* Exactly at the threshold, again and again, the others undisturbed. */
static void
test_threshold(void **state)
{
    struct bench *const b = *state;
    struct virtual_request r = {.signal = 16};

    r.spec[3] = SPEC(3, U);
    r.spec[4] = SPEC(4, U);
    r.threshold[4] = 5;
    assert_true(start(b, &r) > 0);
    for (unsigned n = 1; n <= 40; n++) {
        occur(b, 0, 3, 1);
        occur(b, 0, 4, 1);
        assert_int_equal(b->told, n / 5);
    }
    assert_true(value_of(b, 3) == 40 && value_of(b, 4) == 40);
}

/* Events of one request may differ in their modes. */
static void
test_modes(void **state)
{
    struct bench *const b = *state;
    struct virtual_request r = {.signal = 0};

    r.spec[3] = SPEC(3, U);
    r.spec[4] = SPEC(4, K);
    r.spec[5] = SPEC(5, U | K);
    assert_true(start(b, &r) > 0);
    for (unsigned level = TALLY_PMU_USER; level <= TALLY_PMU_PRIVILEGED;
         level++) {
        tally_pmu_set_state(b->pmu, 0, TALLY_PMU_LEVEL, level);
        for (unsigned i = 3; i < 6; i++)
            occur(b, 0, i, 10 + level);
    }
    assert_true(value_of(b, 3) == 10);
    assert_true(value_of(b, 4) == 10 + TALLY_PMU_PRIVILEGED);
    assert_true(value_of(b, 5) == 20 + TALLY_PMU_PRIVILEGED);
}

/* A process that left in the middle of an overflow leaves none behind. */
static void
test_switch(void **state)
{
    struct bench *const b = *state;
    struct virtual_request r = {.signal = 16};
    struct virtual_owner other;

    r.spec[3] = SPEC(3, U);
    r.threshold[3] = 5;
    assert_true(start(b, &r) > 0);
    tally_pmu_signal(b->pmu, 0, b->signal(3), 5, NULL);
    virtual_owner_init(&other, 0, true);
    assert_int_equal(virtual_switch(&b->system, 0, &other, 0), 0);
    assert_int_equal(b->told, 1);
    r.threshold[3] = 0;
    assert_true(virtual_start(&b->system, &other, &other, &r) > 0);
    occur(b, 0, 3, 8);
    assert_int_equal(virtual_switch(&b->system, 0, &b->owner, 0), 0);
    occur(b, 0, 3, 1);
    assert_true(value_of(b, 3) == 6);
    struct counter_reading readings[VIRTUAL_EVENTS];
    virtual_read(&b->system, &other, &other, readings);
    assert_true(readings[3].value == 8);
}

static void
test_refused(void **state)
{
    struct bench *const b = *state;
    struct virtual_request r = {.signal = 0};

    r.spec[2] = SPEC(2, U);
    assert_int_equal(start(b, &r), VIRTUAL_EINVAL);
    r.spec[2] = 0;
    r.spec[3] = SPEC(3, U | VIRTUAL_SUPERVISOR);
    assert_int_equal(start(b, &r), VIRTUAL_EINVAL);
    r.spec[3] = SPEC(4, U);
    assert_int_equal(start(b, &r), VIRTUAL_EINVAL);
}

/* Events that only one counter has take turns there, and so do those of the
 * L1D; of the L2D there are two at a time. */
static void
test_constraint(void **state)
{
    struct bench *const b = *state;
    struct virtual_request r = {.signal = 0};

    static const struct {
        int line;
        struct virtual_montecito_event event; /* at each index */
        unsigned events;
        uint64_t wanted; /* of 12 */
    } rows[] = {
        {__LINE__, {.known = true, .code = 0x50, .counters = 1 << 2}, 2, 6},
        /* STORES_RETIRED, set 4 */
        {__LINE__, {.known = true, .l1d = true, .code = 0xd1}, 3, 4},
        /* L2D_REFERENCES.ALL, set 2 */
        {__LINE__,
         {.known = true, .l2d = true, .code = 0xe6, .umask = 3},
         2,
         12},
        {__LINE__,
         {.known = true, .l2d = true, .code = 0xe6, .umask = 3},
         4,
         6},
    };

    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        memset(&r, 0, sizeof(r));
        for (unsigned i = 3; i < 3 + rows[k].events; i++) {
            b->montecito.event[i] = rows[k].event;
            r.spec[i] = SPEC(i, U);
        }
        assert_true(start(b, &r) > 0);
        for (unsigned n = 0; n < 12; n++) {
            const uint32_t signal = TALLY_PMU_SIGNAL(
                TALLY_PMU_CPU, 0, rows[k].event.code, rows[k].event.umask);
            tally_pmu_signal(b->pmu, 0, signal, 1, NULL);
            virtual_tick(&b->system, 0, 0);
        }
        for (unsigned i = 3; i < 3 + rows[k].events; i++)
            if (value_of(b, i) != rows[k].wanted)
                fail_msg("line %d: event %u is %ju", rows[k].line, i,
                         (uintmax_t)value_of(b, i));
    }
}

static void
test_other_processors(void **state)
{
    static const char *const machines[] = {"ultrasparc-t2", "r10000",
                                           "sparc-t4", "montecito"};
    struct bench b;

    (void)state;
    for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
        make_monitor(&b, machines[i]);
        assert_int_equal(virtual_t4_init(&b.t4, b.pmu),
                         strcmp(machines[i], "sparc-t4") == 0 ? 0
                                                              : VIRTUAL_EINVAL);
        assert_int_equal(
            virtual_montecito_init(&b.montecito, b.pmu),
            strcmp(machines[i], "montecito") == 0 ? 0 : VIRTUAL_EINVAL);
        free(b.memory);
    }
}

#define BOTH(test)                                        \
    cmocka_unit_test_setup_teardown(test, begin_t4, end), \
        cmocka_unit_test_setup_teardown(test, begin_montecito, end)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_count),
        BOTH(test_turns),
        BOTH(test_threshold),
        BOTH(test_modes),
        BOTH(test_switch),
        BOTH(test_refused),
        cmocka_unit_test_setup_teardown(test_constraint, begin_montecito, end),
        cmocka_unit_test(test_other_processors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
