/* SPDX-License-Identifier: MIT */
/* Predictors of tables with tags and of perceptrons against their twins, and on
 * patterns of branches whose wrong predictions are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include "ref/perceptron_ref.h"
#include "ref/random.h"
#include "ref/tage_ref.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Branches of a stream that has something to learn: some always go one way,
 * some follow a branch before, some a period, and some are random. */
struct stream {
    uint64_t random, step;
    uint64_t past; /* directions, newest lowest */
};

static uint64_t
next_branch(struct stream *s, bool *taken)
{
    const uint64_t branch = random_below(&s->random, 40);

    switch (branch % 5) {
    case 0:
        *taken = branch % 2 == 0;
        break;
    case 1:
        *taken = s->past >> branch & 1;
        break;
    case 2:
        *taken = s->step % (branch + 1) == 0;
        break;
    case 3:
        *taken = random_below(&s->random, 10) != 0;
        break;
    default:
        *taken = random_below(&s->random, 2) != 0;
        break;
    }
    s->past = s->past * 2 + *taken;
    s->step++;
    /* Some are far apart, as functions are. */
    return branch * 3 + branch / 8 * 0x10000;
}

static const struct {
    int line;
    uint64_t counters;
    unsigned history;
    unsigned steps;
} rows[] = {
    {__LINE__, 64, 0, 3000},
    {__LINE__, 64, 255, 3000},
    {__LINE__, 128, 5, 3000},
    {__LINE__, 1024, 24, 8000},
    {__LINE__, 4096, 130, 20000},
    {__LINE__, 32768, 255, 20000},
    /* Usefulness halves twice. */
    {__LINE__, 256, 12, 2 * TAGE_PERIOD + 500},
};

static void
test_tage(void **state)
{
    struct stream s = {.random = random_seed()};

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tage *const t = tage_create(rows[i].counters, rows[i].history);
        struct tage_ref ref;
        assert_non_null(t);
        /* What was learned before is forgotten. */
        tage_step(t, 1, true);
        tage_reset(t);
        tage_ref_init(&ref, rows[i].counters, rows[i].history);
        for (unsigned k = 0; k < rows[i].steps; k++) {
            bool taken;
            const uint64_t branch = next_branch(&s, &taken);
            if (tage_step(t, branch, taken) !=
                tage_ref_step(&ref, branch, taken))
                fail_msg("row at line %d: step %u", rows[i].line, k);
        }
        tage_ref_finish(&ref);
        tage_destroy(t);
    }
}

static void
test_perceptrons(void **state)
{
    struct stream s = {.random = random_seed()};

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct perceptrons *const p =
            perceptrons_create(rows[i].counters, rows[i].history);
        struct perceptron_ref ref;
        assert_non_null(p);
        perceptrons_step(p, 1, true);
        perceptrons_reset(p);
        perceptron_ref_init(&ref, rows[i].counters, rows[i].history);
        for (unsigned k = 0; k < rows[i].steps && k < 20000; k++) {
            bool taken;
            const uint64_t branch = next_branch(&s, &taken);
            if (perceptrons_step(p, branch, taken) !=
                perceptron_ref_step(&ref, branch, taken))
                fail_msg("row at line %d: step %u", rows[i].line, k);
        }
        perceptron_ref_finish(&ref);
        perceptrons_destroy(p);
    }
}

static void
test_histories(void **state)
{
    unsigned h[TAGE_TABLES];

    (void)state;
    /* 4 times the sixth root of 64, 2, for each table. */
    tage_histories(256 - 1, h);
    assert_int_equal(h[0], 4);
    assert_int_equal(h[1], 8);
    assert_int_equal(h[2], 16);
    assert_int_equal(h[3], 32);
    assert_int_equal(h[4], 64);
    assert_int_equal(h[5], 128);
    assert_int_equal(h[6], 255);
    tage_histories(0, h);
    for (unsigned i = 0; i < TAGE_TABLES; i++)
        assert_int_equal(h[i], 4 + i);
}

/* Returns how many of the last 1,000 of 20,000 predictions are wrong. */
static unsigned
wrong_at_last(bool (*step)(void *user, uint64_t branch, bool taken), void *user,
              bool (*direction)(unsigned number))
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < 20000; i++) {
        const bool missed = step(user, 5, direction(i));
        wrong += i >= 19000 && missed;
    }
    return wrong;
}

static bool
step_tage(void *user, uint64_t branch, bool taken)
{
    return tage_step(user, branch, taken);
}

static bool
step_perceptrons(void *user, uint64_t branch, bool taken)
{
    return perceptrons_step(user, branch, taken);
}

/* Loops of 100 and of 20 turns: only a history of 99 and of 19 tells the last
 * turn. */
static bool
loop(unsigned number)
{
    return number % 100 != 99;
}

static bool
short_loop(unsigned number)
{
    return number % 20 != 19;
}

/* Each branch goes as two branches before differ: no weight tells that. */
static bool
differ(unsigned number)
{
    static uint32_t past;
    const bool taken = (past >> 6 ^ past >> 4) & 1;

    if (number == 0)
        past = 0x2a;
    past = past * 2 + taken;
    return taken;
}

static void
test_patterns(void **state)
{
    struct tage *const deep = tage_create(32768, 130);
    struct tage *const shallow = tage_create(32768, 24);
    struct perceptrons *const all = perceptrons_create(32768, 24);
    struct perceptrons *const few = perceptrons_create(32768, 12);

    (void)state;
    assert_int_equal(wrong_at_last(step_tage, deep, loop), 0);
    /* Without the history each end of the loop is wrong. */
    assert_int_equal(wrong_at_last(step_tage, shallow, loop), 10);
    assert_int_equal(wrong_at_last(step_perceptrons, all, short_loop), 0);
    assert_int_equal(wrong_at_last(step_perceptrons, few, short_loop), 50);
    tage_reset(shallow);
    perceptrons_reset(all);
    assert_int_equal(wrong_at_last(step_tage, shallow, differ), 0);
    assert_true(wrong_at_last(step_perceptrons, all, differ) > 300);
    tage_destroy(deep);
    tage_destroy(shallow);
    perceptrons_destroy(all);
    perceptrons_destroy(few);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tage),
        cmocka_unit_test(test_perceptrons),
        cmocka_unit_test(test_histories),
        cmocka_unit_test(test_patterns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
