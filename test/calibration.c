/* SPDX-License-Identifier: MIT */
/* The file of tally calibrate: what is read of it, and what is said of what is
 * wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/calibration.h"
#include "source/host.h"

#include <cmocka.h>

#define HEAD                            \
    "date = \"2026-11-29T04:30:00Z\"\n" \
    "processor = \"A, family 1\"\n"     \
    "kernel = \"Linux 6\"\n"

struct heard {
    char text[512];
    unsigned lines;
    enum tally_level level;
};

static void
keep(void *user, enum tally_level level, const char *text)
{
    struct heard *const h = user;

    snprintf(h->text, sizeof(h->text), "%s", text);
    h->level = level;
    h->lines++;
}

static int
parse(const char *text, struct calibration *c, struct heard *heard)
{
    const struct tally_log log = {keep, heard};

    *heard = (struct heard){.text = ""};
    return calibration_parse(text, strlen(text), "c/h.toml", &log, c);
}

static void
test_whole(void **state)
{
    static const char text[] =
        "# A comment, and an empty line\n\n" HEAD "\n[parameter] # another\n"
        "\"time.l2\" = { value = 10, spread = 1.25 }\n"
        "  \"clock\"={value=\"3.5 GHz\",spread=0}\r\n"
        "\"tlb.page\" = { value = \"16K\", source = "
        "\"system\" }\n"
        "\"dtlb.entries\" = { source = \"cpuid\", value "
        "= 72 }\n"
        "[figure]\n"
        "\"load from 8K\" = { value = 4.01, unit = "
        "\"cycles\", spread = 100 }\n"
        "plain-name = { value = 1, spread = 1 }";
    struct calibration c;
    struct heard heard;

    (void)state;
    assert_int_equal(parse(text, &c, &heard), 0);
    assert_int_equal(heard.lines, 0);
    assert_string_equal(c.date, "2026-11-29T04:30:00Z");
    assert_string_equal(c.processor, "A, family 1");
    assert_string_equal(c.kernel, "Linux 6");
    assert_true(c.params[PARAM_TIME_L2].known);
    assert_true(c.params[PARAM_TIME_L2].measured);
    assert_int_equal(c.params[PARAM_TIME_L2].value, 10);
    assert_true(c.params[PARAM_TIME_L2].spread == 1.25);
    assert_int_equal(c.params[PARAM_CLOCK].value, 3500000000);
    assert_int_equal(c.params[PARAM_TLB_PAGE].value, 16384);
    assert_false(c.params[PARAM_DTLB_ENTRIES].measured);
    assert_string_equal(c.params[PARAM_DTLB_ENTRIES].source, "cpuid");
    assert_int_equal(c.params[PARAM_DTLB_ENTRIES].value, 72);
    assert_false(c.params[PARAM_TIME_L3].known);
}

/* What is written is read again as it was. */
static void
test_round_trip(void **state)
{
    struct calibration c = {.date = "2026-11-29T04:30:00Z",
                            .processor = "B (tm)",
                            .kernel = "Linux 6.1"};
    struct calibration again;
    struct heard heard;
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    (void)state;
    for (int i = 0; i < PARAM_COUNT; i++) {
        const struct param_row *const p = &tally_params[i];
        if (!calibration_gives((enum param_id)i))
            continue;
        c.params[i].known = true;
        c.params[i].measured = i % 2 == 0;
        c.params[i].value = p->min;
        if (c.params[i].measured)
            c.params[i].spread = 1.5;
        else
            strcpy(c.params[i].source, "cpuid");
    }
    c.params[PARAM_CLOCK].value = 3691000000;
    calibration_write(&c, out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(parse(text, &again, &heard), 0);
    assert_memory_equal(&again, &c, sizeof(c));
    free(text);
}

static const struct {
    int line;
    const char *text, *says;
} wrong[] = {
    {__LINE__, "", "c/h.toml:1: the file ends without date"},
    {__LINE__, "date = \"2026-11-29\"\n",
     "c/h.toml:1: the file ends without processor; date, processor and kernel "
     "stand before [parameter]"},
    {__LINE__, "date = \"2026-11-29\"\nprocessor = \"p\"\n",
     "c/h.toml:2: the file ends without kernel"},
    {__LINE__, HEAD "date = \"2026-11-29\"\n",
     "c/h.toml:4: 'date' stands twice"},
    {__LINE__, "date = 5\n", "c/h.toml:1: date must be a text in quotes"},
    {__LINE__, "date = \"\"\n", "c/h.toml:1: date must be a text in quotes"},
    {__LINE__, "date = \"a\\nb\"\n", "c/h.toml:1: date must be a text"},
    {__LINE__, "date = \"a\033b\"\n", "c/h.toml:1: date must be a text"},
    {__LINE__, "when = \"d\"\n", "c/h.toml:1: 'when' must not be here"},
    {__LINE__, "= 5\n", "c/h.toml:1: a line is NAME = VALUE"},
    {__LINE__, HEAD "[param]\n", "c/h.toml:4: the tables are [parameter]"},
    {__LINE__, HEAD "[parameter]\n[parameter]\n",
     "c/h.toml:5: the tables are [parameter]"},
    {__LINE__, HEAD "[figure]\n[parameter]\n",
     "c/h.toml:5: the tables are [parameter]"},
    {__LINE__, HEAD "[parameter]\n\"l1d.size\" = { value = 1, spread = 1 }\n",
     "c/h.toml:5: 'l1d.size' is no parameter that tally calibrate measures"},
    {__LINE__, HEAD "[parameter]\n\"time.l2\" = 5\n",
     "c/h.toml:5: a row is \"NAME\" = { value = 10, spread = 1.2 }"},
    {__LINE__, HEAD "[parameter]\n\"time.l2\" = { value = 5 }\n",
     "c/h.toml:5: a row has either a spread or a source"},
    {__LINE__,
     HEAD "[parameter]\n\"time.l2\" = { value = 5, spread = 1, source = "
          "\"cpuid\" }\n",
     "c/h.toml:5: a row has either a spread or a source"},
    {__LINE__, HEAD "[parameter]\n\"time.l2\" = { spread = 5 }\n",
     "c/h.toml:5: the row has no value"},
    {__LINE__, HEAD "[parameter]\n\"time.l2\" = { value = 5, spread = 21 }\n",
     "c/h.toml:5: the spread of a parameter must be per cent, 0 to 20"},
    {__LINE__, HEAD "[parameter]\n\"time.l2\" = { value = 5, spread = 101 }\n",
     "c/h.toml:5: spread must be per cent, 0 to 100"},
    {__LINE__, HEAD "[parameter]\n\"time.l2\" = { value = 5, spread = -1 }\n",
     "c/h.toml:5: spread must be per cent, 0 to 100"},
    {__LINE__, HEAD "[parameter]\n\"time.l2\" = { value = -5, spread = 1 }\n",
     "c/h.toml:5: value must be a number"},
    {__LINE__,
     HEAD "[parameter]\n\"time.l2\" = { value = 5, value = 6, spread = 1 }\n",
     "c/h.toml:5: 'value' must not be here, or not twice"},
    {__LINE__,
     HEAD "[parameter]\n\"time.l2\" = { value = 5, source = \"me\" }\n",
     "c/h.toml:5: source must be \"cpuid\" or \"system\""},
    {__LINE__, HEAD "[parameter]\n\"time.l2\" = { value = 5, spread = 1 } x\n",
     "c/h.toml:5: a row ends with }"},
    {__LINE__,
     HEAD "[parameter]\n\"time.l2\" = { value = 100001, spread = 1 }\n",
     "c/h.toml:5: time.l2=100001: must be 0 cycles to 100000 cycles"},
    {__LINE__, HEAD "[parameter]\n\"time.l2\" = { value = 5.5, spread = 1 }\n",
     "c/h.toml:5: time.l2=5.5: must be whole cycles"},
    {__LINE__, HEAD "[parameter]\ntime.l2 = { value = 5, spread = 1 }\n",
     "c/h.toml:5: a name with a point needs quotes: \"time.l2\""},
    {__LINE__, HEAD "[figure]\na.b.c = { value = 5, spread = 1 }\n",
     "c/h.toml:5: a name with a point needs quotes: \"a.b.c\""},
    {__LINE__, "a.b = 1\n",
     "c/h.toml:1: a name with a point needs quotes: \"a.b\""},
    {__LINE__,
     HEAD "[parameter]\n\"time.l2\" = { value = 5, spread = 1 }\n"
          "\"time.l2\" = { value = 5, spread = 1 }\n",
     "c/h.toml:6: 'time.l2' has two rows"},
};

static void
test_wrong(void **state)
{
    struct calibration c;
    struct heard heard;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const int error = parse(wrong[i].text, &c, &heard);
        if (error == 0 || heard.lines != 1 ||
            strncmp(heard.text, wrong[i].says, strlen(wrong[i].says)) != 0)
            fail_msg("line %d: %d, %u lines, '%s'", wrong[i].line, error,
                     heard.lines, heard.text);
    }
}

