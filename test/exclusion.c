/* SPDX-License-Identifier: MIT */
/*
 * An L3 that fills from the victims of L2s: loops whose hits, misses and
 * write-backs follow from arithmetic. test/chip.c and test/sharing.c hold it to
 * its slow twins.
 */
#include "machine/exclusion.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "ref/drive.h"
#include "ref/random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LINE UINT64_C(64)
/* Lines of the L1D, the L2 and the L3, which have 2, 8 and 16 ways. */
#define L2_LINES UINT64_C(128)
#define L3_LINES UINT64_C(256)
#define SIZES                                                              \
    "l1d.size=1K", "l1d.ways=2", "l2.size=8K", "l2.ways=8", "l3.size=16K", \
        "l3.ways=16"
/* More lines than the L3 has, fewer than the L2 and the L3 have together; and
 * more than both have. */
#define BETWEEN UINT64_C(320)
#define BEYOND UINT64_C(400)
#define ROUNDS UINT64_C(5)

static const struct machine victims = {
    __LINE__, "host-model", {"cores=1", SIZES, "l3.fill=victims"}};
static const struct machine misses = {
    __LINE__, "host-model", {"cores=1", SIZES, "l3.fill=misses"}};
static const struct machine first_in = {
    __LINE__,
    "host-model",
    {"cores=1", SIZES, "l2.replacement=fifo", "l3.replacement=fifo",
     "l3.fill=victims"}};
static const struct machine two = {
    __LINE__, "host-model", {"cores=2", SIZES, "l3.fill=victims"}};

struct rig {
    uint64_t params[PARAM_COUNT];
    struct chip chip;
    struct strand *strands[2];
    struct counts_strand *counts[2];
    unsigned count;
};

static void
start(struct rig *r, const struct machine *m)
{
    memset(r, 0, sizeof(*r));
    params_of(m, r->params);
    const uint64_t components = components_counted(r->params, 0, SIGNAL_COUNT) &
                                ~(uint64_t)(COMPONENT_DTLB | COMPONENT_ITLB);
    assert_int_equal(chip_init(&r->chip, r->params, components, 2), 0);
    r->count = (unsigned)r->params[PARAM_CORES];
    for (unsigned i = 0; i < r->count; i++) {
        r->counts[i] = new_counts();
        r->strands[i] = new_strand(&r->chip, i, r->counts[i]);
        assert_non_null(r->strands[i]);
    }
}

static void
finish(struct rig *r)
{
    for (unsigned i = 0; i < r->count; i++) {
        free_strand(r->strands[i], i);
        free_counts(r->counts[i]);
    }
    chip_finish(&r->chip);
}

/* A strand makes an access to each of `count` lines from `first` on. */
static void
sweep(struct rig *r, unsigned who, enum access_kind kind, uint64_t first,
      uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++)
        access_data(r->strands[who],
                    &(struct access){kind, PROGRAM_DATA_AT + i * LINE, 8});
    strand_drain(r->strands[who]);
}

static uint64_t
count_of(const struct rig *r, unsigned who, enum signal_id signal)
{
    return r->counts[who]->totals[0].signal[signal];
}

/* Loops over lines: first with accesses of one kind, in the further rounds with
 * those of another. What is counted then. */
struct loop {
    int line; /* of the row, for messages */
    const struct machine *machine;
    enum access_kind first, then;
    uint64_t lines, l3_misses, l2_writebacks, l3_writebacks;
};

/* All rounds miss the L2 for each line, and drive so many lines out of it. */
#define DRIVEN(lines) ((lines)*ROUNDS - L2_LINES)

static const struct loop loops[] = {
    /* An exclusive pair holds the lines: they are missed once. */
    {__LINE__, &victims, ACCESS_IS_LOAD, ACCESS_IS_LOAD, BETWEEN, BETWEEN, 0,
     0},
    {__LINE__, &first_in, ACCESS_IS_LOAD, ACCESS_IS_LOAD, BETWEEN, BETWEEN, 0,
     0},
    /* An L3 that takes in each line does not. */
    {__LINE__, &misses, ACCESS_IS_LOAD, ACCESS_IS_LOAD, BETWEEN,
     BETWEEN *ROUNDS, 0, 0},
    /* Nor does an exclusive pair hold more than both have. */
    {__LINE__, &victims, ACCESS_IS_LOAD, ACCESS_IS_LOAD, BEYOND, BEYOND *ROUNDS,
     0, 0},
    /* All lines are dirty, wherever they are. */
    {__LINE__, &victims, ACCESS_IS_STORE, ACCESS_IS_STORE, BETWEEN, BETWEEN,
     DRIVEN(BETWEEN), 0},
    {__LINE__, &victims, ACCESS_IS_STORE, ACCESS_IS_STORE, BEYOND,
     BEYOND *ROUNDS, DRIVEN(BEYOND), DRIVEN(BEYOND) - L3_LINES},
    /* A line that went from the L3 to the L2 is dirty still. */
    {__LINE__, &victims, ACCESS_IS_STORE, ACCESS_IS_LOAD, BETWEEN, BETWEEN,
     DRIVEN(BETWEEN), 0},
    /* A line that memory has served again is clean. */
    {__LINE__, &victims, ACCESS_IS_STORE, ACCESS_IS_LOAD, BEYOND,
     BEYOND *ROUNDS, BEYOND, BEYOND},
};

