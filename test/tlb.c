/* SPDX-License-Identifier: MIT */
/* The TLB against its twin: results, used bits and the hand. */
#include "machine/tlb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ref/random.h"
#include "ref/tlb_ref.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    int line;
    uint32_t entries;
    int accesses;
    uint32_t reserve, tags; /* the first tag has most accesses */
} sizes[] = {
    {__LINE__, 2, 20000, 0, 1},    {__LINE__, 3, 20000, 0, 1},
    {__LINE__, 64, 50000, 0, 1},   {__LINE__, 128, 50000, 0, 1},
    {__LINE__, 1000, 30000, 0, 1}, {__LINE__, 64, 50000, 0, 2},
    {__LINE__, 4, 20000, 1, 2},    {__LINE__, 128, 50000, 16, 2},
    {__LINE__, 64, 30000, 31, 2},  {__LINE__, 70, 30000, 9, 7},
};

/* A few turns in a row are of one tag. */
static uint64_t
next_tag(uint64_t *state, uint32_t tags, uint64_t tag)
{
    if (tags == 1 || random_below(state, 16) != 0)
        return tag;
    return random_below(state, 4) == 0 ? random_below(state, tags) : 0;
}

enum pattern { UNIFORM, LOOP, HOT, FAR, PATTERN_COUNT };

static uint64_t
next_page(uint64_t *state, enum pattern pattern, uint64_t entries, int i)
{
    const uint64_t any = random_next(state);

    switch (pattern) {
    case UNIFORM:
        return any % (entries * 2);
    case LOOP:
        return (uint64_t)i % (entries + 1);
    case HOT:
        return any % 8 == 0 ? any / 8 % (entries * 16) : any / 8 % entries;
    default:
        /* Pages that collide in hashes of low or of high bits; page 0 too. */
        return any % 2 ? (any >> 8 & 31) << 31 : any >> 28;
    }
}

static void
same_state(const struct tlb *fast, const struct tlb_ref *slow, int row, int i)
{
    uint32_t used = 0;

    for (uint32_t e = 0; e < slow->entries; e++) {
        const struct tlb_ref_entry *entry = &slow->entry[e];
        const uint64_t page = entry->filled ? entry->page + 1 : 0;
        if (fast->pages[e] != page ||
            (fast->used[e / 64] >> e % 64 & 1) != entry->used)
            fail_msg("row at line %d: entry %u differs after access %d", row, e,
                     i);
        used += entry->used;
    }
    if (fast->hand != slow->hand || fast->used_count != used)
        fail_msg("row at line %d: hand %u, wanted %u; %u used, wanted %u", row,
                 fast->hand, slow->hand, fast->used_count, used);
}

/* Accesses of a TLB of sets and its twin, result by result. */
static const struct {
    int line;
    uint32_t entries, ways, tags;
    uint64_t replacement;
} sets[] = {
    {__LINE__, 1, 1, 1, ITLB_REPLACEMENT_LRU},
    {__LINE__, 8, 1, 1, ITLB_REPLACEMENT_LRU},
    {__LINE__, 64, 4, 1, ITLB_REPLACEMENT_LRU},
    {__LINE__, 48, 12, 3, ITLB_REPLACEMENT_LRU},
    {__LINE__, 40, 40, 1, ITLB_REPLACEMENT_LRU},
    {__LINE__, 64, 4, 1, ITLB_REPLACEMENT_FIFO},
    {__LINE__, 16, 16, 64, ITLB_REPLACEMENT_FIFO},
    {__LINE__, 96, 6, 2, ITLB_REPLACEMENT_RANDOM},
    {__LINE__, 2, 2, 1, ITLB_REPLACEMENT_RANDOM},
};

static void
step(struct tlb *fast, struct tlb_ref *slow, uint64_t page, int row, int i)
{
    const unsigned got = tlb_access(fast, page);
    const struct tlb_ref_result result = tlb_ref_access(slow, page);
    const unsigned wanted = (result.miss ? TLB_MISS : TLB_HIT) |
                            (result.cleared ? TLB_CLEARED : 0) |
                            (result.loses ? TLB_LOST : 0);

    if (result.loses && fast->lost != result.lost)
        fail_msg("row at line %d: access %d loses another page", row, i);
    if (got != wanted)
        fail_msg("row at line %d: access %d is %u, wanted %u", row, i, got,
                 wanted);
}

static void
check(uint64_t *state, size_t row, enum pattern pattern)
{
    const uint32_t entries = sizes[row].entries;
    struct tlb fast;
    struct tlb_ref slow;

    uint64_t tag = 0;

    assert_int_equal(tlb_init(&fast, entries), 0);
    tlb_ref_init(&slow, entries);
    tlb_reserve(&fast, sizes[row].reserve);
    slow.reserve = sizes[row].reserve;
    for (int i = 0; i < sizes[row].accesses; i++) {
        tag = next_tag(state, sizes[row].tags, tag);
        const uint64_t page =
            next_page(state, pattern, entries, i) | tag << TLB_TAG_SHIFT;
        step(&fast, &slow, page, sizes[row].line, i);
        if (i % 64 == 0)
            same_state(&fast, &slow, sizes[row].line, i);
        if (random_below(state, 10000) == 0) {
            tlb_clear(&fast);
            tlb_ref_clear(&slow);
        }
    }
    same_state(&fast, &slow, sizes[row].line, sizes[row].accesses);
    tlb_finish(&fast);
    tlb_ref_finish(&slow);
}

