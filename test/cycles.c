/* SPDX-License-Identifier: MIT */
/* Modelled time: the terms, and that cycles are their sum. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/chip.h"
#include "machine/clock.h"
#include "ref/random.h"
#include "timing/t4_stages.h"
#include "table/signals.h"
#include "table/table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const uint16_t terms[] = {
    SIGNAL_ISSUE_CYCLES, SIGNAL_STALL_FETCH, SIGNAL_STALL_LOAD,
    SIGNAL_STALL_BRANCH, SIGNAL_STALL_TLB,   SIGNAL_STALL_WINDOW,
    SIGNAL_STALL_ATOMIC, SIGNAL_STALL_FP,    SIGNAL_STALL_STORE,
    SIGNAL_STALL_ISSUE,  SIGNAL_STALL_CORE,
};

/* Without an L3, each time.* a power of ten of its own. */
static const struct {
    enum param_id param;
    uint64_t value;
} times[] = {
    {PARAM_TIME_INSTRUCTION, 1}, {PARAM_TIME_ISSUE, 1},
    {PARAM_TIME_TAKEN, 3},       {PARAM_TIME_MISPREDICT, 5},
    {PARAM_TIME_L2, 10},         {PARAM_TIME_L3, 50},
    {PARAM_TIME_MEMORY, 100},    {PARAM_TIME_WALK, 1000},
    {PARAM_TIME_WINDOW, 10000},  {PARAM_TIME_ATOMIC, 100000},
    {PARAM_TIME_FP, 1000000},
};

static void
set_times(uint64_t *params)
{
    memset(params, 0, PARAM_COUNT * sizeof(*params));
    for (size_t i = 0; i < COUNT(times); i++)
        params[times[i].param] = times[i].value;
    params[PARAM_BRANCH_PREDICTOR] = BRANCH_PREDICTOR_BIMODAL;
    params[PARAM_L2_SIZE] = 1;
    params[PARAM_CLOCK] = 3;
    params[PARAM_BUS_CLOCK] = 2;
}

/* One of each cause costs what its parameter says, in the term it belongs to;
 * [1] of a machine with an L3. */
