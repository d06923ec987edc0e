/* SPDX-License-Identifier: MIT */
/* Which object is at an address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine/objects.h"

static int
set_up(void **state)
{
    static struct objects o;

    assert_int_equal(objects_init(&o), 0);
    *state = &o;
    return 0;
}

static int
tear_down(void **state)
{
    objects_finish(*state);
    return 0;
}

static void
test_words(void **state)
{
    struct objects *o = *state;

    assert_int_equal(objects_find(o, 0x10000), 0);
    objects_put(o, 0x10010, 24, 7);
    objects_put(o, 0x10028, 1, 8); /* a part of a word is all of it */
    assert_int_equal(objects_find(o, 0x1000f), 0);
    assert_int_equal(objects_find(o, 0x10010), 7);
    assert_int_equal(objects_find(o, 0x10027), 7);
    assert_int_equal(objects_find(o, 0x1002f), 8);
    assert_int_equal(objects_find(o, 0x10030), 0);
    objects_put_page(o, 0x10800, 3);
    assert_int_equal(objects_find(o, 0x10000), 3);
    objects_put(o, 0x10010, 24, 0);
    assert_int_equal(objects_find(o, 0x10010), 3);
    assert_int_equal(objects_find(o, 0x10028), 8);
    objects_forget(o, 0x10000, 1);
    assert_int_equal(objects_find(o, 0x10028), 0);
}

/* Addresses that no program has, and the borders of parts. */
static void
test_far(void **state)
{
    struct objects *o = *state;
    const uint64_t border = UINT64_C(5) << 32;

    objects_put(o, border - 4096, 3 * 4096, 9);
    assert_int_equal(objects_find(o, border - 1), 9);
    assert_int_equal(objects_find(o, border), 9);
    assert_int_equal(objects_find(o, border + 8191), 9);
    assert_int_equal(objects_find(o, border + 8192), 0);
    objects_put(o, UINT64_MAX - 64, 32, 9);
    assert_int_equal(objects_find(o, UINT64_MAX - 64), 0);
    objects_put_page(o, UINT64_C(1) << 50, 9);
    objects_forget(o, 0, UINT64_MAX);
    assert_int_equal(objects_find(o, border), 0);
}

/* Bytes of a page have numbers of their own, next to words and after them. */
static void
test_bytes(void **state)
{
    struct objects *o = *state;

    objects_put(o, 0x5000, 64, 1);
    objects_put_bytes(o, 0x5042, 3, 2);
    objects_put_bytes(o, 0x5045, 1, 3);
    objects_put_page(o, 0x5000, 4);
    assert_int_equal(objects_find(o, 0x503f), 1);
    assert_int_equal(objects_find(o, 0x5041), 4);
    assert_int_equal(objects_find(o, 0x5042), 2);
    assert_int_equal(objects_find(o, 0x5044), 2);
    assert_int_equal(objects_find(o, 0x5045), 3);
    assert_int_equal(objects_find(o, 0x5046), 4);
    objects_put(o, 0x5040, 4, 5);
    assert_int_equal(objects_find(o, 0x5043), 5);
    assert_int_equal(objects_find(o, 0x5044), 2);
    objects_put_bytes(o, 0x6ffe, 0x1004, 6);
    assert_int_equal(objects_find(o, 0x6ffd), 0);
    assert_int_equal(objects_find(o, 0x6ffe), 6);
    assert_int_equal(objects_find(o, 0x7fff), 6);
    assert_int_equal(objects_find(o, 0x8001), 6);
    assert_int_equal(objects_find(o, 0x8002), 0);
    objects_forget(o, 0x5000, 1);
    assert_int_equal(objects_find(o, 0x5045), 0);
}

enum { WORDS = 6 * OBJECTS_PAGE / OBJECTS_WORD, PAGES = 6 };

/* The same in the slow, obvious way. */
struct twin {
    uint32_t word[WORDS], own[PAGES];
};

static void
twin_put(struct twin *t, uint64_t first, uint64_t size, uint32_t object)
{
    const uint64_t words = OBJECTS_PAGE / OBJECTS_WORD;

    for (uint64_t w = 0; w < WORDS; w++) {
        if (w * 8 + 8 > first && w * 8 < first + size)
            t->word[w] = object;
    }
    for (uint64_t p = 0; p < PAGES; p++) {
        if (p * OBJECTS_PAGE < first || (p + 1) * OBJECTS_PAGE > first + size)
            continue;
        t->own[p] = object; /* a whole page's number is its own */
        for (uint64_t w = 0; w < words; w++)
            t->word[p * words + w] = 0;
    }
}

static void
test_random(void **state)
{
    const uint64_t base = (UINT64_C(1) << 32) - 3 * OBJECTS_PAGE;
    struct objects *o = *state;
    static struct twin t;
    uint64_t seed = 1;

    for (unsigned i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t first = (seed >> 33) % (PAGES * OBJECTS_PAGE) & ~7u;
        const uint64_t most = PAGES * OBJECTS_PAGE - first;
        const uint64_t size =
            1 + (seed >> 20) % (seed & 1 << 10 ? 100 : 9000) % most;
        const uint32_t object = (uint32_t)(seed >> 50) % 5;
        if ((seed >> 45) % 8 == 0) {
            objects_put_page(o, base + first, object);
            t.own[first / OBJECTS_PAGE] = object;
        } else {
            objects_put(o, base + first, size, object);
            twin_put(&t, first, size, object);
        }
        const uint64_t w = (seed >> 40) % WORDS;
        const uint32_t expected =
            t.word[w] != 0 ? t.word[w] : t.own[w * 8 / OBJECTS_PAGE];
        assert_int_equal(objects_find(o, base + w * 8), expected);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_far, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_random, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
