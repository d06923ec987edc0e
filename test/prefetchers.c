/* SPDX-License-Identifier: MIT */
/*
 * Hardware prefetchers: each against its twin, walks over memory whose misses
 * follow from arithmetic, and cores that take lines from each other. Whole
 * machines of one strand are in test/chip.c.
 */
#include "machine/prefetcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ref/drive.h"
#include "ref/prefetcher_ref.h"
#include "ref/random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LINE 64u
#define PAGE_LINES 64u
#define PAGES 20u
#define DATA UINT64_C(0x7f0000000000)

/* Returns the next line of a stream: walks up and down, by steps, and jumps. */
static uint64_t
next_line(uint64_t *random, uint64_t *line, int64_t *step)
{
    if (random_below(random, 8) == 0)
        *step = (int64_t)random_below(random, 13) - 6;
    if (random_below(random, 30) == 0)
        *line = random_below(random, 4000);
    *line = (*line + (uint64_t)*step) % 4096;
    return *line;
}

static void
test_against_twin(void **unused)
{
    uint64_t random = random_seed();
    struct cache cache;

    (void)unused;
    assert_int_equal(cache_init(&cache, 65536, 4, LINE), 0);
    for (uint64_t kind = L1D_PREFETCH_NEXT; kind <= L1D_PREFETCH_STREAM;
         kind++) {
        for (unsigned trial = 0; trial < 8; trial++) {
            const uint64_t params[] = {kind, 1 + random_below(&random, 8),
                                       1 + random_below(&random, 32),
                                       UINT64_C(1) << trial, trial % 3 == 0};
            struct prefetcher p = {0};
            struct prefetcher_ref ref;
            uint64_t line = 0;
            int64_t step = 1;
            assert_int_equal(prefetcher_init(&p, params, &cache), 0);
            prefetcher_ref_init(&ref, params, LINE);
            for (unsigned i = 0; i < 20000; i++) {
                const uint64_t instruction = random_below(&random, 6) << 16;
                uint64_t lines[PREFETCHER_MOST];
                struct wanted_ref wanted = {0};
                next_line(&random, &line, &step);
                const unsigned count =
                    prefetcher_ask(&p, line, instruction, lines);
                prefetcher_ref_ask(&ref, line, instruction, &wanted);
                assert_int_equal(count, wanted.count);
                for (unsigned k = 0; k < count; k++)
                    assert_int_equal(lines[k], wanted.lines[k]);
            }
            prefetcher_finish(&p);
            prefetcher_ref_finish(&ref);
        }
    }
    cache_finish(&cache);
}

/* A machine of one strand, or of two on two cores. */
struct one {
    struct chip chip;
    struct strand *strands[2];
    struct counts_strand *counts[2];
    struct block blocks[2]; /* whose instructions access data */
    unsigned strand_count;
};

static void
one_start(struct one *o, const struct machine *m, unsigned strands)
{
    uint64_t params[PARAM_COUNT];

    memset(o, 0, sizeof(*o));
    params_of(m, params);
    assert_int_equal(chip_init(&o->chip, params,
                               components_counted(params, 0, SIGNAL_COUNT), 2),
                     0);
    o->strand_count = strands;
    for (unsigned i = 0; i < strands; i++) {
        o->counts[i] = new_counts();
        o->strands[i] = new_strand(&o->chip, i, o->counts[i]);
        assert_non_null(o->strands[i]);
        o->blocks[i].pc = 0x1000 + 0x1000 * i;
        o->blocks[i].last_pc = o->blocks[i].pc;
        o->blocks[i].taken_pc = NO_LINE;
    }
}

static void
one_finish(struct one *o)
{
    for (unsigned i = 0; i < o->strand_count; i++) {
        free_strand(o->strands[i], i);
        free_counts(o->counts[i]);
    }
    chip_finish(&o->chip);
}

static void
access_as(struct one *o, unsigned strand, unsigned block, enum access_kind kind,
          uint64_t addr)
{
    enter(o->strands[strand], &o->blocks[block], 0);
    access_data(o->strands[strand], &(struct access){kind, addr, 8});
}

