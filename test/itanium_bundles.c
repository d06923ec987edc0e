/* SPDX-License-Identifier: MIT */
/* Bundles of an Itanium 2: rows by hand, and random blocks against a twin that
 * writes its bundles as text. */
#include "timing/itanium_bundles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

#include "ref/random.h"
#include "table/table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MOST 64

/* l load, s store, m a semaphore, a ALU, f, b; a capital one writes the
 * register that the one before wrote, so a stop stands before it. */
static struct insn
make(char c)
{
    const char low = (char)(c | 0x20);

    return (struct insn){
        .size = 4,
        .class = low == 'l'   ? CLASS_LOAD
                 : low == 's' ? CLASS_STORE
                 : low == 'm' ? CLASS_ATOMIC
                 : low == 'f' ? CLASS_FGU
                 : low == 'b' ? CLASS_BRANCH
                              : CLASS_OTHER,
    };
}

static void
count(const char *text, size_t length, int16_t *fixed)
{
    struct insn insns[MOST];

    for (size_t i = 0; i < length; i++) {
        insns[i] = make(text[i]);
        if (i == 0 || (text[i] & 0x20) != 0)
            continue;
        insns[i].reg_writes = (uint64_t)1 << i;
        insns[i - 1].reg_writes |= (uint64_t)1 << i;
    }
    itanium_bundles_add(insns, length, fixed);
}

static const uint16_t signals[] = {
    SIGNAL_NOPS,
    SIGNAL_STOPS_EXPLICIT,
    SIGNAL_STOPS_IMPLICIT,
    SIGNAL_OVER_EXPLICIT,
    SIGNAL_OVER_IMPLICIT,
    SIGNAL_SYLLABLES_BEFORE,
    SIGNAL_UNREACHED_BUNDLES,
};

static const struct {
    int line;
    const char *text;
    int retire[6];
    int others[COUNT(signals)];
} rows[] = {
    {__LINE__, "", {0}, {0}},
    /* MFI, the second slot and the third nops */
    {__LINE__, "a", {[2] = 1}, {2, 0, 0, 0, 0, 0, 1}},
    /* MMI MII, six ALU operations in one cycle */
    {__LINE__, "aaaaaa", {[5] = 1}, {0}},
    {__LINE__, "aaab", {[5] = 1}, {2, 0, 0, 0, 0, 0, 0}},
    /* MIB: a branch stands last */
    {__LINE__, "ab", {[2] = 1}, {1, 0, 0, 0, 0, 0, 1}},
    /* MMI MFI: the third load finds no port; what it leaves of the second
     * bundle disperses alone */
    {__LINE__, "lll", {[2] = 2}, {3, 0, 3, 0, 0, 0, 1}},
    /* MIB MMI MMI: in two cycles one load of the second bundle has a port */
    {__LINE__, "lallll", {0, 1, 1, 1}, {3, 0, 6, 0, 2, 2, 1}},
    /* M_MI: a stop in the middle */
    {__LINE__, "lL", {[0] = 1, [1] = 1}, {1, 6, 0, 1, 0, 1, 1}},
    /* MI_I */
    {__LINE__, "laA", {[0] = 1, [1] = 1}, {0, 6, 0, 2, 0, 2, 1}},
    /* MFI; a stop behind the first bundle */
    {__LINE__, "aF", {[2] = 2}, {4, 3, 0, 0, 0, 0, 1}},
    /* two F ports */
    {__LINE__, "fff", {[2] = 1, [5] = 1}, {6, 0, 0, 0, 0, 0, 1}},
};

static void
test_rows(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int16_t fixed[SIGNAL_FIXED_COUNT] = {0};
        count(rows[i].text, strlen(rows[i].text), fixed);
        for (int k = 0; k < 6; k++)
            if (fixed[SIGNAL_RETIRE_1 + k] != rows[i].retire[k])
                fail_msg("line %d: %d cycles retire %d", rows[i].line,
                         fixed[SIGNAL_RETIRE_1 + k], k + 1);
        for (size_t k = 0; k < COUNT(signals); k++)
            if (fixed[signals[k]] != rows[i].others[k])
                fail_msg("line %d: %s is %d", rows[i].line,
                         tally_signals[signals[k]].name, fixed[signals[k]]);
    }
}

