/* SPDX-License-Identifier: MIT */
/*
 * Cores with an L3 each that snoop each other over a bus, against the twin; and
 * what their states must keep to.
 */
#include "machine/coherence_bus.h"
#include "machine/mesi_avx2.h"
#include "ref/cluster.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define STEPS 20000

static const struct machine machines[] = {
    {__LINE__, "montecito", {"strands=1"}},
    {__LINE__, "montecito", {"strands=1", "l2.size=2K", "l3.size=6K"}},
    {__LINE__,
     "montecito",
     {"strands=1", "cores=4", "l2i.size=2K", "l2i.ways=1", "l2.size=1K",
      "l3.size=3K", "dtlb.first=2"}},
    {__LINE__,
     "montecito",
     {"strands=1", "cores=3", "l2i.size=0", "l2.size=64K", "l3.size=3K",
      "bus.reads=2"}},
};

/* No other core ever runs: machine/coherence_bus_lone.h. */
static const struct machine lone[] = {
    {__LINE__,
     "montecito",
     {"strands=1", "cores=1", "l2.size=2K", "l3.size=6K"}},
    {__LINE__,
     "montecito",
     {"strands=1", "cores=1", "l2i.size=0", "l2.size=1K", "l3.size=3K",
      "bus.reads=2", "dtlb.first=2"}},
};

static void
against_twin(const struct machine *m, uint64_t *state)
{
    static struct cluster c;
    uint64_t params[PARAM_COUNT];

    cluster_start(&c, m, params, random_next(state));
    cluster_run(&c, STEPS);
    cluster_finish(&c);
}

static void
test_against_twin(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t m = 0; m < 3 * COUNT(machines); m++)
        against_twin(&machines[m % COUNT(machines)], &state);
    for (size_t m = 0; m < 3 * COUNT(lone); m++)
        against_twin(&lone[m % COUNT(lone)], &state);
}

/* Lines that are fetched ahead, in all ways that there are. */
static const struct machine streams[] = {
    {__LINE__,
     "montecito",
     {"strands=1", "cores=1", "l1i.size=1K", "l1i.line=16",
      "prefetch.lines=7"}},
    {__LINE__,
     "montecito",
     {"strands=1", "cores=2", "l1i.size=1K", "l1i.line=16", "l2i.size=1K",
      "l2i.ways=1", "l3.size=3K", "prefetch.lines=6"}},
    {__LINE__,
     "montecito",
     {"strands=1", "cores=1", "l1i.size=1K", "l1i.line=16", "l2i.size=1K",
      "l2i.ways=1", "prefetch.lines=1"}},
};

/* Against the twin; the signals from `first` to `last` move. */
static void
check_moves(const struct machine *m, size_t count, unsigned first,
            unsigned last)
{
    uint64_t state = random_seed();
    struct totals sum = {{0}};

    for (size_t i = 0; i < 8 * count; i++) {
        static struct cluster c;
        uint64_t params[PARAM_COUNT];
        cluster_start(&c, &m[i % count], params, random_next(&state));
        cluster_run(&c, STEPS);
        const struct totals its = sum_of(&c);
        totals_add(&sum, &its);
        cluster_finish(&c);
    }
    for (unsigned i = first; i <= last; i++) {
        if (sum.signal[i] == 0)
            fail_msg("%s does not move", tally_signals[i].name);
    }
}

static void
test_ahead(void **unused)
{
    (void)unused;
    check_moves(streams, COUNT(streams), SIGNAL_STREAM_PREFETCHES,
                SIGNAL_STREAM_CLOSE_CYCLES);
}

/* Lines that stores have out, with little time to wait for others. */
static const struct machine stores[] = {
    {__LINE__,
     "montecito",
     {"strands=1", "cores=2", "l1i.size=1K", "l2i.size=1K", "l2i.ways=1",
      "l3.size=3K", "bus.reads=2", "prefetch.lines=3", "time.memory=1000"}},
    {__LINE__,
     "montecito",
     {"strands=1", "cores=1", "l2.size=2K", "l3.size=6K", "bus.reads=10",
      "time.memory=2000"}},
};

static void
test_fills(void **unused)
{
    (void)unused;
    check_moves(stores, COUNT(stores), SIGNAL_L2D_SECONDARY_LOADS,
                SIGNAL_L2I_PREFETCH_REJECTS);
}

/* How many cores have a line, in any level for data. */
static unsigned
holders(const struct cluster *c, uint64_t line)
{
    unsigned count = 0;

    for (unsigned i = 0; i < c->count; i++) {
        const struct bus_caches *b = c->chip.cores[i].bus;
        count += mesi_find(&b->l2d, line) || mesi_find(&b->l3, line);
    }
    return count;
}

/* What is modified or exclusive in one core, no other has. */
static void
check_owned(const struct cluster *c, const struct mesi *m)
{
    for (uint64_t i = 0; i < (m->set_mask + 1) * m->columns; i++) {
        if (mesi_state(m->words[i]) > MESI_SHARED)
            assert_int_equal(holders(c, m->words[i] >> 2), 1);
    }
}