static uint64_t
total(const struct one *o, unsigned signal)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < o->strand_count; i++) {
        strand_drain(o->strands[i]);
        sum += o->counts[i]->totals[0].signal[signal];
    }
    return sum;
}

/* Asks for all lines of PAGES pages, one after the other, two words of each. */
static void
ascend(struct one *o)
{
    for (uint64_t i = 0; i < PAGES * PAGE_LINES; i++) {
        access_as(o, 0, 0, ACCESS_IS_LOAD, DATA + i * LINE);
        access_as(o, 0, 0, ACCESS_IS_LOAD, DATA + i * LINE + 8);
    }
}

static void
descend(struct one *o)
{
    for (uint64_t i = PAGES * PAGE_LINES; i-- > 0;)
        access_as(o, 0, 0, ACCESS_IS_LOAD, DATA + i * LINE);
}

#define STEPS_OF_FIVE ((PAGES * PAGE_LINES + 4) / 5)

/* Every fifth line. */
static void
stride_five(struct one *o)
{
    for (uint64_t i = 0; i < PAGES * PAGE_LINES; i += 5)
        access_as(o, 0, 0, ACCESS_IS_LOAD, DATA + i * LINE);
}

/* Two instructions by turns, one up by three lines, one down by two. */
static void
two_strides(struct one *o)
{
    for (uint64_t i = 0; i < 100; i++) {
        access_as(o, 0, 0, ACCESS_IS_LOAD, DATA + i * 3 * LINE);
        access_as(o, 0, 1, ACCESS_IS_LOAD,
                  DATA + (UINT64_C(1) << 20) - i * 2 * LINE);
    }
}

/* One line of each of 509 pages, in an order in which neither lines nor their
 * distances come back: powers of 2, a generator modulo the prime 509. */
static void
chase(struct one *o)
{
    uint64_t page = 1;

    for (unsigned i = 0; i < 508; i++) {
        access_as(o, 0, 0, ACCESS_IS_LOAD,
                  DATA + page * 4096 + page % PAGE_LINES * LINE);
        page = page * 2 % 509;
    }
}

#define ONE "host-model"
#define ALONE                                                         \
    "l1d.coherence=none", "l1d.size=32K", "l1d.ways=8", "l2.size=1M", \
        "l2.ways=16", "l3.size=0"

/*
 * What walks miss. Of a page, `next` lacks the first line alone, `adjacent` the
 * first of each pair, and `stream` the three lines of the first two steps; a
 * `distance` of 4 costs three lines more. `stride` needs three lines once, and
 * then the first of each page. All that a prefetcher brings in is used, but for
 * the chase, in which nothing is.
 */
