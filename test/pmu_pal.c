/* SPDX-License-Identifier: MIT */
/* What Montecito's firmware tells: src/pmu/montecito_pal.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tally/pmu.h"

static _Alignas(16) unsigned char memory[1 << 16];

static struct tally_pmu *
monitor(const char *machine, uint32_t flags)
{
    struct tally_pmu_options options;
    struct tally_pmu *pmu = NULL;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = machine;
    options.flags = flags;
    assert_int_equal(tally_pmu_init(memory, sizeof(memory), &options, &pmu), 0);
    return pmu;
}

static void
check_words(const uint64_t words[4], uint64_t first)
{
    assert_true(words[0] == first);
    assert_true(words[1] == 0 && words[2] == 0 && words[3] == 0);
}

/* R373 X17 X18 */
static void
test_structural(void **state)
{
    struct tally_pmu_pal pal;

    (void)state;
    memset(&pal, 0xff, sizeof(pal));
    assert_int_equal(tally_pmu_pal_info(monitor("montecito", 0), &pal), 0);
    assert_int_equal(pal.retired, 0x08);
    assert_int_equal(pal.cycles, 0x12);
    assert_int_equal(pal.width, 47);
    assert_int_equal(pal.pairs, 12);
    check_words(pal.pmc_mask, UINT64_C(0x7ff0000ffff));
    check_words(pal.pmd_mask, UINT64_C(0xffff00df0000fff0));
    check_words(pal.cycles_mask, 0xfff0);
    check_words(pal.retired_mask, 0xfff0);
}

/* R373 X18: Table 3-34 to the letter. */
static void
test_printed(void **state)
{
    struct tally_pmu_pal pal;
    struct tally_pmu *pmu = monitor("montecito", TALLY_PMU_PRINTED_PAL);

    (void)state;
    assert_int_equal(tally_pmu_pal_info(pmu, &pal), 0);
    assert_int_equal(pal.retired, 0x08);
    assert_int_equal(pal.cycles, 0x12);
    assert_int_equal(pal.width, 48);
    assert_int_equal(pal.pairs, 4);
    check_words(pal.pmc_mask, 0x3fff);
    check_words(pal.pmd_mask, 0x3ffff);
    check_words(pal.cycles_mask, 0xf0);
    check_words(pal.retired_mask, 0xf0);
}

/* M40 M41 */
static void
test_processor(void **state)
{
    struct tally_pmu_pal pal;
    struct tally_pmu *pmu = monitor("montecito", 0);
    uint64_t value = 1;

    (void)state;
    assert_int_equal(tally_pmu_pal_info(pmu, &pal), 0);
    assert_int_equal(pal.family, 0x20);
    assert_int_equal(pal.model, 0);
    assert_true(pal.features == 1 << 18);
    assert_int_equal(tally_pmu_pal_brand(pmu, 15, &value), TALLY_ERANGE);
    assert_int_equal(tally_pmu_pal_brand(pmu, 19, &value), TALLY_ERANGE);
    assert_true(value == 1);
    assert_int_equal(tally_pmu_pal_brand(pmu, 16, &value), 0);
    assert_true(value == 1600000000);
    assert_int_equal(tally_pmu_pal_brand(pmu, 17, &value), 0);
    assert_true(value == 25165824);
    assert_int_equal(tally_pmu_pal_brand(pmu, 18, &value), 0);
    assert_true(value == 533000000);
}

static void
test_other_machine(void **state)
{
    struct tally_pmu_pal pal;
    struct tally_pmu *pmu = monitor("r12000", 0);
    uint64_t value;

    (void)state;
    assert_int_equal(tally_pmu_pal_info(pmu, &pal), TALLY_EUNKNOWN);
    assert_int_equal(tally_pmu_pal_brand(pmu, 16, &value), TALLY_EUNKNOWN);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structural),
        cmocka_unit_test(test_printed),
        cmocka_unit_test(test_processor),
        cmocka_unit_test(test_other_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
