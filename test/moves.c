/* SPDX-License-Identifier: MIT */
/* Where the caches see data that are moved. */
#include "source/moves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void
test_rows(void **state)
{
    /* 50 rows of 4096 bytes, from a multiple of these on. */
    const struct moves rows = {.every = 4096, .gap = 64};
    const uint64_t first = UINT64_C(0x7f1234567000);
    const uint64_t moved = moves_address(&rows, first);

    (void)state;
    assert_true(moved >= UINT64_C(1) << 47);
    for (uint64_t row = 0; row < 50; row++) {
        for (uint64_t byte = 0; byte < 4096; byte += 8)
            assert_int_equal(moves_address(&rows, first + 4096 * row + byte),
                             moved + 4160 * row + byte);
    }
}

static void
test_further(void **state)
{
    const struct moves further = {.every = 0, .gap = 192};
    const uint64_t addr = UINT64_C(0x555555558040);

    (void)state;
    assert_int_equal(moves_address(&further, addr) % (1 << 20),
                     (addr + 192) % (1 << 20));
    assert_int_equal(moves_address(&further, addr + 5),
                     moves_address(&further, addr) + 5);
}

/* No two addresses of 2 TiB become one, the largest growth stays below 2^48,
 * and so within what the tables of lines have room for. */
static void
test_largest(void **state)
{
    const struct moves words = {.every = 8, .gap = 8 * (MOVES_GROWTH - 1)};
    const uint64_t last = (UINT64_C(1) << 41) - 1;

    (void)state;
    assert_true(moves_address(&words, last) < UINT64_C(1) << 48);
    assert_int_equal(moves_address(&words, last) - moves_address(&words, 0),
                     8 * MOVES_GROWTH * (last / 8) + 7);
}

static void
test_fit(void **state)
{
    (void)state;
    assert_true(moves_fit(0, 1));
    assert_true(moves_fit(8, 56));
    assert_true(moves_fit(1, 63));
    assert_false(moves_fit(1, 64));
    assert_true(moves_fit(8, 504));
    assert_false(moves_fit(8, 505));
    assert_false(moves_fit(8, 0));
    assert_false(moves_fit(0, 0));
    assert_true(moves_fit(MOVES_GAP, MOVES_GAP));
    assert_false(moves_fit(MOVES_GAP + 1, 8));
    assert_false(moves_fit(0, MOVES_GAP + 1));
    assert_false(moves_fit(UINT64_MAX, UINT64_MAX));
}

static void
test_objects(void **state)
{
    const struct moves m = {.count = 2, .objects = {7, 9, 11}};

    (void)state;
    assert_true(moves_object(&m, 7));
    assert_true(moves_object(&m, 9));
    assert_false(moves_object(&m, 11));
    assert_false(moves_object(&m, 0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_further),
        cmocka_unit_test(test_largest), cmocka_unit_test(test_fit),
        cmocka_unit_test(test_objects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
