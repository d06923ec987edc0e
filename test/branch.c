/* SPDX-License-Identifier: MIT */
/* The tables that foretell targets, branch by branch; test/chip.c compares them
 * with their twin on streams. */
#include "machine/branch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine/chip.h"
#include "table/signals.h"
#include "table/table.h"

#define INDIRECT_CALL (BLOCK_INDIRECT | BLOCK_CALL)

/* A branch that is taken; `wrong` of the signal are then counted in all. */
struct taken {
    int line;
    unsigned flags;
    uint64_t pc, target;
    unsigned wrong;
};

/* Asks the tables about each branch; the block ends 4 bytes behind it. A set of
 * the target cache has two ways, and its number is bit 12 of the address. */
static void
run(const uint64_t *params, uint64_t components, enum signal_id signal,
    const struct taken *rows, size_t count)
{
    uint64_t total[SIGNAL_COUNT] = {0};
    struct targets t;

    assert_int_equal(targets_init(&t, params, components), 0);
    for (size_t i = 0; i < count; i++) {
        const struct block block = {
            .flags = rows[i].flags,
            .branch_pc = rows[i].pc,
            .branch_number = (uint32_t)(rows[i].pc / 4),
            .end = rows[i].pc + 4,
            .btc = rows[i].pc & 0x1000 ? 2 : 0,
        };
        targets_ask(&t, total, &block, rows[i].target);
        if (total[signal] != rows[i].wrong)
            fail_msg("row at line %d: %u wrong so far, not %u", rows[i].line,
                     (unsigned)total[signal], rows[i].wrong);
    }
    targets_finish(&t);
}

#define RUN(params, components, signal, rows) \
    run(params, components, signal, rows, sizeof(rows) / sizeof((rows)[0]))

static void
test_returns(void **state)
{
    const uint64_t params[PARAM_COUNT] = {[PARAM_RETURN_DEPTH] = 2};
    static const struct taken rows[] = {
        {__LINE__, BLOCK_RETURN, 0x900, 0x104, 1}, /* nothing was called */
        {__LINE__, BLOCK_CALL, 0x100, 0x800, 1},
        {__LINE__, BLOCK_RETURN, 0x900, 0x104, 1},
        {__LINE__, BLOCK_RETURN, 0x900, 0x104, 2}, /* it is empty again */
        {__LINE__, INDIRECT_CALL, 0x200, 0x800, 2},
        {__LINE__, BLOCK_RETURN, 0x900, 0x208, 3}, /* elsewhere */
        {__LINE__, BLOCK_CALL | BLOCK_PENDING, 0x300, 0x800, 3},
        {__LINE__, BLOCK_RETURN, 0x900, 0x308, 3}, /* behind the slot */
        {__LINE__, BLOCK_CALL, 0x100, 0x800, 3},
        {__LINE__, BLOCK_CALL, 0x200, 0x800, 3},
        {__LINE__, BLOCK_CALL, 0x300, 0x800, 3}, /* the oldest is forgotten */
        {__LINE__, BLOCK_RETURN, 0x900, 0x304, 3},
        {__LINE__, BLOCK_RETURN, 0x900, 0x204, 3},
        {__LINE__, BLOCK_RETURN, 0x900, 0x304, 4}, /* nor is the newest there */
        {__LINE__, BLOCK_JUMP, 0x100, 0x800, 4},
        {__LINE__, BLOCK_RETURN, 0x900, 0x104, 5}, /* a jump is no call */
    };

    (void)state;
    RUN(params, COMPONENT_RETURNS, SIGNAL_RETURN_MISPREDICTS, rows);
}

static void
test_three_returns(void **state)
{
    const uint64_t params[PARAM_COUNT] = {[PARAM_RETURN_DEPTH] = 3};
    static const struct taken rows[] = {
        {__LINE__, BLOCK_CALL, 0x100, 0x800, 0},
        {__LINE__, BLOCK_CALL, 0x200, 0x800, 0},
        {__LINE__, BLOCK_CALL, 0x300, 0x800, 0},
        {__LINE__, BLOCK_CALL, 0x400, 0x800, 0},
        {__LINE__, BLOCK_RETURN, 0x900, 0x404, 0},
        {__LINE__, BLOCK_RETURN, 0x900, 0x304, 0},
        {__LINE__, BLOCK_RETURN, 0x900, 0x204, 0},
        {__LINE__, BLOCK_RETURN, 0x900, 0x404, 1}, /* all are gone */
        {__LINE__, BLOCK_CALL, 0x500, 0x800, 1},
        {__LINE__, BLOCK_RETURN, 0x900, 0x504, 1},
        {__LINE__, BLOCK_RETURN, 0x900, 0x404, 2},
    };

    (void)state;
    RUN(params, COMPONENT_RETURNS, SIGNAL_RETURN_MISPREDICTS, rows);
}

