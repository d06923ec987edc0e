/* SPDX-License-Identifier: MIT */
/*
 * Two threads of a Montecito's core: urgencies step by step, as 2.4.1.3 has
 * them; schedules that arithmetic decides; any against the slow twin.
 */
#include "machine/switch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ref/random.h"
#include "ref/switch_ref.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define RUNS 3000

/* m: the thread in front misses, 0 and 1: a line comes back for that thread, t
 * and s: time-out, running and stalled, h: hint, z: it halts, i and j: an
 * interrupt for thread 0 and 1. */
static const struct {
    int line;
    char event;
    enum switch_outcome outcome;
    uint8_t urgency[2], front;
} script[] = {
    /* Figure 2-2's way: misses until the other is more urgent (M04). */
    {__LINE__, 'm', SWITCH_TAKEN, {4, 5}, 1},
    {__LINE__, 'm', SWITCH_KEPT, {4, 4}, 1},
    {__LINE__, 'm', SWITCH_TAKEN, {4, 3}, 0},
    {__LINE__, '1', SWITCH_KEPT, {4, 4}, 0},
    {__LINE__, '1', SWITCH_TAKEN, {4, 5}, 1},
    {__LINE__, '1', SWITCH_KEPT, {4, 5}, 1}, /* not above 5 by returns */
    {__LINE__, '0', SWITCH_KEPT, {5, 5}, 1},
    /* A time-out of a thread that runs leaves it at 7, else as it is (M05). */
    {__LINE__, 't', SWITCH_TAKEN, {5, 7}, 0},
    {__LINE__, 's', SWITCH_TAKEN, {5, 7}, 1},
    {__LINE__, '1', SWITCH_KEPT, {5, 7}, 1}, /* nor does a return lower it */
    {__LINE__, 'm', SWITCH_KEPT, {5, 6}, 1},
    {__LINE__, 'm', SWITCH_KEPT, {5, 5}, 1},
    {__LINE__, 'm', SWITCH_TAKEN, {5, 4}, 0},
    /* An interrupt waits for an event; in front it changes nothing. */
    {__LINE__, 'j', SWITCH_KEPT, {5, 6}, 0},
    {__LINE__, 'i', SWITCH_KEPT, {5, 6}, 0},
    {__LINE__, '0', SWITCH_TAKEN, {5, 6}, 1},
    /* A hint yields whatever the urgencies (M06). */
    {__LINE__, 'h', SWITCH_TAKEN, {5, 6}, 0},
    {__LINE__, 'h', SWITCH_TAKEN, {5, 6}, 1},
    /* Not below 0. */
    {__LINE__, 'j', SWITCH_KEPT, {5, 6}, 1},
    {__LINE__, 'z', SWITCH_TAKEN, {5, 6}, 0},
    {__LINE__, 'm', SWITCH_ALONE, {4, 6}, 0},
    {__LINE__, 'm', SWITCH_ALONE, {3, 6}, 0},
    {__LINE__, 'm', SWITCH_ALONE, {2, 6}, 0},
    {__LINE__, 'm', SWITCH_ALONE, {1, 6}, 0},
    {__LINE__, 'm', SWITCH_ALONE, {0, 6}, 0},
    {__LINE__, 'm', SWITCH_ALONE, {0, 6}, 0},
    {__LINE__, '0', SWITCH_ALONE, {1, 6}, 0},
    {__LINE__, 't', SWITCH_ALONE, {1, 6}, 0},
    {__LINE__, 'h', SWITCH_ALONE, {1, 6}, 0},
};

static enum switch_outcome
step(struct switch_core *core, char event)
{
    switch (event) {
    case 'm':
        return switch_miss(core);
    case '0':
    case '1':
        return switch_return(core, event == '1');
    case 't':
    case 's':
        return switch_timeout(core, event == 's');
    case 'h':
        return switch_hint(core);
    case 'z':
        return switch_halt(core);
    default:
        switch_interrupt(core, event == 'j');
        return SWITCH_KEPT;
    }
}

static void
test_script(void **state)
{
    struct switch_core core;

    (void)state;
    switch_init(&core);
    for (size_t i = 0; i < COUNT(script); i++) {
        const enum switch_outcome outcome = step(&core, script[i].event);
        if (outcome != script[i].outcome ||
            memcmp(core.urgency, script[i].urgency, 2) != 0 ||
            core.front != script[i].front)
            fail_msg("line %d: %d, urgencies %u and %u, thread %u",
                     script[i].line, outcome, core.urgency[0], core.urgency[1],
                     core.front);
    }
}

#define STALLED_13 .stalls = {1, 1}

/* Times of Table 2-8, and 15 cycles a switch (M02). */
static const struct switch_times plain = {13, 166, 15, 0};

