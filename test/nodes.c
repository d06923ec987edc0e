/* SPDX-License-Identifier: MIT */
/*
 * Strands of several nodes that take turns, against the twin: each access is
 * taken through the caches before the next. And what crosses between nodes, in
 * the registers of the hubs as the sun4v call reads them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tally/sun4v.h>

#include "ref/cluster.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define STEPS 20000

static const struct machine machines[] = {
    {__LINE__, "t2plus", {NULL}},
    {__LINE__, "t2plus", {"nodes=4"}},
    {__LINE__, "t2plus", {"nodes=3", "place.pages=interleave"}},
    {__LINE__, "t2plus", {"nodes=4", "l2.size=16K", "l2.ways=2"}},
    {__LINE__, "t2plus", {"nodes=4", "l2.size=64K", "l2.ways=32"}},
    {__LINE__,
     "t2plus",
     {"nodes=2", "l2.size=64K", "place.pages=node", "place.node=1",
      "dtlb.entries=2"}},
    {__LINE__, "t2plus", {"nodes=4", "l2.line=128", "l1d.line=32"}},
};

static void
test_against_twin(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t m = 0; m < 3 * COUNT(machines); m++) {
        static struct cluster c;
        uint64_t params[PARAM_COUNT];
        cluster_start(&c, &machines[m % COUNT(machines)], params,
                      random_next(&state));
        cluster_run(&c, STEPS);
        cluster_finish(&c);
    }
}

/* Each miss is served by one of three; each read and write has a bank. */
static void
test_identities(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t m = 0; m < COUNT(machines); m++) {
        static struct cluster c;
        uint64_t params[PARAM_COUNT], reads = 0, writes = 0, cached = 0;
        cluster_start(&c, &machines[m], params, random_next(&state));
        cluster_run(&c, STEPS / 4);
        const struct totals sum = sum_of(&c);
        const uint64_t *n = sum.signal;
        assert_int_equal(n[SIGNAL_L2_LOAD_MISSES],
                         n[SIGNAL_L2_LOAD_LOCAL] + n[SIGNAL_L2_LOAD_REMOTE] +
                             n[SIGNAL_L2_LOAD_CACHE]);
        assert_int_equal(n[SIGNAL_L2_FETCH_MISSES],
                         n[SIGNAL_L2_FETCH_LOCAL] + n[SIGNAL_L2_FETCH_REMOTE] +
                             n[SIGNAL_L2_FETCH_CACHE]);
        for (unsigned b = 0; b < 8; b++) {
            reads += n[SIGNAL_MEMORY_READS_0 + b];
            writes += n[SIGNAL_MEMORY_WRITES_0 + b];
        }
        cached = n[SIGNAL_L2_LOAD_CACHE] + n[SIGNAL_L2_STORE_CACHE] +
                 n[SIGNAL_L2_FETCH_CACHE] + n[SIGNAL_L2_WALK_CACHE];
        assert_int_equal(reads + cached, n[SIGNAL_L2_LOAD_MISSES] +
                                             n[SIGNAL_L2_FETCH_MISSES] +
                                             n[SIGNAL_L2_STORE_MISSES] +
                                             n[SIGNAL_ITLB_WALK_MISSES] +
                                             n[SIGNAL_DTLB_WALK_MISSES]);
        assert_int_equal(writes, n[SIGNAL_L2_WRITEBACKS]);
        assert_true(n[SIGNAL_L2_LOAD_CACHE] > 0);
        cluster_finish(&c);
    }
}

static void
setting(struct cluster *c, const char *nodes, uint64_t *params)
{
    const struct machine m = {__LINE__, "t2plus", {nodes, "tlb.walk=0"}};

    cluster_start(c, &m, params, 1);
}

/* Two nodes write one line by turns: all but the first come from the other. */
static void
test_turns(void **unused)
{
    static struct cluster c;
    uint64_t params[PARAM_COUNT];

    (void)unused;
    setting(&c, "nodes=2", params);
    for (unsigned i = 0; i < 1000; i++)
        store(&c, i % 2, PROGRAM_DATA_AT);
    const struct totals sum = sum_of(&c);
    assert_int_equal(sum.signal[SIGNAL_L2_STORE_LOCAL], 1);
    assert_int_equal(sum.signal[SIGNAL_L2_STORE_REMOTE], 0);
    assert_int_equal(sum.signal[SIGNAL_L2_STORE_CACHE], 999);
    assert_int_equal(sum.signal[SIGNAL_L2_WRITEBACKS], 0);
    cluster_finish(&c);
}