static void
test_one_return(void **state)
{
    const uint64_t params[PARAM_COUNT] = {[PARAM_RETURN_DEPTH] = 1};
    static const struct taken rows[] = {
        {__LINE__, BLOCK_CALL, 0x100, 0x800, 0},
        {__LINE__, BLOCK_CALL, 0x200, 0x800, 0},
        {__LINE__, BLOCK_RETURN, 0x900, 0x204, 0},
        {__LINE__, BLOCK_RETURN, 0x900, 0x104, 1},
    };

    (void)state;
    RUN(params, COMPONENT_RETURNS, SIGNAL_RETURN_MISPREDICTS, rows);
}

/* Two sets of two ways; what is asked longest ago goes. */
static void
test_target_cache(void **state)
{
    const uint64_t params[PARAM_COUNT] = {
        [PARAM_BTC_ENTRIES] = 4,
        [PARAM_BTC_WAYS] = 2,
    };
    static const struct taken misses[] = {
        {__LINE__, BLOCK_JUMP, 0x100, 0x800, 1},
        {__LINE__, BLOCK_JUMP, 0x100, 0x900, 1},
        {__LINE__, BLOCK_CONDITIONAL, 0x200, 0x800, 2},
        {__LINE__, BLOCK_JUMP, 0x100, 0x800, 2},
        {__LINE__, BLOCK_CALL, 0x300, 0x800, 3}, /* takes the place of 0x200 */
        {__LINE__, BLOCK_JUMP, 0x100, 0x800, 3},
        {__LINE__, BLOCK_JUMP, 0x200, 0x800, 4},
        {__LINE__, BLOCK_RETURN, 0x400, 0x800, 4}, /* does not ask */
        {__LINE__, BLOCK_JUMP, 0x100, 0x800, 4},
        {__LINE__, BLOCK_JUMP, 0x1100, 0x800, 5}, /* in the other set */
        {__LINE__, BLOCK_JUMP, 0x1200, 0x800, 6},
        {__LINE__, BLOCK_JUMP, 0x1100, 0x800, 6},
        {__LINE__, BLOCK_JUMP, 0x200, 0x800, 6},
    };
    static const struct taken wrong[] = {
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x800, 0}, /* a miss, not wrong */
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x800, 0},
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x900, 1},
        {__LINE__, BLOCK_INDIRECT, 0x200, 0x800, 1},
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x900, 1}, /* from the second way */
        {__LINE__, BLOCK_INDIRECT, 0x200, 0x900, 2},
        {__LINE__, BLOCK_JUMP, 0x100, 0xa00, 2}, /* its target is in the code */
        {__LINE__, BLOCK_INDIRECT, 0x1100, 0x800, 2},
        {__LINE__, BLOCK_INDIRECT, 0x1100, 0x900, 3},
        {__LINE__, BLOCK_INDIRECT, 0x200, 0x900, 3},
    };

    (void)state;
    RUN(params, COMPONENT_BTC, SIGNAL_BTC_MISSES, misses);
    RUN(params, COMPONENT_BTC, SIGNAL_BTC_MISPREDICTS, wrong);
}

static void
test_far(void **state)
{
    const uint64_t params[PARAM_COUNT] = {[PARAM_FAR_ENTRIES] = 2};
    static const struct taken rows[] = {
        {__LINE__, BLOCK_FAR | BLOCK_JUMP, 0x100, 0x80000, 1},
        {__LINE__, BLOCK_FAR | BLOCK_JUMP, 0x104, 0x80000, 2},
        {__LINE__, BLOCK_FAR | BLOCK_JUMP, 0x100, 0x80000, 2},
        {__LINE__, BLOCK_JUMP, 0x108, 0x80000, 2}, /* near: does not ask */
        {__LINE__, BLOCK_FAR | BLOCK_JUMP, 0x108, 0x80000, 3},
        {__LINE__, BLOCK_FAR | BLOCK_JUMP, 0x100, 0x80000, 4},
        {__LINE__, BLOCK_FAR | BLOCK_JUMP, 0x104, 0x80000, 4},
    };

    (void)state;
    RUN(params, COMPONENT_FAR, SIGNAL_FAR_MISPREDICTS, rows);
}

