/* SPDX-License-Identifier: MIT */
/* Paths of two builds that are of the same file. */
#include "record/path_pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/path.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MOST 8

/* Paths are separated by blanks; `expected` has for each path of `before` its
 * index in `after`, or -. */
static const struct {
    int line;
    const char *before, *after, *expected;
} rows[] = {
    {__LINE__, "", "", ""},
    {__LINE__, "/a/x.c", "", "-"},
    {__LINE__, "", "/a/x.c", ""},
    {__LINE__, "/a/x.c /a/y.c", "/a/y.c /a/x.c", "1 0"},
    {__LINE__, "/old/x.c", "/new/x.c", "0"},
    {__LINE__, "/old/x.c", "/new/z.c", "-"},
    /* The same path comes first, then the most folders in common. */
    {__LINE__, "/b/x.c /a/x.c", "/a/x.c /c/x.c", "1 0"},
    {__LINE__, "/old/lib/x.c /old/app/x.c", "/new/app/x.c /new/lib/x.c", "1 0"},
    {__LINE__, "/old/a/b/x.c", "/new/c/b/x.c /new/a/b/x.c", "1"},
    /* No path is taken twice. */
    {__LINE__, "/p/x.c /q/x.c", "/r/x.c", "0 -"},
    {__LINE__, "/p/x.c", "/q/x.c /r/x.c", "0"},
    /* Folders are whole words; a relative path has none. */
    {__LINE__, "/old/bb/x.c", "/new/b/x.c /new/bb/x.c", "1"},
    {__LINE__, "x.c", "/new/x.c", "0"},
    {__LINE__, "x.c y.c", "y.c x.c", "1 0"},
};

static size_t
split(char *text, const char *paths[MOST])
{
    size_t count = 0;

    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
        paths[count++] = word;
    return count;
}

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *first = strdup(rows[i].before), *second = strdup(rows[i].after);
        const char *before[MOST], *after[MOST];
        const size_t count = split(first, before);
        const size_t after_count = split(second, after);
        uint32_t to[MOST];
        char text[64] = "";
        assert_int_equal(path_pairs_find(before, count, after, after_count, to),
                         0);
        for (size_t k = 0; k < count; k++) {
            char word[16] = "-";
            if (to[k] != PATH_ALONE)
                snprintf(word, sizeof(word), "%u", to[k]);
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
                     k > 0 ? " " : "", word);
        }
        if (strcmp(text, rows[i].expected) != 0)
            fail_msg("line %d: %s", rows[i].line, text);
        free(first);
        free(second);
    }
}

static void
test_base(void **state)
{
    (void)state;
    assert_string_equal(path_base("/a/b"), "b");
    assert_string_equal(path_base("b"), "b");
    assert_string_equal(path_base("/a/"), "/a/");
    assert_string_equal(path_base(""), "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_base),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
