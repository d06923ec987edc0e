/* SPDX-License-Identifier: MIT */
/* The distance of reuse, against a list in order of use. */
#include "machine/reuse.h"

#include "check.h"
#include "ref/random.h"

enum { LINES = 700, STEPS = 60000 };

/* The slow twin: lines in order of use, the newest first. */
struct list {
    uint64_t lines[LINES];
    size_t count;
};

static uint64_t
list_touch(struct list *l, uint64_t line)
{
    size_t at = 0;

    while (at < l->count && l->lines[at] != line)
        at++;
    const uint64_t distance = at < l->count ? at : REUSE_NEVER;
    assert_true(at < LINES);
    memmove(l->lines + 1, l->lines, at * sizeof(l->lines[0]));
    l->lines[0] = line;
    l->count += distance == REUSE_NEVER;
    return distance;
}

/* Lines of which some are asked for again and again, and others seldom: more
 * accesses than there are times, so that times are given anew. */
static void
test_random(void **state)
{
    uint64_t random = random_seed();

    (void)state;
    for (unsigned run = 0; run < 4; run++) {
        const uint64_t base = run == 3 ? UINT64_MAX / 64 - LINES : run * 4099;
        struct reuse r = {0};
        struct list l = {.count = 0};
        for (unsigned i = 0; i < STEPS; i++) {
            const uint64_t few = run == 0 ? LINES : 1 + i / 100 % LINES;
            const uint64_t line = base + random_below(&random, few);
            assert_int_equal(reuse_touch(&r, line), list_touch(&l, line));
        }
        reuse_finish(&r);
    }
}

/* A loop over lines comes back to each after all others. */
static void
test_loop(void **state)
{
    static const uint64_t sizes[] = {1, 2, 64, 4096, 5000, 70000};

    (void)state;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        const uint64_t size = sizes[s];
        struct reuse r = {0};
        for (uint64_t i = 0; i < 5 * size + 3; i++)
            assert_int_equal(reuse_touch(&r, i % size),
                             i < size ? REUSE_NEVER : size - 1);
        reuse_finish(&r);
        reuse_finish(&r);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_loop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
