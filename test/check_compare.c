/* SPDX-License-Identifier: MIT */
/* tally check: sums of runs, verdicts and causes, by arithmetic; and that a
 * baseline comes back as it was written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/compare.h"
#include "check/report.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LAYOUTS 3u
#define EVENTS 4u

static const char *const measures[EVENTS] = {CHECK_INSTRUCTIONS, CHECK_COST,
                                             CHECK_LOADS, CHECK_STORES};

/* Runs in three layouts, with one function that has it all. */
static struct check_sample *
make_samples(uint64_t rows[LAYOUTS][EVENTS], const char *function)
{
    struct check_sample *const samples = calloc(LAYOUTS, sizeof(*samples));

    for (unsigned i = 0; i < LAYOUTS; i++) {
        struct check_sample *const s = &samples[i];
        s->isa = strdup("x86_64");
        s->cpu = strdup("");
        s->version = strdup("1");
        s->counts = calloc(EVENTS, sizeof(*s->counts));
        memcpy(s->counts, rows[i], EVENTS * sizeof(*s->counts));
        s->event_count = EVENTS;
        s->functions = calloc(1, sizeof(*s->functions));
        s->functions[0] = (struct check_counts){strdup(function), strdup("p"),
                                                rows[i][0], rows[i][1], 7};
        s->function_count = 1;
        s->builds = calloc(2, sizeof(*s->builds));
        s->builds[0] = (struct check_build){strdup("p"), strdup("00")};
        s->builds[1] = (struct check_build){strdup("libc.so.6"), strdup("aa")};
        s->build_count = 2;
    }
    return samples;
}

static void
sum_up(uint64_t rows[LAYOUTS][EVENTS], const char *function,
       struct check_entry *entry)
{
    struct check_sample *const samples = make_samples(rows, function);

    assert_int_equal(check_sum_up(samples, LAYOUTS, measures, "3 bytes", entry),
                     0);
    for (unsigned i = 0; i < LAYOUTS; i++)
        check_sample_finish(&samples[i]);
    free(samples);
}

static void
test_sums(void **state)
{
    uint64_t rows[LAYOUTS][EVENTS] = {
        {1000, 700, 10, 5}, {1002, 500, 10, 5}, {1001, 600, 10, 5}};
    struct check_entry e;

    (void)state;
    sum_up(rows, "f", &e);
    assert_int_equal(e.measure_count, EVENTS);
    assert_int_equal(e.measures[0].range.median, 1001);
    assert_int_equal(e.measures[0].range.least, 1000);
    assert_int_equal(e.measures[0].range.most, 1002);
    assert_int_equal(e.measures[1].range.median, 600);
    assert_int_equal(e.function_count, 1);
    assert_int_equal(e.functions[0].cost, 600);
    assert_int_equal(e.functions[0].instructions, 1001);
    check_entry_finish(&e);
}

/* The baseline has a cost of 990 to 1,010 and 1,000 instructions, 100 loads and
 * 50 stores; limits of 1 % and 5 %. */
static const struct {
    int line;
    uint64_t instructions, least, median, most, loads;
    enum check_verdict verdict; /* of the cost */
    enum check_cause cause;
    enum check_status status;
    double work; /* per cent */
} rows[] = {
    {__LINE__, 1000, 990, 1000, 1010, 100, CHECK_SAME, CHECK_NO_CAUSE,
     CHECK_PASSED, 0},
    /* One layout as dear as before: no rise, whatever the median. */
    {__LINE__, 1000, 1010, 2000, 3000, 100, CHECK_SAME, CHECK_NO_CAUSE,
     CHECK_PASSED, 0},
    {__LINE__, 1000, 1011, 1012, 1013, 100, CHECK_SOFT, CHECK_PLACES,
     CHECK_WARNED, 0},
    {__LINE__, 1000, 1011, 1050, 1060, 100, CHECK_SOFT, CHECK_PLACES,
     CHECK_WARNED, 0},
    {__LINE__, 1000, 1011, 1051, 1060, 100, CHECK_HARD, CHECK_PLACES,
     CHECK_ROSE, 0},
    {__LINE__, 1000, 900, 950, 989, 100, CHECK_LESS, CHECK_PLACES, CHECK_PASSED,
     0},
    /* Instructions rose by 3 % as the cost by 6 %: half of it. */
    {__LINE__, 1030, 1060, 1060, 1060, 100, CHECK_HARD, CHECK_WORK, CHECK_ROSE,
     3},
    /* 2 % of instructions do not explain 6 %. */
    {__LINE__, 1020, 1060, 1060, 1060, 100, CHECK_HARD, CHECK_PLACES,
     CHECK_ROSE, 2},
    /* Of 150 loads and stores, 3 and 6 more. */
    {__LINE__, 1000, 1060, 1060, 1060, 103, CHECK_HARD, CHECK_PLACES,
     CHECK_ROSE, 2},
    {__LINE__, 1000, 1060, 1060, 1060, 106, CHECK_HARD, CHECK_WORK, CHECK_ROSE,
     4},
};

