/* SPDX-License-Identifier: MIT */
/* How names of foreign origin are shown. */
#include "base/escape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What a form shows of a name; NULL: the name as it is. */
struct row {
    int line;
    const char *name;
    const char *shown[3]; /* by enum escape_form */
};

#define ROW(...)              \
    {                         \
        __LINE__, __VA_ARGS__ \
    }

static const struct row rows[] = {
    ROW("", {NULL, NULL, NULL}),
    ROW("/usr/bin/true", {NULL, NULL, NULL}),
    ROW("C:\\new\\up {x}", {NULL, NULL, NULL}),
    ROW("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80", {NULL, NULL, NULL}),
    /* Control characters: C0, DEL, C1. */
    ROW("a\x1b[31mb", {"a\\x1b[31mb", NULL, "a\\x1b[31mb"}),
    ROW("a\nb\tc", {"a\\x0ab\\x09c", NULL, NULL}),
    ROW("a\rb", {"a\\x0db", NULL, "a\\x0db"}),
    ROW("\x7f", {"\\x7f", NULL, "\\x7f"}),
    ROW("\xc2\x9b", {"\\u{9b}", NULL, "\\u{9b}"}),
    ROW("\xc2\xa0", {NULL, NULL, NULL}),
    /* What turns text, and ends of lines. */
    ROW("a\xe2\x80\xae"
        "b",
        {"a\\u{202e}b", NULL, NULL}),
    ROW("\xe2\x81\xa6", {"\\u{2066}", NULL, NULL}),
    ROW("\xe2\x80\x8f", {"\\u{200f}", NULL, NULL}),
    ROW("\xd8\x9c", {"\\u{61c}", NULL, NULL}),
    ROW("\xe2\x80\xa8", {"\\u{2028}", NULL, NULL}),
    /* No characters of XML. */
    ROW("\xef\xbf\xbe", {NULL, NULL, "\\u{fffe}"}),
    ROW("\xef\xbf\xbd", {NULL, NULL, NULL}),
    /* No UTF-8: a lone byte, cut, too long, a surrogate, too large. */
    ROW("a\xff", {"a\\xff", "a\\xff", "a\\xff"}),
    ROW("\xe2\x82", {"\\xe2\\x82", "\\xe2\\x82", "\\xe2\\x82"}),
    ROW("\xc0\xaf", {"\\xc0\\xaf", "\\xc0\\xaf", "\\xc0\\xaf"}),
    ROW("\xe0\x80\xaf",
        {"\\xe0\\x80\\xaf", "\\xe0\\x80\\xaf", "\\xe0\\x80\\xaf"}),
    ROW("\xed\xa0\x80",
        {"\\xed\\xa0\\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80"}),
    ROW("\xf4\x90\x80\x80", {"\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80",
                             "\\xf4\\x90\\x80\\x80"}),
    /* Names that look like others as they are shown. */
    ROW("\\xff", {"\\\\xff", "\\\\xff", "\\\\xff"}),
    ROW("\\\\xff", {"\\\\\\\\xff", "\\\\\\\\xff", "\\\\\\\\xff"}),
    ROW("\\u{9b}", {"\\\\u{9b}", "\\\\u{9b}", "\\\\u{9b}"}),
    ROW("\\\xff", {"\\\\\\xff", "\\\\\\xff", "\\\\\\xff"}),
    /* The first and last of each range, and their neighbours. */
    ROW("\xd8\x9b\xd8\x9d", {NULL, NULL, NULL}),
    ROW("\xe2\x80\x8d\xe2\x80\x90", {NULL, NULL, NULL}),
    ROW("\xe2\x80\x8e", {"\\u{200e}", NULL, NULL}),
    ROW("\xe2\x80\xa7\xe2\x80\xaf", {NULL, NULL, NULL}),
    ROW("\xe2\x80\xa9", {"\\u{2029}", NULL, NULL}),
    ROW("\xe2\x80\xaa", {"\\u{202a}", NULL, NULL}),
    ROW("\xe2\x81\xa5\xe2\x81\xaa", {NULL, NULL, NULL}),
    ROW("\xe2\x81\xa9", {"\\u{2069}", NULL, NULL}),
    ROW("~\xc2\x80", {"~\\u{80}", NULL, "~\\u{80}"}),
    ROW("\xc2\x9f", {"\\u{9f}", NULL, "\\u{9f}"}),
    ROW("\x1f ", {"\\x1f ", NULL, "\\x1f "}),
    ROW("\xef\xbf\xbf", {NULL, NULL, "\\u{ffff}"}),
    ROW("\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80", {NULL, NULL, NULL}),
    ROW("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", {NULL, NULL, NULL}),
    ROW("\xc1\xbf", {"\\xc1\\xbf", "\\xc1\\xbf", "\\xc1\\xbf"}),
    ROW("\xe0\x9f\xbf",
        {"\\xe0\\x9f\\xbf", "\\xe0\\x9f\\xbf", "\\xe0\\x9f\\xbf"}),
    ROW("\xed\xbf\xbf",
        {"\\xed\\xbf\\xbf", "\\xed\\xbf\\xbf", "\\xed\\xbf\\xbf"}),
    ROW("\xf0\x8f\xbf\xbf", {"\\xf0\\x8f\\xbf\\xbf", "\\xf0\\x8f\\xbf\\xbf",
                             "\\xf0\\x8f\\xbf\\xbf"}),
};

