/* SPDX-License-Identifier: MIT */
/* Where the caches see data that are moved. */
#include "source/moves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

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

/* A line of four words: two threads' words go to lines of their own. */
static void
test_parted(void **state)
{
    const char *const text = "64:0x1000-0x107f=8-15+24-31/16-23,"
                             "0x2000-0x203f=0-0:17,18";
    struct moves m;

    (void)state;
    assert_true(moves_read(&m, text));
    char *const written = moves_text(&m);
    assert_string_equal(written, text);
    free(written);
    for (uint64_t line = 0x1000; line <= 0x1040; line += 0x40) {
        const uint64_t stays = moves_address(&m, line);
        const uint64_t first = moves_address(&m, line + 8);
        assert_int_equal(stays % (1 << 20), line);
        assert_int_equal(moves_address(&m, line + 7), stays + 7);
        assert_int_equal(moves_address(&m, line + 32), stays + 32);
        assert_int_equal(moves_address(&m, line + 24), first + 16);
        assert_int_not_equal(first / 64, stays / 64);
        assert_int_equal(first % 64, 8);
        assert_int_not_equal(moves_address(&m, line + 16) / 64, stays / 64);
        assert_int_not_equal(moves_address(&m, line + 16) / 64, first / 64);
    }
    assert_int_equal(moves_group(&m, 0xfff), 0);
    assert_int_equal(moves_group(&m, 0x1088), 0);
    assert_int_equal(moves_group(&m, 0x2000), 1);
    assert_int_equal(moves_group(&m, 0x2040), 0);
}

/* The last group of the last line stays below 2^48 too. */
static void
test_parted_largest(void **state)
{
    const uint64_t last = UINT64_C(1) << MOVES_SHIFT;
    struct moves m = {.count = 1, .objects = {1}, .line = 64, .part_count = 1};

    (void)state;
    m.parts[0] = (struct moves_part){.first = last - 64, .last = last - 1};
    m.parts[0].group[63] = 63;
    assert_true(moves_are_valid(&m));
    assert_true(moves_address(&m, last - 1) < UINT64_C(1) << 48);
    assert_true(moves_address(&m, last - 1) > UINT64_C(1) << 47);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),           cmocka_unit_test(test_further),
        cmocka_unit_test(test_largest),        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_objects),        cmocka_unit_test(test_parted),
        cmocka_unit_test(test_parted_largest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
