/* SPDX-License-Identifier: MIT */
/*
 * Strands that share a pipeline: cases that arithmetic decides, and threads
 * that always issue against a twin that deals out each cycle, any threads
 * against one that moves all on at each event.
 */
#include "machine/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref/pipeline_ref.h"
#include "ref/random.h"
#include "table/table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NO_MAKER PIPELINE_NO_MAKER
#define THREADS 8

/* As of an UltraSPARC T2. */
static const uint64_t params[PARAM_COUNT] = {
    [PARAM_NODES] = 1,
    [PARAM_CORES] = 8,
    [PARAM_STRANDS] = 8,
    [PARAM_PIPELINES] = 2,
};

static const struct {
    int line;
    const char *name;
    struct pipeline_thread threads[THREADS]; /* up to one without cycles */
} rows[] = {
    {__LINE__, "alone", {{0, NO_MAKER, 0, 1000, 1000, 0, 0}}},
    {__LINE__,
     "four that always issue",
     {{0, NO_MAKER, 0, 1000, 1000, 3000, 0},
      {1, 0, 0, 1000, 1000, 3000, 0},
      {2, 0, 0, 1000, 1000, 3000, 0},
      {3, 0, 0, 1000, 1000, 3000, 0}}},
    {__LINE__,
     "on two pipelines",
     {{0, NO_MAKER, 0, 1000, 1000, 1000, 0},
      {1, 0, 0, 1000, 1000, 1000, 0},
      {4, 0, 0, 1000, 1000, 1000, 0},
      {5, 0, 0, 1000, 1000, 1000, 0}}},
    {__LINE__,
     "on two cores",
     {{0, NO_MAKER, 0, 1000, 1000, 0, 0}, {8, 0, 0, 1000, 1000, 0, 0}}},
    {__LINE__,
     "two that issue in half of their cycles leave no slot unused",
     {{0, NO_MAKER, 0, 500, 1000, 0, 0}, {1, 0, 0, 500, 1000, 0, 0}}},
    {__LINE__,
     "four of them need all slots of twice the time",
     {{0, NO_MAKER, 0, 500, 1000, 1000, 0},
      {1, 0, 0, 500, 1000, 1000, 0},
      {2, 0, 0, 500, 1000, 1000, 0},
      {3, 0, 0, 500, 1000, 1000, 0}}},
    /* It asks for a fifth and has it; two share the rest, 2/5 each. */
    {__LINE__,
     "one that waits for memory is not held up",
     {{0, NO_MAKER, 0, 200, 1000, 0, 0},
      {1, 0, 0, 400, 400, 600, 0},
      {2, 0, 0, 400, 400, 600, 0}}},
    /* Together for 1000 cycles each, 2000 in all. */
    {__LINE__,
     "made later",
     {{0, NO_MAKER, 0, 2000, 2000, 1000, 0},
      {1, 0, 1000, 1000, 1000, 1000, 0}}},
    {__LINE__,
     "over sooner",
     {{0, NO_MAKER, 0, 1500, 1500, 500, 0}, {1, 0, 0, 500, 500, 500, 0}}},
    {__LINE__,
     "one after the other on a strand, the maker waits",
     {{0, NO_MAKER, 0, 100, 100, 0, 0},
      {1, 0, 100, 1000, 1000, 0, 0},
      {1, 0, 100, 1000, 1000, 0, 0}}},
    {__LINE__,
     "in line behind its maker",
     {{0, NO_MAKER, 0, 1000, 1000, 0, 0}, {0, 0, 10, 1000, 1000, 0, 0}}},
    /* 1 makes 2 on strand 0, and 0 makes 3 on strand 1. */
    {__LINE__,
     "each in line behind the other's maker",
     {{0, NO_MAKER, 0, 1000, 1000, 1000, 0},
      {1, 0, 0, 1000, 1000, 1000, 0},
      {0, 1, 500, 1000, 1000, 1000, 0},
      {1, 0, 500, 1000, 1000, 1000, 0}}},
    /* 1 and 0 wait for each other's strand at 10 and at 50, then go on. 0 makes
     * 4 at 60 and waits until 2, before 4 on its strand, is over. */
    {__LINE__,
     "the maker waits for the thread that it makes, not for one before",
     {{0, NO_MAKER, 0, 300, 300, 120, 0},
      {1, 0, 0, 100, 100, 20, 0},
      {1, 0, 50, 100, 100, 0, 0},
      {0, 1, 10, 50, 50, 0, 0},
      {1, 0, 60, 100, 100, 100, 0}}},
    /* 100 / 0.7 less 100 cycles; 0.7 of what is left of 300. */
    {__LINE__,
     "to the nearest cycle",
     {{0, NO_MAKER, 0, 100, 100, 43, 0}, {1, 0, 0, 90, 300, 0, 110}}},
    {__LINE__,
     "made beyond its maker's end: at the end",
     {{0, NO_MAKER, 0, 25, 100, 0, 75}, {1, 0, 500, 25, 100, 0, 75}}},
    {__LINE__,
     "alone, idle when it stalls",
     {{0, NO_MAKER, 0, 250, 1000, 0, 750}}},
    {__LINE__,
     "one issues where the other stalls",
     {{0, NO_MAKER, 0, 250, 1000, 0, 250}, {1, 0, 0, 500, 1000, 0, 250}}},
    {__LINE__,
     "each half idle on a pipeline: the core a quarter",
     {{0, NO_MAKER, 0, 500, 1000, 0, 250}, {4, 0, 0, 500, 1000, 0, 250}}},
    {__LINE__,
     "another core is idle by itself",
     {{0, NO_MAKER, 0, 250, 1000, 0, 750}, {8, 0, 0, 500, 1000, 0, 500}}},
    {__LINE__,
     "alone for the first 500 of 1000",
     {{0, NO_MAKER, 0, 250, 1000, 0, 375 + 125},
      {1, 0, 500, 250, 500, 0, 125}}},
    {__LINE__,
     "alone for the last 500",
     {{0, NO_MAKER, 0, 250, 1000, 0, 188 + 375}, {4, 0, 0, 250, 500, 0, 188}}},
    {__LINE__,
     "nothing done",
     {{0, NO_MAKER, 0, 1000, 1000, 0, 0}, {1, 0, 500, 0, 1, 0, 0}}},
};

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pipeline_thread t[THREADS];
        size_t count = 0;
        memcpy(t, rows[i].threads, sizeof(t));
        while (count < THREADS && t[count].cycles > 0)
            t[count++].wait = 0;
        assert_int_equal(pipeline_share(params, t, count), 0);
        for (size_t k = 0; k < count; k++) {
            if (t[k].wait != rows[i].threads[k].wait)
                fail_msg("line %d, %s: thread %zu waits %llu cycles",
                         rows[i].line, rows[i].name, k,
                         (unsigned long long)t[k].wait);
            if (t[k].idle != rows[i].threads[k].idle)
                fail_msg("line %d, %s: thread %zu's core is idle %llu cycles",
                         rows[i].line, rows[i].name, k,
                         (unsigned long long)t[k].idle);
        }
    }
}

