/* SPDX-License-Identifier: MIT */
/* The stages of a SPARC T4: rows by hand, and random blocks against a twin. */
#include "timing/t4_stages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

#include "ref/random.h"
#include "timing/t4_class.h"
#include "table/table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MOST 64

/* o: other, s: store, a: atomic, t: twin load, B: block load, S: block store */
static struct insn
make(char c)
{
    return (struct insn){
        .size = 4,
        .class = c == 'a'               ? CLASS_ATOMIC
                 : c == 's' || c == 'S' ? CLASS_STORE
                                        : CLASS_OTHER,
        .stores = c == 's' || c == 'a' || c == 'S',
        .sparc_word = c == 't'   ? 0xc0980440  /* ldda [%g0] 0x22, %g0 */
                      : c == 'B' ? 0xc1981e00  /* ldda [%g0] 0xf0, %f0 */
                      : c == 'S' ? 0xc1b81e00  /* stda %f0, [%g0] 0xf0 */
                                 : 0x01000000, /* nop */
    };
}

static void
count(const char *text, size_t length, unsigned width, int16_t *fixed)
{
    struct insn insns[MOST];

    for (size_t i = 0; i < length; i++)
        insns[i] = make(text[i]);
    t4_stages_add(insns, length, width, fixed);
}

static const struct {
    int line;
    unsigned width;
    const char *text;
    int fetches, selects[2], picks[3], commits[2];
} rows[] = {
    {__LINE__, 2, "", 0, {0, 0}, {0, 0, 0}, {0, 0}},
    {__LINE__, 2, "o", 1, {1, 0}, {1, 0, 0}, {1, 0}},
    {__LINE__, 2, "oo", 1, {0, 1}, {0, 1, 0}, {0, 1}},
    {__LINE__, 2, "ooooo", 2, {1, 2}, {1, 2, 0}, {1, 2}},
    {__LINE__, 2, "s", 1, {1, 0}, {0, 1, 0}, {1, 0}},
    {__LINE__, 2, "so", 1, {0, 1}, {0, 0, 1}, {0, 1}},
    {__LINE__, 2, "ss", 1, {2, 0}, {0, 2, 0}, {0, 1}},
    {__LINE__, 2, "sso", 1, {1, 1}, {0, 1, 1}, {1, 1}},
    {__LINE__, 2, "oao", 1, {1, 1}, {1, 0, 1}, {3, 0}},
    {__LINE__, 2, "aoo", 1, {1, 1}, {1, 0, 1}, {1, 1}},
    {__LINE__, 2, "t", 1, {0, 1}, {0, 1, 0}, {0, 1}},
    {__LINE__, 2, "oB", 1, {1, 4}, {1, 4, 0}, {1, 4}},
    {__LINE__, 2, "S", 1, {8, 0}, {0, 8, 0}, {0, 4}},
    {__LINE__, 1, "oso", 1, {3, 0}, {2, 1, 0}, {3, 0}},
};

static void
test_rows(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int16_t fixed[SIGNAL_FIXED_COUNT] = {0};
        count(rows[i].text, strlen(rows[i].text), rows[i].width, fixed);
        bool same = fixed[SIGNAL_FETCH_CYCLES] == rows[i].fetches;
        for (int k = 0; k < 2; k++)
            same &= fixed[SIGNAL_SELECT_1 + k] == rows[i].selects[k] &&
                    fixed[SIGNAL_COMMIT_1 + k] == rows[i].commits[k];
        for (int k = 0; k < 3; k++)
            same &= fixed[SIGNAL_PICK_1 + k] == rows[i].picks[k];
        if (!same)
            fail_msg("row at line %d", rows[i].line);
    }
}

/* Micro-operations one by one, each asking whether the last cycle takes it. */
static void
twin(const char *text, size_t length, int *fixed)
{
    bool stores[MOST * 8], atomics[MOST * 8];
    size_t n = 0;

    for (size_t i = 0; i < length; i++) {
        const struct insn insn = make(text[i]);
        for (unsigned k = 0; k <= t4_more(&insn); k++, n++) {
            stores[n] = insn.stores != 0;
            atomics[n] = insn.class == CLASS_ATOMIC;
        }
    }
    for (size_t i = 0; i < n;) {
        const bool two = i + 1 < n && !(stores[i] && stores[i + 1]);
        const int picks = 1 + two + (stores[i] || (two && stores[i + 1]));
        fixed[two ? SIGNAL_SELECT_2 : SIGNAL_SELECT_1]++;
        fixed[SIGNAL_PICK_1 + picks - 1]++;
        i += two ? 2 : 1;
    }
    for (size_t i = 0; i < n;) {
        const bool two = i + 1 < n && !atomics[i] && !atomics[i + 1];
        fixed[two ? SIGNAL_COMMIT_2 : SIGNAL_COMMIT_1]++;
        i += two ? 2 : 1;
    }
    while (length > 0) {
        fixed[SIGNAL_FETCH_CYCLES]++;
        length = length > 4 ? length - 4 : 0;
    }
}

static void
test_twin(void **unused)
{
    uint64_t state = random_seed();

    (void)unused;
    for (int i = 0; i < 10000; i++) {
        int16_t fixed[SIGNAL_FIXED_COUNT] = {0};
        int wanted[SIGNAL_FIXED_COUNT] = {0};
        char text[MOST];
        const size_t length = random_below(&state, MOST);
        for (size_t k = 0; k < length; k++)
            text[k] = "ooossatBS"[random_below(&state, 9)];
        count(text, length, 2, fixed);
        twin(text, length, wanted);
        for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
            assert_int_equal(fixed[s], wanted[s]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_twin),
    };

    return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
