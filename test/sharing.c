/* SPDX-License-Identifier: MIT */
/*
 * Cores that take lines from each other's L1 data caches: strands that take
 * turns, against the twin, and turns whose counts arithmetic tells.
 */
#include <string.h>

#include "ref/drive.h"
#include "ref/random.h"
#include "ref/sharing_ref.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define STEPS 20000
#define ONE_LINE PROGRAM_DATA_AT

/* Machines of as many cores as strands run. */
static const struct machine machines[] = {
    {__LINE__, "host-model", {"cores=2"}},
    {__LINE__, "host-model", {"cores=2", "l1d.size=512", "l2.size=2K"}},
    {__LINE__, "host-model", {"cores=3", "l1d.size=1K", "l2.size=1K"}},
    {__LINE__,
     "host-model",
     {"cores=4", "l1d.size=2K", "l1d.ways=32", "l2.size=4K", "l3.size=16K"}},
    {__LINE__,
     "host-model",
     {"cores=8", "l1d.size=1K", "l1d.ways=1", "l2.size=4K", "l2.ways=64"}},
    {__LINE__,
     "host-model",
     {"cores=5", "l1i.line=32", "l1d.size=1K", "l1d.line=32", "l2.line=32",
      "l2.size=2K"}},
    {__LINE__,
     "host-model",
     {"cores=4", "l1d.size=1K", "l1d.line=16", "l2.shared=chip",
      "l2.size=64K"}},
    {__LINE__,
     "host-model",
     {"cores=7", "l1d.size=1K", "l2.size=0", "l3.size=0"}},
    {__LINE__,
     "host-model",
     {"cores=6", "l1d.size=2K", "dtlb.entries=2", "l3.size=0"}},
    {__LINE__, "host-model", {"cores=64", "l1d.size=512", "l2.size=2K"}},
    {__LINE__,
     "host-model",
     {"cores=2", "l1d.size=512", "l2.size=2K", "l3.size=4K",
      "l3.fill=victims"}},
    {__LINE__,
     "host-model",
     {"cores=3", "l1d.size=1K", "l2.size=1K", "l3.size=8K", "l3.ways=4",
      "l3.fill=victims"}},
    {__LINE__,
     "host-model",
     {"cores=5", "l1d.size=1K", "l2.size=2K", "l2.ways=32", "l3.size=4K",
      "l3.ways=32", "l3.fill=victims"}},
    {__LINE__,
     "host-model",
     {"cores=4", "l1d.size=1K", "l2.size=4K", "l2.shared=chip", "l3.size=8K",
      "l3.fill=victims"}},
    {__LINE__,
     "host-model",
     {"cores=3", "layout=5", "l1d.size=1K", "l2.size=2K", "l3.size=4K",
      "l3.fill=victims"}},
    {__LINE__, "host-model", {"cores=33"}},
    {__LINE__, "host-model", {"cores=2", "layout=1"}},
    {__LINE__,
     "host-model",
     {"cores=3", "layout=7", "l1d.size=1K", "l2.size=1K"}},
    {__LINE__,
     "host-model",
     {"cores=4", "layout=3", "l1i.line=16", "l1d.size=1K", "l1d.line=16",
      "l2.shared=chip", "l2.size=64K"}},
    {__LINE__,
     "ci-1",
     {"cores=5", "layout=9", "l1d.size=64K", "l1d.ways=1", "l2.size=128K"}},
};

