/* SPDX-License-Identifier: MIT */
/*
 * Cores with an L2 each that see what the others hold: strands that take turns,
 * against the twin, and turns whose counts arithmetic tells.
 */
#include <sys/mman.h>

#include "machine/recorder.h"
#include "ref/cluster.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define STEPS 20000

#define SPREAD "place.threads=spread"

static const struct machine machines[] = {
    {__LINE__, "t4", {SPREAD, "cores=2"}},
    {__LINE__, "t4", {SPREAD, "cores=4"}},
    {__LINE__,
     "t4",
     {SPREAD, "cores=4", "l2.line=128", "l3.line=128", "l1i.line=16",
      "memory.interleave=128"}},
    {__LINE__,
     "t4",
     {SPREAD, "cores=3", "l2.size=16K", "l2.ways=32", "l3.size=64K",
      "tlb.walk=2", "dtlb.entries=2"}},
    {__LINE__,
     "t4",
     {SPREAD, "cores=3", "l2.size=8K", "l2.ways=2", "l3.size=0",
      "l1d.line=16"}},
    {__LINE__,
     "t4",
     {SPREAD, "cores=2", "l2.size=4K", "l2.misses=2", "l2.fills=1",
      "l2.writebacks=1"}},
    {__LINE__, "r10000", {NULL}},
    {__LINE__, "r12000", {"cores=4", "l2.size=512K", "l1d.size=1K"}},
    {__LINE__,
     "r10000",
     {"cores=3", "l2.size=8K", "l2.foretold=5", "l1i.size=1K", "l1d.size=4K"}},
    {__LINE__,
     "r12000",
     {"cores=2", "l2.size=4K", "l2.ways=1", "l2.foretold=1", "l1d.size=2K"}},
    {__LINE__,
     "r10000",
     {"cores=2", "l2.size=40K", "l2.ways=20", "l2.foretold=0", "l1d.ways=32"}},
};

/* Signals that these machines alone raise, by how many rows. */
static const enum signal_id own_signals[] = {
    SIGNAL_L2_SHARED_UPDATES,       SIGNAL_L2_STORE_TRANSFERS,
    SIGNAL_L1I_SNOOP_INVALIDATIONS, SIGNAL_L1D_SNOOP_INVALIDATIONS,
    SIGNAL_EXTERNAL_INVALIDATIONS,  SIGNAL_EXTERNAL_INVALIDATION_STATES,
    SIGNAL_EXTERNAL_INTERVENTIONS,  SIGNAL_EXTERNAL_INTERVENTION_STATES,
};

static void
check_lively(const struct cluster *c)
{
    const struct totals sum = sum_of(c);

    for (size_t i = 0; i < COUNT(own_signals); i++) {
        if (own_signals[i] == SIGNAL_L2_SHARED_UPDATES && !c->chip.tells)
            continue;
        if (sum.signal[own_signals[i]] == 0)
            fail_msg("row at line %d: %s stands still", c->line,
                     tally_signals[own_signals[i]].name);
    }
}

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
        check_lively(&c);
        cluster_finish(&c);
    }
}

/* What a machine of two cores counts, first and second strand together. */
struct turns {
    int line;
    const char *name;
    enum signal_id signal;
    uint64_t wanted;
};

static void
check_turns(const struct cluster *c, const struct turns *rows, size_t count)
{
    for (unsigned i = 0; i < c->count; i++)
        strand_drain(c->strands[i]);
    const struct totals sum = sum_of(c);
    for (size_t i = 0; i < count; i++) {
        const uint64_t got = sum.signal[rows[i].signal];
        if (strcmp(rows[i].name, c->chip.marks ? "r12000" : "t4") == 0 &&
            got != rows[i].wanted)
            fail_msg("row at line %d: %" PRIu64, rows[i].line, got);
    }
}

static const char *const names[] = {"t4", "r12000"};

static void
start_two(struct cluster *c, const char *name, uint64_t *params)
{
    const struct machine m = {
        __LINE__, name, {SPREAD, "cores=2", "tlb.walk=0"}};

    cluster_start(c, &m, params, 1);
}

/* 1000 stores to one line by turns: all but the first take it, dirty. The T4's
 * stores bring nothing into an L1D. */
