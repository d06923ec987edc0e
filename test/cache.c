/* SPDX-License-Identifier: MIT */
/* The cache against its twin, over geometries and patterns of addresses. */
#include "machine/cache.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "machine/cache_avx2.h"
#include "ref/cache_ref.h"
#include "ref/random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ACCESSES 12000

static const uint32_t all_ways[] = {1, 2, 3, 4, 5, 8, 11, 12, 16, 17, 32};

static const struct {
    uint32_t line;
    uint32_t sets;
} shapes[] = {
    {4, 1}, {8, 64}, {16, 8}, {32, 8192}, {64, 2}, {64, 128}, {4096, 4},
};

/* Sets x ways of fully associative caches. */
static const uint32_t full_ways[] = {64, 100, 512};

enum pattern { UNIFORM, STRIDED, HOT, SHARED_TAGS, PATTERN_COUNT };

/* A cache, its twin and the addresses that both see. */
struct pair {
    struct cache fast;
    struct cache_ref slow;
    enum pattern pattern;
    uint64_t lines;  /* in the cache */
    uint64_t limit;  /* of the line numbers */
    uint64_t base;   /* of the pattern, a line */
    uint64_t stride; /* in lines */
    uint64_t last;
    uint64_t seed, state;
};

static void
pair_init(struct pair *p, uint32_t line, uint32_t sets, uint32_t ways,
          enum pattern pattern)
{
    const uint64_t size = (uint64_t)line * sets * ways;

    p->seed = p->state;
    p->pattern = pattern;
    p->lines = (uint64_t)sets * ways;
    /* Half of them leave tags of more than 32 bits. */
    p->limit = ((uint64_t)1 << (random_below(&p->state, 2) ? 48 : 33)) / line;
    p->base = random_below(&p->state, p->limit / 2);
    p->stride = random_below(&p->state, 2 * (uint64_t)sets + 1);
    p->last = 0;
    assert_int_equal(cache_init(&p->fast, size, ways, line), 0);
    cache_ref_init(&p->slow, size, ways, line);
}

static void
pair_finish(struct pair *p)
{
    cache_finish(&p->fast);
    cache_ref_finish(&p->slow);
}

static uint64_t
hot_line(struct pair *p)
{
    const bool cold = random_below(&p->state, 8) == 0;

    return random_below(&p->state, cold ? p->lines * 8 : p->lines / 2 + 1);
}

/* Few sets, and addresses that differ only in their highest bits. */
static uint64_t
shared_line(struct pair *p)
{
    const uint64_t low =
        random_below(&p->state, 2) * p->slow.sets + random_below(&p->state, 4);
    const uint64_t high = random_next(&p->state) % (2 * (uint64_t)p->slow.ways);

    return low + (high << 31);
}

static uint64_t
next_line(struct pair *p)
{
    uint64_t line = 0;

    switch (p->pattern) {
    case UNIFORM:
        line = p->base + random_below(&p->state, p->lines * 2 + 1);
        break;
    case STRIDED:
        p->last = (p->last + p->stride) % (p->lines * 3 + 1);
        line = p->base + p->last;
        break;
    case HOT:
        line = p->base + hot_line(p);
        break;
    default:
        line = shared_line(p);
    }
    return line % p->limit;
}

static void
same(const struct pair *p, const char *what, int i, bool fast, bool slow)
{
    if (fast != slow)
        fail_msg("%s at access %d: the cache says %d, its twin %d; %u ways, "
                 "%u sets, lines of %u, pattern %d, stream %" PRIu64,
                 what, i, fast, slow, p->slow.ways, (unsigned)p->slow.sets,
                 p->slow.line_size, (int)p->pattern, p->seed);
}

static void
same_search(const struct pair *p, int i, uint64_t line)
{
    const struct cache_ref *slow = &p->slow;
    const uint64_t set = line % slow->sets;
    bool there = false;

    for (uint32_t way = 0; way < slow->filled[set]; way++)
        there |= slow->lines[set * slow->ways + way] == line;
    same(p, "search", i, cache_search(&p->fast, line) < slow->ways, there);
}