/* The date is a day, or a second in UTC; and the line is named. */
static void
test_dates(void **state)
{
    static const struct {
        int line;
        const char *date;
        bool right;
    } rows[] = {
        {__LINE__, "2026-11-29", true},
        {__LINE__, "2026-11-29T04:30:00Z", true},
        {__LINE__, "2024-02-29", true},
        {__LINE__, "2000-02-29T23:59:60Z", true},
        {__LINE__, "0000-01-01T00:00:00Z", true},
        {__LINE__, "2023-02-29", false},
        {__LINE__, "1900-02-29", false},
        {__LINE__, "2026-00-10", false},
        {__LINE__, "2026-13-10", false},
        {__LINE__, "2026-01-00", false},
        {__LINE__, "2026-04-31", false},
        {__LINE__, "2026-11-29T24:00:00Z", false},
        {__LINE__, "2026-11-29T23:60:00Z", false},
        {__LINE__, "2026-11-29T23:59:61Z", false},
        {__LINE__, "2026-11-29T23:59:59", false},
        {__LINE__, "2026-11-29T23:59:59+01:00", false},
        {__LINE__, "2026-11-29T23:59:59Z ", false},
        {__LINE__, "2026-11-29T23:59Z", false},
        {__LINE__, "2026-11-29T", false},
        {__LINE__, "2026-11-29 23:59:59Z", false},
        {__LINE__, "2026-11-29Z", false},
        {__LINE__, "2026-11-2", false},
        {__LINE__, "2026-1-29", false},
        {__LINE__, "+026-11-29", false},
        {__LINE__, "26-11-29", false},
        {__LINE__, "29.11.2026", false},
        {__LINE__, "today", false},
    };
    struct calibration c;
    struct heard heard;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[256], says[256];
        snprintf(text, sizeof(text),
                 "processor = \"p\"\ndate = \"%s\"\nkernel = \"k\"\n",
                 rows[i].date);
        snprintf(says, sizeof(says),
                 "c/h.toml:2: date must be a day such as \"2026-11-29\", or a "
                 "second in UTC such as \"2026-11-29T04:30:00Z\", not \"%s\"",
                 rows[i].date);
        const int error = parse(text, &c, &heard);
        if ((error == 0) != rows[i].right || heard.lines != !rows[i].right ||
            (error != 0 && strcmp(heard.text, says) != 0))
            fail_msg("line %d: %d, '%s'", rows[i].line, error, heard.text);
    }
}

