/* SPDX-License-Identifier: MIT */
/* Layouts: which addresses they give, by arithmetic. test/sharing.c holds the
 * caches with a layout to a twin. */
#include <string.h>

#include "ref/drive.h"
#include "ref/random.h"
#include "source/layout.h"

#define TRIES 2000u
#define PAGE UINT64_C(4096)

static void
test_none(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (unsigned i = 0; i < TRIES; i++) {
        const uint64_t addr = random_next(&state);
        assert_int_equal(layout_address(layout_of(0, 64), addr), addr);
        assert_int_equal(layout_branch(layout_of(0, 64), addr), addr);
    }
}

/* Each line of a page has a place of its own in the same page, and an address
 * keeps its place in the line. */
static void
test_pages(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (unsigned i = 0; i < TRIES; i++) {
        const uint64_t line = UINT64_C(16) << random_below(&state, 5);
        const struct layout l = layout_of(1 + random_below(&state, 64), line);
        const uint64_t page = random_next(&state) & ~(PAGE - 1);
        bool taken[PAGE / 16] = {false};
        for (uint64_t at = 0; at < PAGE; at += line) {
            const uint64_t addr = page + at + random_below(&state, line);
            const uint64_t seen = layout_address(l, addr);
            assert_int_equal(seen & ~(PAGE - 1), page);
            assert_int_equal(seen % line, addr % line);
            assert_int_equal(layout_address(l, seen), addr);
            assert_false(taken[seen % PAGE / line]);
            taken[seen % PAGE / line] = true;
        }
    }
}

/* Two lines of different pages share a set of 64 in one layout of 64. */
static void
test_meetings(void **unused)
{
    unsigned meet = 0, same = 0;

    (void)unused;
    for (uint64_t page = 1; page <= 64; page++) {
        for (uint64_t number = 1; number <= 64; number++) {
            const struct layout l = layout_of(number, 64);
            const uint64_t zero = layout_address(l, 0);
            const uint64_t other = layout_address(l, page * PAGE);
            meet += zero == other % PAGE;
            same +=
                layout_address(layout_of(number + 1, 64), page * PAGE) == other;
        }
    }
    assert_in_range(meet, 32, 96);
    assert_in_range(same, 32, 96);
}

/* A machine's layout leaves its largest line whole. */
static void
test_machine(void **unused)
{
    static const struct machine plain = {__LINE__, "ci-1", {"cores=1"}};
    static const struct machine chosen = {
        __LINE__, "ci-1", {"layout=5", "l3.line=256"}};
    uint64_t params[PARAM_COUNT];

    (void)unused;
    params_of(&plain, params);
    assert_int_equal(chip_layout(params).lines, 0);
    params_of(&chosen, params);
    assert_int_equal(chip_layout(params).lines, PAGE - 256);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_meetings),
        cmocka_unit_test(test_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