static const struct {
    int line;
    void (*walk)(struct one *o);
    const char *sets[4];
    uint64_t misses, prefetches, useful;
} kernels[] = {
    {__LINE__, ascend, {NULL}, 64 * PAGES, 0, 0},
    {__LINE__, ascend, {"l1d.prefetch=next"}, PAGES, 63 * PAGES, 63 * PAGES},
    {__LINE__,
     ascend,
     {"l1d.prefetch=next", "l1d.prefetch_degree=4"},
     PAGES,
     63 * PAGES,
     63 * PAGES},
    {__LINE__,
     ascend,
     {"l1d.prefetch=next", "l1d.prefetch_distance=4"},
     4 * PAGES,
     60 * PAGES,
     60 * PAGES},
    {__LINE__,
     ascend,
     {"l1d.prefetch=adjacent"},
     32 * PAGES,
     32 * PAGES,
     32 * PAGES},
    {__LINE__,
     ascend,
     {"l1d.prefetch=stride"},
     3 + (PAGES - 1),
     61 + 63 * (PAGES - 1),
     61 + 63 * (PAGES - 1)},
    {__LINE__,
     ascend,
     {"l1d.prefetch=stream"},
     3 * PAGES,
     61 * PAGES,
     61 * PAGES},
    {__LINE__,
     ascend,
     {"l1d.prefetch=stream", "l1d.prefetch_distance=4"},
     6 * PAGES,
     58 * PAGES,
     58 * PAGES},
    {__LINE__,
     ascend,
     {"l1d.prefetch=stream", "l1d.prefetch_degree=8", "l1d.replacement=plru"},
     3 * PAGES,
     61 * PAGES,
     61 * PAGES},
    {__LINE__, descend, {"l1d.prefetch=next"}, 64 * PAGES, 0, 0},
    {__LINE__,
     descend,
     {"l1d.prefetch=adjacent"},
     32 * PAGES,
     32 * PAGES,
     32 * PAGES},
    {__LINE__,
     descend,
     {"l1d.prefetch=stride"},
     3 + (PAGES - 1),
     61 + 63 * (PAGES - 1),
     61 + 63 * (PAGES - 1)},
    {__LINE__,
     descend,
     {"l1d.prefetch=stream"},
     3 * PAGES,
     61 * PAGES,
     61 * PAGES},
    /* 64 lines of a page are no multiple of 5, but 1,280 lines have 256. */
    {__LINE__, stride_five, {NULL}, 256, 0, 0},
    {__LINE__, stride_five, {"l1d.prefetch=stream"}, 256, 0, 0},
    {__LINE__,
     stride_five,
     {"l1d.prefetch=stride"},
     3 + (PAGES - 1),
     256 - 3 - (PAGES - 1),
     256 - 3 - (PAGES - 1)},
    {__LINE__, chase, {NULL}, 508, 0, 0},
    /* Three lines are missed, and one beyond the last is asked for. */
    {__LINE__,
     stride_five,
     {"l1d.prefetch=stride", "l1d.prefetch_bound=none"},
     3,
     STEPS_OF_FIVE - 2,
     STEPS_OF_FIVE - 3},
    {__LINE__, chase, {"l1d.prefetch=stream"}, 508, 0, 0},
    {__LINE__, chase, {"l1d.prefetch=stride"}, 508, 0, 0},
    {__LINE__, chase, {"l1d.prefetch=adjacent"}, 508, 508, 0},
    /* Of the pages 1 to 508, seven have their line at the end: 63 and on. */
    {__LINE__, chase, {"l1d.prefetch=next"}, 508, 508 - 7, 0},
    /* The walk up crosses 4 ends of pages in 297 lines, the one down 3 in 198.
     * Each misses three lines first, and asks for one more than it reaches. */
    {__LINE__,
     two_strides,
     {"l1d.prefetch=stride"},
     3 + 4 + 3 + 3,
     200 - 13 + 2,
     200 - 13},
};

static void
machine_of(struct machine *m, int line, const char *const *sets)
{
    static const char *const alone[] = {ALONE};
    size_t n = 0;

    *m = (struct machine){.line = line, .name = ONE};
    for (size_t i = 0; i < COUNT(alone); i++)
        m->sets[n++] = alone[i];
    for (size_t i = 0; i < 4 && sets[i] != NULL; i++)
        m->sets[n++] = sets[i];
}

static void
equal(int line, const char *what, uint64_t got, uint64_t wanted)
{
    if (got != wanted)
        fail_msg("row at line %d, %s: %" PRIu64 ", not %" PRIu64, line, what,
                 got, wanted);
}

static void
test_kernels(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(kernels); i++) {
        struct machine m;
        struct one o;
        machine_of(&m, kernels[i].line, kernels[i].sets);
        one_start(&o, &m, 1);
        kernels[i].walk(&o);
        const uint64_t useless = total(&o, SIGNAL_L1D_PREFETCHES_USELESS);
        equal(m.line, "misses", total(&o, SIGNAL_L1D_LOAD_MISSES),
              kernels[i].misses);
        equal(m.line, "prefetches", total(&o, SIGNAL_L1D_PREFETCHES),
              kernels[i].prefetches);
        equal(m.line, "useful", total(&o, SIGNAL_L1D_PREFETCHES_USEFUL),
              kernels[i].useful);
        /* What is still there is neither. */
        assert_true(kernels[i].useful + useless <= kernels[i].prefetches);
        assert_true(kernels[i].useful != 0 || kernels[i].prefetches == 0 ||
                    useless > 0);
        one_finish(&o);
    }
}

/* The L2's prefetcher sees what the L1D lacks: with both, the L1D's sees the
 * walk and the L2's sees the lines that the L1D's asks for. */