/* The twin: each cycle one slot of the pipeline goes to the thread that had
 * one longest ago. All threads are on strands of their own of one pipeline. */
struct twin {
    uint64_t done[THREADS], served[THREADS], wait[THREADS];
    bool born[THREADS];
};

static void
twin_births(struct twin *w, const struct pipeline_thread *t, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (t[i].maker == NO_MAKER ||
            (w->born[t[i].maker] && w->done[t[i].maker] >= t[i].born))
            w->born[i] = true;
    }
}

static bool
twin_cycle(struct twin *w, const struct pipeline_thread *t, size_t count,
           uint64_t now)
{
    size_t chosen = count;

    twin_births(w, t, count);
    for (size_t i = 0; i < count; i++) {
        if (!w->born[i] || w->done[i] == t[i].cycles)
            continue;
        w->wait[i]++;
        if (chosen == count || w->served[i] < w->served[chosen])
            chosen = i;
    }
    if (chosen == count)
        return false;
    w->done[chosen]++;
    w->wait[chosen]--;
    w->served[chosen] = now;
    return true;
}

static void
test_twin(void **state)
{
    uint64_t random = random_seed();
    uint64_t one[PARAM_COUNT];

    (void)state;
    memcpy(one, params, sizeof(one));
    one[PARAM_PIPELINES] = 1;
    for (int round = 0; round < 2000; round++) {
        const size_t count = 1 + random_below(&random, THREADS);
        struct pipeline_thread t[THREADS] = {0};
        struct twin w = {0};
        for (size_t i = 0; i < count; i++) {
            t[i].strand = (uint32_t)i;
            t[i].issue = t[i].cycles = 1 + random_below(&random, 3000);
            t[i].maker = i == 0 ? NO_MAKER : (uint32_t)random_below(&random, i);
            /* In order of creation, of each maker's. */
            for (size_t k = 1; i > 0 && k < i; k++) {
                if (t[k].maker == t[i].maker)
                    t[i].born = t[k].born;
            }
            if (i > 0)
                t[i].born +=
                    random_below(&random, t[t[i].maker].cycles - t[i].born + 1);
        }
        assert_int_equal(pipeline_share(one, t, count), 0);
        for (uint64_t now = 1; twin_cycle(&w, t, count, now); now++)
            ;
        for (size_t i = 0; i < count; i++) {
            const uint64_t off = t[i].wait > w.wait[i] ? t[i].wait - w.wait[i]
                                                       : w.wait[i] - t[i].wait;
            /* A round of the strands at each birth and end. */
            if (off > 2 * count * count)
                fail_msg("round %d, thread %zu of %zu: %llu, twin %llu", round,
                         i, count, (unsigned long long)t[i].wait,
                         (unsigned long long)w.wait[i]);
        }
    }
}