static void
test_writers(void **unused)
{
    static const struct turns rows[] = {
        {__LINE__, "t4", SIGNAL_L2_STORE_MISSES, 1000},
        {__LINE__, "t4", SIGNAL_L2_STORE_TRANSFERS, 999},
        {__LINE__, "t4", SIGNAL_L3_STORE_MISSES, 1},
        {__LINE__, "t4", SIGNAL_L1D_SNOOP_INVALIDATIONS, 0},
        {__LINE__, "t4", SIGNAL_L2_WRITEBACKS, 0},
        {__LINE__, "r12000", SIGNAL_EXTERNAL_INVALIDATIONS, 999},
        {__LINE__, "r12000", SIGNAL_EXTERNAL_INVALIDATION_STATES, 3 * 999},
        {__LINE__, "r12000", SIGNAL_L1D_SNOOP_INVALIDATIONS, 999},
        {__LINE__, "r12000", SIGNAL_L2_SHARED_UPDATES, 0},
        {__LINE__, "r12000", SIGNAL_EXTERNAL_INTERVENTIONS, 0},
    };

    (void)unused;
    for (size_t n = 0; n < COUNT(names); n++) {
        static struct cluster c;
        uint64_t params[PARAM_COUNT];
        start_two(&c, names[n], params);
        for (unsigned i = 0; i < 1000; i++)
            store(&c, i % 2, PROGRAM_DATA_AT + 8 * (i % 4));
        check_turns(&c, rows, COUNT(rows));
        cluster_finish(&c);
    }
}

/* Each reads the line, then writes it: the read leaves it shared, the write
 * takes the other's copy. */
static void
test_readers(void **unused)
{
    static const struct turns rows[] = {
        {__LINE__, "t4", SIGNAL_L1D_LOAD_MISSES, 1000},
        {__LINE__, "t4", SIGNAL_L1D_SNOOP_INVALIDATIONS, 999},
        {__LINE__, "t4", SIGNAL_L2_LOAD_MISSES, 1000},
        {__LINE__, "t4", SIGNAL_L3_LOAD_MISSES, 1},
        {__LINE__, "t4", SIGNAL_L2_STORE_MISSES, 0},
        {__LINE__, "t4", SIGNAL_L2_STORE_TRANSFERS, 0},
        {__LINE__, "r12000", SIGNAL_EXTERNAL_INTERVENTIONS, 999},
        {__LINE__, "r12000", SIGNAL_EXTERNAL_INTERVENTION_STATES, 3 * 999},
        {__LINE__, "r12000", SIGNAL_EXTERNAL_INVALIDATIONS, 999},
        {__LINE__, "r12000", SIGNAL_EXTERNAL_INVALIDATION_STATES, 999},
        {__LINE__, "r12000", SIGNAL_L2_UPDATES, 1},
        {__LINE__, "r12000", SIGNAL_L2_SHARED_UPDATES, 999},
        {__LINE__, "r12000", SIGNAL_L1D_UPDATES, 1000},
    };

    (void)unused;
    for (size_t n = 0; n < COUNT(names); n++) {
        static struct cluster c;
        uint64_t params[PARAM_COUNT];
        start_two(&c, names[n], params);
        for (unsigned i = 0; i < 1000; i++) {
            load(&c, i % 2, PROGRAM_DATA_AT);
            store(&c, i % 2, PROGRAM_DATA_AT);
        }
        check_turns(&c, rows, COUNT(rows));
        cluster_finish(&c);
    }
}

/* Lines that both only read, and that one wrote long ago. */
static void
test_shared(void **unused)
{
    static const struct turns rows[] = {
        {__LINE__, "t4", SIGNAL_L1D_LOAD_MISSES, 2 * 64},
        {__LINE__, "t4", SIGNAL_L1D_SNOOP_INVALIDATIONS, 0},
        {__LINE__, "r12000", SIGNAL_EXTERNAL_INTERVENTIONS, 64},
        {__LINE__, "r12000", SIGNAL_EXTERNAL_INTERVENTION_STATES,
         32 * 2 + 32 * 3},
        {__LINE__, "r12000", SIGNAL_EXTERNAL_INVALIDATIONS, 0},
        {__LINE__, "r12000", SIGNAL_L2_SHARED_UPDATES, 0},
    };

    (void)unused;
    for (size_t n = 0; n < COUNT(names); n++) {
        static struct cluster c;
        uint64_t params[PARAM_COUNT];
        start_two(&c, names[n], params);
        for (unsigned i = 0; i < 64 * 100; i++) {
            const uint64_t addr = PROGRAM_DATA_AT + i % 64 * 128;
            load(&c, 0, addr);
            if (i < 64 && i % 2 == 0)
                store(&c, 0, addr);
        }
        for (unsigned i = 0; i < 64 * 100; i++)
            load(&c, i / 64 % 2, PROGRAM_DATA_AT + i % 64 * 128);
        check_turns(&c, rows, COUNT(rows));
        cluster_finish(&c);
    }
}

/* One of a program, in one line. */
static const struct block *
short_block(const struct program *p)
{
    const struct block *b = p->blocks;

    while (b->line0 != b->line1)
        b++;
    assert_true(b < p->blocks + p->count);
    return b;
}