/* What a twin counts; the first ones run without the component, too. */
static const enum signal_id counted[] = {
    SIGNAL_L1I_MISSES,
    SIGNAL_L1D_LOAD_MISSES,
    SIGNAL_L1D_STORE_MISSES,
    SIGNAL_L2_FETCH_MISSES,
    SIGNAL_L2_LOAD_MISSES,
    SIGNAL_L2_STORE_MISSES,
    SIGNAL_L3_FETCH_MISSES,
    SIGNAL_L3_LOAD_MISSES,
    SIGNAL_L3_STORE_MISSES,
    SIGNAL_L1D_LOAD_COHERENCE_MISSES,
    SIGNAL_L1D_STORE_COHERENCE_MISSES,
    SIGNAL_L1D_LOAD_FALSE_MISSES,
    SIGNAL_L1D_STORE_FALSE_MISSES,
    SIGNAL_LOAD_HITMS,
    SIGNAL_STORE_HITMS,
    SIGNAL_L1D_UPGRADES,
    SIGNAL_L1D_COPIES_TAKEN,
    SIGNAL_L1D_LOAD_FIRST_MISSES,
    SIGNAL_L1D_STORE_FIRST_MISSES,
    SIGNAL_L1D_LOAD_CAPACITY_MISSES,
    SIGNAL_L1D_STORE_CAPACITY_MISSES,
    SIGNAL_L1D_LOAD_CONFLICT_MISSES,
    SIGNAL_L1D_STORE_CONFLICT_MISSES,
};
#define ALWAYS 9u
#define WITHOUT_CLASSES 17u

/* The parts of the model that run. */
enum parts { CACHES, SHARING, CLASSES };

struct crowd {
    int line;
    unsigned count; /* of strands and cores */
    enum parts parts;
    uint64_t params[PARAM_COUNT];
    struct chip chip;
    struct strand *strands[SHARING_REF_CORES];
    struct counts_strand *counts[SHARING_REF_CORES];
    struct stream streams[SHARING_REF_CORES];
    struct sharing_ref ref;
    struct program program;
    uint64_t state;
};

static void
crowd_join(struct crowd *c)
{
    const unsigned i = c->count++;

    c->counts[i] = new_counts();
    c->strands[i] = new_strand(&c->chip, i, c->counts[i]);
    assert_non_null(c->strands[i]);
    assert_ptr_equal(c->strands[i]->core, &c->chip.cores[i]);
    stream_init(&c->streams[i], &c->program, c->params, random_next(&c->state));
}

/* Starts with one strand. */
static void
crowd_start(struct crowd *c, const struct machine *m, enum parts parts,
            uint64_t seed)
{
    *c = (struct crowd){.line = m->line, .state = seed, .parts = parts};
    params_of(m, c->params);
    uint64_t components = components_counted(c->params, 0, SIGNAL_COUNT);
    if (parts == CLASSES)
        components |= COMPONENT_CLASSES;
    if (parts < SHARING)
        components &= ~COMPONENT_SHARING;
    program_init(&c->program, c->params, 40, 1 << 14, &c->state);
    assert_int_equal(
        chip_init(&c->chip, c->params, components, SHARING_REF_CORES), 0);
    assert_non_null(c->chip.sharing);
    sharing_ref_init(&c->ref, c->params, (unsigned)c->params[PARAM_CORES]);
    crowd_join(c);
}

static void
crowd_finish(struct crowd *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        free_strand(c->strands[i], i);
        free_counts(c->counts[i]);
    }
    chip_finish(&c->chip);
    sharing_ref_finish(&c->ref);
    program_finish(&c->program);
}

static void
make(struct crowd *c, unsigned who, enum access_kind kind, uint64_t addr,
     uint64_t size)
{
    const struct access a = {kind, addr, size};

    access_data(c->strands[who], &a);
    if (kind == ACCESS_IS_LOAD)
        sharing_ref_load(&c->ref, who, addr, size);
    else if (kind == ACCESS_IS_STORE)
        sharing_ref_store(&c->ref, who, addr, size);
    else
        sharing_ref_atomic(&c->ref, who, addr, size);
}

/* Few lines that all share, more of the strand's own, and its code. */
static void
any_access(struct crowd *c, unsigned who)
{
    const uint64_t place = random_below(&c->state, 16);
    const uint64_t size = (uint64_t)1 << random_below(&c->state, 4);
    const uint64_t kind = random_below(&c->state, 20);
    uint64_t addr = PROGRAM_DATA_AT;

    if (place < 10)
        addr +=
            random_below(&c->state, 6) * 0x1040 + random_below(&c->state, 64);
    else if (place < 15)
        addr += (who + 1) * 0x10000 + random_below(&c->state, 48) * 64 +
                random_below(&c->state, 8) * 8;
    else
        addr = c->program.blocks[c->streams[who].at].pc;
    make(c, who,
         kind == 0  ? ACCESS_IS_ATOMIC
         : kind < 9 ? ACCESS_IS_STORE
                    : ACCESS_IS_LOAD,
         addr, size);
}