static void
test_one(void **state)
{
    static const struct {
        int line;
        enum signal_id cause, term;
        uint64_t cycles[2];
    } rows[] = {
        {__LINE__, SIGNAL_INSTRUCTIONS, SIGNAL_ISSUE_CYCLES, {1, 1}},
        {__LINE__, SIGNAL_L1I_MISSES, SIGNAL_STALL_FETCH, {10, 10}},
        {__LINE__, SIGNAL_L2_FETCH_MISSES, SIGNAL_STALL_FETCH, {100, 50}},
        {__LINE__, SIGNAL_L3_FETCH_MISSES, SIGNAL_STALL_FETCH, {0, 100}},
        {__LINE__, SIGNAL_L1D_LOAD_MISSES, SIGNAL_STALL_LOAD, {10, 10}},
        {__LINE__, SIGNAL_L2_LOAD_MISSES, SIGNAL_STALL_LOAD, {100, 50}},
        {__LINE__, SIGNAL_L3_LOAD_MISSES, SIGNAL_STALL_LOAD, {0, 100}},
        {__LINE__, SIGNAL_CONDITIONAL_TAKEN, SIGNAL_STALL_BRANCH, {3, 3}},
        {__LINE__, SIGNAL_UNCONDITIONAL_TAKEN, SIGNAL_STALL_BRANCH, {3, 3}},
        {__LINE__, SIGNAL_NOT_TAKEN_MISPREDICTS, SIGNAL_STALL_BRANCH, {5, 5}},
        {__LINE__, SIGNAL_FAR_MISPREDICTS, SIGNAL_STALL_BRANCH, {5, 5}},
        {__LINE__, SIGNAL_INDIRECT_MISPREDICTS, SIGNAL_STALL_BRANCH, {5, 5}},
        {__LINE__, SIGNAL_RETURN_MISPREDICTS, SIGNAL_STALL_BRANCH, {5, 5}},
        {__LINE__, SIGNAL_ITLB_MISSES, SIGNAL_STALL_TLB, {1000, 1000}},
        {__LINE__, SIGNAL_DTLB_LOAD_MISSES, SIGNAL_STALL_TLB, {1000, 1000}},
        {__LINE__, SIGNAL_DTLB_STORE_MISSES, SIGNAL_STALL_TLB, {1000, 1000}},
        {__LINE__, SIGNAL_ITLB_WALK_REFS, SIGNAL_STALL_TLB, {10, 10}},
        {__LINE__, SIGNAL_DTLB_WALK_REFS, SIGNAL_STALL_TLB, {10, 10}},
        {__LINE__, SIGNAL_ITLB_WALK_MISSES, SIGNAL_STALL_TLB, {100, 50}},
        {__LINE__, SIGNAL_DTLB_WALK_MISSES, SIGNAL_STALL_TLB, {100, 50}},
        {__LINE__, SIGNAL_ITLB_WALK_L3_MISSES, SIGNAL_STALL_TLB, {0, 100}},
        {__LINE__, SIGNAL_DTLB_WALK_L3_MISSES, SIGNAL_STALL_TLB, {0, 100}},
        {__LINE__, SIGNAL_WINDOW_SPILLS, SIGNAL_STALL_WINDOW, {10000, 10000}},
        {__LINE__, SIGNAL_WINDOW_FILLS, SIGNAL_STALL_WINDOW, {10000, 10000}},
        {__LINE__, SIGNAL_CLASS_ATOMIC, SIGNAL_STALL_ATOMIC, {100000, 100000}},
        {__LINE__, SIGNAL_FP_INSTRUCTIONS, SIGNAL_STALL_FP, {1000000, 1000000}},
        {__LINE__, SIGNAL_STORE_FULL, SIGNAL_STALL_STORE, {1, 1}},
        {__LINE__, SIGNAL_L1D_STORE_MISSES, SIGNAL_STALL_LOAD, {0, 0}},
        {__LINE__, SIGNAL_L2_STORE_MISSES, SIGNAL_STALL_LOAD, {0, 0}},
    };
    uint64_t params[PARAM_COUNT];

    (void)state;
    set_times(params);
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        const size_t row = i / 2, l3 = i & 1;
        struct totals t = {0};
        params[PARAM_L3_SIZE] = l3;
        t.signal[rows[row].cause] = 1;
        signals_derive(params, COMPONENT_TIME, t.signal);
        if (t.signal[rows[row].term] != rows[row].cycles[l3] ||
            t.signal[SIGNAL_CYCLES] != rows[row].cycles[l3])
            fail_msg("line %d, L3 %zu: %llu of %llu cycles", rows[row].line, l3,
                     (unsigned long long)t.signal[rows[row].term],
                     (unsigned long long)t.signal[SIGNAL_CYCLES]);
    }
}

/* Without an L2 what misses the L1 waits for memory. */
static void
test_without_l2(void **state)
{
    static const enum signal_id causes[] = {
        SIGNAL_L1I_MISSES,
        SIGNAL_L1D_LOAD_MISSES,
        SIGNAL_ITLB_WALK_REFS,
        SIGNAL_DTLB_WALK_REFS,
    };
    uint64_t params[PARAM_COUNT];

    (void)state;
    set_times(params);
    params[PARAM_L2_SIZE] = 0;
    for (size_t i = 0; i < COUNT(causes); i++) {
        struct totals t = {0};
        t.signal[causes[i]] = 1;
        signals_derive(params, COMPONENT_TIME, t.signal);
        assert_int_equal(t.signal[SIGNAL_CYCLES], 100);
    }
}

/* Of an R10000 in round numbers: its table has four entries, so that four
 * misses of stores wait together, and more entries than it has are never in
 * use. */
