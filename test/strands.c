/* SPDX-License-Identifier: MIT */
/* What several strands of one machine must keep to, run by threads at once. */
#include "machine/chip.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ref/chip_ref.h"
#include "ref/drive.h"
#include "ref/random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What one thread of a machine does. */
#define KEEPERS 2u

struct runner {
    struct chip *chip;
    const struct program *program;
    const uint64_t *params;
    pthread_barrier_t *started;
    unsigned slot;
    uint64_t seed;
    int steps;
    struct counts_strand *counts;
    unsigned number;
    uint64_t *ran; /* [block] */
};

static void
run_steps(struct runner *r, struct strand *strand)
{
    struct stream stream;

    stream_init(&stream, r->program, r->params, r->seed);
    for (int i = 0; i < r->steps; i++) {
        const struct block *block = stream_block(&stream);
        enter(strand, block, work_of(r->chip->components));
        r->ran[block->index]++;
        for (int k = 0; k < 3; k++) {
            const struct access a = stream_access(&stream);
            access_data(strand, &a);
        }
    }
}

static void *
runner_main(void *data)
{
    /* A lone strand may be joined while its own thread waits. */
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    struct runner *r = data;

    pthread_mutex_lock(&one);
    struct strand *strand = new_strand(r->chip, r->slot, r->counts);
    pthread_mutex_unlock(&one);
    if (r->started != NULL)
        pthread_barrier_wait(r->started);
    if (strand == NULL)
        return NULL;
    r->number = strand->number;
    run_steps(r, strand);
    free_strand(strand, r->slot);
    return r;
}

/* Private to a strand, so exact however strands interleave. */
static void
check_exact(const struct runner *r)
{
    struct chip_ref ref;
    struct stream stream;

    chip_ref_init(
        &ref, r->params,
        r->chip->components &
            (COMPONENT_DIRECTION | COMPONENT_PREDICTOR | COMPONENTS_TARGETS));
    stream_init(&stream, r->program, r->params, r->seed);
    for (int i = 0; i < r->steps; i++) {
        chip_ref_block(&ref, stream_block(&stream));
        for (int k = 0; k < 3; k++)
            stream_access(&stream);
    }
    const enum signal_id exact[] = {
        SIGNAL_CONDITIONAL_TAKEN,  SIGNAL_CONDITIONAL_MISPREDICTS,
        SIGNAL_BTC_MISSES,         SIGNAL_BTC_MISPREDICTS,
        SIGNAL_FAR_MISPREDICTS,    SIGNAL_INDIRECT_MISPREDICTS,
        SIGNAL_RETURN_MISPREDICTS, SIGNAL_BTB1_HITS,
        SIGNAL_BTB2_HITS,          SIGNAL_BTB3_HITS,
        SIGNAL_BTB_RESTEERS,       SIGNAL_BTB_INDIRECT_MISSES,
    };
    for (size_t i = 0; i < COUNT(exact); i++)
        assert_int_equal(r->counts->totals[0].signal[exact[i]],
                         ref.signals[0][exact[i]]);
    assert_memory_equal(r->counts->exec[0], r->ran,
                        r->program->count * sizeof(uint64_t));
    chip_ref_finish(&ref);
}

/* Instruction types follow from the executions alone. */
static void
check_fixed(const struct runner *r)
{
    struct counts_head head = {.blocks = (unsigned)r->program->count};
    uint32_t *const kinds = calloc(r->program->count, sizeof(*kinds));
    const struct process_counts process = {
        .head = &head, .infos = r->program->infos, .kinds = kinds};
    struct totals sum;
    uint64_t wanted[SIGNAL_FIXED_COUNT] = {0};

    assert_non_null(kinds);
    counts_sum(&process, r->counts, 0, &sum);
    free(kinds);
    for (size_t b = 0; b < r->program->count; b++) {
        for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
            wanted[s] +=
                r->ran[b] * (uint64_t)(int64_t)r->program->infos[b].fixed[s];
    }
    assert_memory_equal(sum.signal, wanted, sizeof(wanted));
}

