/* SPDX-License-Identifier: MIT */
/*
 * SPARC T4's model knows which groups of signals its counters take: no more,
 * for signals that nobody takes must cost nothing, and no less. What software
 * sees of it is tested by test/pmu/sparc-t4*.pmu.
 */
#include "pmu/pmu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define LAST 63U

#define GROUP(sl) (UINT64_C(1) << (sl))
#define USER (1 << 2)
#define HYPER (1 << 4)
#define PCR(sl, mask, modes) ((sl) << 11 | (mask) << 5 | (modes))

static int
setup(void **state)
{
    struct tally_pmu_options options;
    struct tally_pmu *pmu;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = "sparc-t4";
    const size_t size = tally_pmu_size(&options);
    void *const memory = aligned_alloc(16, size);
    if (memory == NULL || tally_pmu_init(memory, size, &options, &pmu) != 0)
        return -1;
    *state = pmu;
    return 0;
}

static int
teardown(void **state)
{
    free(*state);
    return 0;
}

static void
set(struct tally_pmu *pmu, unsigned strand, unsigned id, uint64_t value)
{
    assert_int_equal(
        tally_pmu_write(pmu, strand, id, TALLY_PMU_HYPERPRIVILEGED, value), 0);
}

static void
enter(struct tally_pmu *pmu, unsigned strand, enum tally_pmu_level level)
{
    assert_int_equal(tally_pmu_set_state(pmu, strand, TALLY_PMU_LEVEL, level),
                     0);
}

static void
hears(const struct tally_pmu *pmu, unsigned strand, uint64_t groups)
{
    assert_int_equal(pmu->heard[strand][0], groups);
    assert_int_equal(pmu->heard[strand][1], 0);
    assert_int_equal(pmu->heard[strand][2], 0);
    assert_int_equal(pmu->heard[strand][3], 0);
}

static void
test_strands(void **state)
{
    assert_int_equal(tally_pmu_strands(*state), LAST + 1);
}

static void
test_own_groups(void **state)
{
    struct tally_pmu *const pmu = *state;

    hears(pmu, 0, 0);
    hears(pmu, LAST, 0);
    set(pmu, 0, SPARC_T4_PCR0, PCR(3, 0x3f, USER));
    set(pmu, 0, SPARC_T4_PCR1, PCR(10, 0x01, HYPER));
    set(pmu, 0, SPARC_T4_PCR2, PCR(11, 0x3c, USER | HYPER));
    set(pmu, 0, SPARC_T4_PCR3, PCR(0, 0x3f, USER | HYPER));
    hears(pmu, 0, GROUP(10));
    enter(pmu, 0, TALLY_PMU_USER);
    hears(pmu, 0, GROUP(3));
    set(pmu, 0, SPARC_T4_PCR3, PCR(26, 0, USER | HYPER));
    hears(pmu, 0, GROUP(3) | GROUP(26));
    hears(pmu, 1, 0);
    hears(pmu, LAST, 0);
    enter(pmu, 0, TALLY_PMU_PRIVILEGED);
    hears(pmu, 0, 0);
    enter(pmu, 0, TALLY_PMU_HYPERPRIVILEGED);
    hears(pmu, 0, GROUP(10) | GROUP(26));
    tally_pmu_reset(pmu);
    hears(pmu, 0, 0);
}

static void
test_crossing_groups(void **state)
{
    struct tally_pmu *const pmu = *state;

    set(pmu, 1, SPARC_T4_PCR0, PCR(8, 0x0d, HYPER));
    hears(pmu, 1, GROUP(8));
    hears(pmu, 0, 0);
    set(pmu, 1, SPARC_T4_PCR1, PCR(24, 0x20, HYPER));
    set(pmu, LAST, SPARC_T4_PCR2, PCR(24, 0x01, HYPER));
    set(pmu, LAST, SPARC_T4_PCR3, PCR(9, 0x01, HYPER));
    hears(pmu, 0, GROUP(9) | GROUP(24));
    hears(pmu, 1, GROUP(8) | GROUP(9) | GROUP(24));
    hears(pmu, LAST, GROUP(9) | GROUP(24));
    enter(pmu, 1, TALLY_PMU_USER);
    hears(pmu, 0, GROUP(9) | GROUP(24));
    hears(pmu, 1, GROUP(9) | GROUP(24));
    set(pmu, LAST, SPARC_T4_PCR2, 0);
    hears(pmu, 0, GROUP(9));
    hears(pmu, LAST, GROUP(9));
    tally_pmu_reset(pmu);
    hears(pmu, 0, 0);
    hears(pmu, LAST, 0);
    set(pmu, 0, SPARC_T4_PCR0, PCR(3, 0x01, HYPER));
    hears(pmu, 0, GROUP(3));
    hears(pmu, 1, 0);
}

/* Rule T4-R18: cycles are heard while they can end a race. */
static void
test_race(void **state)
{
    struct tally_pmu *const pmu = *state;
    const uint32_t cycles = TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, 26, 0);
    struct tally_pmu_taken taken;

    set(pmu, 0, SPARC_T4_PIC0, UINT32_MAX);
    set(pmu, 0, SPARC_T4_PCR0, PCR(28, 0x00, HYPER));
    hears(pmu, 0, 0);
    set(pmu, 0, SPARC_T4_PCR0, PCR(28, 0x01, USER));
    hears(pmu, 0, 0);
    set(pmu, 0, SPARC_T4_PCR0, PCR(28, 0x01, HYPER));
    hears(pmu, 0, GROUP(26) | GROUP(28));
    tally_pmu_signal(pmu, 0, cycles, 1, NULL);
    hears(pmu, 0, GROUP(26) | GROUP(28));
    tally_pmu_signal(pmu, 0, cycles, 1, NULL);
    hears(pmu, 0, GROUP(28));
    set(pmu, 0, SPARC_T4_PCR0, PCR(28, 0x01, HYPER | 2));
    hears(pmu, 0, GROUP(26) | GROUP(28));
    tally_pmu_signal(pmu, 0, TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, 28, 1), 1,
                     NULL);
    assert_int_equal(tally_pmu_take(pmu, 0, TALLY_PMU_DISRUPTING_EVENT, &taken),
                     0);
    hears(pmu, 0, GROUP(28));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_strands),
        TEST(test_own_groups),
        TEST(test_crossing_groups),
        TEST(test_race),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
