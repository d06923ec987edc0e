/* SPDX-License-Identifier: MIT */
/* tally.toml: what benchmarks it gives, and what is said of what is wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/settings.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void
keep(void *user, enum tally_level level, const char *text)
{
    (void)level;
    snprintf(user, 512, "%s", text);
}

static int
parse(const char *text, struct check_settings *s, char *said)
{
    const struct tally_log log = {keep, said};

    return check_settings_parse(text, strlen(text), "a/tally.toml", &log, s);
}

static const struct check_limit *
limit_of(const struct check_benchmark *b, const char *measure)
{
    for (size_t i = 0; i < b->limit_count; i++) {
        if (strcmp(b->limits[i].measure, measure) == 0)
            return &b->limits[i];
    }
    fail_msg("no limit of %s", measure);
    return NULL;
}

static void
test_whole(void **state)
{
    static const char text[] =
        "machine = \"host-model\"\n"
        "layouts = 3\n"
        "hard = { cost = 2.5, L1-dcache-load-misses = 10 }\n"
        "environment = { A = \"b\" }\n"
        "[benchmark.second]\n"
        "command = [\"./b\"]\n"
        "[benchmark.first]\n"
        "command = [\"./a\", \"x y\"]\n"
        "input = \"words\"\n"
        "directory = \"d\"\n"
        "setup = \"make a\"\n"
        "output = \"any\"\n"
        "layouts = 1\n"
        "timeout = 2.5\n"
        "events = [\"L1-dcache-load-misses\"]\n"
        "soft = { cost = 1 }\n"
        "hard = { instructions = false }\n";
    struct check_settings s;
    char said[512] = "";

    (void)state;
    assert_int_equal(parse(text, &s, said), 0);
    assert_int_equal(s.count, 2);
    const struct check_benchmark *const a = &s.benchmarks[0];
    const struct check_benchmark *const b = &s.benchmarks[1];
    assert_string_equal(a->name, "first");
    assert_string_equal(a->command[1], "x y");
    assert_null(a->command[2]);
    assert_string_equal(a->input, "a/words");
    assert_string_equal(a->directory, "a/d");
    assert_string_equal(a->setup[2], "make a");
    assert_string_equal(a->machine, "host-model");
    assert_string_equal(a->variables[0], "A=b");
    assert_string_equal(a->events[0], "L1-dcache-load-misses");
    assert_int_equal(a->layouts, 1);
    assert_true(a->timeout == 2.5 && b->timeout == 0);
    assert_true(a->any_output);
    assert_true(isnan(limit_of(a, "instructions")->hard));
    assert_true(limit_of(a, "cost")->hard == 2.5);
    assert_true(limit_of(a, "cost")->soft == 1);
    assert_string_equal(b->name, "second");
    assert_string_equal(b->directory, "a");
    assert_int_equal(b->layouts, 3);
    assert_null(b->input);
    assert_null(b->setup);
    assert_false(b->any_output);
    assert_true(limit_of(b, "instructions")->hard == 0.2);
    assert_true(isnan(limit_of(b, "cost")->soft));
    assert_true(limit_of(b, "L1-dcache-load-misses")->hard == 10);
    check_settings_finish(&s);
}

#define BENCH "[benchmark.x]\ncommand = [\"a\"]\n"

static const struct {
    int line;
    const char *text, *wanted;
} wrong[] = {
    {__LINE__, "", "has no benchmark"},
    {__LINE__, "x = ", "a/tally.toml: line 1, column 5"},
    {__LINE__, "layouts = 3\nlayouts = 4\n", "line 2, column 1"},
    {__LINE__, "day = 2020-01-01\n", "line 1, column 7: dates"},
    {__LINE__, "a = \"\\u0000\"\n", "0 byte"},
    {__LINE__, "a = inf\n", "finite"},
    {__LINE__, "[a.b.c.d.e.f.g.h.i]\n",
     "line 1, column 17: a key has at most 8"},
    {__LINE__, "x = '''\n.........\n'''' # ........\na.b.c.d.e.f.g.h.i = 1",
     "line 4, column 16: a key has at most 8"},
    {__LINE__,
     "x = \".\\\".........\"\n[a . 'b.' . c.d.e.f.g.\"\\\".h\" . i.j]",
     "line 2, column 30: a key has at most 8"},
    {__LINE__, "x = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]\n" BENCH,
     "'x' means nothing"},
    {__LINE__, "machin = \"x\"\n" BENCH,
     "'machin' means nothing here; is it 'machine'?"},
    {__LINE__, BENCH "xyzzy = 1\n", "benchmark 'x': 'xyzzy' means nothing"},
    {__LINE__, "[benchmark.x]\n", "benchmark 'x': it lacks command"},
    {__LINE__, "[benchmark.x]\ncommand = \"a b\"\n", "no shell"},
    {__LINE__, "[benchmark.x]\ncommand = []\n", "the program is missing"},
    {__LINE__, "[benchmark.x]\ncommand = [\"a\", 3]\n", "element 2"},
    {__LINE__, "[benchmark]\nx = 3\n", "[benchmark.x]"},
    {__LINE__, "benchmark = 3\n", "a table of benchmarks"},
    {__LINE__, "[benchmark.\"a/b\"]\ncommand = [\"a\"]\n", "no '/'"},
    {__LINE__, BENCH "layouts = 0\n", "1 to 64"},
    {__LINE__, BENCH "layouts = 65\n", "1 to 64"},
    {__LINE__, BENCH "timeout = 0\n", "above 0"},
    {__LINE__, BENCH "timeout = 1e9\n", "up to 1000000"},
    {__LINE__, BENCH "timeout = \"1 s\"\n", "above 0"},
    {__LINE__, BENCH "layouts = \"3\"\n", "1 to 64"},
    {__LINE__, BENCH "hard = { cost = -1 }\n", "per cent from 0 to"},
    {__LINE__, BENCH "hard = { cost = \"1\" }\n", "per cent from 0 to"},
    {__LINE__, BENCH "soft = 1\n", "soft: a table is expected"},
    {__LINE__, BENCH "output = \"other\"\n", "\"same\" or \"any\""},
    {__LINE__, BENCH "match = \"a*\"\n", "match needs names"},
    {__LINE__, BENCH "environment = [\"A=b\"]\n", "a table is expected"},
    {__LINE__, BENCH "environment = { A = 3 }\n", "no name with a text"},
    {__LINE__, BENCH "events = \"cycles\"\n", "an array of texts"},
    {__LINE__, BENCH "machine = 3\n", "machine: a text"},
    {__LINE__, BENCH "machine = \"\"\n", "machine: a text"},
};

static void
test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct check_settings s;
        char said[512] = "";
        const int error = parse(wrong[i].text, &s, said);
        if (error != TALLY_ESYNTAX || strstr(said, wrong[i].wanted) == NULL ||
            strncmp(said, "a/tally.toml: ", 14) != 0 ||
            strchr(said, '\n') != NULL)
            fail_msg("row at line %d: %d, %s", wrong[i].line, error, said);
        check_settings_finish(&s);
    }
}

static void
test_suite(void **state)
{
    static const char text[] = "[benchmark.s]\n"
                               "names = [\"./b\", \"--list\"]\n"
                               "match = [\"BM_*\", \"other\"]\n"
                               "command = [\"./b\", \"--only={}\", \"{}{}\"]\n";
    static const char names[] =
        "BM_a\r\n  BM_b  12 ns\n\nskipped\nother: benchmark";
    struct check_settings s;
    char said[512] = "";
    const struct tally_log log = {keep, said};

    (void)state;
    assert_int_equal(parse(text, &s, said), 0);
    assert_int_equal(check_settings_expand(&s, 0, names, strlen(names), &log),
                     0);
    assert_int_equal(s.count, 3);
    assert_string_equal(s.benchmarks[0].name, "s/BM_a");
    assert_string_equal(s.benchmarks[1].name, "s/BM_b");
    assert_string_equal(s.benchmarks[1].command[1], "--only=BM_b");
    assert_string_equal(s.benchmarks[2].command[2], "otherother");
    assert_null(s.benchmarks[0].names);
    check_settings_finish(&s);
    assert_int_equal(parse(text, &s, said), 0);
    assert_int_equal(check_settings_expand(&s, 0, "x\ny\n", 4, &log),
                     TALLY_ESYNTAX);
    assert_string_equal(said, "benchmark 's' lists no name that matches");
    assert_int_equal(check_settings_expand(&s, 0, "other\nother\n", 12, &log),
                     TALLY_ESYNTAX);
    assert_string_equal(said, "benchmark 's' lists 'other' twice");
    check_settings_finish(&s);
}

static void
test_program(void **state)
{
    char *const argv[] = {(char *)"./dir/prog", (char *)"-x", NULL};
    struct check_settings s;

    (void)state;
    assert_int_equal(check_settings_program(argv, NULL, &s), 0);
    assert_int_equal(s.count, 1);
    assert_string_equal(s.benchmarks[0].name, "prog -x");
    assert_string_equal(s.benchmarks[0].machine, "ci-1");
    assert_int_equal(s.benchmarks[0].layouts, 9);
    assert_true(limit_of(&s.benchmarks[0], "cost")->hard == 1);
    assert_null(s.path);
    check_settings_finish(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_suite),
        cmocka_unit_test(test_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