static size_t
count_of(const struct crowd *c)
{
    return c->parts == CACHES    ? ALWAYS
           : c->parts == SHARING ? WITHOUT_CLASSES
                                 : COUNT(counted);
}

static void
compare(const struct crowd *c, int step)
{
    for (unsigned i = 0; i < c->count; i++) {
        const uint64_t *got = c->counts[i]->totals[0].signal;
        for (size_t k = 0; k < count_of(c); k++) {
            const enum signal_id s = counted[k];
            const uint64_t wanted = c->ref.signals[i][s];
            if (got[s] != wanted)
                fail_msg("row at line %d, step %d, strand %u, parts %d, %s: "
                         "%" PRIu64 ", its twin says %" PRIu64,
                         c->line, step, i, (int)c->parts, tally_signals[s].name,
                         got[s], wanted);
        }
    }
}

/* A turn of a strand, at whose end its queue is drained. */
static void
turn(struct crowd *c, unsigned who)
{
    const uint64_t accesses = 1 + random_below(&c->state, 30);

    for (uint64_t i = 0; i < accesses; i++) {
        if (random_below(&c->state, 8) == 0) {
            const struct block *b = stream_block(&c->streams[who]);
            enter(c->strands[who], b, work_of(c->chip.components));
            sharing_ref_block(&c->ref, who, b);
        }
        any_access(c, who);
    }
    strand_drain(c->strands[who]);
}

static uint64_t
sum_of(const struct crowd *c, enum signal_id signal)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < c->count; i++)
        sum += c->counts[i]->totals[0].signal[signal];
    return sum;
}

/* Returns whether the streams raise a signal: without an L2 those of the L2 and
 * the L3 stand still, and an L1D of 32 KB has all lines that are asked for. */
static bool
can_rise(const struct crowd *c, size_t signal)
{
    if (signal >= WITHOUT_CLASSES)
        return c->params[PARAM_L1D_SIZE] <= 1024 &&
               c->params[PARAM_L1D_WAYS] < 8;
    return signal < 3 || signal >= ALWAYS || c->params[PARAM_L3_SIZE] != 0;
}

/* The first strand runs alone for a while, and then others join. */
static void
test_against_twin(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t m = 0; m < 3 * COUNT(machines); m++) {
        static struct crowd c;
        crowd_start(&c, &machines[m / 3], (enum parts)(m % 3),
                    random_next(&state));
        for (int i = 0; i < STEPS / 30; i++) {
            if (i > 20 && c.count < c.params[PARAM_CORES])
                crowd_join(&c);
            turn(&c, (unsigned)random_below(&c.state, c.count));
            compare(&c, i);
        }
        for (size_t k = 0; k < count_of(&c); k++) {
            if (sum_of(&c, counted[k]) == 0 && can_rise(&c, k))
                fail_msg("row at line %d: %s stands still", c.line,
                         tally_signals[counted[k]].name);
        }
        crowd_finish(&c);
    }
}

/* Kernels with closed answers */

static const struct machine two = {
    __LINE__, "host-model", {"cores=2", "l3.size=1M", "l3.ways=16"}};
static const struct machine eight = {
    __LINE__, "host-model", {"cores=8", "l3.size=1M", "l3.ways=16"}};

struct answer {
    int line;
    enum signal_id signal;
    uint64_t wanted; /* of all strands */
};

/* Compares the twin, too. */
static void
check(struct crowd *c, const struct answer *answers, size_t count)
{
    compare(c, 0);
    for (size_t i = 0; i < count; i++) {
        if (sum_of(c, answers[i].signal) != answers[i].wanted)
            fail_msg("row at line %d: %s is %" PRIu64, answers[i].line,
                     tally_signals[answers[i].signal].name,
                     sum_of(c, answers[i].signal));
    }
    crowd_finish(c);
}