/* One writes, the other reads: a read is a transfer, a write takes it back. */
static void
test_producer(void **unused)
{
    static struct cluster c;
    uint64_t params[PARAM_COUNT];

    (void)unused;
    setting(&c, "nodes=4", params);
    for (unsigned i = 0; i < 500; i++) {
        store(&c, 0, PROGRAM_DATA_AT + 0x3000);
        store(&c, 0, PROGRAM_DATA_AT + 0x3008);
        load(&c, 1, PROGRAM_DATA_AT + 0x3000);
        load(&c, 1, PROGRAM_DATA_AT + 0x3008);
    }
    const struct totals sum = sum_of(&c);
    assert_int_equal(sum.signal[SIGNAL_L2_STORE_LOCAL], 1);
    assert_int_equal(sum.signal[SIGNAL_L2_LOAD_CACHE], 500);
    /* Plane 3, by 1 from 0; and by 0 from 1. */
    assert_int_equal(sum.signal[SIGNAL_LINK_CACHE_SHARES_0 + 48 + 4], 500);
    assert_int_equal(sum.signal[SIGNAL_LINK_INVALIDATIONS_0 + 48 + 1], 499);
    cluster_finish(&c);
}

static uint64_t
call(struct tally_pmu *pmu, uint64_t function, uint64_t reg, uint64_t value)
{
    const uint64_t args[5] = {reg, value};
    uint64_t results[2] = {0};

    assert_int_equal(tally_sun4v_call(pmu, 0, TALLY_SUN4V_FAST_TRAP, function,
                                      args, results),
                     0);
    return results[0];
}

/* A strand's counts to the hub's unit that sees them, of one event. */
static void
raise_instance(struct tally_pmu *pmu, const struct event_row *e,
               unsigned instance, uint64_t value)
{
    struct tally_pmu_total total = {
        .signal =
            TALLY_PMU_SIGNAL(TALLY_PMU_LPU, instance, (unsigned)e->code, 0),
        .n = value,
        .cycles = 1,
    };

    assert_int_equal(tally_pmu_batch(pmu, 0, &total, 1, NULL), 0);
}

static uint64_t
value_of(const struct event_row *e, const struct totals *totals)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < e->signal_count; i++)
        sum += totals->signal[e->signals[i]];
    return sum;
}

/* The 16 instances of an event, each read through its PerfReg. */
static void
check_event(struct tally_pmu *pmu, const struct event_row *e,
            const struct totals *totals)
{
    const struct machine_row *m = machine_find("t2plus");
    const size_t length = strlen(e->name);
    unsigned instance = 0;
    uint64_t all = 0;

    for (size_t i = 0; i < m->narrowed_event_count; i++) {
        const struct event_row *one = &m->narrowed_events[i];
        if (strncmp(one->name, e->name, length) != 0 ||
            one->name[length] != ':' || strcmp(one->unit, "lpu") != 0)
            continue;
        /* 18 registers a hub from 18 on: each port's select, two counters. */
        const uint64_t reg = 18 + instance / 4 * 18 + instance % 4 * 3;
        call(pmu, 0x107, reg, (uint64_t)e->code);
        call(pmu, 0x107, reg + 1, 0);
        const uint64_t value = value_of(one, totals);
        raise_instance(pmu, one, instance, value);
        assert_int_equal(call(pmu, 0x106, reg + 1, 0), value);
        all += value;
        instance++;
    }
    assert_int_equal(instance, 16);
    assert_int_equal(all, value_of(e, totals));
    if (all == 0)
        fail_msg("%s stands still", e->name);
}

static void
test_hub_registers(void **unused)
{
    const struct machine m = {
        __LINE__, "t2plus", {"nodes=4", "l2.size=16K", "l2.ways=2"}};
    const uint64_t version[5] = {0x205, 1, 1};
    const struct machine_row *row = machine_find("t2plus");
    struct tally_pmu_options options;
    static struct cluster c;
    uint64_t params[PARAM_COUNT], results[2];
    struct tally_pmu *pmu;
    unsigned events = 0;

    (void)unused;
    tally_pmu_options_init(&options, sizeof(options));
    options.machine = "ultrasparc-t2plus";
    options.nodes = 4;
    void *memory = aligned_alloc(16, (tally_pmu_size(&options) + 15) & ~15u);
    assert_int_equal(
        tally_pmu_init(memory, tally_pmu_size(&options), &options, &pmu), 0);
    assert_int_equal(tally_sun4v_call(pmu, 0, TALLY_SUN4V_CORE_TRAP,
                                      TALLY_SUN4V_API_SET_VERSION, version,
                                      results),
                     0);
    cluster_start(&c, &m, params, 1);
    cluster_run(&c, STEPS);
    const struct totals sum = sum_of(&c);
    for (size_t i = 0; i < row->event_count; i++) {
        const struct event_row *e = &row->events[i];
        if (strcmp(e->unit, "lpu") != 0 || e->signal_count == 0)
            continue;
        check_event(pmu, e, &sum);
        events++;
    }
    assert_true(events >= 15);
    cluster_finish(&c);
    free(memory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_twin),  cmocka_unit_test(test_identities),
        cmocka_unit_test(test_turns),         cmocka_unit_test(test_producer),
        cmocka_unit_test(test_hub_registers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