/*
 * Four entries, two bits of history: an entry is (address / 4) ^ history, and
 * the history of a target T is T / 4 ^ T / 32 in its low bits, four times older
 * history above, cut to two bits.
 */
static void
test_indirect(void **state)
{
    const uint64_t params[PARAM_COUNT] = {
        [PARAM_INDIRECT_ENTRIES] = 4,
        [PARAM_INDIRECT_HISTORY] = 2,
    };
    static const struct taken rows[] = {
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x1000, 1}, /* entry 0; history 0 */
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x1000, 1},
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x1004, 2}, /* history 1 */
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x1000, 3}, /* entry 1; history 0 */
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x1004, 3}, /* entry 0; history 1 */
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x1020, 4}, /* entry 1; history 1 */
        {__LINE__, BLOCK_INDIRECT, 0x104, 0x1004, 4}, /* entry 0; history 1 */
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x1008, 5}, /* entry 1; history 2 */
        {__LINE__, BLOCK_JUMP, 0x108, 0x1004, 5},     /* does not ask */
        {__LINE__, BLOCK_INDIRECT, 0x108, 0x1004, 5}, /* entry 0; history 1 */
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x1008, 5}, /* entry 1; history 2 */
        {__LINE__, BLOCK_INDIRECT, 0x108, 0x1024, 6}, /* entry 0; history 0 */
        {__LINE__, BLOCK_INDIRECT, 0x108, 0x1000, 7}, /* entry 2; history 0 */
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x1024, 7}, /* entry 0; history 0 */
        {__LINE__, BLOCK_INDIRECT, 0x108, 0x1000, 7}, /* entry 2; history 0 */
        {__LINE__, BLOCK_INDIRECT, 0x10c, 0x1000, 8}, /* entry 3; history 0 */
        {__LINE__, BLOCK_INDIRECT, 0x104, 0x1000, 9}, /* entry 1: was 0x1008 */
    };

    (void)state;
    RUN(params, COMPONENT_INDIRECT, SIGNAL_INDIRECT_MISPREDICTS, rows);
}

/* Of one bit of history the older is gone, whatever the entries would take. */
static void
test_short_history(void **state)
{
    const uint64_t params[PARAM_COUNT] = {
        [PARAM_INDIRECT_ENTRIES] = 4,
        [PARAM_INDIRECT_HISTORY] = 1,
    };
    static const struct taken rows[] = {
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x1008, 1}, /* entry 0; history 0 */
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x1008, 1},
        {__LINE__, BLOCK_INDIRECT, 0x100, 0x100c, 2}, /* entry 0; history 1 */
        {__LINE__, BLOCK_INDIRECT, 0x104, 0x100c, 2}, /* entry 0 */
    };

    (void)state;
    RUN(params, COMPONENT_INDIRECT, SIGNAL_INDIRECT_MISPREDICTS, rows);
}

/* Frames of 3 registers, 1 passed on, in a stack of 6: the second call spills.
 * A call is two operations of the register stack, a return one. */
static void
test_frames(void **state)
{
    const uint64_t params[PARAM_COUNT] = {
        [PARAM_RSE_REGISTERS] = 6,
        [PARAM_RSE_FRAME] = 3,
        [PARAM_RSE_OUTPUTS] = 1,
        [PARAM_RETURN_DEPTH] = 4,
    };
    static const struct taken rows[] = {
        {__LINE__, BLOCK_JUMP, 0x100, 0x800, 0},
        {__LINE__, BLOCK_CALL, 0x100, 0x800, 2},
        {__LINE__, BLOCK_JUMP, 0x100, 0x800, 2},
        {__LINE__, BLOCK_RETURN, 0x900, 0x104, 3},
        {__LINE__, BLOCK_CALL, 0x100, 0x800, 5},
    };

    static const struct taken spills[] = {
        {__LINE__, BLOCK_CALL, 0x100, 0x800, 0},
        {__LINE__, BLOCK_CALL, 0x200, 0x800, 1},
        {__LINE__, BLOCK_RETURN, 0x900, 0x204, 1},
        {__LINE__, BLOCK_CALL, 0x300, 0x800, 1},
    };

    (void)state;
    RUN(params, COMPONENT_FRAMES, SIGNAL_FRAME_EVENTS, rows);
    RUN(params, COMPONENT_FRAMES, SIGNAL_FRAME_SPILLS, spills);
}

/* Compares which blocks ask a table: with all tables, and with all but the
 * branch target cache. */
