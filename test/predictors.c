/* SPDX-License-Identifier: MIT */
/* Predictors of tables with tags and of perceptrons against their twins, and on
 * patterns of branches or targets whose wrong predictions are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include "ref/ittage_ref.h"
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

static const struct {
    int line;
    struct ittage_shape shape;
    unsigned steps;
} shapes[] = {
    {__LINE__, {1, 1, 1, 1, 1}, 3000},
    {__LINE__, {2, 4, 3, 2, 2}, 3000},
    {__LINE__, {3, 512, 12, 4, 64}, 20000},
    {__LINE__, {4, 16, 8, 1, 40}, 20000},
    {__LINE__, {8, 128, 15, 2, 255}, 20000},
    {__LINE__, {8, 65536, 15, 255, 255}, 2000},
    /* Usefulness is cleared often. */
    {__LINE__, {2, 2, 12, 1, 3}, 20000},
};

/* Targets of 30 branches, a third with one target, a third by the path, and a
 * third at random; between them taken branches that do not ask. */
static void
test_ittage(void **state)
{
    uint64_t random = random_seed();

    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct ittage *const t = ittage_create(&shapes[i].shape);
        struct ittage_ref ref;
        uint64_t last = 0, before = 0;
        assert_non_null(t);
        /* What was learned before is forgotten. */
        ittage_step(t, 1, 0, 2);
        ittage_add(t, 1, 2);
        ittage_reset(t);
        ittage_ref_init(&ref, &shapes[i].shape);
        for (unsigned k = 0; k < shapes[i].steps; k++) {
            const uint64_t branch = random_below(&random, 30);
            const uint64_t target = branch % 3 == 0 ? 7 * branch
                                    : branch % 3 == 1
                                        ? (last ^ before) % 8
                                        : random_below(&random, 5);
            const uint64_t base = random_below(&random, 5);
            if (random_below(&random, 3) != 0 &&
                ittage_step(t, branch, base, target) !=
                    ittage_ref_step(&ref, branch, base, target))
                fail_msg("row at line %d: step %u", shapes[i].line, k);
            ittage_add(t, branch, target);
            ittage_ref_add(&ref, branch, target);
            before = last;
            last = target;
        }
        ittage_ref_finish(&ref);
        ittage_destroy(t);
    }
}

static void
test_paths(void **state)
{
    unsigned h[ITTAGE_TABLES_MOST];

    (void)state;
    /* 4 times the cube root of 64, 4, for each table. */
    ittage_histories(&(struct ittage_shape){4, 1, 1, 4, 255}, h);
    assert_int_equal(h[0], 4);
    assert_int_equal(h[1], 16);
    assert_int_equal(h[2], 64);
    assert_int_equal(h[3], 255);
    ittage_histories(&(struct ittage_shape){3, 1, 1, 255, 255}, h);
    assert_int_equal(h[0], 255);
    assert_int_equal(h[1], 256);
    assert_int_equal(h[2], 257);
    ittage_histories(&(struct ittage_shape){1, 1, 1, 4, 60}, h);
    assert_int_equal(h[0], 60);
}

/* Returns how many of the last `turns` of as many turns and 20,000 more are
 * predicted wrong. An interpreter's jump at one address goes to the handler of
 * the next operation, 32 bytes apart, and each handler jumps back to it. */
static unsigned
wrong_operations(const struct ittage_shape *shape,
                 unsigned (*operation)(unsigned number), unsigned turns)
{
    struct ittage *const t = ittage_create(shape);
    uint64_t base = 0;
    unsigned wrong = 0;

    assert_non_null(t);
    for (unsigned i = 0; i < 20000 + turns; i++) {
        const uint64_t target = 0x1000 + 32 * (uint64_t)operation(i);
        const bool missed = ittage_step(t, 0x100, base, target);
        base = target;
        wrong += i >= 20000 && missed;
        ittage_add(t, 0x100, target);
        ittage_add(t, target + 4, 0x100);
    }
    ittage_destroy(t);
    return wrong;
}

/* A program of 40 operations whose last 39 of each round are alike: 39 of them
 * before an operation tell where the round is. */
static unsigned
one_of_40(unsigned number)
{
    return number % 40 == 0;
}

/* Sixteen operations, each of four handlers. */
static unsigned
round_of_16(unsigned number)
{
    static const unsigned operations[16] = {0, 1, 2, 3, 0, 2, 1, 3,
                                            3, 0, 0, 1, 1, 2, 2, 3};

    return operations[number % 16];
}

/* Handlers by chance, four of them, the same for each `number`. */
static unsigned
by_chance(unsigned number)
{
    uint64_t state = number;

    return (unsigned)random_below(&state, 4);
}

static void
test_operations(void **state)
{
    /* Each turn has two taken branches. */
    static const struct ittage_shape deep = {4, 512, 12, 4, 80},
                                     shallow = {4, 512, 12, 4, 76};

    (void)state;
    assert_int_equal(wrong_operations(&deep, round_of_16, 1600), 0);
    assert_int_equal(wrong_operations(&shallow, round_of_16, 1600), 0);
    assert_int_equal(wrong_operations(&deep, one_of_40, 4000), 0);
    /* A path of 38 operations has none that tells when the other comes. */
    assert_int_equal(wrong_operations(&shallow, one_of_40, 4000), 100);
    /* Three of four guesses are wrong, whoever guesses. The standard deviation
     * of 10,000 is 43. */
    const unsigned wrong = wrong_operations(&deep, by_chance, 10000);
    assert_in_range(wrong, 7500 - 5 * 43, 7500 + 5 * 43);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tage),       cmocka_unit_test(test_perceptrons),
        cmocka_unit_test(test_histories),  cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_ittage),     cmocka_unit_test(test_paths),
        cmocka_unit_test(test_operations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