static void
step(struct pair *p, int i)
{
    const uint64_t line = next_line(p);
    const uint64_t action = random_below(&p->state, ACCESSES);

    if (p->fast.columns != 0 && cache_fits(&p->fast, line))
        same(p, "is_recent", i,
             cache_is_recent(&p->fast, line, p->fast.columns),
             cache_ref_is_recent(&p->slow, line));
    same_search(p, i, line);
    if (action < ACCESSES / 20) {
        cache_invalidate(&p->fast, line);
        cache_ref_invalidate(&p->slow, line);
    } else if (action < ACCESSES / 20 + 2) {
        cache_clear(&p->fast);
        cache_ref_clear(&p->slow);
    } else {
        same(p, "access", i, cache_access(&p->fast, line),
             cache_ref_access(&p->slow, line));
    }
}

static void
check(uint64_t *state, uint32_t line, uint32_t sets, uint32_t ways,
      uint32_t victims, uint64_t replacement)
{
    for (int pattern = 0; pattern < PATTERN_COUNT; pattern++) {
        struct pair p = {.state = *state};
        pair_init(&p, line, sets, ways, (enum pattern)pattern);
        assert_int_equal(cache_keep_victims(&p.fast, victims), 0);
        p.slow.victim_ways = victims;
        assert_int_equal(cache_replace(&p.fast, replacement), 0);
        cache_ref_replace(&p.slow, replacement);
        for (int i = 0; i < ACCESSES; i++)
            step(&p, i);
        *state = p.state;
        pair_finish(&p);
    }
}

static void
test_sets(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t w = 0; w < COUNT(all_ways); w++) {
        for (size_t s = 0; s < COUNT(shapes); s++)
            check(&state, shapes[s].line, shapes[s].sets, all_ways[w], 0,
                  L2_REPLACEMENT_LRU);
    }
}

static void
test_full(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t w = 0; w < COUNT(full_ways); w++)
        check(&state, 64, 1, full_ways[w], 0, L2_REPLACEMENT_LRU);
}

static void
test_victims(void **unused)
{
    static const uint32_t victims[] = {1, 3, 64};
    uint64_t state = random_seed();

    (void)unused;
    for (size_t v = 0; v < COUNT(victims); v++) {
        for (size_t s = 0; s < 3; s++) {
            for (uint32_t ways = 1; ways <= 3; ways++)
                check(&state, shapes[s].line, shapes[s].sets, ways, victims[v],
                      L2_REPLACEMENT_LRU);
        }
    }
}

static void
test_replacements(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (uint64_t r = L2_REPLACEMENT_LRU; r <= L2_REPLACEMENT_SRRIP; r++) {
        for (size_t w = 0; w < COUNT(all_ways); w++) {
            const uint32_t ways = all_ways[w];
            if (r == L2_REPLACEMENT_PLRU && (ways & (ways - 1)) != 0)
                continue;
            for (size_t s = 0; s < COUNT(shapes); s++)
                check(&state, shapes[s].line, shapes[s].sets, ways,
                      (uint32_t)(w % 3), r);
        }
    }
}

/* Returns the misses of each of `rounds` cyclic walks over `lines` lines of one
 * set. */
static void
walk_set(uint64_t replacement, uint32_t ways, uint64_t lines, unsigned rounds,
         unsigned *misses)
{
    struct cache c;

    assert_int_equal(cache_init(&c, (uint64_t)64 * ways, ways, 64), 0);
    assert_int_equal(cache_replace(&c, replacement), 0);
    for (unsigned round = 0; round < rounds; round++) {
        misses[round] = 0;
        for (uint64_t line = 0; line < lines; line++)
            misses[round] += !cache_access(&c, line);
    }
    cache_finish(&c);
}

/*
 * Walks over one line more than a set has ways, again and again. LRU, FIFO and
 * SRRIP, which sees no line twice, replace in the order in which the walk comes
 * back, and miss always. MRU keeps all but one line, and moves through the
 * walk: of 4 ways it misses at every fourth access from the fourth line on.
 *
 * PLRU of 4 ways and lines a to e: e takes the place of a, and then a that of c
 * in the other half, so that b hits. After this hit the walk and the tree meet
 * at the same way for good, and all accesses miss. With 8 ways the walk and the
 * tree take two rounds to meet: test/ref/cache_ref.c finds the same 4 and 6.
 */