static void
test_verdicts(void **state)
{
    static const struct check_limit limits[] = {{(char *)CHECK_COST, 1, 5}};
    uint64_t old[LAYOUTS][EVENTS] = {
        {1000, 990, 100, 50}, {1000, 1000, 100, 50}, {1000, 1010, 100, 50}};
    struct check_entry before;

    (void)state;
    sum_up(old, "f", &before);
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t counts[LAYOUTS][EVENTS] = {
            {rows[i].instructions, rows[i].least, rows[i].loads, 50},
            {rows[i].instructions, rows[i].median, rows[i].loads, 50},
            {rows[i].instructions, rows[i].most, rows[i].loads, 50}};
        struct check_report report = {
            .results = calloc(1, sizeof(*report.results)), .result_count = 1};
        struct check_result *const r = report.results;
        struct check_entry now;
        sum_up(counts, "f", &now);
        assert_int_equal(check_compare(&now, &before, limits, 1, r), 0);
        if (r->measures[1].verdict != rows[i].verdict ||
            r->cause != rows[i].cause || r->status != rows[i].status ||
            fabs(r->work - rows[i].work) > 1e-9 ||
            (r->cause != CHECK_NO_CAUSE &&
             fabs(r->work + r->places - r->measures[1].change) > 1e-9))
            fail_msg("row at line %d: %s, %s, %s, %g %% and %g %%",
                     rows[i].line, check_verdict_name(r->measures[1].verdict),
                     check_cause_name(r->cause), check_status_name(r->status),
                     r->work, r->places);
        assert_int_equal(r->note_count, 0);
        check_entry_finish(&now);
        check_report_finish(&report);
    }
    check_entry_finish(&before);
}

/* What the baseline lacks is told, and is no verdict. */
static void
test_functions(void **state)
{
    uint64_t old[LAYOUTS][EVENTS] = {
        {1000, 990, 100, 50}, {1000, 1000, 100, 50}, {1000, 1010, 100, 50}};
    uint64_t new[LAYOUTS][EVENTS] = {
        {2000, 1990, 100, 50}, {2000, 2000, 100, 50}, {2000, 2010, 100, 50}};
    struct check_report report = {
        .results = calloc(1, sizeof(struct check_result)), .result_count = 1};
    struct check_result *const r = report.results;
    struct check_entry before, now;

    (void)state;
    sum_up(old, "f", &before);
    sum_up(new, "g", &now);
    free(now.builds[1].id);
    now.builds[1].id = strdup("bb");
    free(now.builds[0].id);
    now.builds[0].id = strdup("01");
    assert_int_equal(check_compare(&now, &before, NULL, 0, r), 0);
    assert_int_equal(r->status, CHECK_PASSED);
    assert_int_equal(r->function_count, 2);
    assert_string_equal(r->functions[0].name, "g");
    assert_true(r->functions[0].is_new);
    assert_int_equal(r->functions[0].cost, 2000);
    assert_true(r->functions[1].is_gone);
    assert_int_equal(r->functions[1].instructions_before, 1000);
    /* What is new and what is gone is all work. */
    assert_true(fabs(r->work - 100) < 1e-9 && fabs(r->places) < 1e-9);
    assert_int_equal(r->note_count, 2);
    assert_string_equal(r->notes[0], "p is another build than the baseline's");
    assert_string_equal(r->notes[1],
                        "libc.so.6 is another build than the baseline's");
    check_entry_finish(&before);
    check_entry_finish(&now);
    check_report_finish(&report);
}