/* Lines of the L2 that the blocks of all runners cover. */
static uint64_t
code_lines(const struct runner *runners, unsigned count)
{
    const struct program *p = runners[0].program;
    const uint64_t line = runners[0].params[PARAM_L2_LINE];
    static bool seen[1 << 20];
    uint64_t lines = 0;

    memset(seen, 0, sizeof(seen));
    for (size_t b = 0; b < p->count; b++) {
        bool ran = false;
        for (unsigned i = 0; i < count; i++)
            ran |= runners[i].ran[b] != 0;
        for (uint64_t at = p->blocks[b].pc / line;
             ran && at <= (p->blocks[b].end - 1) / line; at++) {
            bool *cell = &seen[at - PROGRAM_AT / line];
            lines += !*cell;
            *cell = true;
        }
    }
    return lines;
}

static void
check_plausible(const struct runner *runners, unsigned count)
{
    struct totals sum = {{0}};
    const uint64_t *n = sum.signal;

    for (unsigned i = 0; i < count; i++)
        totals_add(&sum, &runners[i].counts->totals[0]);
    assert_true(n[SIGNAL_L2_FETCH_MISSES] <= n[SIGNAL_L1I_MISSES]);
    assert_true(n[SIGNAL_L2_LOAD_MISSES] <= n[SIGNAL_L1D_LOAD_MISSES]);
    assert_true(n[SIGNAL_ITLB_WALK_MISSES] <= n[SIGNAL_ITLB_WALK_REFS]);
    assert_true(n[SIGNAL_DTLB_WALK_MISSES] <= n[SIGNAL_DTLB_WALK_REFS]);
    assert_true(n[SIGNAL_L2_FETCH_MISSES] + n[SIGNAL_L2_PREFETCH_MISSES] >=
                code_lines(runners, count));
    assert_true(n[SIGNAL_L2_LOAD_MISSES] > 0);
    const uint64_t levels = runners[0].params[PARAM_TLB_WALK];
    const uint64_t spared = (levels - 1) * n[SIGNAL_ITLB_WALK_LEVEL2_HITS] +
                            (levels - 2) * n[SIGNAL_ITLB_WALK_LEVEL3_HITS] +
                            (levels - 3) * n[SIGNAL_ITLB_WALK_LEVEL4_HITS];
    assert_int_equal(n[SIGNAL_ITLB_WALK_REFS],
                     n[SIGNAL_ITLB_MISSES] * levels - spared);
}