/* The slots of all bundles, one after the other. */
struct text {
    char what[MOST * 3 + 1]; /* l s m a f b, or M I F B of a nop */
    bool stop[MOST * 3 + 1];
    size_t length; /* three for each bundle */
};

static const char *const shapes[] = {"MFI", "MIB", "MMI", "MII",
                                     "MFB", "MMB", "MMF"};

static bool
goes(char slot, char c)
{
    return strchr(slot == 'M'   ? "lsma"
                  : slot == 'I' ? "a"
                  : slot == 'F' ? "f"
                                : "b",
                  c) != NULL;
}

/* The first shape that takes the syllables of a bundle, ' ' where none is. */
static const char *
shape_of(const char *bundle, const char *only)
{
    for (size_t i = 0; i < COUNT(shapes); i++) {
        bool fits = only == NULL || strcmp(shapes[i], only) == 0;
        for (int k = 0; k < 3; k++)
            fits &= bundle[k] == ' ' || goes(shapes[i][k], bundle[k]);
        if (fits)
            return shapes[i];
    }
    return NULL;
}

static void
close_bundle(struct text *t, char *bundle, const char *only, bool stop)
{
    const char *shape = shape_of(bundle, only);

    for (int k = 0; k < 3; k++)
        t->what[t->length++] = bundle[k] == ' ' ? shape[k] : bundle[k];
    t->stop[t->length - 1] |= stop;
    memcpy(bundle, "   ", 4);
}

static size_t
used_slots(const char *bundle)
{
    size_t used = 3;

    while (used > 0 && bundle[used - 1] == ' ')
        used--;
    return used;
}

/* Puts `c` in the first slot from `from` that takes it. */
static bool
put(char *bundle, size_t from, const char *only, char c)
{
    for (size_t k = c == 'b' && from < 3 ? 2 : from; k < 3; k++) {
        bundle[k] = c;
        if (shape_of(bundle, only) != NULL)
            return true;
        bundle[k] = ' ';
    }
    return false;
}

static void
write_bundles(const char *syllables, size_t length, struct text *t)
{
    char bundle[4] = "   ";
    const char *only = NULL;

    for (size_t i = 0; i < length; i++) {
        const char c = (char)(syllables[i] | 0x20);
        const size_t used = used_slots(bundle);
        const char *middle = used == 1 ? "MMI" : used == 2 ? "MII" : NULL;
        if ((syllables[i] & 0x20) == 0 && i > 0) {
            const bool can = middle != NULL && only == NULL &&
                             goes(middle[used], c) &&
                             shape_of(bundle, middle) != NULL;
            const bool again = middle != NULL && only == middle;
            assert_false(again);
            if (can) {
                only = middle;
                t->stop[t->length + used - 1] = true;
            } else {
                close_bundle(t, bundle, only, true);
                only = NULL;
            }
        }
        if (!put(bundle, used_slots(bundle), only, c)) {
            close_bundle(t, bundle, only, false);
            only = NULL;
            assert_true(put(bundle, 0, NULL, c));
        }
    }
    if (used_slots(bundle) != 0)
        close_bundle(t, bundle, only, false);
}

/* Whether a group takes one more. */
static bool
port(const char *group, size_t length, char c)
{
    const char *alike = strchr("lsmM", c) != NULL ? "lsmM"
                        : strchr("fF", c) != NULL ? "fF"
                        : c == 'I'                ? "I"
                                                  : "";
    size_t same = 0, all = 0;

    for (size_t i = 0; i < length; i++) {
        same += group[i] == c;
        all += strchr(alike, group[i]) != NULL;
    }
    if (c == 'l' || c == 's')
        return same < 2 && all < 4;
    return *alike == '\0' || all < (strlen(alike) == 4 ? 4 : 2);
}