static void
start(struct crowd *c, const struct machine *m, unsigned count)
{
    crowd_start(c, m, CLASSES, 1);
    while (c->count < count)
        crowd_join(c);
}

/*
 * Two strands hand a flag over 1,000 times each way: each loads the line, which
 * the other has modified, and stores to it. 2,000 loads miss; all but the first
 * find a modified line; all but the first of each strand have had the line
 * before and read what the other wrote. Each store but the first takes the
 * other's copy.
 */
static void
test_flag(void **unused)
{
    static const struct answer answers[] = {
        {__LINE__, SIGNAL_L1D_LOAD_MISSES, 2000},
        {__LINE__, SIGNAL_L1D_STORE_MISSES, 0},
        {__LINE__, SIGNAL_L1D_LOAD_COHERENCE_MISSES, 1998},
        {__LINE__, SIGNAL_L1D_LOAD_FALSE_MISSES, 0},
        {__LINE__, SIGNAL_LOAD_HITMS, 1999},
        {__LINE__, SIGNAL_STORE_HITMS, 0},
        {__LINE__, SIGNAL_L1D_UPGRADES, 1999},
        {__LINE__, SIGNAL_L1D_COPIES_TAKEN, 1999},
        {__LINE__, SIGNAL_L3_LOAD_MISSES, 1},
    };
    static struct crowd c;

    (void)unused;
    start(&c, &two, 2);
    for (unsigned i = 0; i < 2000; i++) {
        make(&c, i % 2, ACCESS_IS_LOAD, ONE_LINE, 8);
        make(&c, i % 2, ACCESS_IS_STORE, ONE_LINE, 8);
        strand_drain(c.strands[i % 2]);
    }
    check(&c, answers, COUNT(answers));
}

/*
 * Eight strands store to a counter each, 100 times by turns, ten stores a turn.
 * `stride` bytes lie between counters: in one line each turn misses once, all
 * but the first of all on a modified line, and no strand writes a byte of
 * another.
 */
static void
count_each(struct crowd *c, uint64_t stride)
{
    start(c, &eight, 8);
    for (unsigned i = 0; i < 800; i++) {
        const unsigned who = i % 8;
        for (unsigned k = 0; k < 10; k++)
            make(c, who, ACCESS_IS_STORE, ONE_LINE + who * stride, 8);
        strand_drain(c->strands[who]);
    }
}

static void
test_counters(void **unused)
{
    static const struct answer unpadded[] = {
        {__LINE__, SIGNAL_L1D_STORE_MISSES, 800},
        {__LINE__, SIGNAL_L1D_STORE_COHERENCE_MISSES, 792},
        {__LINE__, SIGNAL_L1D_STORE_FALSE_MISSES, 792},
        {__LINE__, SIGNAL_STORE_HITMS, 799},
        {__LINE__, SIGNAL_L1D_UPGRADES, 0},
        {__LINE__, SIGNAL_L1D_COPIES_TAKEN, 799},
    };
    static const struct answer padded[] = {
        {__LINE__, SIGNAL_L1D_STORE_MISSES, 8},
        {__LINE__, SIGNAL_L1D_STORE_COHERENCE_MISSES, 0},
        {__LINE__, SIGNAL_L1D_STORE_FALSE_MISSES, 0},
        {__LINE__, SIGNAL_STORE_HITMS, 0},
        {__LINE__, SIGNAL_L1D_UPGRADES, 0},
        {__LINE__, SIGNAL_L1D_COPIES_TAKEN, 0},
    };
    static struct crowd c;

    (void)unused;
    count_each(&c, 8);
    check(&c, unpadded, COUNT(unpadded));
    count_each(&c, 64);
    check(&c, padded, COUNT(padded));
}

/*
 * A strand stores to bytes 0 to 7, again and again, and to bytes 8 to 15 last:
 * the reader of bytes 8 to 15 shares them, although the store that took the
 * line, and those after it, wrote others. The reader of bytes 16 to 23 shares
 * none.
 */