static const struct {
    int line;
    struct switch_load loads[2];
    struct switch_counts counts[2];
} rows[] = {
    /* Alone nothing is switched, and nothing is missed. */
    {__LINE__, {{0, 1000, 9, 9}, {5000, 1000, 9, 9}}, {{0}, {0}}},
    /* One misses once, the other runs until it halts; then the line has long
     * been there. */
    {__LINE__,
     {{0, 100, 1, 0}, {0, 1000, 0, 0}},
     {{.by_l3 = 1, .cycles = 15, STALLED_13},
      {.by_halt = 1, .cycles = 15, .missed = 1}}},
    /* Each hint yields; the first to end halts. */
    {__LINE__,
     {{0, 100, 0, 3}, {0, 100, 0, 3}},
     {{.by_hint = 3, .by_halt = 1, .cycles = 60},
      {.by_hint = 3, .cycles = 45}}},
};

static void
check(int line, const struct switch_counts *got,
      const struct switch_counts *wanted)
{
    for (unsigned t = 0; t < 2; t++)
        if (memcmp(&got[t], &wanted[t], sizeof(*got)) != 0)
            fail_msg("line %d, thread %u: l3 %lu timer %lu hint %lu halt %lu "
                     "missed %lu cycles %lu stalls %lu %lu",
                     line, t, got[t].by_l3, got[t].by_timer, got[t].by_hint,
                     got[t].by_halt, got[t].missed, got[t].cycles,
                     got[t].stalls[0], got[t].stalls[1]);
}

static void
test_rows(void **state)
{
    struct switch_counts counts[2];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        switch_run(&plain, rows[i].loads, counts);
        check(rows[i].line, counts, rows[i].counts);
        switch_ref_run(&plain, rows[i].loads, counts);
        check(rows[i].line, counts, rows[i].counts);
    }
}

static void
test_quantum(void **state)
{
    const struct switch_times times = {13, 166, 15, 100};
    const struct switch_load loads[2] = {{0, 1000, 0, 0}, {0, 1000, 0, 0}};
    struct switch_counts counts[2];

    (void)state;
    /* 100 cycles, then 85 of each 100 are run. */
    switch_run(&times, loads, counts);
    assert_int_equal(counts[0].by_timer, 1 + (1000 - 100 - 1) / 85);
    assert_int_equal(counts[1].by_timer, (1000 - 1) / 85);
    assert_int_equal(counts[0].by_halt + counts[1].by_halt, 1);
    assert_int_equal(counts[0].stalls[0], 0);
}

/* One that is over before the switch is: a cycle each. */
static void
test_short_quantum(void **state)
{
    const struct switch_times times = {13, 166, 15, 3};
    const struct switch_load loads[2] = {{0, 50, 0, 0}, {0, 50, 0, 0}};
    struct switch_counts counts[2];

    (void)state;
    switch_run(&times, loads, counts);
    assert_int_equal(counts[0].by_timer, 1 + (50 - 3 - 1));
    assert_int_equal(counts[1].by_timer, 50 - 3);
}

/* Thread 0 misses at 38, thread 1 at 91; 1 is timed out at 118 and 0 at 198,
 * both stalled. At 204 the line of 0 comes, which makes it the more urgent, but
 * the core is 1's from 213 on. Then 1 runs from 257 until it is timed out. */
static void
test_gated(void **state)
{
    const struct switch_times times = {13, 166, 15, 80};
    const struct switch_load loads[2] = {{0, 50, 1, 0}, {0, 50, 1, 0}};
    const struct switch_counts wanted[2] = {
        {.by_l3 = 1,
         .by_timer = 1,
         .by_halt = 1,
         .cycles = 45,
         .stalls = {2, 2, 1, 1, 1, 1}},
        {.by_timer = 2,
         .missed = 3,
         .gated = 1,
         .gated_cycles = 9,
         .cycles = 30,
         .stalls = {1, 1, 1, 1}},
    };
    struct switch_counts counts[2];

    (void)state;
    switch_run(&times, loads, counts);
    check(__LINE__, counts, wanted);
    switch_ref_run(&times, loads, counts);
    check(__LINE__, counts, wanted);
}

static void
test_twin(void **state)
{
    uint64_t seed = random_seed();

    (void)state;
    for (int i = 0; i < RUNS; i++) {
        const struct switch_times times = {
            random_below(&seed, 20),
            1 + random_below(&seed, 200),
            1 + random_below(&seed, 20),
            random_below(&seed, 2) * (50 + random_below(&seed, 500)),
        };
        struct switch_load loads[2];
        struct switch_counts fast[2], slow[2];
        for (unsigned t = 0; t < 2; t++)
            loads[t] = (struct switch_load){
                random_below(&seed, 500),
                random_below(&seed, 3000),
                random_below(&seed, 30),
                random_below(&seed, 8),
            };
        switch_run(&times, loads, fast);
        switch_ref_run(&times, loads, slow);
        check(i, fast, slow);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_script),  cmocka_unit_test(test_rows),
        cmocka_unit_test(test_quantum), cmocka_unit_test(test_short_quantum),
        cmocka_unit_test(test_gated),   cmocka_unit_test(test_twin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
