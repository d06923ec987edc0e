/* SPDX-License-Identifier: MIT */
/* How far apart an instruction's addresses are. */
#include "machine/strides.h"

#include "check.h"

static void
assert_step(const struct record_stride *s, unsigned i, int64_t step,
            uint64_t count)
{
    assert_int_equal(s->steps[i], step);
    assert_int_equal(s->counts[i], count);
}

/* A walk through a matrix of 10 columns by rows of 64 bytes: two steps. */
static void
test_matrix(void **state)
{
    struct record_stride s = {.pieces = 1};

    (void)state;
    for (uint64_t row = 0; row < 5; row++)
        for (uint64_t column = 0; column < 10; column++)
            strides_note(&s, 0, 0x1000 + row * 64 + column * 4);
    assert_step(&s, 0, 4, 45);
    assert_step(&s, 1, 64 - 36, 4);
    assert_int_equal(s.counts[2], 0);
    assert_int_equal(s.other, 0);
}

/* The first address of a thread, and of one after another, is no step. */
static void
test_threads(void **state)
{
    struct record_stride s = {.pieces = 1};

    (void)state;
    for (uint64_t i = 0; i < 6; i++)
        strides_note(&s, (uint32_t)(i / 3), 0x1000 * (i / 3) + i * 8);
    assert_step(&s, 0, 8, 4);
    assert_int_equal(s.other, 0);
}

/* Of an access in pieces the first piece counts. */
static void
test_pieces(void **state)
{
    struct record_stride s = {.pieces = 4};

    (void)state;
    for (uint64_t i = 0; i < 10; i++)
        for (uint64_t k = 0; k < 4; k++)
            strides_note(&s, 0, i * 100 + k * 8);
    assert_step(&s, 0, 100, 9);
    assert_int_equal(s.counts[1], 0);
}

/* Steps for which there is no room are counted together. */
static void
test_others(void **state)
{
    struct record_stride s = {.pieces = 1};
    uint64_t addr = UINT64_MAX - 10, sum = 0;

    (void)state;
    for (uint64_t i = 0; i < 20; i++)
        strides_note(&s, 7, addr += i * i);
    for (unsigned i = 0; i < RECORD_STEPS; i++) {
        assert_step(&s, i, (int64_t)((i + 1) * (i + 1)), 1);
        sum += s.counts[i];
    }
    assert_int_equal(sum + s.other, 19);
    strides_note(&s, 7, addr - 361);
    assert_int_equal(s.other, 19 - RECORD_STEPS + 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