static void
test_later_bytes(void **unused)
{
    static const struct answer answers[] = {
        {__LINE__, SIGNAL_L1D_LOAD_COHERENCE_MISSES, 200},
        {__LINE__, SIGNAL_L1D_LOAD_FALSE_MISSES, 100},
        {__LINE__, SIGNAL_LOAD_HITMS, 101},
    };
    static struct crowd c;

    (void)unused;
    start(&c, &eight, 3);
    for (unsigned i = 0; i < 101; i++) {
        for (unsigned k = 0; k < 50; k++)
            make(&c, 0, ACCESS_IS_STORE, ONE_LINE, 8);
        make(&c, 0, ACCESS_IS_STORE, ONE_LINE + 8, 8);
        strand_drain(c.strands[0]);
        make(&c, 1, ACCESS_IS_LOAD, ONE_LINE + 8, 8);
        strand_drain(c.strands[1]);
        make(&c, 2, ACCESS_IS_LOAD, ONE_LINE + 16, 8);
        strand_drain(c.strands[2]);
    }
    check(&c, answers, COUNT(answers));
}

/* Lines that a strand wrote before another ran are modified, as long as its
 * caches have them: the L1D has 512 lines of 600, the L2 all. */
static void
test_lone_writer(void **unused)
{
    static const struct answer answers[] = {
        {__LINE__, SIGNAL_LOAD_HITMS, 600},
        {__LINE__, SIGNAL_L1D_LOAD_MISSES, 600},
        {__LINE__, SIGNAL_L1D_LOAD_COHERENCE_MISSES, 0},
        {__LINE__, SIGNAL_L1D_UPGRADES, 0},
    };
    static struct crowd c;

    (void)unused;
    start(&c, &two, 1);
    for (uint64_t i = 0; i < 600; i++)
        make(&c, 0, ACCESS_IS_STORE, ONE_LINE + 64 * i, 8);
    crowd_join(&c);
    strand_drain(c.strands[0]);
    for (uint64_t i = 0; i < 600; i++)
        make(&c, 1, ACCESS_IS_LOAD, ONE_LINE + 64 * i, 8);
    strand_drain(c.strands[1]);
    check(&c, answers, COUNT(answers));
}

/*
 * Two passes over `lines` lines, `stride` lines apart, by loads: the L1D has
 * 512 lines in 64 sets. The first pass is of first touches. 400 lines behind
 * each other fit in; 1,024 lines behind each other are more than it has, and
 * drive each other out in the order of use; 16 lines of one set fit in by their
 * number, but a set has 8 ways.
 */
static void
pass_twice(struct crowd *c, uint64_t lines, uint64_t stride)
{
    start(c, &two, 1);
    for (uint64_t i = 0; i < 2 * lines; i++)
        make(c, 0, ACCESS_IS_LOAD, ONE_LINE + i % lines * stride * 64, 8);
    strand_drain(c->strands[0]);
}

static void
test_classes(void **unused)
{
    static const struct answer fits[] = {
        {__LINE__, SIGNAL_L1D_LOAD_FIRST_MISSES, 400},
        {__LINE__, SIGNAL_L1D_LOAD_CAPACITY_MISSES, 0},
        {__LINE__, SIGNAL_L1D_LOAD_CONFLICT_MISSES, 0},
    };
    static const struct answer large[] = {
        {__LINE__, SIGNAL_L1D_LOAD_FIRST_MISSES, 1024},
        {__LINE__, SIGNAL_L1D_LOAD_CAPACITY_MISSES, 1024},
        {__LINE__, SIGNAL_L1D_LOAD_CONFLICT_MISSES, 0},
    };
    static const struct answer one_set[] = {
        {__LINE__, SIGNAL_L1D_LOAD_FIRST_MISSES, 16},
        {__LINE__, SIGNAL_L1D_LOAD_CAPACITY_MISSES, 0},
        {__LINE__, SIGNAL_L1D_LOAD_CONFLICT_MISSES, 16},
    };
    static struct crowd c;

    (void)unused;
    pass_twice(&c, 400, 1);
    check(&c, fits, COUNT(fits));
    pass_twice(&c, 1024, 1);
    check(&c, large, COUNT(large));
    pass_twice(&c, 16, 64);
    check(&c, one_set, COUNT(one_set));
}