static void
check_sets(uint64_t *state, size_t row, enum pattern pattern)
{
    struct tlb fast;
    struct tlb_ref slow;
    uint64_t tag = 0;

    assert_int_equal(tlb_init_sets(&fast, sets[row].entries, sets[row].ways,
                                   sets[row].replacement),
                     0);
    tlb_ref_init_sets(&slow, sets[row].entries, sets[row].ways,
                      sets[row].replacement);
    for (int i = 0; i < 30000; i++) {
        tag = next_tag(state, sets[row].tags, tag);
        step(&fast, &slow,
             next_page(state, pattern, sets[row].entries, i) |
                 tag << TLB_TAG_SHIFT,
             sets[row].line, i);
        if (random_below(state, 5000) == 0) {
            tlb_clear(&fast);
            tlb_ref_clear(&slow);
        }
    }
    tlb_finish(&fast);
    tlb_ref_finish(&slow);
}

static void
test_sets(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t row = 0; row < COUNT(sets); row++) {
        for (int p = 0; p < PATTERN_COUNT; p++)
            check_sets(&state, row, (enum pattern)p);
    }
}

/* Worked by hand: two sets of two pages, the even ones and the odd ones. */
static void
test_least_recent(void **unused)
{
    struct tlb t;

    (void)unused;
    assert_int_equal(tlb_init_sets(&t, 4, 2, ITLB_REPLACEMENT_LRU), 0);
    assert_int_equal(tlb_access(&t, 2), TLB_MISS);
    assert_int_equal(tlb_access(&t, 3), TLB_MISS);
    assert_int_equal(tlb_access(&t, 4), TLB_MISS | TLB_LOST);
    assert_int_equal(t.lost, 2);
    assert_int_equal(tlb_access(&t, 4), TLB_HIT);
    assert_int_equal(tlb_access(&t, 2), TLB_HIT | TLB_LOST);
    assert_int_equal(t.lost, 4);
    /* Page 6 drives out page 4, the least recent of its set. */
    assert_int_equal(tlb_access(&t, 6), TLB_MISS | TLB_LOST);
    assert_int_equal(tlb_access(&t, 4), TLB_MISS | TLB_LOST);
    assert_int_equal(t.lost, 6);
    assert_int_equal(tlb_access(&t, 3), TLB_HIT);
    tlb_finish(&t);
}

static void
test_streams(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (size_t row = 0; row < COUNT(sizes); row++) {
        for (int p = 0; p < PATTERN_COUNT; p++)
            check(&state, row, (enum pattern)p);
    }
}

/* Worked by hand from the header's note. */
static void
test_two_entries(void **unused)
{
    struct tlb t;

    (void)unused;
    assert_int_equal(tlb_init(&t, 2), 0);
    assert_int_equal(tlb_access(&t, 7), TLB_MISS);
    assert_int_equal(tlb_access(&t, 7), TLB_HIT);
    /* The second fills the last entry: only its own used bit stays. */
    assert_int_equal(tlb_access(&t, 8), TLB_MISS | TLB_CLEARED);
    assert_int_equal(tlb_access(&t, 8), TLB_HIT);
    assert_int_equal(tlb_access(&t, 7), TLB_HIT | TLB_CLEARED);
    /* Now 8 is the one that was not used. */
    assert_int_equal(tlb_access(&t, 9), TLB_MISS | TLB_CLEARED);
    assert_int_equal(tlb_access(&t, 8), TLB_MISS | TLB_CLEARED);
    assert_int_equal(tlb_access(&t, 9), TLB_HIT | TLB_CLEARED);
    tlb_finish(&t);
}

/* M10: what the other thread does leaves a thread its last entries. */
static void
test_reserve(void **unused)
{
    const uint64_t other = UINT64_C(1) << TLB_TAG_SHIFT;

    (void)unused;
    for (uint32_t reserve = 0; reserve <= 16; reserve += 8) {
        struct tlb t;
        uint32_t left = 0;
        assert_int_equal(tlb_init(&t, 128), 0);
        tlb_reserve(&t, reserve);
        for (uint64_t page = 0; page < 24; page++)
            assert_int_equal(tlb_access(&t, other | page), TLB_MISS);
        for (uint64_t page = 0; page < 1000; page++)
            assert_int_equal(tlb_access(&t, page) & TLB_MISS, TLB_MISS);
        for (uint32_t entry = 0; entry < 128; entry++)
            left += (t.pages[entry] - 1) >> TLB_TAG_SHIFT == 1;
        assert_int_equal(left, reserve);
        tlb_finish(&t);
    }
}

static void
test_finish_zeroed(void **unused)
{
    struct tlb t = {0};

    (void)unused;
    tlb_finish(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_two_entries),
        cmocka_unit_test(test_least_recent),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_finish_zeroed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
