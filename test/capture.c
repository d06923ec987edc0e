/* SPDX-License-Identifier: MIT */
/* What --ear, --etb and --ip-ear take: a request changes on success only. */
#include "profile/capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef int parse(const char *text, const struct tally_log *log,
                  struct capture_request *request);

static const struct row {
    int line;
    parse *parse;
    const char *text;
    int error;
} rows[] = {
    {__LINE__, capture_parse_ear, "load-latency=64", 0},
    {__LINE__, capture_parse_ear, "fetch-latency=32", 0},
    {__LINE__, capture_parse_ear, "dtlb", 0},
    {__LINE__, capture_parse_ear, "itlb", 0},
    {__LINE__, capture_parse_ear, "load-latency=65", TALLY_ERANGE},
    {__LINE__, capture_parse_ear, "load-latency=", TALLY_ERANGE},
    {__LINE__, capture_parse_ear, "fetch-latency=64", TALLY_ERANGE},
    {__LINE__, capture_parse_ear, "alat", TALLY_EIDLE},
    {__LINE__, capture_parse_ear, "stores", TALLY_ESYNTAX},
    {__LINE__, capture_parse_trace, "16", 0},
    {__LINE__, capture_parse_trace, "0", TALLY_ERANGE},
    {__LINE__, capture_parse_trace, "17", TALLY_ERANGE},
    {__LINE__, capture_parse_retired, "0", 0},
    {__LINE__, capture_parse_retired, "255", 0},
    {__LINE__, capture_parse_retired, "256", TALLY_ERANGE},
};

static void
check(const struct row *row, const char *text, int error,
      struct capture_request *r)
{
    struct capture_request before;

    memcpy(&before, r, sizeof(before));
    if (row->parse(text, NULL, r) != error)
        fail_msg("row at line %d: not %d", row->line, error);
    if ((memcmp(&before, r, sizeof(before)) == 0) != (error != 0))
        fail_msg("row at line %d: the request", row->line);
}

static void
test_parse(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct capture_request r;
        memset(&r, 0, sizeof(r));
        check(&rows[i], rows[i].text, rows[i].error, &r);
    }
}

/* What was asked for once is not asked for again. */
static void
test_twice(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct capture_request r;
        if (rows[i].error != 0)
            continue;
        memset(&r, 0, sizeof(r));
        check(&rows[i], rows[i].text, 0, &r);
        check(&rows[i], rows[i].text, TALLY_ERANGE, &r);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_twice),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