/* Compares two entries of the counts whose functions are these, and lets the
 * entries go. */
static void
compare_functions(uint64_t old[LAYOUTS][EVENTS], uint64_t new[LAYOUTS][EVENTS],
                  struct check_counts functions[2][2],
                  const struct check_limit *limits, size_t limit_count,
                  struct check_result *r)
{
    struct check_entry entries[2];

    sum_up(old, "f", &entries[0]);
    sum_up(new, "f", &entries[1]);
    for (unsigned i = 0; i < 2; i++) {
        struct check_counts *const made = entries[i].functions;
        free(made[0].name);
        free(made[0].image);
        free(made);
        entries[i].functions = functions[i];
        entries[i].function_count = 2;
    }
    assert_int_equal(
        check_compare(&entries[1], &entries[0], limits, limit_count, r), 0);
    for (unsigned i = 0; i < 2; i++) {
        entries[i].functions = NULL;
        entries[i].function_count = 0;
        check_entry_finish(&entries[i]);
    }
}

/* A function with twice the instructions at 3 cycles each, another at the same
 * count with other misses, and a part that no function has. */
static void
test_split(void **state)
{
    uint64_t old[LAYOUTS][EVENTS] = {
        {1000, 2000, 100, 50}, {1000, 2000, 100, 50}, {1000, 2000, 100, 50}};
    uint64_t new[LAYOUTS][EVENTS] = {
        {1300, 3000, 100, 50}, {1300, 3000, 100, 50}, {1300, 3000, 100, 50}};
    struct check_counts functions[2][2] = {
        {{(char *)"f", (char *)"p", 300, 900, 1},
         {(char *)"g", (char *)"p", 500, 600, 1}},
        {{(char *)"f", (char *)"p", 600, 1850, 1},
         {(char *)"g", (char *)"p", 500, 650, 1}}};
    struct check_report report = {
        .results = calloc(1, sizeof(struct check_result)), .result_count = 1};
    struct check_result *const r = report.results;

    (void)state;
    compare_functions(old, new, functions, NULL, 0, r);
    /* Of 2,000 cycles 300 * 3 are work, and 50 + 50 + 0 are not. */
    assert_int_equal(r->cause, CHECK_WORK);
    assert_true(fabs(r->work - 45) < 1e-9 && fabs(r->places - 5) < 1e-9);
    check_report_finish(&report);
}

/* strlen() has 10 calls of 100 instructions in a program of 10,000, at 2 cycles
 * each; a limit of 1 % for instructions and for the cost. Strings that stand
 * elsewhere may make up to 47 instructions a call. */
static const struct {
    int line;
    const char *function;
    uint64_t instructions, cost, calls; /* of the function */
    uint64_t more, more_cost;           /* of the whole */
    enum check_verdict verdict, cost_verdict;
    double strings; /* per cent of the instructions */
    size_t notes;
} string_rows[] = {
    {__LINE__, "__strlen_avx2", 1469, 2938, 10, 469, 938, CHECK_SAME,
     CHECK_SAME, 4.69, 1},
    {__LINE__, "strlen", 1469, 2938, 10, 469, 938, CHECK_SAME, CHECK_SAME, 4.69,
     1},
    /* More than strings can make, other numbers of calls, and other names. */
    {__LINE__, "__strlen_avx2", 1470, 2940, 10, 470, 940, CHECK_HARD,
     CHECK_HARD, 0, 0},
    {__LINE__, "__strlen_avx2", 1469, 2938, 11, 469, 938, CHECK_HARD,
     CHECK_HARD, 0, 0},
    {__LINE__, "strlen_fast", 1469, 2938, 10, 469, 938, CHECK_HARD, CHECK_HARD,
     0, 0},
    {__LINE__, "__strle", 1469, 2938, 10, 469, 938, CHECK_HARD, CHECK_HARD, 0,
     0},
    /* The rest of the program rose by 150, too: by 1.5 %. */
    {__LINE__, "__strlen_avx2", 1469, 2938, 10, 619, 1238, CHECK_HARD,
     CHECK_HARD, 4.69, 0},
    /* Fewer for the strings hide no rise. */
    {__LINE__, "__strlen_avx2", 700, 1400, 10, 0, 0, CHECK_HARD, CHECK_HARD, -3,
     1},
    /* The same instructions cost more: no work of strings. */
    {__LINE__, "__strlen_avx2", 1000, 2400, 10, 0, 400, CHECK_SAME, CHECK_HARD,
     0, 0},
};