static void
test_cyclic_walks(void **unused)
{
    static const struct {
        int line;
        uint64_t replacement;
        uint32_t ways;
        unsigned misses[5];
    } rows[] = {
        {__LINE__, L2_REPLACEMENT_LRU, 4, {5, 5, 5, 5, 5}},
        {__LINE__, L2_REPLACEMENT_FIFO, 4, {5, 5, 5, 5, 5}},
        {__LINE__, L2_REPLACEMENT_SRRIP, 4, {5, 5, 5, 5, 5}},
        {__LINE__, L2_REPLACEMENT_SRRIP, 16, {17, 17, 17, 17, 17}},
        {__LINE__, L2_REPLACEMENT_MRU, 4, {5, 1, 1, 1, 2}},
        {__LINE__, L2_REPLACEMENT_PLRU, 2, {3, 3, 3, 3, 3}},
        {__LINE__, L2_REPLACEMENT_PLRU, 4, {5, 4, 5, 5, 5}},
        {__LINE__, L2_REPLACEMENT_PLRU, 8, {9, 4, 6, 9, 9}},
    };

    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        unsigned misses[5];
        walk_set(rows[i].replacement, rows[i].ways, rows[i].ways + 1, 5,
                 misses);
        for (unsigned round = 0; round < 5; round++) {
            if (misses[round] != rows[i].misses[round])
                fail_msg("row at line %d, round %u: %u misses, not %u",
                         rows[i].line, round, misses[round],
                         rows[i].misses[round]);
        }
        walk_set(rows[i].replacement, rows[i].ways, rows[i].ways, 5, misses);
        for (unsigned round = 0; round < 5; round++)
            assert_int_equal(misses[round], round == 0 ? rows[i].ways : 0);
    }
}

/* Returns how often two lines miss that are each asked for twice before a scan
 * of `scan` new lines of their set of 4 ways, ten times. */
static unsigned
scan_set(uint64_t replacement, unsigned scan)
{
    struct cache c;
    uint64_t new = 2;
    unsigned misses = 0;

    assert_int_equal(cache_init(&c, 256, 4, 64), 0);
    assert_int_equal(cache_replace(&c, replacement), 0);
    for (unsigned round = 0; round < 10; round++) {
        for (unsigned i = 0; i < 4; i++)
            misses += !cache_access(&c, i % 2);
        for (unsigned i = 0; i < scan; i++)
            cache_access(&c, new ++);
    }
    cache_finish(&c);
    return misses;
}

/*
 * Scans leave two ways to the two lines in use as long as their distances stay
 * below 3. Distances grow by 1 whenever the scan has filled the two other ways:
 * 4 lines of a scan let them reach 2, and each round makes them 0 again. LRU
 * keeps two lines of 4 over a scan of two lines and no longer one.
 */
static void
test_scans(void **unused)
{
    (void)unused;
    for (unsigned scan = 0; scan <= 4; scan++)
        assert_int_equal(scan_set(L2_REPLACEMENT_SRRIP, scan), 2);
    assert_int_equal(scan_set(L2_REPLACEMENT_SRRIP, 8), 20);
    assert_int_equal(scan_set(L2_REPLACEMENT_LRU, 2), 2);
    assert_int_equal(scan_set(L2_REPLACEMENT_LRU, 3), 20);
}

/* The line that was accessed last is found, until it is taken out. */
static void
test_last(void **unused)
{
    static const uint64_t kinds[] = {L2_REPLACEMENT_LRU, L2_REPLACEMENT_PLRU};
    uint64_t state = random_seed();

    (void)unused;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        struct cache c;
        uint64_t last;
        assert_int_equal(cache_init(&c, 1024, 8, 64), 0);
        assert_int_equal(cache_replace(&c, kinds[k]), 0);
        assert_false(cache_last(&c, 0, &last));
        for (int i = 0; i < 1000; i++) {
            const uint64_t line = 2 * random_below(&state, 20);
            cache_access(&c, line);
            assert_true(cache_last(&c, line + 2, &last));
            assert_int_equal(last, line);
        }
        cache_finish(&c);
    }
}