static void
test_kinds(void **state)
{
    enum {
        BTC = BLOCK_CONDITIONAL | BLOCK_JUMP | BLOCK_CALL | BLOCK_INDIRECT,
        RETURNS = BLOCK_CALL | BLOCK_RETURN,
    };
    const uint64_t params[PARAM_COUNT] = {
        [PARAM_BTC_ENTRIES] = 4,      [PARAM_BTC_WAYS] = 2,
        [PARAM_FAR_ENTRIES] = 4,      [PARAM_INDIRECT_ENTRIES] = 4,
        [PARAM_RETURN_DEPTH] = 4,     [PARAM_RSE_REGISTERS] = 8,
        [PARAM_INDIRECT_HISTORY] = 4,
    };
    static const struct {
        int line;
        uint64_t components, kinds, more;
    } rows[] = {
        {__LINE__, 0, 0, 0},
        {__LINE__, COMPONENT_BTC, BTC, 0},
        {__LINE__, COMPONENT_FAR, BLOCK_FAR, BLOCK_FAR},
        {__LINE__, COMPONENT_INDIRECT, BLOCK_INDIRECT, BLOCK_INDIRECT},
        {__LINE__, COMPONENT_RETURNS, RETURNS, RETURNS},
        {__LINE__, COMPONENT_FRAMES, RETURNS, RETURNS},
        {__LINE__, COMPONENT_FAR | COMPONENT_INDIRECT,
         BLOCK_FAR | BLOCK_INDIRECT, BLOCK_FAR | BLOCK_INDIRECT},
        {__LINE__, COMPONENT_INDIRECT | COMPONENT_RETURNS,
         RETURNS | BLOCK_INDIRECT, RETURNS | BLOCK_INDIRECT},
        {__LINE__, COMPONENT_BTC | COMPONENT_FAR, BTC | BLOCK_FAR,
         BLOCK_CALL | BLOCK_INDIRECT | BLOCK_FAR},
        {__LINE__, COMPONENT_BTC | COMPONENT_INDIRECT, BTC,
         BLOCK_CALL | BLOCK_INDIRECT},
        {__LINE__, COMPONENT_BTC | COMPONENT_RETURNS, BTC | RETURNS,
         RETURNS | BLOCK_INDIRECT},
        {__LINE__, COMPONENT_BTC | COMPONENT_FRAMES, BTC | RETURNS,
         RETURNS | BLOCK_INDIRECT},
        {__LINE__, COMPONENT_BTC | COMPONENT_FAR | COMPONENT_INDIRECT,
         BTC | BLOCK_FAR, BLOCK_CALL | BLOCK_INDIRECT | BLOCK_FAR},
        {__LINE__, COMPONENT_BTC | COMPONENT_INDIRECT | COMPONENT_RETURNS,
         BTC | RETURNS, RETURNS | BLOCK_INDIRECT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct targets t;
        assert_int_equal(targets_init(&t, params, rows[i].components), 0);
        if (t.kinds != rows[i].kinds || t.more != rows[i].more)
            fail_msg("row at line %d: kinds %#x, more %#x", rows[i].line,
                     t.kinds, t.more);
        assert_int_equal(t.memory != NULL, rows[i].components != 0);
        assert_int_equal(t.size != 0, rows[i].components != 0);
        assert_int_equal(t.quick != NULL, rows[i].components != 0);
        assert_int_equal(t.quick_targets != NULL, rows[i].components != 0);
        targets_finish(&t);
    }
}

/* A table that the machine lacks takes its part away; frames need returns. */
static void
test_parts(void **state)
{
    static const uint32_t all = COMPONENT_DIRECTION | COMPONENT_BTC |
                                COMPONENT_FAR | COMPONENT_INDIRECT |
                                COMPONENT_RETURNS | COMPONENT_FRAMES |
                                COMPONENT_PREDICTOR;
    static const struct {
        int line;
        enum param_id lacks;
        uint32_t gone;
    } rows[] = {
        {__LINE__, PARAM_BTC_ENTRIES, COMPONENT_BTC},
        {__LINE__, PARAM_FAR_ENTRIES, COMPONENT_FAR},
        {__LINE__, PARAM_INDIRECT_ENTRIES, COMPONENT_INDIRECT},
        {__LINE__, PARAM_RETURN_DEPTH, COMPONENT_RETURNS | COMPONENT_FRAMES},
        {__LINE__, PARAM_RSE_REGISTERS, COMPONENT_FRAMES},
        {__LINE__, PARAM_COUNT, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t params[PARAM_COUNT + 1];
        for (size_t p = 0; p < PARAM_COUNT; p++)
            params[p] = 1;
        params[PARAM_BTB1_ENTRIES] = 0;
        params[PARAM_BRANCH_PREDICTOR] = BRANCH_PREDICTOR_GSHARE;
        params[rows[i].lacks] = 0;
        assert_int_equal(components_implied(all, params), all & ~rows[i].gone);
        assert_int_equal(components_implied(0, params), 0);
        params[PARAM_BRANCH_PREDICTOR] = BRANCH_PREDICTOR_NOT_TAKEN;
        assert_int_equal(components_implied(all, params),
                         all & ~rows[i].gone & ~(uint32_t)COMPONENT_PREDICTOR);
    }
}

static void
test_shape(void **state)
{
    uint64_t params[PARAM_COUNT] = {
        [PARAM_BRANCH_ENTRIES] = 512, [PARAM_BTC_ENTRIES] = 24,
        [PARAM_BTC_WAYS] = 3,         [PARAM_FAR_ENTRIES] = 8,
        [PARAM_FAR_REACH] = 4096,     [PARAM_RETURN_DEPTH] = 1,
    };
    struct block_shape shape = {0};

    (void)state;
    branch_shape(params, &shape);
    assert_int_equal(shape.branch_mask, 511);
    assert_int_equal(shape.btc_ways, 3);
    assert_int_equal(shape.btc_sets, 8);
    assert_int_equal(shape.far_reach, 4096);
    assert_true(shape.return_stack);
    params[PARAM_FAR_ENTRIES] = params[PARAM_RETURN_DEPTH] = 0;
    branch_shape(params, &shape);
    assert_int_equal(shape.far_reach, 0);
    assert_false(shape.return_stack);
}

/* As long as the history and no longer than the counter's number. */
static void
test_history(void **state)
{
    static const struct {
        uint64_t entries, history, mask;
    } rows[] = {{16, 0, 0}, {16, 3, 7}, {16, 4, 15}, {16, 9, 15}, {1, 9, 0}};
    uint64_t params[PARAM_COUNT] = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        params[PARAM_BRANCH_ENTRIES] = rows[i].entries;
        params[PARAM_BRANCH_HISTORY] = rows[i].history;
        params[PARAM_BRANCH_PREDICTOR] = BRANCH_PREDICTOR_GSHARE;
        assert_int_equal(branch_history_mask(params), rows[i].mask);
        params[PARAM_BRANCH_PREDICTOR] = BRANCH_PREDICTOR_BIMODAL;
        assert_int_equal(branch_history_mask(params), 0);
    }
}

/* Tables that are emptied know no more than new ones. */
static void
test_reset(void **state)
{
    const uint64_t params[PARAM_COUNT] = {
        [PARAM_RETURN_DEPTH] = 2,  [PARAM_INDIRECT_ENTRIES] = 4,
        [PARAM_RSE_REGISTERS] = 8, [PARAM_INDIRECT_HISTORY] = 2,
        [PARAM_RSE_FRAME] = 3,
    };
    const struct block call = {
        .flags = INDIRECT_CALL, .branch_pc = 0x100, .branch_number = 0x40};
    uint64_t total[SIGNAL_COUNT] = {0};
    struct targets t;

    (void)state;
    assert_int_equal(
        targets_init(&t, params,
                     COMPONENT_RETURNS | COMPONENT_INDIRECT | COMPONENT_FRAMES),
        0);
    assert_int_equal(t.size, 8); /* an empty target cache has one entry */
    for (size_t i = 0; i < t.size; i++)
        assert_true(t.memory[i] == NO_LINE);
    targets_ask(&t, total, &call, 0x1004);
    assert_int_equal(t.held, 1);
    assert_int_equal(t.top, 1);
    assert_int_equal(t.history, 1);
    assert_int_equal(t.frames.dirty, 3);
    targets_reset(&t);
    assert_int_equal(t.held, 0);
    assert_int_equal(t.top, 0);
    assert_int_equal(t.history, 0);
    assert_int_equal(t.frames.dirty, 0);
    for (size_t i = 0; i < t.size; i++)
        assert_true(t.memory[i] == NO_LINE);
    targets_finish(&t);
    assert_null(t.memory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_one_return),
        cmocka_unit_test(test_three_returns),
        cmocka_unit_test(test_short_history),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_target_cache),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_indirect),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
