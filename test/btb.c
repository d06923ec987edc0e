/* SPDX-License-Identifier: MIT */
/* Branch target buffers against their twin, and rings of branches whose hits in
 * each level follow from arithmetic. */
#include "machine/btb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include "ref/btb_ref.h"
#include "ref/random.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    int line;
    struct btb_shape shape;
    unsigned branches, steps;
} shapes[] = {
    {__LINE__, {1, {{1, 1, false}}}, 3, 2000},
    {__LINE__, {1, {{8, 2, false}}}, 20, 5000},
    {__LINE__, {2, {{4, 4, false}, {16, 2, false}}}, 30, 5000},
    {__LINE__, {2, {{4, 4, false}, {12, 3, true}}}, 30, 5000},
    {__LINE__, {2, {{8, 2, false}, {8, 8, true}}}, 30, 5000},
    {__LINE__, {3, {{4, 4, false}, {8, 8, true}, {48, 6, false}}}, 90, 9000},
    {__LINE__, {3, {{4, 4, false}, {16, 4, false}, {16, 2, true}}}, 50, 9000},
    {__LINE__, {3, {{2, 1, false}, {4, 2, true}, {8, 1, true}}}, 20, 9000},
    {__LINE__,
     {3, {{16, 16, false}, {64, 4, false}, {448, 7, false}}},
     600,
     20000},
};

/* Branches by chance, near ones more often. Branches of two addresses may have
 * one number. */
static void
test_twin(void **state)
{
    uint64_t random = random_seed();

    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct btb *const b = btb_create(&shapes[i].shape);
        struct btb_ref ref;
        assert_non_null(b);
        /* What was learned before is forgotten. */
        btb_ask(b, 1, 1);
        btb_reset(b);
        btb_ref_init(&ref, &shapes[i].shape);
        for (unsigned k = 0; k < shapes[i].steps; k++) {
            const uint64_t of =
                random_below(&random, 3) == 0 ? shapes[i].branches : 6;
            const uint64_t branch = random_below(&random, of);
            const uint64_t number = branch % 2 == 0 ? branch : 5 * branch / 2;
            const uint64_t address = 0x400000 + 4 * branch;
            if (btb_ask(b, number, address) !=
                btb_ref_ask(&ref, number, address))
                fail_msg("row at line %d: step %u", shapes[i].line, k);
        }
        btb_ref_finish(&ref);
        btb_destroy(b);
    }
}

/* Rounds through a ring of branches in a row: `level` has each of them from the
 * second round on. */
static const struct {
    int line;
    struct btb_shape shape;
    unsigned branches;
    unsigned level;
} rings[] = {
    /* As on Zen 2: what a level cannot hold it never has, as the least recently
     * used branch leaves just before it is asked for. */
    {__LINE__,
     {3, {{16, 16, false}, {512, 4, false}, {7168, 7, false}}},
     16,
     0},
    {__LINE__,
     {3, {{16, 16, false}, {512, 4, false}, {7168, 7, false}}},
     17,
     1},
    {__LINE__,
     {3, {{16, 16, false}, {512, 4, false}, {7168, 7, false}}},
     512,
     1},
    /* 640 = 128 x 5: five branches in each set of four ways. */
    {__LINE__,
     {3, {{16, 16, false}, {512, 4, false}, {7168, 7, false}}},
     640,
     2},
    {__LINE__,
     {3, {{16, 16, false}, {512, 4, false}, {7168, 7, false}}},
     7168,
     2},
    {__LINE__,
     {3, {{16, 16, false}, {512, 4, false}, {7168, 7, false}}},
     8192,
     BTB_NONE},
    /* As on the Neoverse N1: the second level has what the first drives out, so
     * both hold 80 together. */
    {__LINE__, {3, {{16, 16, false}, {64, 64, true}, {6144, 6, false}}}, 80, 1},
    {__LINE__, {3, {{16, 16, false}, {64, 64, true}, {6144, 6, false}}}, 81, 2},
    {__LINE__,
     {3, {{16, 16, false}, {64, 64, true}, {6144, 6, false}}},
     6144,
     2},
    {__LINE__,
     {3, {{16, 16, false}, {64, 64, true}, {6144, 6, false}}},
     7168,
     BTB_NONE},
    /* As on Zen 5: 24 K together. 20480 = 2048 x 10: of ten branches in each
     * set of eight ways two are in the second level. */
    {__LINE__, {2, {{16384, 8, false}, {8192, 8, true}}}, 16384, 0},
    {__LINE__, {2, {{16384, 8, false}, {8192, 8, true}}}, 20480, 1},
    {__LINE__, {2, {{16384, 8, false}, {8192, 8, true}}}, 24576, 1},
    {__LINE__, {2, {{16384, 8, false}, {8192, 8, true}}}, 26624, BTB_NONE},
    /* One level. */
    {__LINE__, {1, {{4, 1, false}}}, 4, 0},
    {__LINE__, {1, {{4, 1, false}}}, 8, BTB_NONE},
};

static void
test_rings(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rings); i++) {
        struct btb *const b = btb_create(&rings[i].shape);
        assert_non_null(b);
        for (unsigned k = 0; k < 4 * rings[i].branches; k++) {
            const uint64_t number = k % rings[i].branches;
            const unsigned has = btb_ask(b, number, 0x400000 + number);
            const unsigned expected =
                k < rings[i].branches ? BTB_NONE : rings[i].level;
            if (has != expected)
                fail_msg("row at line %d: level %u, not %u, step %u",
                         rings[i].line, has, expected, k);
        }
        btb_destroy(b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twin),
        cmocka_unit_test(test_rings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
