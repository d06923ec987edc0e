/* SPDX-License-Identifier: MIT */
/* Virtual counters on an UltraSPARC T2: strands are CPUs, both counters have
 * one control register, and overflow is the end of 32 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "counter/virtual_niagara.h"

#define U VIRTUAL_USER
#define K VIRTUAL_KERNEL
#define SPEC(index, modes) ((uint16_t)((index) << 5 | (modes)))
#define LOADS 3
#define STORES 4

static _Alignas(16) unsigned char memory[1 << 16];
static struct virtual_niagara niagara;
static struct virtual_system virtual_system;
static struct virtual_cpu cpus[2];
static struct virtual_owner owner;

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
static unsigned told;

static struct tally_pmu *
monitor(const char *machine)
{
    struct tally_pmu_options options;
    struct tally_pmu *pmu = NULL;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = machine;
    options.strands = strcmp(machine, "r10000") == 0 ? 1 : 2;
    assert_int_equal(tally_pmu_init(memory, sizeof(memory), &options, &pmu), 0);
    return pmu;
}

static int
start_over(void **state)
{
    (void)state;
    assert_int_equal(virtual_niagara_init(&niagara, monitor("ultrasparc-t2")),
                     0);
    niagara.event[LOADS] = 2 << 8 | 0x08;
    niagara.event[STORES] = 2 << 8 | 0x10;
    told = 0;
    assert_int_equal(virtual_init(&virtual_system, &virtual_niagara_ops,
                                  &niagara, &kernel_ops, &told, cpus, 2),
                     0);
    virtual_owner_init(&owner, 0, true);
    for (unsigned n = 0; n < 2; n++)
        tally_pmu_set_state(niagara.pmu, n, TALLY_PMU_LEVEL, TALLY_PMU_USER);
    return virtual_switch(&virtual_system, 1, &owner, 0);
}

static void
occur(unsigned strand, unsigned line, uint64_t n)
{
    const uint32_t signal = TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, 2, line);

    if (tally_pmu_signal(niagara.pmu, strand, signal, n, NULL) != 0)
        virtual_overflow(&virtual_system, strand, 0);
}

static uint64_t
value_of(unsigned index)
{
    struct counter_reading readings[VIRTUAL_EVENTS];

    assert_true(virtual_read(&virtual_system, &owner, &owner, readings) > 0);
    return readings[index].value;
}

/* Both counters at once, each with its overflows, and the other strand's are
 * nobody's. */
static void
test_count(void **state)
{
    struct virtual_request q = {.signal = 0};

    (void)state;
    q.spec[LOADS] = SPEC(LOADS, U);
    q.spec[STORES] = SPEC(STORES, U);
    assert_true(virtual_start(&virtual_system, &owner, &owner, &q) > 0);
    for (int n = 0; n < 5; n++) {
        occur(1, 0x08, 0x70000001);
        occur(1, 0x10, 0x30000003);
        occur(0, 0x08, 1);
    }
    assert_true(value_of(LOADS) == UINT64_C(0x70000001) * 5);
    assert_true(value_of(STORES) == UINT64_C(0x30000003) * 5);
    virtual_release(&virtual_system, &owner, &owner);
    occur(1, 0x08, 9);
    assert_true(value_of(LOADS) == UINT64_C(0x70000001) * 5);
}

/* The trap comes before the wrap, exactly at the threshold. */
static void
test_threshold(void **state)
{
    struct virtual_request q = {.signal = 16};

    (void)state;
    q.spec[LOADS] = SPEC(LOADS, U);
    q.spec[STORES] = SPEC(STORES, U);
    q.threshold[STORES] = 3;
    assert_true(virtual_start(&virtual_system, &owner, &owner, &q) > 0);
    for (unsigned n = 1; n <= 20; n++) {
        occur(1, 0x10, 1);
        assert_int_equal(told, n / 3);
    }
}

/* What one control register cannot say is refused, and so is an index without
 * an event. */
static void
test_refused(void **state)
{
    struct virtual_request q = {.signal = 0};

    (void)state;
    q.spec[LOADS] = SPEC(LOADS, U | K);
    q.spec[STORES] = SPEC(STORES, U | K);
    assert_true(virtual_start(&virtual_system, &owner, &owner, &q) > 0);
    virtual_release(&virtual_system, &owner, &owner);
    q.spec[STORES] = SPEC(STORES, K);
    assert_int_equal(virtual_start(&virtual_system, &owner, &owner, &q),
                     VIRTUAL_EINVAL);
    q.spec[STORES] = 0;
    q.spec[LOADS] = SPEC(LOADS, U | VIRTUAL_SUPERVISOR);
    assert_int_equal(virtual_start(&virtual_system, &owner, &owner, &q),
                     VIRTUAL_EINVAL);
    q.spec[LOADS] = 0;
    q.spec[5] = SPEC(5, U);
    assert_int_equal(virtual_start(&virtual_system, &owner, &owner, &q),
                     VIRTUAL_EINVAL);
}

static void
test_other_processors(void **state)
{
    (void)state;
    assert_int_equal(virtual_niagara_init(&niagara, monitor("ultrasparc-t1")),
                     VIRTUAL_EINVAL);
    assert_int_equal(virtual_niagara_init(&niagara, monitor("r10000")),
                     VIRTUAL_EINVAL);
    assert_int_equal(
        virtual_niagara_init(&niagara, monitor("ultrasparc-t2plus")), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_count, start_over),
        cmocka_unit_test_setup(test_threshold, start_over),
        cmocka_unit_test_setup(test_refused, start_over),
        cmocka_unit_test(test_other_processors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
