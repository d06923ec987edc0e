/* SPDX-License-Identifier: MIT */
/* Reports of tally count -j read back. */
#include "report/count_document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HEAD "{\"schema\":1,\"machine\":\"m\","

/* Keeps the last line of the log. */
static void
keep(void *user, enum tally_level level, const char *text)
{
    (void)level;
    snprintf(user, 256, "%s", text);
}

static int
read_text(const char *text, char said[256], struct count_document **d)
{
    const struct tally_log log = {keep, said};

    said[0] = '\0';
    *d = NULL;
    return count_document_read(text, strlen(text), "r.json", &log, d);
}

static void
test_values(void **state)
{
    static const char text[] = HEAD
        "\"program\":\"p a\",\"cpu\":null,\"status\":{\"exit\":3},"
        "\"interrupted\":true,\"counted\":{\"skip\":5,\"from\":\"f\"},"
        "\"events\":[{\"name\":\"A\",\"asked\":\"a\",\"value\":7,"
        "\"fidelity\":\"exact\",\"runs\":3,\"mean\":7.25,\"stddev\":0.5},"
        "{\"name\":\"B\",\"value\":null,\"code\":\"no-pmu\",\"reason\":\"r\"},"
        "{\"name\":\"C\",\"value\":1.5,\"unit\":\"Joules\"}],"
        "\"metrics\":[{\"name\":\"ipc\",\"value\":0.5,\"unit\":\"\"}],"
        "\"runs\":[{\"values\":[9,null,1]},{\"values\":[5,2,3]}]} \n";
    struct count_document *d;
    char said[256];

    (void)state;
    assert_int_equal(read_text(text, said, &d), 0);
    assert_string_equal(said, "");
    assert_string_equal(d->program, "p a");
    assert_null(d->cpu);
    assert_string_equal(d->status, "exit 3");
    assert_string_equal(d->scope, "{\"from\":\"f\",\"skip\":5}");
    assert_true(d->interrupted);
    assert_int_equal(d->event_count, 3);
    const struct count_row *e = d->events;
    assert_string_equal(e[0].name, "A");
    assert_string_equal(e[0].asked, "a");
    assert_string_equal(e[0].standing, "exact");
    assert_true(e[0].value.known && e[0].value.whole && e[0].value.count == 7);
    assert_true(e[0].runs == 3 && e[0].mean > 7.2 && e[0].stddev > 0.4);
    assert_true(e[0].has_range && e[0].low > 4.9 && e[0].high < 9.1);
    assert_string_equal(e[1].asked, "B");
    assert_false(e[1].value.known || e[1].has_range);
    assert_string_equal(e[1].code, "no-pmu");
    assert_string_equal(e[1].reason, "r");
    assert_true(e[2].value.known && !e[2].value.whole && e[2].value.real > 1.4);
    assert_string_equal(e[2].unit, "Joules");
    assert_int_equal(e[2].runs, 1);
    assert_int_equal(d->metric_count, 1);
    count_document_destroy(d);
}

static const struct {
    int line;
    const char *text, *said;
} refused[] = {
    {__LINE__, "", "r.json:1: no JSON: '[' or '{' expected near end of file"},
    {__LINE__, "{\"a\":\n}", "r.json:2: no JSON: unexpected token near '}'"},
    {__LINE__, "[]", "r.json: is no report of tally count -j"},
    {__LINE__, "{\"schema\":1,\"events\":[]}",
     "r.json: is no report of tally count -j"},
    {__LINE__, HEAD "\"events\":[],\"by\":[\"function\"]}",
     "r.json: is no report of tally count -j"},
    {__LINE__, "{\"schema\":2,\"machine\":\"m\",\"events\":[]}",
     "r.json: schema 2 of a report; this tally reads 1"},
    {__LINE__, HEAD "\"events\":[{\"name\":\"A\"}]}",
     "r.json: has an event without a name and a value"},
    {__LINE__, HEAD "\"events\":[{\"value\":1}]}",
     "r.json: has an event without a name and a value"},
    {__LINE__, HEAD "\"events\":[{\"name\":\"A\",\"value\":\"1\"}]}",
     "r.json: has an event without a name and a value"},
    {__LINE__, HEAD "\"events\":[7]}",
     "r.json: has an event without a name and a value"},
    {__LINE__, HEAD "\"events\":[],\"metrics\":[{}]}",
     "r.json: has a metric without a name and a value"},
    {__LINE__, HEAD "\"at_s\":0.1,\"events\":[]}",
     "r.json: has intervals (-I); a report of a whole run, without -I, is "
     "read"},
    {__LINE__, HEAD "\"parts_of_run\":[]}\n" HEAD "\"at_s\":0.1,\"events\":[]}",
     "r.json: has intervals (-I); a report of a whole run, without -I, is "
     "read"},
    {__LINE__, HEAD "\"events\":[]}\n" HEAD "\"events\":[]}\n",
     "r.json: has several reports (--append); one is read"},
    {__LINE__, HEAD "\"events\":[]} more",
     "r.json: is damaged: more than a report is in it"},
};

static void
test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct count_document *d;
        char said[256];
        const int error = read_text(refused[i].text, said, &d);
        if (error != TALLY_ESYNTAX || strcmp(said, refused[i].said) != 0 ||
            d != NULL)
            fail_msg("line %d: %d, %s", refused[i].line, error, said);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