static void
test_strings(void **state)
{
    static const struct check_limit limits[] = {
        {(char *)CHECK_INSTRUCTIONS, NAN, 1}, {(char *)CHECK_COST, NAN, 1}};
    uint64_t old[LAYOUTS][EVENTS] = {{10000, 20000, 100, 50},
                                     {10000, 20000, 100, 50},
                                     {10000, 20000, 100, 50}};

    (void)state;
    for (size_t i = 0; i < COUNT(string_rows); i++) {
        char *const name = (char *)string_rows[i].function;
        const uint64_t instructions = 10000 + string_rows[i].more;
        const uint64_t cost = 20000 + string_rows[i].more_cost;
        uint64_t new[LAYOUTS][EVENTS] = {{instructions, cost, 100, 50},
                                         {instructions, cost, 100, 50},
                                         {instructions, cost, 100, 50}};
        struct check_counts functions[2][2] = {
            {{name, (char *)"libc.so.6", 1000, 2000, 10},
             {(char *)"z", (char *)"p", 9000, 18000, 1}},
            {{name, (char *)"libc.so.6", string_rows[i].instructions,
              string_rows[i].cost, string_rows[i].calls},
             {(char *)"z", (char *)"p", 9000, 18000, 1}}};
        struct check_report report = {
            .results = calloc(1, sizeof(struct check_result)),
            .result_count = 1};
        struct check_result *const r = report.results;
        compare_functions(old, new, functions, limits, COUNT(limits), r);
        if (r->measures[0].verdict != string_rows[i].verdict ||
            r->measures[1].verdict != string_rows[i].cost_verdict ||
            fabs(r->measures[0].strings - string_rows[i].strings) > 1e-9 ||
            r->note_count != string_rows[i].notes)
            fail_msg("row at line %d: %s, %s, %g %%, %zu notes",
                     string_rows[i].line,
                     check_verdict_name(r->measures[0].verdict),
                     check_verdict_name(r->measures[1].verdict),
                     r->measures[0].strings, r->note_count);
        check_report_finish(&report);
    }
}

/* A function that only has another name did no other work, and a measure that
 * the baseline lacks hides no rise. */
static void
test_renamed(void **state)
{
    static const struct check_limit limits[] = {{(char *)CHECK_COST, NAN, 1},
                                                {(char *)CHECK_STORES, 1, NAN}};
    uint64_t old[LAYOUTS][EVENTS] = {
        {1000, 2000, 100, 50}, {1000, 2000, 100, 50}, {1000, 2000, 100, 50}};
    uint64_t new[LAYOUTS][EVENTS] = {
        {1000, 3000, 100, 50}, {1000, 3000, 100, 50}, {1000, 3000, 100, 50}};
    struct check_report report = {
        .results = calloc(1, sizeof(struct check_result)), .result_count = 1};
    struct check_result *const r = report.results;
    struct check_entry before, now;

    (void)state;
    sum_up(old, "f", &before);
    sum_up(new, "g", &now);
    before.measure_count--;
    assert_int_equal(check_compare(&now, &before, limits, COUNT(limits), r), 0);
    assert_int_equal(r->status, CHECK_ROSE);
    assert_int_equal(r->cause, CHECK_PLACES);
    assert_true(fabs(r->work) < 1e-9 && fabs(r->places - 50) < 1e-9);
    before.measure_count++;
    check_entry_finish(&before);
    check_entry_finish(&now);
    check_report_finish(&report);
}

static void
test_difference(void **state)
{
    uint64_t counts[LAYOUTS][EVENTS] = {
        {1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 5, 4}};
    struct check_sample *const s = make_samples(counts, "f");
    size_t event = 9;

    (void)state;
    assert_null(check_difference(&s[0], &s[1], measures, &event));
    assert_string_equal(check_difference(&s[0], &s[2], measures, &event),
                        CHECK_LOADS);
    assert_int_equal(event, 2);
    for (unsigned i = 0; i < LAYOUTS; i++)
        check_sample_finish(&s[i]);
    free(s);
}