static void
test_misses(void **state)
{
    uint64_t params[PARAM_COUNT];
    struct totals t = {0};

    (void)state;
    set_times(params);
    params[PARAM_MISS_ENTRIES] = 4;
    t.signal[SIGNAL_L1D_STORE_MISSES] = 8;
    t.signal[SIGNAL_L2_STORE_MISSES] = 4;
    signals_derive(params, COMPONENT_TIME, t.signal);
    assert_int_equal(t.signal[SIGNAL_STALL_STORE], (8 * 10 + 4 * 100) / 4);
    assert_int_equal(t.signal[SIGNAL_CYCLES], t.signal[SIGNAL_STALL_STORE]);
    assert_int_equal(t.signal[SIGNAL_MISS_ENTRY_CYCLES],
                     4 * t.signal[SIGNAL_CYCLES]);
    assert_int_equal(t.signal[SIGNAL_MISS_MEMORY_CYCLES], 4 * 100);

    t.signal[SIGNAL_L1D_LOAD_MISSES] = 3;
    t.signal[SIGNAL_L1I_MISSES] = 2;
    t.signal[SIGNAL_L2_FETCH_MISSES] = 1;
    signals_derive(params, COMPONENT_TIME, t.signal);
    assert_int_equal(t.signal[SIGNAL_MISS_ENTRY_CYCLES], 480 + 30 + 120);
    assert_int_equal(t.signal[SIGNAL_MISS_MEMORY_CYCLES], 500);
}

/* The bubble of a taken branch, with and without a cache of targets. */
static void
test_hidden(void **state)
{
    uint64_t params[PARAM_COUNT];
    struct totals t = {0};

    (void)state;
    set_times(params);
    params[PARAM_BTC_HIDES] = BTC_HIDES_TAKEN;
    t.signal[SIGNAL_CONDITIONAL_TAKEN] = 100;
    t.signal[SIGNAL_BTC_MISSES] = 7;
    t.signal[SIGNAL_BTC_MISPREDICTS] = 4;
    signals_derive(params, COMPONENT_TIME, t.signal);
    assert_int_equal(t.signal[SIGNAL_STALL_BRANCH], 300);
    params[PARAM_BTC_ENTRIES] = 32;
    signals_derive(params, COMPONENT_TIME, t.signal);
    assert_int_equal(t.signal[SIGNAL_STALL_BRANCH], 33);
}

/* Instructions that issue together share a cycle. */
static void
test_width(void **state)
{
    uint64_t params[PARAM_COUNT];
    struct totals t = {0};

    (void)state;
    set_times(params);
    params[PARAM_TIME_ISSUE] = 4;
    t.signal[SIGNAL_INSTRUCTIONS] = 4000;
    signals_derive(params, COMPONENT_TIME, t.signal);
    assert_int_equal(t.signal[SIGNAL_CYCLES], 1000);
}

/* Groups of a block issue one a cycle; what the stages make of the rest. */
static void
test_groups(void **state)
{
    uint64_t params[PARAM_COUNT];
    struct totals t = {0};

    (void)state;
    set_times(params);
    assert_int_equal(t4_stages_width(params), 0);
    params[PARAM_ISSUE_GROUPS] = ISSUE_GROUPS_BLOCK;
    assert_int_equal(t4_stages_width(params), 1);
    params[PARAM_TIME_ISSUE] = 4;
    assert_int_equal(t4_stages_width(params), 2);
    t.signal[SIGNAL_INSTRUCTIONS] = 4000;
    t.signal[SIGNAL_SELECT_1] = 1000;
    t.signal[SIGNAL_SELECT_2] = 1500;
    t.signal[SIGNAL_COMMIT_1] = 1200;
    t.signal[SIGNAL_COMMIT_2] = 1400;
    t.signal[SIGNAL_FETCH_CYCLES] = 1300;
    t.signal[SIGNAL_L1D_LOAD_MISSES] = 7;
    t.signal[SIGNAL_L1I_MISSES] = 20;
    t.signal[SIGNAL_RETURN_MISPREDICTS] = 2;
    t.signal[SIGNAL_STALL_ISSUE] = 1000000;
    signals_derive(params, COMPONENT_TIME, t.signal);
    assert_int_equal(t.signal[SIGNAL_ISSUE_CYCLES], 2500);
    assert_int_equal(t.signal[SIGNAL_CYCLES], 1002500 + 70 + 200 + 10);
    assert_int_equal(t.signal[SIGNAL_STALL_MISPREDICT], 10);
    assert_int_equal(t.signal[SIGNAL_COMMIT_WAIT], 2780 - 2600);
    assert_int_equal(t.signal[SIGNAL_FETCH_WAIT], 2780 - 1300);
    assert_int_equal(t.signal[SIGNAL_FETCH_FULL], 2570 - 1300);
}