static const struct {
    int line;
    struct machine machine;
    unsigned threads;
} crowds[] = {
    {__LINE__, {__LINE__, "t2", {"branch.predictor=gshare"}}, 2},
    {__LINE__, {__LINE__, "t2", {"branch.predictor=gshare"}}, 8},
    {__LINE__,
     {__LINE__,
      "t2",
      {"cores=2", "strands=2", "tlb.walk=4", "branch.predictor=gshare",
       "dtlb.entries=3", "itlb.entries=3"}},
     6},
    {__LINE__,
     {__LINE__,
      "host-model",
      {"tlb.walk=1", "btc.entries=16", "far.entries=8", "far.reach=8K",
       "indirect.entries=32", "return.depth=4", "btb1.entries=4",
       "btb2.entries=12", "btb2.ways=3", "btb2.fill=victims"}},
     4},
    {__LINE__,
     {__LINE__,
      "host-model",
      {"cores=2", "strands=2", "tlb.page=1K", "itlb.entries=2",
       "dtlb.entries=3", "tlb.walk=4", "tlb.tables=radix", "walk.level2=3",
       "walk.level3=2", "walk.level4=1", "tlb.threads=apart"}},
     6},
    {__LINE__, {__LINE__, "t2plus", {"nodes=4", "branch.predictor=gshare"}}, 8},
    {__LINE__,
     {__LINE__,
      "t2plus",
      {"nodes=2", "cores=1", "strands=2", "l2.size=16K", "l2.ways=2",
       "tlb.walk=4", "branch.predictor=gshare"}},
     6},
    {__LINE__,
     {__LINE__, "host-model", {"cores=1", "strands=4", "l1d.write=through"}},
     8},
    {__LINE__, {__LINE__, "montecito", {NULL}}, 4},
    {__LINE__,
     {__LINE__,
      "montecito",
      {"cores=3", "l2i.size=4K", "l2.size=8K", "l3.size=24K", "dtlb.first=3",
       "itlb.first=2"}},
     7},
    {__LINE__, {__LINE__, "t4", {"place.threads=spread"}}, 8},
    {__LINE__,
     {__LINE__,
      "t4",
      {"cores=3", "strands=2", "l2.size=16K", "l2.ways=2", "l3.size=64K",
       "tlb.walk=2", "place.threads=spread"}},
     8},
    {__LINE__, {__LINE__, "r12000", {"branch.predictor=gshare"}}, 2},
    {__LINE__,
     {__LINE__,
      "r10000",
      {"cores=4", "l2.size=64K", "l1d.size=2K", "dtlb.entries=3"}},
     6},
    {__LINE__,
     {__LINE__,
      "host-model",
      {"cores=1", "l1d.ways=32", "l2.ways=32", "l2.shared=chip"}},
     3},
    {__LINE__,
     {__LINE__,
      "host-model",
      {"cores=2", "strands=3", "tlb.page=4K", "dtlb.entries=8", "dtlb.ways=2",
       "dtlb.replacement=lru", "itlb.shared=strand", "itlb.entries=4",
       "stlb.entries=48", "stlb.shared=strand"}},
     8},
    {__LINE__,
     {__LINE__,
      "t2",
      {"cores=1", "strands=4", "dtlb.shared=strand", "dtlb.entries=4",
       "dtlb.next=stlb", "itlb.next=stlb", "stlb.entries=64", "stlb.ways=4",
       "tlb.threads=apart"}},
     6},
};

static void
crowd_run(unsigned threads, struct runner *runners, bool together)
{
    pthread_t ids[8];
    pthread_barrier_t started;

    pthread_barrier_init(&started, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        runners[i].started = together ? &started : NULL;
        assert_int_equal(
            pthread_create(&ids[i], NULL, runner_main, &runners[i]), 0);
    }
    for (unsigned i = 0; i < threads; i++) {
        void *result;
        pthread_join(ids[i], &result);
        assert_non_null(result);
    }
    pthread_barrier_destroy(&started);
}

/* All numbers are taken before one is taken twice. */
static void
check_numbers(const struct runner *runners, unsigned threads,
              const uint64_t *params)
{
    const uint64_t strands =
        params[PARAM_NODES] * params[PARAM_CORES] * params[PARAM_STRANDS];
    bool taken[64 * 64] = {false};
    unsigned different = 0;

    for (unsigned i = 0; i < threads; i++) {
        assert_true(runners[i].number < strands);
        different += !taken[runners[i].number];
        taken[runners[i].number] = true;
    }
    assert_int_equal(different, threads < strands ? threads : strands);
}

