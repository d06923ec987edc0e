/* SPDX-License-Identifier: MIT */
/* The probes of tally calibrate on this computer: each runs, on one processor,
 * which the thread leaves in the end. How long they take is this computer's. */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/native.h"

#include <cmocka.h>

#define SIZE (UINT64_C(4) << 20)
#define COUNT (sizeof(probes) / sizeof(probes[0]))

static const struct native_facts facts = {SIZE, 64, 4096};

static int
create(struct native **native)
{
    const struct tally_log silent = {0};
    const int error = native_create(&facts, &silent, native);

    if (error == TALLY_EARCH)
        skip();
    return error;
}

static void
test_probes(void **state)
{
    static const struct probe probes[] = {
        {PROBE_ADDS_CHAINED, 0, 0},     {PROBE_ADDS_APART, 0, 0},
        {PROBE_ADDS_AND_LOADS, 0, 0},   {PROBE_RANDOM_WALK, 8192, 0},
        {PROBE_RANDOM_WALK, SIZE, 0},   {PROBE_RANDOM_WALKS, SIZE, 2},
        {PROBE_RANDOM_WALKS, SIZE, 64}, {PROBE_LOADS_IN_ORDER, SIZE, 0},
        {PROBE_WALK_OF_PAGES, 0, 8},    {PROBE_WALK_OF_PAGES, 0, SIZE / 4096},
        {PROBE_WALK_OF_LINES, 0, 8},
    };
    const struct probe mispredict = {PROBE_MISPREDICTS, 0, 0};
    struct native *native = NULL;

    (void)state;
    assert_int_equal(create(&native), 0);
    for (size_t i = 0; i < 2 * COUNT; i++) {
        if (i == COUNT)
            native_renew(native);
        const double ns = native_measure(native, &probes[i % COUNT]);
        if (!(isfinite(ns) && ns > 0))
            fail_msg("probe %zu: %f ns", i, ns);
    }
    assert_true(isfinite(native_measure(native, &mispredict)));
    native_destroy(native);
    native_destroy(NULL);
}

static void
test_processor(void **state)
{
    struct native *native = NULL;
    cpu_set_t before, during, after;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    assert_int_equal(create(&native), 0);
    assert_int_equal(sched_getaffinity(0, sizeof(during), &during), 0);
    assert_true(CPU_COUNT(&during) == 1 || CPU_EQUAL(&during, &before));
    native_destroy(native);
    assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes),
        cmocka_unit_test(test_processor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