static void
test_second_level(void **unused)
{
    static const char *const alone[] = {"l2.prefetch=stream", NULL};
    static const char *const both[] = {"l2.prefetch=stream",
                                       "l1d.prefetch=next", NULL};
    struct machine m;
    struct one o;

    (void)unused;
    machine_of(&m, __LINE__, alone);
    one_start(&o, &m, 1);
    ascend(&o);
    equal(m.line, "L1D", total(&o, SIGNAL_L1D_LOAD_MISSES), 64 * PAGES);
    equal(m.line, "L2", total(&o, SIGNAL_L2_LOAD_MISSES), 3 * PAGES);
    equal(m.line, "lines", total(&o, SIGNAL_L2_PREFETCHES), 61 * PAGES);
    equal(m.line, "useful", total(&o, SIGNAL_L2_PREFETCHES_USEFUL), 61 * PAGES);
    equal(m.line, "useless", total(&o, SIGNAL_L2_PREFETCHES_USELESS), 0);
    one_finish(&o);

    machine_of(&m, __LINE__, both);
    one_start(&o, &m, 1);
    ascend(&o);
    equal(m.line, "L1D", total(&o, SIGNAL_L1D_LOAD_MISSES), PAGES);
    equal(m.line, "L2", total(&o, SIGNAL_L2_LOAD_MISSES), PAGES);
    equal(m.line, "L2 ahead", total(&o, SIGNAL_PREFETCHER_L2_MISSES),
          2 * PAGES);
    equal(m.line, "useful", total(&o, SIGNAL_L2_PREFETCHES_USEFUL), 61 * PAGES);
    one_finish(&o);
}

/* Lines that leave before they are asked for: a set of 2 ways gets the line
 * behind each of three lines. */
static void
test_useless(void **unused)
{
    const struct machine m = {__LINE__,
                              ONE,
                              {"l1d.coherence=none", "l1d.size=256",
                               "l1d.ways=2", "l1d.prefetch=next", "l2.size=0",
                               "l3.size=0"}};
    struct one o;

    (void)unused;
    one_start(&o, &m, 1);
    /* Lines 0, 2 and 4 are of set 0; 1, 3 and 5 of set 1. */
    for (uint64_t i = 0; i < 6; i += 2)
        access_as(&o, 0, 0, ACCESS_IS_LOAD, DATA + i * LINE);
    equal(m.line, "lines", total(&o, SIGNAL_L1D_PREFETCHES), 3);
    equal(m.line, "useless", total(&o, SIGNAL_L1D_PREFETCHES_USELESS), 1);
    access_as(&o, 0, 0, ACCESS_IS_LOAD, DATA + 3 * LINE);
    equal(m.line, "useful", total(&o, SIGNAL_L1D_PREFETCHES_USEFUL), 1);
    one_finish(&o);
}

/* Two cores. A prefetch leaves a copy in the other core's cache, which the line
 * is modified in no more; a store takes lines that wait. */
static void
test_cores(void **unused)
{
    const struct machine m = {__LINE__, ONE, {"l1d.prefetch=next", "cores=2"}};
    struct one o;

    (void)unused;
    one_start(&o, &m, 2);
    for (uint64_t i = 0; i < PAGE_LINES; i++)
        access_as(&o, 0, 0, ACCESS_IS_STORE, DATA + i * LINE);
    for (uint64_t i = 0; i < PAGE_LINES; i++)
        access_as(&o, 1, 1, ACCESS_IS_LOAD, DATA + i * LINE);
    /* The first line alone is missed, and found modified. */
    equal(m.line, "misses", total(&o, SIGNAL_L1D_LOAD_MISSES), 1);
    equal(m.line, "modified", total(&o, SIGNAL_LOAD_HITMS), 1);
    equal(m.line, "taken", total(&o, SIGNAL_L1D_COPIES_TAKEN), 0);
    for (uint64_t i = 0; i < PAGE_LINES; i++)
        access_as(&o, 0, 0, ACCESS_IS_STORE, DATA + i * LINE);
    equal(m.line, "upgrades", total(&o, SIGNAL_L1D_UPGRADES), 64);
    equal(m.line, "taken", total(&o, SIGNAL_L1D_COPIES_TAKEN), 64);
    equal(m.line, "useless", total(&o, SIGNAL_L1D_PREFETCHES_USELESS), 0);
    access_as(&o, 1, 1, ACCESS_IS_LOAD, DATA + 8 * LINE); /* and line 9 */
    access_as(&o, 0, 0, ACCESS_IS_STORE, DATA + 9 * LINE);
    equal(m.line, "useless", total(&o, SIGNAL_L1D_PREFETCHES_USELESS), 1);
    access_as(&o, 1, 1, ACCESS_IS_LOAD, DATA + 9 * LINE);
    equal(m.line, "lost", total(&o, SIGNAL_L1D_LOAD_COHERENCE_MISSES), 2);
    one_finish(&o);
}