static void
check_crowd(size_t row, uint64_t *state, bool together)
{
    const unsigned threads = crowds[row].threads;
    uint64_t params[PARAM_COUNT];
    struct runner runners[8];
    struct counts_strand *kept[KEEPERS];
    struct strand *keepers[KEEPERS];
    struct program program;
    struct chip chip;

    params_of(&crowds[row].machine, params);
    program_init(&program, params, 300, 1 << 18, state);
    assert_int_equal(chip_init(&chip, params,
                               components_counted(params, 0, SIGNAL_COUNT),
                               threads + KEEPERS),
                     0);
    /* A lone strand may only be joined from its own thread: with two that do
     * nothing there is never a lone one. */
    for (unsigned i = 0; i < KEEPERS && !together; i++) {
        kept[i] = new_counts();
        keepers[i] = new_strand(&chip, threads + i, kept[i]);
    }
    for (unsigned i = 0; i < threads; i++)
        runners[i] = (struct runner){
            .chip = &chip,
            .program = &program,
            .params = params,
            .slot = i,
            .seed = random_next(state),
            .steps = 10000,
            .counts = new_counts(),
            .ran = calloc(program.count, sizeof(uint64_t)),
        };
    crowd_run(threads, runners, together);
    if (together)
        check_numbers(runners, threads, params);
    check_plausible(runners, threads);
    for (unsigned i = 0; i < threads; i++) {
        check_exact(&runners[i]);
        check_fixed(&runners[i]);
        free_counts(runners[i].counts);
        free(runners[i].ran);
    }
    for (unsigned i = 0; i < KEEPERS && !together; i++) {
        free_strand(keepers[i], threads + i);
        free_counts(kept[i]);
    }
    chip_finish(&chip);
    program_finish(&program);
}

static void
test_crowds(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t row = 0; row < COUNT(crowds); row++)
        check_crowd(row, &state, true);
}

/* Strands that come and go while others run. */
static void
test_arrivals(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t row = 0; row < COUNT(crowds); row++)
        check_crowd(row, &state, false);
}

/* In order; more than the machine has share. */
static void
test_strand_order(void **unused)
{
    static const unsigned wanted[] = {0, 1, 2, 3, 0, 1};
    const struct machine m = {__LINE__, "fake", {NULL}};
    struct counts_strand *counts = new_counts();
    uint64_t params[PARAM_COUNT];
    struct strand *strands[6];
    struct chip chip;

    (void)unused;
    params_of(&m, params);
    assert_int_equal(chip_init(&chip, params,
                               components_counted(params, 0, SIGNAL_COUNT), 6),
                     0);
    for (unsigned i = 0; i < 6; i++) {
        strands[i] = new_strand(&chip, i, counts);
        assert_non_null(strands[i]);
        assert_int_equal(strands[i]->number, wanted[i]);
        assert_int_equal(counts->strand, strands[i]->number);
        assert_ptr_equal(strands[i]->core, &chip.cores[strands[i]->number / 2]);
    }
    /* The lowest that is free is taken again. */
    free_strand(strands[2], 2);
    strands[2] = new_strand(&chip, 2, counts);
    assert_int_equal(strands[2]->number, 2);
    for (unsigned i = 0; i < 6; i++)
        free_strand(strands[i], i);
    chip_finish(&chip);
    free_counts(counts);
}

/* One block of a strand, and of the instruction cache that it shares. */
static void
fetch_both(struct strand *strand, struct stream *stream, struct cache_ref *l1i,
           uint64_t *misses)
{
    const struct block *block = stream_block(stream);
    const uint64_t line = l1i->line_size;

    enter(strand, block, WORK_FETCH);
    for (uint64_t at = block->pc / line; at <= (block->end - 1) / line; at++)
        *misses += !cache_ref_access(l1i, at);
}

static void
same_misses(int row, const struct counts_strand *a,
            const struct counts_strand *b, uint64_t wanted)
{
    const uint64_t got = a->totals[0].signal[SIGNAL_L1I_MISSES] +
                         b->totals[0].signal[SIGNAL_L1I_MISSES];

    if (got != wanted)
        fail_msg("row at line %d: %" PRIu64 " misses, wanted %" PRIu64, row,
                 got, wanted);
}

/*
 * Only a lone strand's fetches wait in its queue: strands of a core that take
 * turns see exactly the cache that they share, also while one of them comes
 * and goes.
 */