/* A line that is asked for again and again stays recent although the L1D's
 * filter knows it: 600 other lines pass by in other sets, and the line's set
 * gets 8 others at last. */
static void
test_kept_recent(void **unused)
{
    static const struct answer answers[] = {
        {__LINE__, SIGNAL_L1D_LOAD_FIRST_MISSES, 1 + 600 + 8},
        {__LINE__, SIGNAL_L1D_LOAD_CAPACITY_MISSES, 0},
        {__LINE__, SIGNAL_L1D_LOAD_CONFLICT_MISSES, 1},
    };
    static struct crowd c;

    (void)unused;
    start(&c, &two, 1);
    for (uint64_t i = 0; i < 600; i++) {
        make(&c, 0, ACCESS_IS_LOAD, ONE_LINE, 8);
        make(&c, 0, ACCESS_IS_LOAD, ONE_LINE + (1 + i / 60 + i % 60 * 64) * 64,
             8);
    }
    for (uint64_t i = 1; i <= 8; i++)
        make(&c, 0, ACCESS_IS_LOAD, ONE_LINE + 0x1000000 + i * 64 * 64, 8);
    make(&c, 0, ACCESS_IS_LOAD, ONE_LINE, 8);
    strand_drain(c.strands[0]);
    check(&c, answers, COUNT(answers));
}

/* What is known of many more lines than caches hold is dropped in time. */
static void
test_many_lines(void **unused)
{
    static struct crowd c;

    (void)unused;
    for (int parts = CACHES; parts <= CLASSES; parts++) {
        const struct machine m = {
            __LINE__, "host-model", {"cores=2", "l1d.size=1K", "l2.size=4K"}};
        crowd_start(&c, &m, (enum parts)parts, 1);
        crowd_join(&c);
        for (uint64_t i = 0; i < 300000; i++) {
            const struct access a = {ACCESS_IS_STORE, ONE_LINE + 64 * i, 8};
            access_data(c.strands[i % 2], &a);
            strand_drain(c.strands[i % 2]);
        }
        assert_int_equal(sum_of(&c, SIGNAL_L1D_STORE_MISSES), 300000);
        crowd_finish(&c);
    }
}

/* The child of a fork has cold caches and one strand, and another may join. */
static void
test_after_fork(void **unused)
{
    static struct crowd c;

    (void)unused;
    for (int parts = CACHES; parts <= CLASSES; parts++) {
        crowd_start(&c, &eight, (enum parts)parts, 1);
        for (int i = 0; i < 20; i++)
            turn(&c, 0);
        crowd_join(&c);
        for (int i = 0; i < 50; i++)
            turn(&c, (unsigned)i % 2);
        lock_take(&c.chip.lock);
        struct strand *const gone = c.strands[1];
        chip_after_fork(&c.chip, 0);
        free(gone);
        free_counts(c.counts[1]);
        memset(&c.counts[0]->totals, 0, sizeof(c.counts[0]->totals));
        sharing_ref_finish(&c.ref);
        sharing_ref_init(&c.ref, c.params, 8);
        c.count = 1;
        for (int i = 0; i < 20; i++)
            turn(&c, 0);
        compare(&c, 0);
        crowd_join(&c);
        for (int i = 0; i < 200; i++) {
            turn(&c, (unsigned)random_below(&c.state, 2));
            compare(&c, i);
        }
        crowd_finish(&c);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_twin), cmocka_unit_test(test_flag),
        cmocka_unit_test(test_counters),     cmocka_unit_test(test_later_bytes),
        cmocka_unit_test(test_classes),      cmocka_unit_test(test_kept_recent),
        cmocka_unit_test(test_lone_writer),  cmocka_unit_test(test_many_lines),
        cmocka_unit_test(test_after_fork),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
