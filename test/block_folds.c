/* SPDX-License-Identifier: MIT */
/* Folds of the blocks that ran last: each letter is a run of a block, the last
 * one first. */
#include "record/block_folds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define RUNS 512u

static const struct {
    int line;
    size_t rows;
    const char *runs, *folds; /* a fold as "(RUNS times)" */
} rows[] = {
    {__LINE__, 8, "", ""},
    {__LINE__, 8, "a", "a"},
    {__LINE__, 8, "abc", "abc"},
    {__LINE__, 8, "abab", "(ab 2)"},
    {__LINE__, 8, "ababa", "(ab 2)a"},
    {__LINE__, 8, "cababababd", "c(ab 4)d"},
    {__LINE__, 8, "abcabcab", "(abc 2)ab"},
    /* The shortest loop from the first run on. */
    {__LINE__, 8, "ababcababc", "(ab 2)c(ab 2)c"},
    {__LINE__, 8, "xabcdabcd", "x(abcd 2)"},
    {__LINE__, 3, "abcdef", "abc"},
    {__LINE__, 1, "ababab", "(ab 3)"},
    {__LINE__, 2, "xababab", "x(ab 3)"},
    /* A run of another number of repetitions is another run. */
    {__LINE__, 8, "abaBab", "abaBab"},
};

/* Makes runs of letters; a capital letter is the block of the small one, which
 * ran twice. */
static size_t
make_runs(const char *text, struct point_block *runs)
{
    size_t count = 0;

    memset(runs, 0, RUNS * sizeof(*runs));
    for (; text[count] != '\0'; count++) {
        runs[count].count = text[count] < 'a' ? 2 : 1;
        runs[count].instructions = 5;
        runs[count].place.address = (uint64_t)(text[count] | 32);
    }
    return count;
}

static void
write_folds(const char *runs, const struct block_fold *folds, size_t count,
            char *text, size_t size)
{
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const struct block_fold *const f = &folds[i];
        n += (size_t)(f->times > 1 ? snprintf(text + n, size - n, "(%.*s %d)",
                                              (int)f->length, runs + f->first,
                                              (int)f->times)
                                   : snprintf(text + n, size - n, "%.*s",
                                              (int)f->length, runs + f->first));
    }
}

static void
test_rows(void **state)
{
    static struct point_block runs[RUNS];
    struct block_fold folds[8];
    char text[128];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t count = make_runs(rows[i].runs, runs);
        const size_t made = block_folds(runs, count, rows[i].rows, folds);
        write_folds(rows[i].runs, folds, made, text, sizeof(text));
        if (strcmp(text, rows[i].folds) != 0)
            fail_msg("line %d: %s", rows[i].line, text);
    }
}

/* The longest loop that is found, and one that is longer. */
static void
test_longest(void **state)
{
    static struct point_block runs[RUNS];
    static struct block_fold folds[RUNS];

    (void)state;
    for (size_t length = BLOCK_FOLD_LONGEST; length <= BLOCK_FOLD_LONGEST + 1;
         length++) {
        for (size_t i = 0; i < 3 * length; i++)
            runs[i] = (struct point_block){
                .count = 1, .instructions = 5, .place.address = i % length};
        const size_t made = block_folds(runs, 3 * length, RUNS, folds);
        if (length > BLOCK_FOLD_LONGEST) {
            assert_int_equal(made, 3 * length);
            continue;
        }
        assert_int_equal(made, 1);
        assert_int_equal(folds[0].length, length);
        assert_int_equal(folds[0].times, 3);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_longest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