static void
check_shared_fetch(const struct machine *m, uint64_t *state)
{
    struct counts_strand *counts[2] = {new_counts(), new_counts()};
    struct strand *strands[2] = {NULL, NULL};
    uint64_t params[PARAM_COUNT], misses = 0;
    struct stream streams[2];
    struct program program;
    struct cache_ref l1i;
    struct chip chip;

    params_of(m, params);
    program_init(&program, params, 100, 1 << 15, state);
    cache_ref_init(&l1i, params[PARAM_L1I_SIZE],
                   (uint32_t)params[PARAM_L1I_WAYS],
                   (uint32_t)params[PARAM_L1I_LINE]);
    assert_int_equal(chip_init(&chip, params, COMPONENT_L1I, 2), 0);
    for (unsigned i = 0; i < 2; i++)
        stream_init(&streams[i], &program, params, random_next(state));
    strands[0] = new_strand(&chip, 0, counts[0]);
    for (int i = 0; i < 10000; i++) {
        if (i % 60 == 30)
            strands[1] = new_strand(&chip, 1, counts[1]);
        if (i % 60 == 0 && i > 0)
            free_strand(strands[1], 1);
        const uint64_t live = i % 60 < 30 ? 1 : 2;
        const unsigned who = (unsigned)random_below(state, live);
        fetch_both(strands[who], &streams[who], &l1i, &misses);
        if (live == 1 && random_below(state, 16) > 0)
            continue;
        if (live == 1)
            strand_drain(strands[0]);
        same_misses(m->line, counts[0], counts[1], misses);
    }
    free_strand(strands[0], 0);
    free_strand(strands[1], 1);
    chip_finish(&chip);
    cache_ref_finish(&l1i);
    program_finish(&program);
    free_counts(counts[0]);
    free_counts(counts[1]);
}

static void
test_shared_fetch(void **unused)
{
    const struct machine rows[] = {
        {__LINE__, "t2", {NULL}},
        {__LINE__, "t2", {"l1i.size=1K", "l1i.ways=2"}},
        {__LINE__, "t2", {"l1i.size=256", "l1i.ways=8"}},
        {__LINE__, "t2", {"l1i.size=1K", "l1i.ways=32"}},
        {__LINE__, "t2", {"l1i.size=1K", "l1i.ways=1"}},
        {__LINE__, "t2", {"l1i.size=64K", "l1i.ways=2"}},
    };
    uint64_t state = random_seed();

    (void)unused;
    for (size_t i = 0; i < 6 * COUNT(rows); i++)
        check_shared_fetch(&rows[i % COUNT(rows)], &state);
}

/* Compares loads of strands that share caches, where each load goes through the
 * queue at once. */
static void
check_shared_loads(const struct machine *m, uint64_t *state)
{
    struct counts_strand *counts[2] = {new_counts(), new_counts()};
    struct strand *strands[2] = {NULL, NULL};
    uint64_t params[PARAM_COUNT], misses = 0;
    struct cache_ref l1d;
    struct chip chip;

    params_of(m, params);
    cache_ref_init(&l1d, params[PARAM_L1D_SIZE],
                   (uint32_t)params[PARAM_L1D_WAYS],
                   (uint32_t)params[PARAM_L1D_LINE]);
    assert_int_equal(chip_init(&chip, params, COMPONENT_L1D, 2), 0);
    strands[0] = new_strand(&chip, 0, counts[0]);
    for (int i = 0; i < 10000; i++) {
        if (i % 60 == 30)
            strands[1] = new_strand(&chip, 1, counts[1]);
        if (i % 60 == 0 && i > 0)
            free_strand(strands[1], 1);
        const uint64_t live = i % 60 < 30 ? 1 : 2;
        const unsigned who = (unsigned)random_below(state, live);
        const uint64_t way = random_below(state, l1d.ways + 1);
        const uint64_t line = (way + 16) * l1d.sets + random_below(state, 2);
        misses += !cache_ref_access(&l1d, line);
        strand_load(strands[who], line * l1d.line_size,
                    site_make(l1d.line_size - 1, 0));
        if (random_below(state, 2))
            strand_drain(strands[who]);
        if (live == 2 || i % 60 == 29)
            strand_drain(strands[who]);
    }
    free_strand(strands[0], 0);
    if (strands[1] != NULL && (10000 - 1) % 60 >= 30)
        free_strand(strands[1], 1);
    const uint64_t got = counts[0]->totals[0].signal[SIGNAL_L1D_LOAD_MISSES] +
                         counts[1]->totals[0].signal[SIGNAL_L1D_LOAD_MISSES];
    if (got != misses)
        fail_msg("row at line %d: %" PRIu64 " misses, wanted %" PRIu64, m->line,
                 got, misses);
    chip_finish(&chip);
    cache_ref_finish(&l1d);
    free_counts(counts[0]);
    free_counts(counts[1]);
}

