/* SPDX-License-Identifier: MIT */
/* Mappings and huge pages against a twin that keeps what each page of 4 KB is.
 */
#include "machine/mappings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ref/random.h"

#define PAGE UINT64_C(4096)
#define IN_PIECE 512u
#define PIECES 10u
#define PAGES (PIECES * IN_PIECE)
#define BASE ((uint64_t)77 << HUGE_SHIFT)

struct twin {
    bool asked;
    unsigned kind[PAGES]; /* 0: nothing is mapped */
    unsigned decision[PIECES];
};

static const unsigned kinds[] = {
    MAPPING_ANONYMOUS | 3,
    MAPPING_ANONYMOUS | 3,
    MAPPING_ANONYMOUS | 3,
    MAPPING_ANONYMOUS,
    MAPPING_ANONYMOUS | MAPPING_HEAP | 3,
    MAPPING_ANONYMOUS | MAPPING_ADVISED | 3,
    MAPPING_ANONYMOUS | MAPPING_AVOIDED | 3,
    MAPPING_OTHER | 3,
    MAPPING_HUGETLB | 3,
};

static bool
any_mapped(const struct twin *t, unsigned piece)
{
    for (unsigned i = 0; i < IN_PIECE; i++) {
        if (t->kind[piece * IN_PIECE + i] != 0)
            return true;
    }
    return false;
}

/* Returns whether one mapping spans the piece. */
static bool
is_one(const struct twin *t, unsigned piece)
{
    const unsigned *const kind = t->kind + piece * IN_PIECE;

    for (unsigned i = 0; i < IN_PIECE; i++) {
        if (kind[i] == 0 || kind[i] != kind[0])
            return false;
    }
    return true;
}

static bool
may_be_huge(const struct twin *t, unsigned piece)
{
    const unsigned kind = t->kind[piece * IN_PIECE];

    if (!is_one(t, piece))
        return false;
    if (kind & MAPPING_HUGETLB)
        return true;
    if ((kind & MAPPING_ANONYMOUS) == 0 || (kind & MAPPING_AVOIDED))
        return false;
    return !t->asked || (kind & MAPPING_ADVISED);
}

static void
settle(struct twin *t)
{
    for (unsigned i = 0; i < PIECES; i++) {
        if (!any_mapped(t, i))
            t->decision[i] = 0;
        else if (t->decision[i] == HUGE_IS && !is_one(t, i))
            t->decision[i] = HUGE_NOT;
    }
}

static void
set_kind(struct twin *t, unsigned first, unsigned count, unsigned kind)
{
    for (unsigned i = first; i < first + count; i++)
        t->kind[i] = kind;
    settle(t);
}

static void
empty(struct twin *t, unsigned first, unsigned count, bool later)
{
    for (unsigned i = 0; i < PIECES; i++) {
        const unsigned from = i * IN_PIECE, to = from + IN_PIECE;
        if (t->decision[i] != HUGE_IS || first >= to || first + count <= from)
            continue;
        if (first > from || first + count < to)
            t->decision[i] = HUGE_NOT;
        else if (!later)
            t->decision[i] = 0;
    }
}

static void
move(struct twin *t, unsigned first, unsigned count, unsigned to,
     unsigned new_count, bool stays)
{
    const unsigned kind = t->kind[first] ? t->kind[first] : MAPPING_OTHER;
    const unsigned moved = count < new_count ? count : new_count;

    if (to == first && new_count <= count) {
        set_kind(t, first + new_count, count - new_count, 0);
        return;
    }
    if (to == first) {
        set_kind(t, first + count, new_count - count, kind);
        return;
    }
    set_kind(t, to, new_count, 0);
    set_kind(t, to, new_count, kind);
    for (unsigned i = 0; i < PIECES; i++) {
        unsigned decision = 0, pages = 0;
        for (unsigned p = i * IN_PIECE; p < (i + 1) * IN_PIECE; p++) {
            if (p < to || p >= to + moved)
                continue;
            decision |= t->decision[(p - to + first) / IN_PIECE];
            pages++;
        }
        if (decision != 0 && pages == IN_PIECE &&
            to % IN_PIECE == first % IN_PIECE)
            t->decision[i] = decision;
        else if (decision != 0)
            t->decision[i] = HUGE_NOT;
    }
    if (stays)
        empty(t, first, count, false);
    else
        set_kind(t, first, count, 0);
}

static void
collapse(struct twin *t, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < PIECES; i++) {
        const unsigned kind = t->kind[i * IN_PIECE];
        if (first <= i * IN_PIECE && first + count >= (i + 1) * IN_PIECE &&
            is_one(t, i) && (kind & MAPPING_ANONYMOUS) &&
            (kind & MAPPING_AVOIDED) == 0 && t->decision[i] == HUGE_NOT)
            t->decision[i] = HUGE_IS;
    }
}

static void
access_both(struct mappings *m, struct twin *t, unsigned page)
{
    const unsigned piece = page / IN_PIECE;

    if (t->kind[page] == 0)
        return;
    if (t->decision[piece] == 0)
        t->decision[piece] = may_be_huge(t, piece) ? HUGE_IS : HUGE_NOT;
    assert_int_equal(huge_access(m->huge, BASE + page * PAGE + 99),
                     t->decision[piece] == HUGE_IS);
}