/* A baseline that is written and read again has the same entries, whose text is
 * the same to the byte. */
static void
test_file(void **state)
{
    uint64_t old[LAYOUTS][EVENTS] = {
        {1000, 990, 100, 50}, {1000, 1000, 100, 50}, {1000, 1010, 100, 50}};
    struct check_baseline b, again;
    struct check_entry entry, found;
    char *text[2] = {NULL, NULL};
    size_t size[2];

    (void)state;
    sum_up(old, "operator<\"\\", &entry);
    assert_int_equal(check_baseline_read("/nonexistent/baseline", NULL, &b), 0);
    assert_true(b.missing);
    assert_int_equal(check_baseline_put(&b, "name", "key", &entry), 0);
    FILE *out = open_memstream(&text[0], &size[0]);
    assert_int_equal(check_baseline_write(&b, out), 0);
    fclose(out);
    assert_int_equal(
        check_baseline_parse(text[0], size[0], "file", NULL, &again), 0);
    assert_int_equal(check_baseline_find(&again, "name", "other", &found),
                     TALLY_EUNKNOWN);
    assert_string_equal(check_baseline_other(&again, "name"), "key");
    assert_null(check_baseline_other(&again, "none"));
    assert_int_equal(check_baseline_find(&again, "name", "key", &found), 0);
    assert_int_equal(found.layouts, LAYOUTS);
    assert_string_equal(found.functions[0].name, "operator<\"\\");
    assert_int_equal(found.functions[0].cost, 1000);
    assert_int_equal(found.functions[0].calls, 7);
    out = open_memstream(&text[1], &size[1]);
    assert_int_equal(check_baseline_write(&again, out), 0);
    fclose(out);
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
    check_entry_finish(&entry);
    check_entry_finish(&found);
    check_baseline_finish(&b);
    check_baseline_finish(&again);
}

static const struct {
    int line;
    const char *text, *wanted; /* in the error */
} damaged[] = {
    {__LINE__, "", "line 1, column 0"},
    {__LINE__, "[]", "lacks 'schema' or 'benchmarks'"},
    {__LINE__, "{\"schema\": 1}", "lacks 'schema' or 'benchmarks'"},
    {__LINE__, "{\"schema\": 3, \"benchmarks\": {}}", "has schema 3"},
    {__LINE__, "{\"schema\": 1, \"benchmarks\": {\"a\": 1}}",
     "benchmark 'a' is damaged"},
    {__LINE__, "{\"schema\": 1, \"benchmarks\": {\"a\": {\"k\": {}}}}",
     "damaged at 'k'"},
    {__LINE__,
     "{\"schema\": 1, \"benchmarks\": {\"a\": {\"k\": {\"tally\": \"1\", "
     "\"layouts\": 1, \"output\": \"\", \"builds\": {}, \"functions\": {}, "
     "\"measures\": {\"cost\": [1, 2, 3]}}}}}",
     "damaged at 'k'"},
    {__LINE__,
     "{\"schema\": 1, \"benchmarks\": {\"a\": {\"k\": {\"tally\": \"1\", "
     "\"layouts\": 65, \"output\": \"\", \"builds\": {}, \"functions\": {}, "
     "\"measures\": {}}}}}",
     "damaged at 'k'"},
    {__LINE__, "{\"schema\": 1, \"schema\": 1, \"benchmarks\": {}}",
     "duplicate"},
};

static void
keep(void *user, enum tally_level level, const char *text)
{
    (void)level;
    snprintf(user, 512, "%s", text);
}

static void
test_damaged(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(damaged); i++) {
        char said[512] = "";
        const struct tally_log log = {keep, said};
        struct check_baseline b;
        const int error = check_baseline_parse(
            damaged[i].text, strlen(damaged[i].text), "file", &log, &b);
        if (error != TALLY_ESYNTAX || strstr(said, damaged[i].wanted) == NULL ||
            strncmp(said, "file", 4) != 0)
            fail_msg("row at line %d: %d, %s", damaged[i].line, error, said);
        check_baseline_finish(&b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),       cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_functions),  cmocka_unit_test(test_split),
        cmocka_unit_test(test_strings),    cmocka_unit_test(test_renamed),
        cmocka_unit_test(test_difference), cmocka_unit_test(test_file),
        cmocka_unit_test(test_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
