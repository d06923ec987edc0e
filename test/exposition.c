/* SPDX-License-Identifier: MIT */
/* Samples in both text formats. */
#include "fleet/exposition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TIMES, SIZES, NOTHING, FAMILIES };

static const struct metric_family families[FAMILIES] = {
    [TIMES] = {"a_time_seconds", "seconds", "Times.", METRIC_COUNTER},
    [SIZES] = {"a_size", NULL, "Sizes.", METRIC_GAUGE},
    [NOTHING] = {"a_nothing", NULL, "Nothing.", METRIC_GAUGE},
};

static const struct metric_label none[] = {{0}};

/* Returns what is written, for the caller to free. */
static char *
written(const struct exposition *e, enum exposition_form form)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(exposition_write(e, form, out), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void
check(const struct exposition *e, enum exposition_form form, const char *wanted)
{
    char *const text = written(e, form);

    assert_string_equal(text, wanted);
    free(text);
}

static void
test_forms(void **state)
{
    const struct metric_label cpu[] = {{"cpu", "0"}, {"unit", NULL}, {0}};
    struct exposition *e = NULL;

    (void)state;
    assert_int_equal(exposition_create(families, FAMILIES, &e), 0);
    /* Families stand in the order of their rows, samples in that of calls. */
    exposition_add(e, SIZES, none, UINT64_MAX);
    exposition_add_real(e, TIMES, cpu, 0.25);
    exposition_add_real(e, TIMES, none, 1e-9);
    check(e, EXPOSITION_OPENMETRICS,
          "# TYPE a_time_seconds counter\n# UNIT a_time_seconds seconds\n"
          "# HELP a_time_seconds Times.\n"
          "a_time_seconds_total{cpu=\"0\"} 0.25\n"
          "a_time_seconds_total 1e-09\n"
          "# TYPE a_size gauge\n# HELP a_size Sizes.\n"
          "a_size 18446744073709551615\n# EOF\n");
    check(e, EXPOSITION_PROMETHEUS,
          "# TYPE a_time_seconds_total counter\n"
          "# HELP a_time_seconds_total Times.\n"
          "a_time_seconds_total{cpu=\"0\"} 0.25\n"
          "a_time_seconds_total 1e-09\n"
          "# TYPE a_size gauge\n# HELP a_size Sizes.\n"
          "a_size 18446744073709551615\n");
    exposition_destroy(e);
}

/* Of two samples with the same labels the first stays. */
static void
test_doubles(void **state)
{
    const struct metric_label a[] = {{"x", "1"}, {"y", ""}, {0}};
    const struct metric_label b[] = {{"x", "1"}, {0}};
    struct exposition *e = NULL;

    (void)state;
    assert_int_equal(exposition_create(families, FAMILIES, &e), 0);
    exposition_add(e, SIZES, a, 1);
    exposition_add(e, SIZES, b, 2);
    exposition_add(e, SIZES, none, 3);
    exposition_add(e, SIZES, none, 4);
    check(e, EXPOSITION_OPENMETRICS,
          "# TYPE a_size gauge\n# HELP a_size Sizes.\na_size{x=\"1\"} 1\n"
          "a_size 3\n# EOF\n");
    exposition_destroy(e);
}

/* Values of labels that would end the value or the line, or that are no text.
 */
static void
test_escapes(void **state)
{
    static const struct {
        unsigned line;
        const char *value, *wanted;
    } rows[] = {
        {__LINE__, "plain \xc3\xa4", "plain \xc3\xa4"},
        {__LINE__, "a\"b", "a\\\"b"},
        {__LINE__, "a\\b", "a\\\\b"},
        {__LINE__, "a\nb", "a\\\\x0ab"},
        {__LINE__, "\xff", "\\\\xff"},
        {__LINE__, "\xe2\x80\xae", "\\\\u{202e}"},
        {__LINE__, "}", "}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct metric_label labels[] = {{"x", rows[i].value}, {0}};
        struct exposition *e = NULL;
        char wanted[128];
        assert_int_equal(exposition_create(families, FAMILIES, &e), 0);
        exposition_add(e, SIZES, labels, 0);
        char *const text = written(e, EXPOSITION_OPENMETRICS);
        snprintf(wanted, sizeof(wanted),
                 "# TYPE a_size gauge\n# HELP a_size Sizes.\n"
                 "a_size{x=\"%s\"} 0\n# EOF\n",
                 rows[i].wanted);
        if (strcmp(text, wanted) != 0)
            fail_msg("row of line %u: %s", rows[i].line, text);
        free(text);
        exposition_destroy(e);
    }
}

static void
test_nothing(void **state)
{
    struct exposition *e = NULL;

    (void)state;
    assert_int_equal(exposition_create(families, FAMILIES, &e), 0);
    check(e, EXPOSITION_OPENMETRICS, "# EOF\n");
    check(e, EXPOSITION_PROMETHEUS, "");
    exposition_destroy(e);
    exposition_destroy(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