#define CREW 400

/* Any threads: births of one maker in order, and no two at one time, as then
 * either may come first. */
static void
any_crew(struct pipeline_thread *t, size_t count, uint64_t strands,
         uint64_t *random)
{
    const bool spread = random_below(random, 2) == 0;
    uint64_t born[CREW] = {0};

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t cycles = 1000 + random_below(random, 1000000000);
        const uint64_t issue = random_below(random, cycles + 1);
        t[i] = (struct pipeline_thread){
            .strand = (uint32_t)(spread ? i % strands
                                        : random_below(random, strands)),
            .maker = NO_MAKER,
            .issue = random_below(random, 4) == 0 ? cycles : issue,
            .cycles = cycles,
        };
        while (i > 0 && t[i].maker == NO_MAKER) {
            const uint32_t maker = (uint32_t)random_below(random, i);
            const uint64_t left = t[maker].cycles - born[maker];
            if (left < 1000)
                continue;
            born[maker] += 1 + random_below(random, left / 8);
            t[i].maker = maker;
            t[i].born = born[maker];
        }
    }
}

static void
test_events(void **state)
{
    uint64_t random = random_seed();

    (void)state;
    for (int round = 0; round < 20000; round++) {
        static struct pipeline_thread t[CREW], twin[CREW];
        /* A few threads meet in the most ways. */
        const size_t count =
            1 + random_below(&random, round % 1000 == 0 ? CREW : 12);
        uint64_t some[PARAM_COUNT] = {0};
        some[PARAM_NODES] = 1 + random_below(&random, 2);
        some[PARAM_CORES] = 1 + random_below(&random, 8);
        some[PARAM_PIPELINES] = (uint64_t)1 << random_below(&random, 3);
        some[PARAM_STRANDS] = some[PARAM_PIPELINES] << random_below(&random, 3);
        any_crew(t, count,
                 some[PARAM_NODES] * some[PARAM_CORES] * some[PARAM_STRANDS],
                 &random);
        memcpy(twin, t, sizeof(twin));
        assert_int_equal(pipeline_share(some, t, count), 0);
        assert_int_equal(pipeline_ref_share(some, twin, count), 0);
        for (size_t i = 0; i < count; i++) {
            if (t[i].wait + 2 - twin[i].wait > 4 ||
                t[i].idle + 2 - twin[i].idle > 4)
                fail_msg("round %d, thread %zu of %zu: waits %llu, idle %llu; "
                         "its twin %llu, %llu",
                         round, i, count, (unsigned long long)t[i].wait,
                         (unsigned long long)t[i].idle,
                         (unsigned long long)twin[i].wait,
                         (unsigned long long)twin[i].idle);
        }
    }
}

/* More threads than strands: of four on a pipeline each has a quarter of the
 * slots at least. */
static void
test_many(void **state)
{
    enum { MANY = 3000 };
    static struct pipeline_thread t[MANY];
    uint64_t random = random_seed();

    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        const uint64_t cycles = 1 + random_below(&random, 100000);
        t[i] = (struct pipeline_thread){
            .strand = i % 64,
            .maker = i == 0 ? NO_MAKER : 0,
            .born = i * 10,
            .issue = random_below(&random, cycles + 1),
            .cycles = cycles,
        };
    }
    assert_int_equal(pipeline_share(params, t, MANY), 0);
    for (uint32_t i = 0; i < MANY; i++)
        assert_in_range(t[i].wait, 0, 3 * t[i].issue + 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_twin),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
