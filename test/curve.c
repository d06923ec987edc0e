/* SPDX-License-Identifier: MIT */
/*
 * The curve of misses, against a slow twin that keeps lists in order of use.
 * Strands take turns on cores of one strand or two; accesses cross lines; parts
 * of the run do not count.
 */
#include "machine/curve.h"

#include <string.h>

#include "check.h"
#include "ref/curve_ref.h"
#include "ref/drive.h"
#include "ref/random.h"

enum { LINES = 1500, STEPS = 60000, TURN = 500, STRANDS = 4 };

struct row {
    struct machine machine;
    struct curve_request request; /* without shift */
};

#define FULL(...)                                    \
    {                                                \
        .kind = CURVE_FULL, .lines = { __VA_ARGS__ } \
    }
#define SAMPLED(n, ...)                                                \
    {                                                                  \
        .kind = CURVE_SAMPLED, .sample = (n), .lines = { __VA_ARGS__ } \
    }
#define SETS_OF(first, second, third, ...)                               \
    {                                                                    \
        .kind = CURVE_BY_SETS, .sets = {first, second, third}, .ways = { \
            __VA_ARGS__                                                  \
        }                                                                \
    }
#define HOST(...)               \
    {                           \
        __LINE__, "host-model", \
        {                       \
            __VA_ARGS__         \
        }                       \
    }
#define ONE HOST("cores=1")

static const struct row rows[] = {
    {ONE, FULL(1, 2, 3, 4, 5, 7, 8, 1000)},
    {ONE, FULL(2, 3, 9, 100)},
    {ONE, FULL(16, 17, 31, 32, 33, 64, 512, 513)},
    {ONE, FULL(64, 65, 127, 128, 192, 700, 1400, 1500, 1600)},
    {ONE, FULL(256, 300, 1024)},
    {ONE, FULL(1000, 1001)},
    {HOST("cores=1", "l1d.line=16"), FULL(64, 128)},
    {HOST("cores=2"), FULL(64, 128, 1000)},
    {HOST("cores=2", "strands=2"), FULL(32, 128, 1000)},
    {HOST("cores=1", "strands=2"), FULL(1, 128, 1000)},
    {ONE, SETS_OF(1, 2, 4, 16, 8, 3)},
    {ONE, SETS_OF(8, 64, 256, 1, 2, 12)},
    {ONE, SETS_OF(1024, 2048, 0, 4, 1)},
    {HOST("cores=2"), SETS_OF(16, 0, 0, 8)},
    {HOST("cores=1", "strands=2"), SETS_OF(1, 16, 0, 4, 8)},
    {ONE, SAMPLED(4, 8, 64, 500, 1000)},
    {ONE, SAMPLED(64, 64, 500, 1000)},
    {ONE, SAMPLED(1, 2, 64, 1000)},
    {HOST("cores=1", "strands=2"), SAMPLED(2, 64, 1000)},
};

/* Returns the next line that a program asks for: some few again and again, one
 * after the other, or any. */
static uint64_t
next_line(uint64_t *random, unsigned step)
{
    static const uint64_t most[] = {3, 40, 300, LINES};
    const uint64_t way = random_below(random, 8);

    if (way == 0)
        return step % LINES;
    return random_below(random, most[way < 4 ? 0 : way - 4]);
}

