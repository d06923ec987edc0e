/* SPDX-License-Identifier: MIT */
/* The forms of a report of tally check: whole texts of a report whose names
 * hold what each form must escape. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/report.h"

#include <cmocka.h>

/* Markup, a byte that is not UTF-8, a control character, a noncharacter, a tab
 * and a newline. */
#define NAME "<a&\"|@`>\xff\x01\xef\xbf\xbe\t\nz"

static struct check_measure measures[] = {
    {.name = (char *)"instructions",
     .now = {1100, 1100, 1100},
     .before = {1000, 1000, 1000},
     .compared = true,
     .change = 10,
     .soft = NAN,
     .hard = 0.2,
     .verdict = CHECK_HARD},
    {.name = (char *)"cost",
     .now = {2000, 1990, 2011},
     .soft = NAN,
     .hard = 1,
     .verdict = CHECK_SAME},
};
static struct check_function functions[] = {
    {.name = (char *)"f<int>",
     .image = (char *)"",
     .instructions = 100,
     .cost = 5,
     .cost_before = 7,
     .calls = 12,
     .calls_before = 10},
};
static char *notes[] = {(char *)"another libc"};
static struct check_result results[] = {
    {.benchmark = (char *)NAME,
     .key = (char *)"ci-1 x86-64",
     .status = CHECK_ROSE,
     .layouts = 9,
     .seconds = 1.5,
     .measures = measures,
     .measure_count = 2,
     .cause = CHECK_WORK,
     .work = 10,
     .places = -0.5,
     .functions = functions,
     .function_count = 1,
     .notes = notes,
     .note_count = 1},
    {.benchmark = (char *)"b",
     .status = CHECK_FAILED,
     .reason = (char *)"status 1"},
    {.benchmark = (char *)"c", .status = CHECK_NO_BASELINE},
};
static const struct check_report report = {.results = results,
                                           .result_count = 3};

/* Compares what a form writes with the whole text that is expected. */
static void
expect(int (*write)(const struct check_report *, FILE *), const char *wanted)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(write(&report, out), 0);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, wanted);
    free(text);
}

static void
test_junit(void **state)
{
    (void)state;
    expect(check_write_junit,
           "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<testsuite name=\"tally check\" tests=\"3\" failures=\"1\" "
           "errors=\"1\" skipped=\"1\" time=\"1.500\">\n"
           "  <testcase classname=\"tally check\" "
           "name=\"&lt;a&amp;&quot;|@`&gt;\\xff\\x01\\u{fffe}&#9;&#10;z\" "
           "time=\"1.500\">\n"
           "    <failure type=\"rose\" message=\"instructions rose by "
           "10.00 %, beyond the limit of 0.2 %\">instructions: 1100, +10.00 %, "
           "beyond the hard limit of 0.2 %\n"
           "cost: 2000, new\n"
           "of the cost: +10.00 % other work, -0.50 % misses and "
           "mispredictions\n"
           "function f&lt;int&gt;: cost -2, instructions +100\n"
           "note: another libc\n"
           "</failure>\n"
           "  </testcase>\n"
           "  <testcase classname=\"tally check\" name=\"b\" time=\"0.000\">\n"
           "    <error type=\"failed\" message=\"status 1\"></error>\n"
           "  </testcase>\n"
           "  <testcase classname=\"tally check\" name=\"c\" time=\"0.000\">\n"
           "    <skipped message=\"no baseline\"/>\n"
           "  </testcase>\n"
           "</testsuite>\n");
}

static void
test_markdown(void **state)
{
    (void)state;
    expect(
        check_write_markdown,
        "### tally check\n"
        "\n"
        "`` 1 of 3 benchmarks did not run as it should: b; 1 of 3 benchmarks "
        "rose beyond a limit: <a&\"|@`>\\xff\\x01\357\277\276\\x09\\x0az; 1 of "
        "3 benchmarks has no baseline to compare with: c ``\n"
        "\n"
        "| benchmark | | instructions | cost |\n"
        "|---|---|--:|--:|\n"
        "| `` <a&\"\\|@`>\\xff\\x01\357\277\276\\x09\\x0az `` | **beyond a "
        "limit** | +10.00 % | new |\n"
        "| `b` | **failed** | - | - |\n"
        "| `c` | no baseline | - | - |\n"
        "\n"
        "<details "
        "open><summary>&#60;a&#38;\"|&#64;`&#62;"
        "\\xff\\x01\357\277\276\\x09\\x0az</summary>\n"
        "\n"
        "| | baseline | now | change | |\n"
        "|---|--:|--:|--:|---|\n"
        "| `instructions` | 1,000 | 1,100 | +10.00 % | hard limit 0.2 % |\n"
        "| `cost` |  | 2,000 | new |  |\n"
        "\n"
        "Of the cost: +10.00 % other work, -0.50 % misses and "
        "mispredictions.\n"
        "\n"
        "| function, by itself | cost | instructions | calls |\n"
        "|---|--:|--:|--:|\n"
        "| `f<int>` | -2 | +100 | +2 |\n"
        "\n"
        "- `another libc`\n"
        "\n"
        "</details>\n"
        "\n"
        "<details open><summary>b</summary>\n"
        "\n"
        "`status 1`\n"
        "\n"
        "\n"
        "</details>\n"
        "\n"
        "<details open><summary>c</summary>\n"
        "\n"
        "\n"
        "</details>\n");
}