/* Each miss of the L3 is a read of the bus, and each read is in a burst. */
static void
check_bus(const struct cluster *c)
{
    const struct totals sum = sum_of(c);
    const uint64_t *n = sum.signal;
    const uint64_t reads = n[SIGNAL_BUS_CODE_READS] + n[SIGNAL_BUS_DATA_READS] +
                           n[SIGNAL_BUS_OWN_READS];
    uint64_t bursts = n[SIGNAL_READS_OUT_LOW] + 8 * n[SIGNAL_READS_OUT_HIGH];

    for (unsigned i = 0; i < c->count; i++) {
        bursts += c->strands[i]->bus->fills.out;
        check_owned(c, &c->chip.cores[i].bus->l2d);
        check_owned(c, &c->chip.cores[i].bus->l3);
    }
    assert_int_equal(bursts, reads);
    assert_int_equal(reads,
                     n[SIGNAL_L3_FETCH_MISSES] + n[SIGNAL_L3_LOAD_MISSES] +
                         n[SIGNAL_L3_FLOAT_MISSES] + n[SIGNAL_L3_STORE_MISSES] +
                         n[SIGNAL_L3_PREFETCH_MISSES] +
                         n[SIGNAL_ITLB_WALK_L3_MISSES] +
                         n[SIGNAL_DTLB_WALK_L3_MISSES]);
    assert_true(n[SIGNAL_BUS_INVALIDATES] > 0 && n[SIGNAL_BUS_OWN_HITMS] > 0 &&
                n[SIGNAL_BUS_READ_HITMS] > 0);
}

static void
test_states(void **unused)
{
    uint64_t state = random_seed();
    bool met = false; /* in a queue: where the L3s are small */

    (void)unused;
    for (size_t m = 0; m < COUNT(machines); m++) {
        static struct cluster c;
        uint64_t params[PARAM_COUNT];
        cluster_start(&c, &machines[m], params, random_next(&state));
        for (int i = 0; i < 10; i++) {
            cluster_run(&c, STEPS / 20);
            check_bus(&c);
        }
        met |= sum_of(&c).signal[SIGNAL_WRITE_COLLISIONS] > 0 &&
               sum_of(&c).signal[SIGNAL_CASTOUT_COLLISIONS] > 0;
        cluster_finish(&c);
    }
    assert_true(met);
}

/* Two strands of one core: what one has brought the other finds in the caches,
 * but not in the TLBs, where each has entries of its own. */
static void
test_threads(void **unused)
{
    const struct machine m = {__LINE__, "montecito", {NULL}};
    const struct access a = {ACCESS_IS_LOAD, PROGRAM_DATA_AT, 8};
    struct counts_strand *counts[2] = {new_counts(), new_counts()};
    struct strand *strands[2];
    uint64_t params[PARAM_COUNT];
    struct chip chip;

    (void)unused;
    params_of(&m, params);
    assert_int_equal(chip_init(&chip, params,
                               components_counted(params, 0, SIGNAL_COUNT), 2),
                     0);
    for (unsigned i = 0; i < 2; i++)
        strands[i] = new_strand(&chip, i, counts[i]);
    assert_ptr_equal(strands[0]->core, strands[1]->core);
    for (unsigned i = 0; i < 4; i++) {
        access_data(strands[i % 2], &a);
        strand_drain(strands[i % 2]);
    }
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t *n = counts[i]->totals[0].signal;
        assert_int_equal(n[SIGNAL_L1D_LOAD_MISSES], i == 0);
        assert_int_equal(n[SIGNAL_L3_LOAD_MISSES], i == 0);
        assert_int_equal(n[SIGNAL_DTLB_LOAD_MISSES], 1);
        assert_int_equal(n[SIGNAL_DTLB_WALK_MISSES], i == 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        free_strand(strands[i], i);
        free_counts(counts[i]);
    }
    chip_finish(&chip);
}

#ifdef __x86_64__
static CACHE_AVX2 void
touch_both(uint32_t ways, uint64_t *state)
{
    struct mesi plain = {0}, fast = {0};

    assert_int_equal(mesi_init(&plain, 2 * ways * 64, ways, 64), 0);
    assert_int_equal(mesi_init(&fast, 2 * ways * 64, ways, 64), 0);
    for (unsigned i = 0; i < STEPS; i++) {
        const uint64_t line = random_below(state, 4 * ways);
        const uint64_t states = random_below(state, 2) * MESI_MODIFIED;
        const bool mark = random_below(state, 4) == 0;
        uint64_t gone[2] = {0};
        const bool hit = states == 0
                             ? mesi_touch_or_mark(&plain, line, mark, &gone[0])
                             : mesi_touch(&plain, line, states, &gone[0]);
        assert_int_equal(
            states == 0 ? mesi_touch_or_mark_avx2(&fast, line, mark, &gone[1])
                        : mesi_touch_avx2(&fast, line, states, &gone[1]),
            hit);
        if (!hit && !(mark && states == 0))
            assert_int_equal(gone[0], gone[1]);
        assert_memory_equal(plain.words, fast.words,
                            2 * fast.columns * sizeof(*fast.words));
    }
    mesi_finish(&plain);
    mesi_finish(&fast);
}
#endif

/* What lines, states and order become, with vectors and without. */
static void
test_touch(void **unused)
{
    (void)unused;
#ifdef __x86_64__
    uint64_t state = random_seed();

    if (!cache_avx2_runs())
        skip();
    for (uint32_t ways = 1; ways <= 17; ways++)
        touch_both(ways, &state);
#else
    skip();
#endif
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_twin), cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_fills),        cmocka_unit_test(test_states),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_touch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