static void
check_loop(const struct rig *r, const struct loop *l)
{
    const struct {
        const char *name;
        uint64_t got, wanted;
    } counts[] = {
        {"misses of the L2",
         count_of(r, 0, SIGNAL_L2_LOAD_MISSES) +
             count_of(r, 0, SIGNAL_L2_STORE_MISSES),
         l->lines * ROUNDS},
        {"misses of the L3",
         count_of(r, 0, SIGNAL_L3_LOAD_MISSES) +
             count_of(r, 0, SIGNAL_L3_STORE_MISSES),
         l->l3_misses},
        {"write-backs of the L2", count_of(r, 0, SIGNAL_L2_WRITEBACKS),
         l->l2_writebacks},
        {"clean evictions of the L2", count_of(r, 0, SIGNAL_L2_CLEAN_EVICTIONS),
         DRIVEN(l->lines) - l->l2_writebacks},
        {"write-backs of the L3", count_of(r, 0, SIGNAL_L3_WRITEBACKS),
         l->l3_writebacks},
        {"reads of memory", count_of(r, 0, SIGNAL_MEMORY_READS_0),
         l->l3_misses},
        {"writes of memory", count_of(r, 0, SIGNAL_MEMORY_WRITES_0),
         l->l3_writebacks},
    };

    for (size_t i = 0; i < COUNT(counts); i++) {
        if (counts[i].got != counts[i].wanted)
            fail_msg("row at line %d: %s: %" PRIu64 ", %" PRIu64 " wanted",
                     l->line, counts[i].name, counts[i].got, counts[i].wanted);
    }
}

static void
test_loops(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(loops); i++) {
        const struct loop *const l = &loops[i];
        struct rig r;
        start(&r, l->machine);
        sweep(&r, 0, l->first, 0, l->lines);
        for (uint64_t round = 1; round < ROUNDS; round++)
            sweep(&r, 0, l->then, 0, l->lines);
        check_loop(&r, l);
        finish(&r);
    }
}

/* A line that another core has comes from there and not from memory, whether
 * the other core keeps the line (a load) or loses it (a store). */
static void
test_two_cores(void **unused)
{
    const uint64_t lines = L2_LINES / 2;
    struct rig r;

    (void)unused;
    start(&r, &two);
    sweep(&r, 0, ACCESS_IS_LOAD, 0, lines);
    sweep(&r, 1, ACCESS_IS_LOAD, 0, lines);
    assert_int_equal(count_of(&r, 0, SIGNAL_L3_LOAD_MISSES), lines);
    assert_int_equal(count_of(&r, 1, SIGNAL_L2_LOAD_MISSES), lines);
    assert_int_equal(count_of(&r, 1, SIGNAL_L3_LOAD_MISSES), 0);

    sweep(&r, 1, ACCESS_IS_LOAD, BEYOND, lines);
    sweep(&r, 0, ACCESS_IS_STORE, BEYOND, lines);
    assert_int_equal(count_of(&r, 1, SIGNAL_L3_LOAD_MISSES), lines);
    assert_int_equal(count_of(&r, 0, SIGNAL_L2_STORE_MISSES), lines);
    assert_int_equal(count_of(&r, 0, SIGNAL_L3_STORE_MISSES), 0);

    /* What core 0 has written it hands back. */
    sweep(&r, 1, ACCESS_IS_LOAD, BEYOND, lines);
    assert_int_equal(count_of(&r, 1, SIGNAL_L2_LOAD_MISSES), 3 * lines);
    assert_int_equal(count_of(&r, 1, SIGNAL_L3_LOAD_MISSES), lines);
    finish(&r);
}

/* The L3 keeps its copy of a line that two cores have, and gives up its copy of
 * a line that one core has. */
static void
test_copies(void **unused)
{
    const uint64_t line = PROGRAM_DATA_AT / LINE;
    struct rig r;

    (void)unused;
    start(&r, &two);
    const struct cache *const l3 = &r.chip.levels[0].cache;
    /* Both have line 0, and core 0 drives it out. */
    sweep(&r, 0, ACCESS_IS_LOAD, 0, 1);
    sweep(&r, 1, ACCESS_IS_LOAD, 0, 1);
    assert_false(cache_has(l3, line));
    sweep(&r, 0, ACCESS_IS_LOAD, 1, L2_LINES + 16);
    assert_true(cache_has(l3, line));
    sweep(&r, 0, ACCESS_IS_LOAD, 0, 1);
    assert_true(cache_has(l3, line));
    /* A store takes the line from core 1 and from the L3. */
    sweep(&r, 0, ACCESS_IS_LOAD, 1, L2_LINES + 16);
    sweep(&r, 0, ACCESS_IS_STORE, 0, 1);
    assert_false(cache_has(l3, line));
    assert_int_equal(count_of(&r, 0, SIGNAL_L3_STORE_MISSES), 0);
    assert_int_equal(count_of(&r, 0, SIGNAL_L3_LOAD_MISSES), L2_LINES + 17);
    finish(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_two_cores),
        cmocka_unit_test(test_copies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
