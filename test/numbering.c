/* SPDX-License-Identifier: MIT */
/* Numbers for groups. */
#include "base/numbering.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

#define KEYS 5000

/* Keys get their numbers in the order in which they come first, and keep them
 * while the table grows, in whatever order they come again. */
static void
test_numbers(void **state)
{
    (void)state;
    for (size_t words = 1; words <= 4; words++) {
        struct numbering n;
        uint64_t key[4] = {7, 0, 0, 7};
        numbering_init(&n, words);
        assert_int_equal(numbering_find(&n, key), NUMBERING_NONE);
        for (uint32_t i = 0; i < KEYS; i++) {
            key[words - 1] = (uint64_t)i << 40;
            assert_int_equal(numbering_add(&n, key), i);
        }
        for (uint32_t i = 0; i < 3 * KEYS; i++) {
            const uint32_t number = i < KEYS       ? i
                                    : i < 2 * KEYS ? 2 * KEYS - 1 - i
                                                   : i * 7919 % KEYS;
            key[words - 1] = (uint64_t)number << 40;
            assert_int_equal(numbering_find(&n, key), number);
            assert_int_equal(numbering_add(&n, key), number);
            assert_int_equal(numbering_key(&n, number)[words - 1],
                             key[words - 1]);
        }
        key[words - 1] = 7;
        assert_int_equal(numbering_find(&n, key), NUMBERING_NONE);
        assert_int_equal(n.count, KEYS);
        numbering_finish(&n);
    }
}

/* Every word counts. */
static void
test_words(void **state)
{
    struct numbering n;

    (void)state;
    numbering_init(&n, 3);
    for (uint32_t i = 0; i < 8; i++) {
        const uint64_t key[] = {i & 1, i >> 1 & 1, i >> 2};
        assert_int_equal(numbering_add(&n, key), i);
    }
    numbering_finish(&n);
    assert_int_equal(n.count, 0);
    numbering_finish(&n);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