/* A line that is longer than any row, and one with a byte 0. */
static void
test_lines(void **state)
{
    char text[1024];
    struct calibration c;
    struct heard heard = {.text = ""};
    const struct tally_log log = {keep, &heard};

    (void)state;
    memset(text, '#', sizeof(text));
    assert_int_equal(calibration_parse(text, sizeof(text), "f", &log, &c),
                     TALLY_ESYNTAX);
    assert_non_null(strstr(heard.text, "f:1: a line has up to 511 bytes"));
    assert_int_equal(calibration_parse("#\n\0\n", 4, "f", &log, &c),
                     TALLY_ESYNTAX);
    assert_non_null(strstr(heard.text, "f:2: a line has up to"));
}

static void
test_processor(void **state)
{
    static const struct {
        const char *text, *name;
    } rows[] = {
        {"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
         "model\t\t: 85\nmodel name\t: A \"CPU\" @ 2 GHz\nstepping\t: 7\n\n"
         "processor\t: 1\nmodel name\t: another\n",
         "A ?CPU? @ 2 GHz, family 6, model 85, stepping 7"},
        {"processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\n"
         "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n"
         "CPU revision\t: 1\n\n",
         "Arm implementer 0x41, part 0xd0c, variant 0x3, revision 1"},
        {"nothing\n", ""},
    };
    char path[] = "/tmp/tally-cpuinfo-XXXXXX", text[CALIBRATION_TEXT];
    const int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const size_t size = strlen(rows[i].text);
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, rows[i].text, size, 0), size);
        assert_int_equal(calibration_processor(path, text, sizeof(text)),
                         rows[i].name[0] != '\0');
        assert_string_equal(text, rows[i].name);
    }
    close(fd);
    unlink(path);
    assert_false(calibration_processor(path, text, sizeof(text)));
}

static void
test_path(void **state)
{
    char path[64];

    (void)state;
    setenv("HOME", "/h", 1);
    setenv("XDG_CONFIG_HOME", "/x", 1);
    setenv("TALLY_HOST_MODEL", "f", 1);
    assert_true(calibration_path(path, sizeof(path)));
    assert_string_equal(path, "f");
    setenv("TALLY_HOST_MODEL", "", 1);
    assert_false(calibration_path(path, sizeof(path)));
    unsetenv("TALLY_HOST_MODEL");
    assert_true(calibration_path(path, sizeof(path)));
    assert_string_equal(path, "/x/tally/host-model.toml");
    /* A path that does not begin at the root is to be ignored, says the XDG
     * Base Directory Specification. */
    setenv("XDG_CONFIG_HOME", "x", 1);
    assert_true(calibration_path(path, sizeof(path)));
    assert_string_equal(path, "/h/.config/tally/host-model.toml");
    assert_false(calibration_path(path, 8));
    setenv("HOME", "h", 1);
    assert_false(calibration_path(path, sizeof(path)));
    setenv("HOME", "", 1);
    assert_false(calibration_path(path, sizeof(path)));
    unsetenv("HOME");
    assert_false(calibration_path(path, sizeof(path)));
}

