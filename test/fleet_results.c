/* SPDX-License-Identifier: MIT */
/* The newest results of reports of tally check. */
#include "fleet/results.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define HEAD(time) "{\"schema\":1,\"time\":\"" time "\",\"results\":["
#define BENCHMARK(name, machine, status, measures)              \
    "{\"benchmark\":\"" name "\",\"machine\":" machine          \
    ",\"key\":\"k\",\"status\":\"" status "\",\"reason\":null," \
    "\"measures\":[" measures "]}"
#define MEASURE(name, median, rest)                                           \
    "{\"name\":\"" name "\",\"verdict\":\"same\",\"now\":{\"median\":" median \
    ",\"least\":1,\"most\":99}" rest "}"

static void
keep(void *user, enum tally_level level, const char *text)
{
    (void)level;
    snprintf(user, 256, "%s", text);
}

static int
read_text(const char *text, char said[256], struct fleet_results *r)
{
    const struct tally_log log = {keep, said};

    said[0] = '\0';
    *r = (struct fleet_results){0};
    return fleet_results_read_text(text, strlen(text), "r.json", &log, r);
}

static void
test_values(void **state)
{
    struct fleet_results r;
    char said[256];

    (void)state;
    assert_int_equal(
        read_text(
            HEAD("2026-01-02T03:04:05Z") BENCHMARK(
                "b", "\"ci-1\"", "rose",
                MEASURE("instructions", "50",
                        ",\"baseline\":{\"median\":40,\"least\":"
                        "40,"
                        "\"most\":41},\"change_percent\":25.0,"
                        "\"soft_percent\":1,\"hard_percent\":"
                        "null") "," MEASURE("cost", "60",
                                            "") "," MEASURE("mad"
                                                            "e-"
                                                            "up",
                                                            "7", "")) "]}",
            said, &r),
        0);
    assert_int_equal(r.benchmark_count, 1);
    assert_string_equal(r.benchmarks[0].name, "b");
    assert_string_equal(r.benchmarks[0].machine, "ci-1");
    assert_string_equal(r.benchmarks[0].status, "rose");
    assert_int_equal(r.benchmarks[0].time_s, 1767323045);
    assert_int_equal(r.measure_count, 3);
    const struct fleet_measure *m = r.measures;
    assert_int_equal(m[0].now.median, 50);
    assert_int_equal(m[0].now.most, 99);
    assert_true(m[0].compared && m[0].before.median == 40);
    assert_true(m[0].change.known && m[0].change.value == 25);
    assert_true(m[0].soft.known && !m[0].hard.known);
    assert_string_equal(m[0].standing, "exact");
    assert_string_equal(m[1].standing, "estimated");
    assert_false(m[1].compared || m[1].change.known);
    assert_string_equal(m[2].standing, "");
    fleet_results_finish(&r);
}

/* A benchmark of two machines is two; of one machine the first row counts. */
static void
test_machines(void **state)
{
    struct fleet_results r;
    char said[256];

    (void)state;
    assert_int_equal(
        read_text(
            HEAD("2026-01-02T03:04:05Z")
                BENCHMARK("b", "\"x\"", "passed", MEASURE("m", "5", "")) "," BENCHMARK(
                    "b", "\"y\"", "varies",
                    MEASURE("m", "6",
                            "")) "," BENCHMARK("b", "\"x\"", "rose",
                                               MEASURE(
                                                   "m", "7",
                                                   "")) "," BENCHMARK("b",
                                                                      "null",
                                                                      "failed",
                                                                      "") "]}",
            said, &r),
        0);
    assert_int_equal(r.benchmark_count, 3);
    assert_string_equal(r.benchmarks[0].status, "passed");
    assert_string_equal(r.benchmarks[2].machine, "");
    assert_int_equal(r.measure_count, 2);
    assert_string_equal(r.measures[1].standing, "varies");
    assert_int_equal(r.measures[1].benchmark, 1);
    fleet_results_finish(&r);
}

static void
test_faults(void **state)
{
    static const struct {
        unsigned line;
        const char *text, *said;
    } rows[] = {
        {__LINE__, "", "r.json is no JSON"},
        {__LINE__, "[1]", "r.json is no report of tally check --format json"},
        {__LINE__, "{\"schema\":2,\"results\":[]}",
         "r.json is a report of another version of tally"},
        {__LINE__, "{\"schema\":1,\"results\":[]}",
         "r.json does not say when it was made"},
        {__LINE__, HEAD("2026-01-02T03:04:05Z") "7]}", "r.json is damaged"},
    };
    struct fleet_results r;
    char said[256];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (read_text(rows[i].text, said, &r) != TALLY_ESYNTAX ||
            strcmp(said, rows[i].said) != 0)
            fail_msg("row of line %u: %s", rows[i].line, said);
}

static void
write_file(const char *folder, const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *const out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void
remove_file(const char *folder, const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    unlink(path);
}

/* Of two reports the later one counts, whatever the files are called. */
static void
test_folder(void **state)
{
    char folder[] = "/tmp/tally-fleet-XXXXXX", said[256] = "";
    const struct tally_log log = {keep, said};
    struct fleet_results r = {0};

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(fleet_results_read(folder, &log, &r), 0);
    assert_int_equal(r.benchmark_count, 0);
    write_file(folder, "a.json",
               HEAD("2026-01-03T00:00:00Z") BENCHMARK(
                   "b", "\"x\"", "passed", MEASURE("m", "5", "")) "]}");
    write_file(folder, "b.json",
               HEAD("2026-01-02T00:00:00Z") BENCHMARK(
                   "b", "\"x\"", "rose",
                   MEASURE("m", "6", "")) "," BENCHMARK("old", "\"x\"",
                                                        "warned", "") "]}");
    write_file(folder, "c.json", "{");
    assert_int_equal(fleet_results_read(folder, &log, &r), 0);
    assert_non_null(strstr(said, "c.json is no JSON; it is left out"));
    assert_int_equal(r.benchmark_count, 2);
    assert_string_equal(r.benchmarks[0].status, "passed");
    assert_string_equal(r.benchmarks[1].name, "old");
    assert_int_equal(r.measure_count, 1);
    assert_int_equal(r.measures[0].now.median, 5);
    fleet_results_finish(&r);
    remove_file(folder, "a.json");
    remove_file(folder, "b.json");
    remove_file(folder, "c.json");
    rmdir(folder);
    assert_int_equal(fleet_results_read(folder, &log, &r), TALLY_EIO);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