static void
test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (int form = 0; form < 3; form++) {
            const char *const wanted = rows[i].shown[form] != NULL
                                           ? rows[i].shown[form]
                                           : rows[i].name;
            char *const shown =
                escape_copy(rows[i].name, (enum escape_form)form);
            assert_non_null(shown);
            if (strcmp(shown, wanted) != 0)
                fail_msg("line %d, form %d: %s", rows[i].line, form, shown);
            free(shown);
        }
}

static char printed[512];

/* Prints into `printed`, by a stream. */
#define PRINT(...)                                                \
    do {                                                          \
        FILE *const to = fmemopen(printed, sizeof(printed), "w"); \
        assert_non_null(to);                                      \
        escape_printf(to, __VA_ARGS__);                           \
        fclose(to);                                               \
    } while (0)

/* Checks that no name, and no number, is printed otherwise than by printf(). */
#define SAME(...)                                      \
    do {                                               \
        char wanted[512];                              \
        snprintf(wanted, sizeof(wanted), __VA_ARGS__); \
        PRINT(__VA_ARGS__);                            \
        assert_string_equal(printed, wanted);          \
    } while (0)

static void
test_printf(void **state)
{
    (void)state;
    SAME("plain, 100 %% of it\n");
    SAME("%s|%8s|%-8s|%.2s|%8.2s|%*s|%-*s|%.*s|%*.*s|", "abc", "abc", "abc",
         "abc", "abc", 6, "abc", 6, "abc", 2, "abc", 5, 1, "abc");
    SAME("%*s|%.*s|", -6, "abc", -1, "abc");
    SAME("%d %5d %-5d| %05d %+d %i %c %hd %hhd", 1, 2, 3, 4, 5, 6, 'c',
         (short)7, (signed char)8);
    SAME("%ld %lld %jd %zd %td", -1L, -2LL, (intmax_t)-3, (ssize_t)-4,
         (ptrdiff_t)-5);
    SAME("%u %lu %llu %ju %zu %x %#lX %o", 1u, 2ul, 3ull, (uintmax_t)4,
         (size_t)5, 0xabcu, 0xabcul, 8u);
    SAME("%f %.1f %*.*f %10.4g %e %a", 1.5, 2.25, 9, 3, 3.125, 4.5, 5.5, 6.5);
    SAME("%p", (void *)printed);
    SAME("%u%s%d%s%.2f", 1u, "a", -2, "b", 3.0);
}

static void
test_printf_escapes(void **state)
{
    (void)state;
    PRINT("%s is\t%d\n", "a\x1b[2J\n", 5);
    assert_string_equal(printed, "a\\x1b[2J\\x0a is\t5\n");
    PRINT("%-8s|%8s|", "\xff", "\xff");
    assert_string_equal(printed, "\\xff    |    \\xff|");
    /* A precision leaves whole characters; the second is of two bytes. */
    PRINT("%.1s|%.2s|%.3s|", "a\xc3\xaf", "a\xc3\xaf", "a\xc3\xaf");
    assert_string_equal(printed, "a|a|a\xc3\xaf|");
    PRINT("%.2s|%.3s|", "\xf0\x9f\x98\x80", "\xbf\xbf\xbf\xbf");
    assert_string_equal(printed, "|\\xbf\\xbf\\xbf|");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_printf),
        cmocka_unit_test(test_printf_escapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