/* Two sets of one way, and a victim cache of one line. */
static void
test_victim_changes_places(void **unused)
{
    struct cache c;

    (void)unused;
    assert_int_equal(cache_init(&c, 128, 1, 64), 0);
    assert_int_equal(cache_keep_victims(&c, 1), 0);
    assert_false(cache_access(&c, 0));
    assert_false(cache_access(&c, 2)); /* drives line 0 out */
    assert_true(cache_access(&c, 0));  /* changes places with line 2 */
    assert_true(cache_has(&c, 2));
    assert_int_equal(cache_victim_hits(&c), 1);
    assert_int_equal(cache_victim_hits(&c), 0);
    assert_false(cache_access(&c, 4)); /* line 0 drives line 2 out */
    assert_false(cache_has(&c, 2));
    assert_false(cache_access(&c, 1)); /* of the other set: nothing goes */
    assert_true(cache_access(&c, 0));
    cache_invalidate(&c, 4); /* in the victim cache */
    assert_false(cache_access(&c, 4));
    assert_int_equal(cache_victim_hits(&c), 1);
    cache_finish(&c);
}

/* One line of another tag of the same low bits is another line. */
static void
test_high_bits(void **unused)
{
    const uint64_t line = 5, twin = line + ((uint64_t)1 << 38);

    (void)unused;
    for (size_t w = 0; w < COUNT(all_ways); w++) {
        struct cache c;
        assert_int_equal(cache_init(&c, 8u * 64 * all_ways[w], all_ways[w], 8),
                         0);
        assert_false(cache_access(&c, line));
        assert_false(cache_access(&c, twin));
        assert_true(cache_access(&c, twin));
        assert_int_equal(cache_access(&c, line), all_ways[w] > 1);
        cache_invalidate(&c, line);
        assert_int_equal(cache_access(&c, twin), all_ways[w] > 1);
        assert_false(cache_access(&c, line));
        cache_finish(&c);
    }
}

/* The ways of moving a tag to the front do the same. */
static void
test_moves(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (uint32_t ways = 1; ways <= CACHE_FAST_WAYS; ways++) {
        const uint32_t columns = ways <= 2   ? 2
                                 : ways <= 4 ? 4
                                 : ways <= 8 ? 8
                                             : 16;
        _Alignas(64) uint32_t sets[3][CACHE_FAST_WAYS] = {{0}};
        for (int i = 0; i < ACCESSES; i++) {
            const uint32_t tag =
                (uint32_t)random_below(&state, ways * 2) * 0x10f0f0f1u + 1;
            const uint64_t turn = ways > 1 ? random_below(&state, 2) : 0;
            uint32_t wanted, place;
            const bool hit =
                cache_move_any(sets[0], tag, columns, ways, turn, &wanted);
            assert_int_equal(
                cache_move(sets[1], tag, columns, ways, turn, &place), hit);
            assert_int_equal(place, wanted);
            assert_memory_equal(sets[0], sets[1], sizeof(sets[0]));
#ifdef __x86_64__
            if (!cache_avx2_runs())
                continue;
            assert_int_equal(
                cache_move_avx2(sets[2], tag, columns, ways, turn, &place),
                hit);
            assert_int_equal(place, wanted);
            assert_memory_equal(sets[0], sets[2], sizeof(sets[0]));
#endif
        }
    }
}

static void
test_finish_zeroed(void **unused)
{
    struct cache c = {0};

    (void)unused;
    cache_finish(&c);
    assert_int_equal(cache_init(&c, 8192, 4, 16), 0);
    cache_finish(&c);
    cache_finish(&c);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_high_bits),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_finish_zeroed),
        cmocka_unit_test(test_victims),
        cmocka_unit_test(test_replacements),
        cmocka_unit_test(test_cyclic_walks),
        cmocka_unit_test(test_scans),
        cmocka_unit_test(test_last),
        cmocka_unit_test(test_victim_changes_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