/* The values of a file, found where TALLY_HOST_MODEL says. */
struct given {
    char path[64], processor[CALIBRATION_TEXT];
    uint64_t params[PARAM_COUNT];
    uint64_t assumed; /* time.l2 where nothing is measured */
    struct host_values from;
    struct heard heard;
};

static void
give(struct given *g, const char *processor, const char *rows)
{
    const struct machine_row *machine = machine_find("host-model");
    const struct tally_log log = {keep, &g->heard};
    FILE *const file = fopen(g->path, "w");

    g->heard = (struct heard){.text = ""};
    fprintf(file,
            "date = \"2026-11-29\"\nprocessor = \"%s\"\nkernel = \"k\"\n"
            "[parameter]\n%s",
            processor, rows);
    fclose(file);
    for (size_t i = 0; i < PARAM_COUNT; i++)
        g->params[i] = machine->params[i].value;
    host_values(&log, g->params, &g->from);
    if (g->from.core != NULL)
        machine = g->from.core;
    g->assumed = machine->params[PARAM_TIME_L2].value;
}

static void
test_host_values(void **state)
{
    struct given g = {.path = "/tmp/tally-host-model-XXXXXX"};
    const int fd = mkstemp(g.path);

    (void)state;
    if (!calibration_processor("/proc/cpuinfo", g.processor,
                               sizeof(g.processor)))
        skip();
    close(fd);
    setenv("TALLY_HOST_MODEL", g.path, 1);
    give(&g, g.processor, "\"time.l2\" = { value = 77, spread = 1 }\n");
    assert_int_equal(g.heard.lines, 0);
    assert_int_equal(g.params[PARAM_TIME_L2], 77);
    assert_string_equal(g.from.calibration.date, "2026-11-29");

    give(&g, "another", "\"time.l2\" = { value = 77, spread = 1 }\n");
    assert_int_equal(g.heard.lines, 1);
    assert_int_equal(g.heard.level, TALLY_LOG_WARNING);
    assert_non_null(strstr(g.heard.text, "was measured on 'another'"));
    assert_int_equal(g.params[PARAM_TIME_L2], g.assumed);
    assert_string_equal(g.from.calibration.date, "");

    /* Each in its limits, but not together. */
    give(&g, g.processor,
         "\"time.l2\" = { value = 77, spread = 1 }\n"
         "\"stlb.entries\" = { value = 100, spread = 1 }\n");
    assert_int_equal(g.heard.lines, 1);
    assert_int_equal(g.heard.level, TALLY_LOG_WARNING);
    assert_non_null(strstr(g.heard.text, "stlb.entries=100: must be"));
    assert_int_equal(g.params[PARAM_TIME_L2], g.assumed);
    assert_false(g.from.calibration.params[PARAM_TIME_L2].known);

    /* What would be right stands once. */
    FILE *const file = fopen(g.path, "w");
    assert_non_null(file);
    fclose(file);
    const struct tally_log log = {keep, &g.heard};
    g.heard.lines = 0;
    assert_false(calibration_find(&log, &g.from.calibration));
    assert_int_equal(g.heard.lines, 1);
    assert_non_null(strstr(g.heard.text,
                           ":1: the file ends without date; date, processor "
                           "and kernel stand before [parameter]; not used, and "
                           "tally calibrate writes the file anew"));

    /* A file that is named, and is not there. */
    unlink(g.path);
    g.heard.lines = 0;
    assert_false(calibration_find(&log, &g.from.calibration));
    assert_int_equal(g.heard.lines, 1);
    assert_non_null(strstr(g.heard.text, "cannot read "));
    /* A folder cannot be read. */
    setenv("TALLY_HOST_MODEL", "/", 1);
    assert_false(calibration_find(&log, &g.from.calibration));
    assert_int_equal(g.heard.lines, 2);
    assert_non_null(strstr(g.heard.text, "cannot read /: "));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_wrong), cmocka_unit_test(test_dates),
        cmocka_unit_test(test_lines), cmocka_unit_test(test_processor),
        cmocka_unit_test(test_path),  cmocka_unit_test(test_host_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
