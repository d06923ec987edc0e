/* SPDX-License-Identifier: MIT */
/* Numbers for strings, compared with a list. */
#include "base/texts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref/random.h"

#define MOST 5000u /* strings: more than the first tables hold */

static void
test_numbers(void **unused)
{
    static uint32_t numbers[MOST]; /* of the strings "t0", "t1", ... */
    uint64_t state = random_seed();
    struct texts t;
    char text[16];
    uint32_t count = 1;

    (void)unused;
    assert_int_equal(texts_init(&t), 0);
    for (unsigned i = 0; i < 4 * MOST; i++) {
        const unsigned k = (unsigned)random_below(&state, MOST);
        snprintf(text, sizeof(text), "t%u", k);
        assert_int_equal(texts_find(&t, text), numbers[k]);
        if (numbers[k] == 0)
            numbers[k] = count++;
        assert_int_equal(texts_add(&t, text), numbers[k]);
        assert_int_equal(t.count, count);
    }
    for (unsigned k = 0; k < MOST; k++) {
        snprintf(text, sizeof(text), "t%u", k);
        assert_int_equal(texts_find(&t, text), numbers[k]);
        if (numbers[k] != 0)
            assert_string_equal(texts_get(&t, numbers[k]), text);
    }
    texts_finish(&t);
}

static void
test_empty(void **unused)
{
    struct texts t;

    (void)unused;
    assert_int_equal(texts_init(&t), 0);
    assert_int_equal(texts_add(&t, ""), 0);
    assert_int_equal(texts_add(&t, NULL), 0);
    assert_int_equal(texts_find(&t, ""), 0);
    assert_string_equal(texts_get(&t, 0), "");
    assert_int_equal(t.count, 1);
    texts_finish(&t);
    texts_finish(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
