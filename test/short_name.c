/* SPDX-License-Identifier: MIT */
/* Names of functions in as few letters as a table has room for. */
#include "record/short_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    int line;
    const char *name, *wanted;
} rows[] = {
    {__LINE__, "", ""},
    {__LINE__, "main", "main"},
    {__LINE__, "f(int, char const*)", "f"},
    {__LINE__, "f<>()", "f<...>"},
    {__LINE__, "a::f() const", "a::f"},
    {__LINE__, "a::f() constant", "a::f constant"},
    {__LINE__, "std::vector<int, std::allocator<int> >::push_back(int&&)",
     "std::vector<...>::push_back"},
    {__LINE__, "malloc in main (main.c:3) from run(int)",
     "malloc in main (main.c:3) from run"},
    {__LINE__, "(no name)", "(no name)"},
    {__LINE__, "(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
    {__LINE__, "a::(anonymous namespace)::f(int)",
     "a::(anonymous namespace)::f"},
    {__LINE__, "main::{lambda(int)#1}::operator()(int) const",
     "main::{lambda#1}::operator()"},
    {__LINE__, "std::operator<< <char>(std::ostream<char>&, char)",
     "std::operator<< <char>"},
    {__LINE__, "a::operator<<<char>(int)", "a::operator<<<...>"},
    {__LINE__, "a::operator->() const", "a::operator->"},
    {__LINE__, "bool a::operator< <b>(c const&)", "bool a::operator< <b>"},
    {__LINE__, "operator new(unsigned long)", "operator new"},
    {__LINE__, "my_operator<int>(int)", "my_operator<...>"},
    {__LINE__, "<a::T as b::Trait<c>>::f", "<a::T as b::Trait<...>>::f"},
    {__LINE__, "core::iter::Map<I,F>::next::h01",
     "core::iter::Map<...>::next::h01"},
    {__LINE__, "f<decltype(x->y)>(int)", "f<...>"},
    {__LINE__, "main.(*T).get", "main.(*T).get"},
    {__LINE__, "f(int", "f(int"},
    {__LINE__, "f<int", "f<int"},
    {__LINE__, "f)>", "f)>"},
    {__LINE__, "itself in f(int) (f.cc:1)", "itself in f (f.cc:1)"},
};

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *const name = short_name(rows[i].name);
        assert_non_null(name);
        if (strcmp(name, rows[i].wanted) != 0)
            fail_msg("line %d: %s", rows[i].line, name);
        free(name);
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
