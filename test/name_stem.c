/* SPDX-License-Identifier: MIT */
/* Names of functions without what differs between two builds. */
#include "record/name_stem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    int line;
    const char *name, *stem, *word;
} rows[] = {
    {__LINE__, "", "", ""},
    {__LINE__, "main", "main", "main"},
    {__LINE__, "f(int, char const*)", "f", "f"},
    {__LINE__, "a::b::f()", "a::b::f", "f"},
    {__LINE__, "T<int>::sum() const", "T<int>::sum", "sum"},
    {__LINE__, "int f<a::b>(int)", "int f<a::b>", "f<a::b>"},
    {__LINE__, "(anonymous namespace)::f(int)", "(anonymous namespace)::f",
     "f"},
    {__LINE__, "main::{lambda(int)#1}::operator()(int) const",
     "main::{lambda(int)#1}::operator()", "operator()"},
    {__LINE__, "A::operator()", "A::operator()", "operator()"},
    {__LINE__, "(no name)", "(no name)", "(no name)"},
    {__LINE__, "f.isra.0", "f", "f"},
    {__LINE__, "f.constprop.0.isra.1", "f", "f"},
    {__LINE__, "f.part.2", "f", "f"},
    {__LINE__, "f.cold", "f", "f"},
    {__LINE__, "f.party", "f.party", "f.party"},
    {__LINE__, ".cold", ".cold", ".cold"},
    {__LINE__, ")", ")", ")"},
    {__LINE__, "f)", "f)", "f)"},
    {__LINE__, "a::", "a::", "a::"},
};

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *name = rows[i].name;
        const size_t length = name_stem(name);
        const char *word = name_word(name, length);
        assert_in_range(length, 0, strlen(name));
        if (length != strlen(rows[i].stem) ||
            memcmp(name, rows[i].stem, length) != 0)
            fail_msg("line %d: stem %.*s", rows[i].line, (int)length, name);
        const size_t left = length - (size_t)(word - name);
        if (left != strlen(rows[i].word) ||
            memcmp(word, rows[i].word, left) != 0)
            fail_msg("line %d: word %.*s", rows[i].line, (int)left, word);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