static void
test_shared_loads(void **unused)
{
    const struct machine rows[] = {
        {__LINE__, "t2", {NULL}},
        {__LINE__, "t2", {"l1d.size=1K", "l1d.ways=2"}},
        {__LINE__, "t2", {"l1d.size=8K", "l1d.ways=8"}},
        {__LINE__, "t2", {"l1d.size=8K", "l1d.ways=16"}},
        {__LINE__, "t2", {"l1d.size=8K", "l1d.ways=32"}},
        {__LINE__, "t2", {"l1d.size=1K", "l1d.ways=1"}},
        {__LINE__, "t2", {"l1d.size=64K", "l1d.ways=2"}},
    };
    uint64_t state = random_seed();

    (void)unused;
    for (size_t i = 0; i < 6 * COUNT(rows); i++)
        check_shared_loads(&rows[i % COUNT(rows)], &state);
}

/* A request has the cell, the instruction that asked and the first byte of the
 * access in the request's line; both lines of an access and the walk for its
 * page have the access's cell and instruction. */
static void
test_requests_know(void **unused)
{
    static const struct block block = {.taken_pc = NO_LINE, .index = 6};
    static const struct {
        uint64_t addr;
        uint16_t instruction;
        uint8_t kind;
    } wanted[] = {
        {0x1ffe, 3, REQUEST_LOAD},
        {0x2000, 3, REQUEST_LOAD},
        {0x9008, 510, REQUEST_ATOMIC},
        {0x5000, 4, REQUEST_THROUGH},
    };
    const struct machine m = {__LINE__, "t2", {"l1d.line=16"}};
    struct counts_strand *counts = new_counts();
    uint64_t params[PARAM_COUNT];
    struct chip chip;
    size_t found = 0, walks = 0;

    (void)unused;
    params_of(&m, params);
    assert_int_equal(chip_init(&chip, params,
                               components_counted(params, 0, SIGNAL_COUNT), 2),
                     0);
    struct strand *s = new_strand(&chip, 0, counts);
    s->previous = &block;
    s->cell = 7;
    strand_load(s, 0x1ffe, site_make(8, 3));
    strand_atomic_slow(s, 0x9008, site_make(8, 510));
    strand_store(s, 0x5000, site_make(56, 4), true);
    for (const struct request *r = s->queue.entries; r < s->queue.next; r++) {
        assert_int_equal(r->cell, 7);
        if (r->kind == REQUEST_WALK_D) {
            walks++;
            continue;
        }
        assert_true(found < COUNT(wanted));
        assert_int_equal(r->addr, wanted[found].addr);
        assert_int_equal(r->instruction, wanted[found].instruction);
        assert_int_equal(r->kind, wanted[found].kind);
        found++;
    }
    assert_int_equal(found, COUNT(wanted));
    assert_true(walks > 0);
    free_strand(s, 0);
    chip_finish(&chip);
    free_counts(counts);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_know),
        cmocka_unit_test(test_crowds),
        cmocka_unit_test(test_arrivals),
        cmocka_unit_test(test_strand_order),
        cmocka_unit_test(test_shared_fetch),
        cmocka_unit_test(test_shared_loads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