/* A line that one core executes and the other writes. */
static void
test_code(void **unused)
{
    static const struct turns rows[] = {
        {__LINE__, "t4", SIGNAL_L1I_SNOOP_INVALIDATIONS, 100},
        {__LINE__, "r12000", SIGNAL_L1I_SNOOP_INVALIDATIONS, 100},
        {__LINE__, "r12000", SIGNAL_EXTERNAL_INVALIDATIONS, 100},
    };

    (void)unused;
    for (size_t n = 0; n < COUNT(names); n++) {
        static struct cluster c;
        uint64_t params[PARAM_COUNT];
        start_two(&c, names[n], params);
        const struct block *b = short_block(&c.program);
        for (unsigned i = 0; i < 100; i++) {
            enter(c.strands[0], b, WORK_FETCH);
            strand_drain(c.strands[0]);
            store(&c, 1, b->pc / 8 * 8);
        }
        check_turns(&c, rows, COUNT(rows));
        cluster_finish(&c);
    }
}

/* Strands of one core have one L2: nothing comes from outside. */
static void
test_one_core(void **unused)
{
    const struct machine m = {__LINE__, "t4", {"place.threads=pack"}};
    struct counts_strand *counts[2];
    uint64_t params[PARAM_COUNT];
    struct strand *strands[2];
    struct chip chip;

    (void)unused;
    params_of(&m, params);
    assert_int_equal(chip_init(&chip, params,
                               components_counted(params, 0, SIGNAL_COUNT), 2),
                     0);
    for (unsigned i = 0; i < 2; i++) {
        counts[i] = new_counts();
        strands[i] = new_strand(&chip, i, counts[i]);
    }
    assert_ptr_equal(strands[0]->core, strands[1]->core);
    for (unsigned i = 0; i < 1000; i++) {
        const struct access reads = {ACCESS_IS_LOAD, PROGRAM_DATA_AT, 8};
        const struct access writes = {ACCESS_IS_STORE, PROGRAM_DATA_AT, 8};
        access_data(strands[i % 2], &reads);
        access_data(strands[i % 2], &writes);
        strand_drain(strands[i % 2]);
    }
    for (unsigned i = 0; i < 2; i++) {
        free_strand(strands[i], i);
        for (size_t k = 0; k < COUNT(own_signals); k++)
            assert_int_equal(counts[i]->totals[0].signal[own_signals[k]], 0);
        assert_int_equal(counts[i]->totals[0].signal[SIGNAL_L2_LOAD_MISSES],
                         i == 0);
        free_counts(counts[i]);
    }
    chip_finish(&chip);
}

/* Each load that drives a clean line out of the L2 is charged with the eviction
 * where other cores' L2s are looked at in between. */
static void
test_evictions(void **unused)
{
    enum { LOADS = 40 };

    const struct machine m = {
        __LINE__,
        "t4",
        {SPREAD, "cores=2", "tlb.walk=0", "l2.size=4K", "l2.ways=1"}};
    static const uint16_t signals[] = {SIGNAL_L2_CLEAN_EVICTIONS,
                                       SIGNAL_L2_LOAD_MISSES};
    static struct cluster c;
    uint64_t params[PARAM_COUNT];
    struct recorder recorder;
    struct record_strand *record =
        mmap(NULL, sizeof(*record), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint64_t charged[LOADS + 1] = {0};

    (void)unused;
    assert_ptr_not_equal(record, MAP_FAILED);
    cluster_start(&c, &m, params, 1);
    load(&c, 1, PROGRAM_DATA_AT + 64); /* there is another core */
    struct strand *const s = c.strands[0];
    recorder_init(&recorder, record, signals, COUNT(signals), s->total);
    s->recorder = &recorder;
    for (unsigned i = 1; i <= LOADS; i++) {
        const struct access reads = {ACCESS_IS_LOAD, PROGRAM_DATA_AT + i * 4096,
                                     8};
        s->cell = i;
        access_data(s, &reads);
        if (i % 8 == 0)
            strand_drain(s);
    }
    for (size_t i = 0; i <= recorder.mask; i++) {
        const struct record_site *site = &recorder.sites[i];
        if ((uint16_t)site->key == SIGNAL_L2_CLEAN_EVICTIONS)
            charged[site->key >> 32] += site->count;
    }
    for (unsigned i = 1; i <= LOADS; i++)
        assert_int_equal(charged[i], i > 1);
    s->recorder = NULL;
    cluster_finish(&c);
    munmap(record, sizeof(*record));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_twin), cmocka_unit_test(test_writers),
        cmocka_unit_test(test_readers),      cmocka_unit_test(test_shared),
        cmocka_unit_test(test_code),         cmocka_unit_test(test_one_core),
        cmocka_unit_test(test_evictions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