static void
test_json(void **state)
{
    (void)state;
    expect(
        check_write_json,
        "{\n"
        " \"schema\": 1,\n"
        " \"tally\": null,\n"
        " \"time\": null,\n"
        " \"settings\": null,\n"
        " \"baseline\": null,\n"
        " \"updated\": false,\n"
        " \"results\": [\n"
        "  {\n"
        "   \"benchmark\": \"<a&\\\"|@`>\\\\xff\\u0001\357\277\276\\t\\nz\",\n"
        "   \"machine\": null,\n"
        "   \"key\": \"ci-1 x86-64\",\n"
        "   \"status\": \"rose\",\n"
        "   \"reason\": null,\n"
        "   \"layouts\": 9,\n"
        "   \"host_seconds\": 1.5,\n"
        "   \"cause\": \"work\",\n"
        "   \"work_percent\": 10.0,\n"
        "   \"places_percent\": -0.5,\n"
        "   \"measures\": [\n"
        "    {\n"
        "     \"name\": \"instructions\",\n"
        "     \"now\": {\n"
        "      \"median\": 1100,\n"
        "      \"least\": 1100,\n"
        "      \"most\": 1100\n"
        "     },\n"
        "     \"baseline\": {\n"
        "      \"median\": 1000,\n"
        "      \"least\": 1000,\n"
        "      \"most\": 1000\n"
        "     },\n"
        "     \"change_percent\": 10.0,\n"
        "     \"strings_percent\": 0.0,\n"
        "     \"soft_percent\": null,\n"
        "     \"hard_percent\": 0.2,\n"
        "     \"verdict\": \"hard\"\n"
        "    },\n"
        "    {\n"
        "     \"name\": \"cost\",\n"
        "     \"now\": {\n"
        "      \"median\": 2000,\n"
        "      \"least\": 1990,\n"
        "      \"most\": 2011\n"
        "     },\n"
        "     \"baseline\": null,\n"
        "     \"change_percent\": null,\n"
        "     \"strings_percent\": null,\n"
        "     \"soft_percent\": null,\n"
        "     \"hard_percent\": 1.0,\n"
        "     \"verdict\": \"same\"\n"
        "    }\n"
        "   ],\n"
        "   \"functions\": [\n"
        "    {\n"
        "     \"name\": \"f<int>\",\n"
        "     \"image\": \"\",\n"
        "     \"new\": false,\n"
        "     \"gone\": false,\n"
        "     \"instructions\": 100,\n"
        "     \"instructions_baseline\": 0,\n"
        "     \"cost\": 5,\n"
        "     \"cost_baseline\": 7,\n"
        "     \"calls\": 12,\n"
        "     \"calls_baseline\": 10\n"
        "    }\n"
        "   ],\n"
        "   \"notes\": [\n"
        "    \"another libc\"\n"
        "   ]\n"
        "  },\n"
        "  {\n"
        "   \"benchmark\": \"b\",\n"
        "   \"machine\": null,\n"
        "   \"key\": null,\n"
        "   \"status\": \"failed\",\n"
        "   \"reason\": \"status 1\",\n"
        "   \"layouts\": 0,\n"
        "   \"host_seconds\": 0.0,\n"
        "   \"cause\": \"none\",\n"
        "   \"work_percent\": null,\n"
        "   \"places_percent\": null,\n"
        "   \"measures\": [],\n"
        "   \"functions\": [],\n"
        "   \"notes\": []\n"
        "  },\n"
        "  {\n"
        "   \"benchmark\": \"c\",\n"
        "   \"machine\": null,\n"
        "   \"key\": null,\n"
        "   \"status\": \"no-baseline\",\n"
        "   \"reason\": null,\n"
        "   \"layouts\": 0,\n"
        "   \"host_seconds\": 0.0,\n"
        "   \"cause\": \"none\",\n"
        "   \"work_percent\": null,\n"
        "   \"places_percent\": null,\n"
        "   \"measures\": [],\n"
        "   \"functions\": [],\n"
        "   \"notes\": []\n"
        "  }\n"
        " ]\n"
        "}\n");
}

static void
test_action(void **state)
{
    (void)state;
    expect(
        check_write_action,
        "[\n"
        " {\n"
        "  \"name\": \"<a&\\\"|@`>\\\\xff\\u0001\357\277\276\\t\\nz "
        "instructions\",\n"
        "  \"unit\": \"events\",\n"
        "  \"value\": 1100,\n"
        "  \"range\": \"0\",\n"
        "  \"extra\": \"ci-1 x86-64\"\n"
        " },\n"
        " {\n"
        "  \"name\": \"<a&\\\"|@`>\\\\xff\\u0001\357\277\276\\t\\nz cost\",\n"
        "  \"unit\": \"cycles\",\n"
        "  \"value\": 2000,\n"
        "  \"range\": \"11\",\n"
        "  \"extra\": \"ci-1 x86-64\"\n"
        " }\n"
        "]\n");
}

static void
test_bencher(void **state)
{
    (void)state;
    expect(check_write_bencher,
           "{\n"
           " \"<a&\\\"|@`>\\\\xff\\u0001\357\277\276\\t\\nz\": {\n"
           "  \"instructions\": {\n"
           "   \"value\": 1100,\n"
           "   \"lower_value\": 1100,\n"
           "   \"upper_value\": 1100\n"
           "  },\n"
           "  \"cost\": {\n"
           "   \"value\": 2000,\n"
           "   \"lower_value\": 1990,\n"
           "   \"upper_value\": 2011\n"
           "  }\n"
           " }\n"
           "}\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_junit),   cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_json),    cmocka_unit_test(test_action),
        cmocka_unit_test(test_bencher),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