static void
twin(const char *syllables, size_t length, int *fixed)
{
    struct text t = {.length = 0};
    size_t at = 0;

    write_bundles(syllables, length, &t);
    for (size_t i = 0; i < t.length; i++)
        fixed[SIGNAL_NOPS] += strchr("MIFB", t.what[i]) != NULL;
    while (at < t.length) {
        const size_t base = at / 3 * 3;
        const size_t end = base + 6 < t.length ? base + 6 : t.length;
        size_t to = at;
        bool stopped = false;
        while (to < end && !stopped && port(t.what + at, to - at, t.what[to]))
            stopped = t.stop[to++];
        const size_t inside = to - base;
        const bool early = to < end;
        fixed[SIGNAL_RETIRE_1 + (to - at) - 1]++;
        fixed[SIGNAL_SYLLABLES] += (int)(to - at);
        fixed[SIGNAL_SYLLABLES_BEFORE] += (int)(at - base);
        /* The rest of six slots is lost; the counters add whole bundles. */
        const bool unreached = end - base == 3 && to == end;
        fixed[SIGNAL_UNREACHED_BUNDLES] += unreached;
        if (early) {
            const int told = inside < 3 ? 6 : 3;
            const int more = told - (int)(6 - inside);
            fixed[stopped ? SIGNAL_STOPS_EXPLICIT : SIGNAL_STOPS_IMPLICIT] +=
                told;
            fixed[stopped ? SIGNAL_OVER_EXPLICIT : SIGNAL_OVER_IMPLICIT] +=
                more;
        }
        at = to;
    }
}

static void
test_twin(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (int run = 0; run < 20000; run++) {
        int16_t fixed[SIGNAL_FIXED_COUNT] = {0};
        int slow[SIGNAL_FIXED_COUNT] = {0};
        char text[MOST + 1] = "";
        const size_t length = random_below(&state, MOST);
        for (size_t i = 0; i < length; i++)
            text[i] = (char)("lllsssaaaaaffmb"[random_below(&state, 15)] &
                             (random_below(&state, 6) == 0 ? ~0x20 : ~0));
        count(text, length, fixed);
        twin(text, length, slow);
        for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
            if (fixed[s] != slow[s])
                fail_msg("%s: %s is %d, not %d", text, tally_signals[s].name,
                         fixed[s], slow[s]);
    }
}

/* Each cycle has six slots: rule R470, and what retires in it. */
static void
test_sums(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (int run = 0; run < 2000; run++) {
        int16_t n[SIGNAL_FIXED_COUNT] = {0};
        char text[MOST + 1] = "";
        int cycles = 0, retired = 0;
        for (size_t i = 0; i < MOST; i++)
            text[i] = "lLsSaAfFmMbB"[random_below(&state, 12)];
        count(text, MOST, n);
        for (int k = 1; k <= 6; k++) {
            cycles += n[SIGNAL_RETIRE_1 + k - 1];
            retired += k * n[SIGNAL_RETIRE_1 + k - 1];
        }
        assert_int_equal(retired, MOST + n[SIGNAL_NOPS]);
        assert_int_equal(retired, n[SIGNAL_SYLLABLES]);
        assert_int_equal(6 * cycles,
                         n[SIGNAL_SYLLABLES] + n[SIGNAL_STOPS_EXPLICIT] +
                             n[SIGNAL_STOPS_IMPLICIT] +
                             3 * n[SIGNAL_UNREACHED_BUNDLES] +
                             n[SIGNAL_SYLLABLES_BEFORE] -
                             n[SIGNAL_OVER_EXPLICIT] - n[SIGNAL_OVER_IMPLICIT]);
    }
}

/* A delay slot is put before its branch, which ends the bundle. */
static void
test_slot(void **unused)
{
    struct insn insns[] = {make('b'), make('a')};
    int16_t fixed[SIGNAL_FIXED_COUNT] = {0};

    (void)unused;
    insns[0].flags = INSN_DELAY_SLOT;
    itanium_bundles_add(insns, 2, fixed);
    assert_int_equal(fixed[SIGNAL_RETIRE_3], 1);
    assert_int_equal(fixed[SIGNAL_NOPS], 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_twin),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_slot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