/* The strand knows no line any more. */
static void
forget_all(struct strand *s)
{
    filter_clear(&s->data, false);
    filter_clear(&s->store, false);
}

/*
 * Filters answer for accesses that change nothing: machines of two cores, one
 * of which has no filters, count the same over random accesses.
 */
static void
test_filters(void **unused)
{
    static const struct machine machines[] = {
        {__LINE__,
         ONE,
         {"cores=2", "l1d.prefetch=next", "l1d.size=2K", "l1d.ways=4",
          "l2.size=8K", "l2.prefetch=stream", "l3.size=64K"}},
        {__LINE__,
         ONE,
         {"cores=2", "l1d.prefetch=stride", "l1d.size=1K", "l1d.ways=2",
          "l2.size=8K", "l2.shared=chip", "l2.prefetch=next",
          "l2.prefetch_degree=4", "l3.size=64K", "prefetch.data=performed"}},
        {__LINE__,
         ONE,
         {"cores=2", "l1d.prefetch=stream", "l1d.size=1K", "l1d.ways=4",
          "l1d.replacement=plru", "l2.size=0", "l3.size=0", "layout=3"}},
        {__LINE__,
         ONE,
         {"cores=2", "l1d.replacement=random", "l1d.size=1K", "l1d.ways=4",
          "l2.size=4K", "l2.prefetch=adjacent", "l3.size=16K"}},
        {__LINE__,
         ONE,
         {"cores=2", "l1d.replacement=plru", "l1d.size=1K", "l1d.ways=4",
          "l1i.replacement=plru", "l2.size=4K", "l2.replacement=srrip"}},
        {__LINE__,
         ONE,
         {"cores=1", "strands=2", "l1d.coherence=none", "l1d.prefetch=next",
          "l1d.size=1K", "l1d.ways=4", "l2.size=4K", "l3.size=0",
          "l2.prefetch=stride"}},
    };
    static const enum access_kind kinds[] = {ACCESS_IS_LOAD, ACCESS_IS_LOAD,
                                             ACCESS_IS_STORE, ACCESS_IS_NEAR};
    uint64_t random = random_seed();

    (void)unused;
    for (size_t i = 0; i < COUNT(machines); i++) {
        struct one with, without;
        one_start(&with, &machines[i], 2);
        one_start(&without, &machines[i], 2);
        uint64_t line = 0;
        int64_t step = 1;
        for (unsigned k = 0; k < 30000; k++) {
            const unsigned strand = (unsigned)random_below(&random, 2);
            const unsigned block = (unsigned)random_below(&random, 2);
            const enum access_kind kind = kinds[random_below(&random, 4)];
            const uint64_t addr =
                DATA + next_line(&random, &line, &step) % 200 * LINE +
                random_below(&random, LINE);
            access_as(&with, strand, block, kind, addr);
            forget_all(without.strands[strand]);
            access_as(&without, strand, block, kind, addr);
            /* Strands meet by whole queues. */
            strand_drain(with.strands[strand]);
            strand_drain(without.strands[strand]);
        }
        for (unsigned s = 0; s < SIGNAL_COUNT; s++)
            equal(machines[i].line, tally_signals[s].name, total(&with, s),
                  total(&without, s));
        assert_true(total(&with, SIGNAL_L1D_LOAD_MISSES) > 1000);
        one_finish(&with);
        one_finish(&without);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_twin), cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_second_level), cmocka_unit_test(test_useless),
        cmocka_unit_test(test_cores),        cmocka_unit_test(test_filters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
