/* SPDX-License-Identifier: MIT */
/* Axes and points of a sweep, and what is taken of a report of tally count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/sweep.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void
keep(void *user, enum tally_level level, const char *text)
{
    (void)level;
    snprintf(user, 512, "%s", text);
}

/* Returns the values of an axis with a space behind each. */
static const char *
words_of(const struct sweep_axis *a)
{
    static char text[4096];
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < a->count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s ",
                                 a->values[i]);
    return text;
}

static void
test_values(void **state)
{
    static const struct {
        int line;
        const char *text, *values;
        bool numbers;
    } rows[] = {
        {__LINE__, "l1d.ways=1,2,4", "1 2 4 ", true},
        {__LINE__, "l1d.size=4K..64K", "4K 8K 16K 32K 64K ", true},
        {__LINE__, "l1d.size=4k..20K", "4K 8K 16K ", true},
        {__LINE__, "l3.size=512K..2M", "512K 1M 2M ", true},
        {__LINE__, "a=2..8+3", "2 5 8 ", true},
        {__LINE__, "a=0..2+1,7", "0 1 2 7 ", true},
        {__LINE__, "a=1000..1100+50", "1000 1050 1100 ", true},
        {__LINE__, "a=5..5", "5 ", true},
        {__LINE__, "l1d.replacement=lru,plru", "lru plru ", false},
        {__LINE__, "a=1..2,x", "1 2 x ", false},
        {__LINE__, "a=b=c", "b=c ", false},
        {__LINE__, "l3.size=1G", "1G ", true},
        {__LINE__, "clock=2G..3G+500M", "2G 2500M 3G ", true},
        {__LINE__, "indirect.entries=1024..4096", "1024 2048 4096 ", true},
        {__LINE__, "indirect.entries=1K,2K", "1K 2K ", false},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sweep s = {0};
        char said[512] = "";
        const struct tally_log log = {keep, said};
        if (sweep_add_axis(&s, rows[i].text, &log) != 0)
            fail_msg("line %d: %s", rows[i].line, said);
        if (strcmp(words_of(&s.axes[0]), rows[i].values) != 0 ||
            (s.axes[0].numbers != NULL) != rows[i].numbers)
            fail_msg("line %d: %s", rows[i].line, words_of(&s.axes[0]));
        sweep_finish(&s);
    }
}

static void
test_refused(void **state)
{
    static const struct {
        int line;
        const char *text, *says;
    } rows[] = {
        {__LINE__, "l1d.size", "--set takes KEY=VALUES"},
        {__LINE__, "=4", "--set takes KEY=VALUES"},
        {__LINE__, "a=", "--set takes KEY=VALUES"},
        {__LINE__, "a=1,,2", "a value is empty"},
        {__LINE__, "a=1,", "a value is empty"},
        {__LINE__, "a=8..4", "begins above its end"},
        {__LINE__, "a=0..4", "0 has no doubles"},
        {__LINE__, "a=1..4+0", "the step is to be more than 0"},
        {__LINE__, "a=1..x", "a range is LOW..HIGH"},
        {__LINE__, "a=..4", "a range is LOW..HIGH"},
        {__LINE__, "a=1..", "a range is LOW..HIGH"},
        {__LINE__, "a=1..2..3", "a range is LOW..HIGH"},
        {__LINE__, "a=-1..3", "a range is LOW..HIGH"},
        {__LINE__, "a=1..99999999999999999999", "a range is LOW..HIGH"},
        {__LINE__, "l1d.size=4K,4096", "the value 4096 twice"},
        {__LINE__, "clock=1000M,1G", "the value 1G twice"},
        {__LINE__, "machine=zen4", "-m names machines"},
        {__LINE__, "indirect.entries=1K..4K", "a range is LOW..HIGH"},
        {__LINE__, "a=x,x", "the value x twice"},
        {__LINE__, "a=1..2,2..4", "the value 2 twice"},
        {__LINE__, "l1d.size=0..1G+1", "more than 4096 values"},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sweep s = {0};
        char said[512] = "";
        const struct tally_log log = {keep, said};
        if (sweep_add_axis(&s, rows[i].text, &log) != TALLY_ERANGE ||
            strstr(said, rows[i].says) == NULL)
            fail_msg("line %d: %s", rows[i].line, said);
        sweep_finish(&s);
    }
}