static void
test_sum(void **state)
{
    uint64_t random = random_seed();

    (void)state;
    for (int k = 0; k < 1000; k++) {
        uint64_t params[PARAM_COUNT], sum = 0;
        struct totals t;
        set_times(params);
        params[PARAM_L3_SIZE] = random_below(&random, 2);
        params[PARAM_TIME_ISSUE] = 1 + random_below(&random, 4);
        for (size_t s = 0; s < SIGNAL_COUNT; s++)
            t.signal[s] = random_below(&random, 1u << 30);
        signals_derive(params, COMPONENT_TIME, t.signal);
        for (size_t i = 0; i < COUNT(terms); i++)
            sum += t.signal[terms[i]];
        assert_int_equal(sum, t.signal[SIGNAL_CYCLES]);
        assert_int_equal(t.signal[SIGNAL_BUS_CYCLES], sum * 2 / 3);
    }
}

/* Their product has more than 64 bits. */
static void
test_bus(void **state)
{
    uint64_t params[PARAM_COUNT];
    struct totals t = {{0}};

    (void)state;
    set_times(params);
    params[PARAM_CLOCK] = UINT64_C(3000000000);
    params[PARAM_BUS_CLOCK] = UINT64_C(1000000000);
    t.signal[SIGNAL_STALL_ISSUE] = UINT64_C(1) << 50;
    signals_derive(params, COMPONENT_TIME, t.signal);
    assert_int_equal(t.signal[SIGNAL_BUS_CYCLES], (UINT64_C(1) << 50) / 3);
}

static uint64_t
clock_of(const struct clock *c, const struct totals *t)
{
    uint64_t sums[CLOCK_SUMS] = {0};

    for (unsigned i = 0; i < c->all.count; i++)
        sums[c->all.terms[i].sum] +=
            c->all.terms[i].factor * t->signal[c->all.terms[i].signal];
    return clock_cycles(c, sums);
}

static uint64_t
cycles_parts(const uint64_t *params)
{
    static const uint16_t signals[] = {SIGNAL_CYCLES};
    const struct event_row cycles = {.signals = signals, .signal_count = 1};
    const struct event_row *const events[] = {&cycles};

    return components_of(events, 1, params);
}

/* What is asked for often against the obvious function, on every machine and
 * with tables of every size. */
static void
test_clock(void **state)
{
    static struct clock clock;
    uint64_t random = random_seed(), params[PARAM_COUNT];
    size_t modelled = 0;

    (void)state;
    for (size_t k = 0; k < MACHINE_COUNT * 20; k++) {
        const struct machine_row *machine = &tally_machines[k / 20];
        if (machine->params == NULL)
            continue;
        for (size_t i = 0; i < PARAM_COUNT; i++)
            params[i] = machine->params[i].value;
        if (k % 2 != 0)
            params[PARAM_MISS_ENTRIES] = random_below(&random, 9);
        const uint64_t components = cycles_parts(params);
        const uint64_t possible = components_implied(UINT64_MAX, params);
        clock_init(&clock, params, components);
        struct totals t = {0};
        for (size_t s = 0; s < SIGNAL_COUNT; s++)
            if ((tally_signals[s].components & possible & ~components) == 0)
                t.signal[s] = random_below(&random, 1u << 30);
        t.signal[SIGNAL_STALL_ISSUE] = 0;
        const uint64_t cycles = clock_of(&clock, &t);
        signals_derive(params, components, t.signal);
        assert_int_equal(cycles, t.signal[SIGNAL_CYCLES]);
        assert_in_range(clock.all.count, 10, 60);
        modelled++;
    }
    assert_true(modelled > 100);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),    cmocka_unit_test(test_without_l2),
        cmocka_unit_test(test_misses), cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_width),  cmocka_unit_test(test_groups),
        cmocka_unit_test(test_sum),    cmocka_unit_test(test_bus),
        cmocka_unit_test(test_clock),
    };

    return cmocka_run_group_tests_name("cycles", tests, NULL, NULL);
}