/* Checks what was counted of all caches against the sums of the twins. */
static void
check_counts(const struct row *row, const struct curve_request *r,
             struct curve_counts *counts, struct curve_ref *const *refs)
{
    for (unsigned i = 0; i < r->size_count; i++) {
        uint64_t found = 0, wanted = 0;
        for (unsigned g = 0; g < CURVE_GROUPS; g++) {
            found += atomic_load(&counts->first[g]);
            for (unsigned b = i + 1; b <= r->size_count; b++)
                found += atomic_load(&counts->bins[g][b]);
        }
        for (unsigned c = 0; c < STRANDS; c++)
            wanted += refs[c]->misses[i];
        if (found != wanted)
            fail_msg("row at line %d: %" PRIu64 " lines: %" PRIu64
                     " misses, not %" PRIu64,
                     row->machine.line, r->lines[i], found, wanted);
    }
    for (unsigned i = 0; i < r->set_count; i++) {
        for (unsigned ways = 1; ways <= r->ways[i]; ways++) {
            uint64_t found = atomic_load(&counts->beyond[i]), wanted = 0;
            for (unsigned at = ways; at < r->ways[i]; at++)
                found += atomic_load(&counts->depths[i][at]);
            for (unsigned c = 0; c < STRANDS; c++)
                wanted += refs[c]->set_misses[i][ways];
            if (found != wanted)
                fail_msg("row at line %d: %" PRIu64 " sets of %u: %" PRIu64
                         " misses, not %" PRIu64,
                         row->machine.line, r->sets[i], ways, found, wanted);
        }
    }
    assert_int_equal(atomic_load(&counts->lost), 0);
}

/* Completes a request of a row. */
static struct curve_request
request_of_row(const struct row *row, const uint64_t *params)
{
    struct curve_request r = row->request;

    r.shift = (uint32_t)__builtin_ctzll(params[PARAM_L1D_LINE]);
    while (r.lines[r.size_count] != 0)
        r.size_count++;
    while (r.sets[r.set_count] != 0)
        r.set_count++;
    return r;
}

/* Makes an access in the model and in the twin. */
static void
make_access(struct strand *s, struct curve_ref *ref, uint64_t addr,
            uint64_t size)
{
    const uint64_t line = (uint64_t)1 << s->data.shift;

    curve_access(s, addr, site_make(line - size, 0));
    for (uint64_t n = addr / line; n <= (addr + size - 1) / line; n++)
        curve_ref_touch(ref, n, !s->span.outside);
}

static void
run_row(const struct row *row, uint64_t *random)
{
    uint64_t params[PARAM_COUNT];
    struct curve_counts *const counts = calloc(1, sizeof(*counts));
    struct counts_strand *memory[STRANDS];
    struct strand *strands[STRANDS];
    struct curve_ref *refs[STRANDS];
    struct curve curve = {0};
    struct chip chip = {0};

    params_of(&row->machine, params);
    const struct curve_request r = request_of_row(row, params);
    const uint64_t components = curve_prepare(&r, params);
    const unsigned count =
        (unsigned)(params[PARAM_CORES] * params[PARAM_STRANDS]);
    assert_int_equal(components, COMPONENT_L1D);
    assert_int_equal(chip_init(&chip, params, components, STRANDS), 0);
    assert_int_equal(curve_init(&curve, &chip, &r, counts), 0);
    chip.curve = &curve;
    for (unsigned i = 0; i < STRANDS; i++) {
        refs[i] = curve_ref_create(&r);
        assert_non_null(refs[i]);
        memory[i] = new_counts();
    }
    /* All but the first strand begin in the middle of the run. */
    strands[0] = new_strand(&chip, 0, memory[0]);
    for (unsigned step = 0; step < STEPS; step++) {
        if (step == STEPS / 4) {
            for (unsigned i = 1; i < count; i++)
                strands[i] = new_strand(&chip, i, memory[i]);
        }
        const unsigned now = step < STEPS / 4 ? 0 : step / TURN % count;
        struct strand *const s = strands[now];
        if (step % 7000 == 0)
            strand_switch_span(s, step % 14000 == 0);
        const uint64_t line = next_line(random, step);
        const uint64_t size = (uint64_t)1 << random_below(random, 4);
        const uint64_t offset =
            random_below(random, ((uint64_t)1 << s->data.shift) -
                                     (line == LINES - 1 ? size : 1));
        make_access(s, refs[s->number / params[PARAM_STRANDS]],
                    (line << s->data.shift) + offset, size);
    }
    check_counts(row, &r, counts, refs);
    for (unsigned i = 0; i < count; i++)
        free_strand(strands[i], i);
    for (unsigned i = 0; i < STRANDS; i++) {
        curve_ref_destroy(refs[i]);
        free_counts(memory[i]);
    }
    curve_finish(&curve);
    curve_finish(&curve);
    chip_finish(&chip);
    free(counts);
}

