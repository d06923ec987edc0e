/* SPDX-License-Identifier: MIT */
/* Lines followed from one text into another; a text is a string in which each
 * letter is a line, and a table of the lines' real texts. */
#include "record/line_diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LINES 64
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Splits at newlines, in place. */
static size_t
split(char *text, char *lines[LINES])
{
    size_t count = 0;

    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;)
        if (rest != NULL || *line != '\0')
            lines[count++] = line;
    return count;
}

/* What is expected is a word for each line: the number of the later line, with
 * an e behind if it was edited, or - for a line that is gone. */
static const struct {
    int line;
    const char *before, *after, *expected;
} rows[] = {
    /* Nothing changed; nothing is there. */
    {__LINE__, "a\nb\nc\n", "a\nb\nc\n", "1 2 3"},
    {__LINE__, "", "a\nb\n", ""},
    {__LINE__, "a1\nb2\n", "", "- -"},
    /* Lines inserted above, and removed. */
    {__LINE__, "int a;\nint b;\n", "// new\n\nint a;\nint b;\n", "3 4"},
    {__LINE__, "x\n\nint a;\nint b;\n", "int a;\nint b;\n", "- - 1 2"},
    /* One line edited, among equal ones and with another indent. */
    {__LINE__, "f()\n{\n    for (i = 0; i < 10; i++)\n        go();\n}\n",
     "f()\n{\n    for (i = 0; i < 20; i++)\n        go();\n}\n", "1 2 3e 4 5"},
    {__LINE__, "f()\n{\n  go(1);\n}\n", "f()\n{\n  if (x)\n    go(1);\n}\n",
     "1 2 4e 5"},
    /* Too little in common to be an edit. */
    {__LINE__, "f()\n{\n    alpha = 1;\n}\n", "f()\n{\n    call(zeta);\n}\n",
     "1 2 - 4"},
    /* The line that has the most in common is the edited one. */
    {__LINE__, "{\nsum += table[i];\n}\n",
     "{\nsum += 1;\nsum += table[i] * 2;\n}\n", "1 3e 4"},
    /* Lines that are there several times keep their order. */
    {__LINE__, "}\n}\n}\n", "}\n}\n}\n}\n", "1 2 3"},
    {__LINE__, "a\n}\nb\n}\n", "a\n}\nx\n}\nb\n}\n", "1 2 5 6"},
    /* A doubled line: the first is the old one. */
    {__LINE__, "a\ngo();\nb\n", "a\ngo();\ngo();\nb\n", "1 2 4"},
    /* A function that went behind another; a short line that did not. */
    {__LINE__, "f()\n{\n  one;\n  two;\n}\ng()\n{\n  tri;\n}\nh\ni\nj\nk\n",
     "g()\n{\n  tri;\n}\nh\ni\nj\nk\nf()\n{\n  one;\n  two;\n}\n",
     "9 10 11 12 13 1 2 3 4 5 6 7 8"},
    {__LINE__, "alone = 1;\na\nb\nc\nd\n", "a\nb\nc\nd\nalone = 1;\n",
     "- 1 2 3 4"},
    /* No line is there once: the longest common sequence. */
    {__LINE__, "a\nb\na\nb\n", "b\na\nb\na\n", "- 1 2 3"},
};

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *first = strdup(rows[i].before), *second = strdup(rows[i].after);
        char *before[LINES], *after[LINES];
        const size_t count = split(first, before);
        const size_t after_count = split(second, after);
        struct followed_line found[LINES];
        char text[256] = "";
        assert_int_equal(line_diff(before, count, after, after_count, found),
                         0);
        for (size_t k = 0; k < count; k++) {
            char word[16] = "-";
            if (found[k].line != 0)
                snprintf(word, sizeof(word), "%u%s", found[k].line,
                         found[k].edited ? "e" : "");
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
                     k > 0 ? " " : "", word);
        }
        if (strcmp(text, rows[i].expected) != 0)
            fail_msg("line %d: %s, not %s", rows[i].line, text,
                     rows[i].expected);
        free(first);
        free(second);
    }
}

/* Random texts: no later line is taken twice, lines that are not edited are
 * equal, and a text against itself is all the same. */
static void
test_random(void **state)
{
    static char *const words[] = {
        (char *)"{",       (char *)"}",         (char *)"",
        (char *)"i++;",    (char *)"return 0;", (char *)"sum += a[i];",
        (char *)"one two", (char *)"one too",   (char *)"  i++;"};
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        char *before[LINES], *after[LINES];
        struct followed_line found[LINES];
        bool taken[LINES + 1] = {false};
        const size_t count = (size_t)rand_r(&seed) % LINES;
        const size_t after_count = (size_t)rand_r(&seed) % LINES;
        for (size_t i = 0; i < count; i++)
            before[i] = words[(size_t)rand_r(&seed) % COUNT(words)];
        for (size_t i = 0; i < after_count; i++)
            after[i] = words[(size_t)rand_r(&seed) % COUNT(words)];
        assert_int_equal(line_diff(before, count, after, after_count, found),
                         0);
        for (size_t i = 0; i < count; i++) {
            assert_in_range(found[i].line, 0, after_count);
            if (found[i].line == 0)
                continue;
            assert_false(taken[found[i].line]);
            taken[found[i].line] = true;
            if (strcmp(before[i], after[found[i].line - 1]) != 0)
                assert_true(found[i].edited);
        }
        assert_int_equal(line_diff(before, count, before, count, found), 0);
        for (size_t i = 0; i < count; i++)
            assert_true(found[i].line == i + 1 && !found[i].edited);
    }
}

/* Large texts: all lines follow 1,000 lines that are new, and a text without a
 * common line is no work. */
static void
test_large(void **state)
{
    enum { LARGE = 100000, NEW = 1000 };
    char **before = calloc(LARGE, sizeof(*before));
    char **after = calloc(LARGE + NEW, sizeof(*after));
    struct followed_line *found = calloc(LARGE, sizeof(*found));

    (void)state;
    assert_true(before != NULL && after != NULL && found != NULL);
    for (int i = 0; i < LARGE; i++)
        assert_true(asprintf(&before[i], "line %d", i % 50000) > 0);
    for (int i = 0; i < NEW; i++)
        assert_true(asprintf(&after[i], "new %d", i) > 0);
    memcpy(after + NEW, before, LARGE * sizeof(*before));
    assert_int_equal(line_diff(before, LARGE, after, LARGE + NEW, found), 0);
    for (uint32_t i = 0; i < LARGE; i++)
        assert_true(found[i].line == i + NEW + 1 && !found[i].edited);
    assert_int_equal(line_diff(before, LARGE, after, NEW, found), 0);
    for (int i = 0; i < LARGE; i++)
        assert_int_equal(found[i].line, 0);
    for (int i = 0; i < LARGE; i++)
        free(before[i]);
    for (int i = 0; i < NEW; i++)
        free(after[i]);
    free(before);
    free(after);
    free(found);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