static void
test_points(void **state)
{
    static const char *const machines[] = {"zen4", "skylake"};
    static const char *const events[] = {"cycles"};
    struct sweep s = {0};
    char said[512] = "";
    const struct tally_log log = {keep, said};
    (void)state;

    assert_int_equal(sweep_add_machines(&s, machines, 2, &log), 0);
    assert_int_equal(sweep_add_axis(&s, "a=1,2,3", &log), 0);
    assert_int_equal(sweep_add_axis(&s, "a=7", &log), TALLY_ERANGE);
    assert_string_equal(said, "a is given twice; several values stand behind "
                              "one =, with commas between them");
    assert_int_equal(sweep_add_axis(&s, "b=x,y", &log), 0);
    assert_int_equal(sweep_make_points(&s, events, 1, &log), 0);
    assert_int_equal(s.point_count, 12);
    assert_string_equal(sweep_word(&s, 0, 0), "zen4");
    assert_string_equal(sweep_word(&s, 5, 0), "zen4");
    assert_string_equal(sweep_word(&s, 5, 1), "3");
    assert_string_equal(sweep_word(&s, 5, 2), "y");
    assert_string_equal(sweep_word(&s, 6, 0), "skylake");
    assert_string_equal(sweep_word(&s, 6, 1), "1");
    assert_string_equal(sweep_word(&s, 7, 2), "y");
    sweep_finish(&s);

    assert_int_equal(sweep_add_axis(&s, "a=1..100+1", &log), 0);
    assert_int_equal(sweep_add_axis(&s, "b=1..100+1", &log), 0);
    assert_int_equal(sweep_make_points(&s, events, 1, &log), TALLY_ERANGE);
    assert_string_equal(said, "these are more than 4096 runs; name fewer "
                              "values");
    sweep_finish(&s);
}

#define EVENTS                                                     \
    "\"events\": [{\"asked\": \"b\", \"value\": 7, \"fidelity\": " \
    "\"exact\"}, {\"asked\": \"a\", \"value\": 0, \"fidelity\": \"idle\"}]"
#define SET "\"interrupted\": false, \"counted\": {\"set\": [\"k=2\"]}"
#define STATUS "\"status\": {\"exit\": 3}, " SET

/* A report that another process wrote is taken whole or not at all. */
static void
test_reports(void **state)
{
    static const struct {
        int line;
        const char *text;
        bool taken;
    } rows[] = {
        {__LINE__, "{" STATUS ", " EVENTS "}", true},
        {__LINE__, "{\"status\": {\"signal\": 11}, " SET ", " EVENTS "}",
         false},
        {__LINE__,
         "{\"status\": {\"exit\": 3}, \"interrupted\": true, \"counted\": "
         "{\"set\": [\"k=2\"]}, " EVENTS "}",
         false},
        {__LINE__, "{\"status\": {\"exit\": 256}, " SET ", " EVENTS "}", false},
        /* Of another point, or of other settings. */
        {__LINE__,
         "{\"status\": {\"exit\": 3}, \"interrupted\": false, \"counted\": "
         "{\"set\": [\"k=1\"]}, " EVENTS "}",
         false},
        {__LINE__,
         "{\"status\": {\"exit\": 3}, \"interrupted\": false, \"counted\": "
         "{\"set\": [\"k=2\", \"l=1\"]}, " EVENTS "}",
         false},
        {__LINE__,
         "{\"status\": {\"exit\": 3}, \"interrupted\": false, " EVENTS "}",
         false},
        {__LINE__, "{" STATUS "}", false},
        {__LINE__, "{" STATUS ", \"events\": {}}", false},
        {__LINE__, "{" STATUS ", \"events\": [1, null, \"b\"]}", false},
        {__LINE__,
         "{" STATUS ", \"events\": [{\"asked\": \"a\", \"value\": 1, "
         "\"fidelity\": \"exact\"}]}",
         false},
        {__LINE__,
         "{" STATUS ", \"events\": [{\"asked\": \"a\", \"value\": -1, "
         "\"fidelity\": \"exact\"}, {\"asked\": \"b\"}]}",
         false},
        {__LINE__,
         "{" STATUS ", \"events\": [{\"asked\": \"a\", \"value\": 1}, "
         "{\"asked\": \"b\"}]}",
         false},
        {__LINE__,
         "{" STATUS ", \"events\": [{\"asked\": \"a\", \"value\": 1, "
         "\"fidelity\": \"sure\"}, {\"asked\": \"b\"}]}",
         false},
        {__LINE__,
         "{" STATUS ", \"events\": [{\"asked\": \"a\", \"value\": \"1\", "
         "\"fidelity\": \"exact\"}, {\"asked\": \"b\"}]}",
         false},
        {__LINE__, "[]", false},
    };
    static const char *const events[] = {"a", "b"};
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sweep s = {0};
        assert_int_equal(sweep_add_axis(&s, "k=1,2", NULL), 0);
        assert_int_equal(sweep_make_points(&s, events, 2, NULL), 0);
        json_t *const report = json_loads(rows[i].text, 0, NULL);
        assert_non_null(report);
        if (sweep_take(&s, 1, report) != rows[i].taken ||
            s.points[1].done != rows[i].taken)
            fail_msg("line %d", rows[i].line);
        assert_false(s.points[0].done);
        if (rows[i].taken) {
            assert_int_equal(s.points[1].status, 3);
            assert_true(s.points[1].values[0].idle);
            assert_false(s.points[1].values[0].known);
            assert_true(s.points[1].values[1].known);
            assert_true(s.points[1].values[1].count == 7);
            assert_string_equal(s.points[1].values[1].standing, "exact");
        }
        sweep_finish(&s);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_reports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