static void
compare(const struct mappings *m, const struct twin *t, int step, uint64_t seed)
{
    for (unsigned i = 0; i < PIECES; i++) {
        const unsigned bits = m->huge->pieces[(BASE >> HUGE_SHIFT) + i];
        const unsigned wanted =
            t->decision[i] | (may_be_huge(t, i) ? HUGE_MAY : 0u);
        if (bits != wanted)
            fail_msg("piece %u, step %d, seed %llu: %u, its twin says %u", i,
                     step, (unsigned long long)seed, bits, wanted);
    }
    unsigned page = 0;
    for (size_t r = 0; r < m->count; r++) {
        const struct mapping *const row = &m->rows[r];
        for (; BASE + page * PAGE < row->first; page++)
            assert_int_equal(t->kind[page], 0);
        for (; BASE + page * PAGE < row->end; page++)
            assert_int_equal(t->kind[page], row->kind);
        assert_true(r == 0 || row[-1].end < row->first ||
                    (row[-1].end == row->first && row[-1].kind != row->kind));
    }
    for (; page < PAGES; page++)
        assert_int_equal(t->kind[page], 0);
}

/* Draws a range, often of whole pieces. */
static void
draw(uint64_t *state, unsigned *first, unsigned *count)
{
    const unsigned unit = random_below(state, 2) ? IN_PIECE : 1;
    const unsigned units = PAGES / unit;
    const unsigned most = unit == 1 ? 3 * IN_PIECE : 5;

    *first = (unsigned)random_below(state, units);
    *count = 1 + (unsigned)random_below(state, most);
    if (*count > units - *first)
        *count = units - *first;
    *first *= unit;
    *count *= unit;
}

static void
move_both(struct mappings *m, struct twin *t, uint64_t *state)
{
    const bool stays = random_below(state, 4) == 0;
    unsigned first, count, to, new_count;

    draw(state, &first, &count);
    draw(state, &to, &new_count);
    if (random_below(state, 2))
        to = first;
    else if (random_below(state, 2))
        new_count = count;
    if (to + new_count > PAGES ||
        (to != first && to < first + count && first < to + new_count))
        return;
    assert_int_equal(mappings_move(m, BASE + first * PAGE, count * PAGE,
                                   BASE + to * PAGE, new_count * PAGE, stays),
                     0);
    move(t, first, count, to, new_count, stays);
}

static void
step(struct mappings *m, struct twin *t, uint64_t *state)
{
    static const unsigned advice[] = {MAPPING_ADVISED, MAPPING_AVOIDED};
    const unsigned kind =
        kinds[random_below(state, sizeof(kinds) / sizeof(*kinds))];
    const bool one = random_below(state, 2);
    unsigned first, count;

    draw(state, &first, &count);
    const uint64_t at = BASE + first * PAGE;
    /* The kernel takes the rest of the last page too. */
    const uint64_t size = count * PAGE - random_below(state, PAGE);
    switch (random_below(state, 10)) {
    case 0:
    case 1:
        assert_int_equal(mappings_map(m, at, size, kind), 0);
        set_kind(t, first, count, 0);
        set_kind(t, first, count, kind);
        break;
    case 2:
        assert_int_equal(mappings_unmap(m, at, size), 0);
        set_kind(t, first, count, 0);
        break;
    case 3:
        assert_int_equal(
            mappings_change(m, at, size, advice[!one], advice[one]), 0);
        for (unsigned i = first; i < first + count; i++) {
            if (t->kind[i] != 0)
                t->kind[i] = (t->kind[i] & ~advice[!one]) | advice[one];
        }
        settle(t);
        break;
    case 4:
        mappings_empty(m, at, size, one);
        empty(t, first, count, one);
        break;
    case 5:
        mappings_collapse(m, at, size);
        collapse(t, first, count);
        break;
    case 6:
        move_both(m, t, state);
        break;
    default:
        access_both(m, t, first);
        break;
    }
}

static void
test_against_twin(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (int run = 0; run < 40; run++) {
        const uint64_t seed = state;
        struct mappings m;
        struct twin t = {.asked = run % 4 == 3};
        assert_int_equal(mappings_init(&m, t.asked), 0);
        for (int i = 0; i < 400; i++) {
            step(&m, &t, &state);
            compare(&m, &t, i, seed);
        }
        mappings_finish(&m);
    }
}

/* Addresses that no program has do no harm, and none there is huge. */
static void
test_far(void **unused)
{
    const uint64_t end = HUGE_PIECES << HUGE_SHIFT;
    struct mappings m;

    (void)unused;
    assert_int_equal(mappings_init(&m, false), 0);
    assert_int_equal(mappings_map(&m, end - HUGE_SIZE, UINT64_MAX, kinds[0]),
                     0);
    assert_int_equal(mappings_map(&m, UINT64_MAX - 5, 5, kinds[0]), 0);
    assert_int_equal(mappings_unmap(&m, UINT64_MAX, UINT64_MAX), 0);
    mappings_empty(&m, UINT64_MAX - HUGE_SIZE, HUGE_SIZE, false);
    mappings_collapse(&m, UINT64_MAX - 9, UINT64_MAX);
    assert_int_equal(m.count, 1);
    assert_int_equal(m.rows[0].end, end);
    assert_true(huge_access(m.huge, end - 1));
    assert_false(huge_access(m.huge, end));
    assert_false(huge_access(m.huge, UINT64_MAX));
    mappings_finish(&m);
    mappings_finish(&m);
}

/* Strands hear of decisions that are taken back, and of no others. */
static void
test_changes(void **unused)
{
    struct mappings m;

    (void)unused;
    assert_int_equal(mappings_init(&m, false), 0);
    assert_int_equal(mappings_map(&m, BASE, 2 * HUGE_SIZE, kinds[0]), 0);
    assert_true(huge_access(m.huge, BASE));
    assert_int_equal(mappings_unmap(&m, BASE + HUGE_SIZE, 1), 0);
    assert_false(huge_access(m.huge, BASE + HUGE_SIZE));
    assert_int_equal(m.huge->changes, 0);
    mappings_empty(&m, BASE, HUGE_SIZE, false);
    assert_int_equal(m.huge->changes, 1);
    mappings_finish(&m);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_twin),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