static void
test_random(void **state)
{
    uint64_t random = random_seed();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        run_row(&rows[i], &random);
}

/* A walk around N lines misses each time in a cache of fewer lines, and only
 * the first time in one of N or more. */
static void
test_walk(void **state)
{
    enum { WALK = 100, ROUNDS = 10 };
    static const struct row row = {ONE, FULL(64, 98, 99, 100, 101, 200)};
    uint64_t params[PARAM_COUNT];
    struct curve_counts *const counts = calloc(1, sizeof(*counts));
    struct counts_strand *const memory = new_counts();
    struct curve curve;
    struct chip chip;

    (void)state;
    params_of(&row.machine, params);
    const struct curve_request r = request_of_row(&row, params);
    assert_int_equal(
        chip_init(&chip, params, curve_prepare(&r, params), STRANDS), 0);
    assert_int_equal(curve_init(&curve, &chip, &r, counts), 0);
    chip.curve = &curve;
    struct strand *const s = new_strand(&chip, 0, memory);
    for (unsigned i = 0; i < WALK * ROUNDS; i++)
        curve_access(s, i % WALK * 64, site_make(56, 0));
    assert_int_equal(atomic_load(&counts->first[0]), WALK);
    assert_int_equal(atomic_load(&counts->bins[0][3]), WALK * (ROUNDS - 1));
    assert_int_equal(atomic_load(&counts->bins[0][4]), 0);
    /* In the child of a fork all caches are empty. */
    chip_after_fork(&chip, 0);
    curve_access(s, 0, site_make(56, 0));
    assert_int_equal(atomic_load(&counts->first[0]), WALK + 1);
    free_strand(s, 0);
    free_counts(memory);
    curve_finish(&curve);
    chip_finish(&chip);
    free(counts);
}

/* An access that comes after others of its set is of the class that says how
 * many of the ways that are asked for it misses; no two sets share a class. */
static void
test_classes(void **state)
{
    /* 1, 4 and 8 ways of one set, 2 of two sets, 64 of four. */
    static const struct curve_request r = {
        .kind = CURVE_BY_SETS,
        .set_count = 3,
        .sets = {1, 2, 4},
        .ways = {8, 2, 64},
        .asked = {0x89, 0x2, UINT64_C(1) << 63},
    };
    static const struct {
        unsigned line, set, depth, class;
    } walk[] = {
        {__LINE__, 0, 0, 0},  {__LINE__, 0, 1, 1},  {__LINE__, 0, 3, 1},
        {__LINE__, 0, 4, 2},  {__LINE__, 0, 7, 2},  {__LINE__, 0, 8, 3},
        {__LINE__, 1, 1, 0},  {__LINE__, 1, 2, 4},  {__LINE__, 2, 2, 0},
        {__LINE__, 2, 63, 0}, {__LINE__, 2, 64, 5},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(walk); i++) {
        const unsigned missed =
            curve_missed_ways(&r, walk[i].set, walk[i].depth);
        if (curve_set_class(&r, walk[i].set, missed) != walk[i].class)
            fail_msg("line %u: class %u", walk[i].line,
                     curve_set_class(&r, walk[i].set, missed));
    }
    assert_int_equal(curve_class_count(&r), 5);
    const struct curve_request full = {.kind = CURVE_FULL, .size_count = 7};
    assert_int_equal(curve_class_count(&full), curve_first_class(&full));
    assert_int_equal(curve_first_class(&full), 8);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_classes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
