/* SPDX-License-Identifier: MIT */
/* A record's counts in rows, of a record and names that are made here. */
#include "record/breakdown.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/breakdown_report.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum text { NONE, MAIN, COPY, INIT, A_C, B_C, COPY_H, PROGRAM, LIBRARY, TEXTS };
static const char *const texts[TEXTS] = {
    "",       "main",     "copy",
    "init",   "/src/a.c", "/src/b.c",
    "copy.h", "/bin/app", "/lib/\033[1m.so",
};

/*
 * The instructions of each process:
 *   0  main             /src/a.c:10  app+0x100, main's first byte
 *   1  copy in main     copy.h:3     app+0x104
 *   2  main             copy.h:4     app+0x108, a line of a header in main
 *   3  init             /src/a.c:20  app+0x200
 *   4  init             /src/b.c:20  app+0x300, another function of the name
 *   5  not known                     app+0x400
 *   6  not known                     the library+0x10
 *   7  not known                     of no file
 */
#define INSNS 8
#define FRAME(function, file, line) \
    {                               \
        function, 0, file, line, 0  \
    }
#define NAMED(frames, count, image, offset)      \
    {                                            \
        frames, count, image, offset, UINT64_MAX \
    }
static const struct resolved_frame frames[INSNS][2] = {
    {FRAME(MAIN, A_C, 10)},   {FRAME(COPY, COPY_H, 3), FRAME(MAIN, A_C, 11)},
    {FRAME(MAIN, COPY_H, 4)}, {FRAME(INIT, A_C, 20)},
    {FRAME(INIT, B_C, 20)},   {FRAME(NONE, NONE, 0)},
    {FRAME(NONE, NONE, 0)},   {FRAME(NONE, NONE, 0)},
};
static const struct resolved names[INSNS] = {
    NAMED(frames[0], 1, PROGRAM, 0x100),
    NAMED(frames[1], 2, PROGRAM, 0x100),
    NAMED(frames[2], 1, PROGRAM, 0x100),
    NAMED(frames[3], 1, PROGRAM, 0x200),
    NAMED(frames[4], 1, PROGRAM, 0x300),
    NAMED(frames[5], 1, PROGRAM, UINT64_MAX),
    NAMED(frames[6], 1, LIBRARY, UINT64_MAX),
    NAMED(frames[7], 1, NONE, UINT64_MAX),
};
static struct record_insn insns[INSNS] = {
    {0x100, 0x100, 0, 0, 4, 0},  {0x104, 0x104, 0, 4, 4, 0},
    {0x108, 0x108, 0, 8, 4, 0},  {0x200, 0x200, 0, 12, 4, 0},
    {0x300, 0x300, 0, 16, 4, 0}, {0x400, 0x400, 0, 20, 4, 0},
    {0x9010, 0x10, 1, 24, 4, 0}, {0xff00, 0xff00, RECORD_NO_IMAGE, 28, 4, 0},
};

/* These stand in for the resolver, which reads real files. */
const struct resolved *
resolver_find(struct resolver *resolver, size_t process, size_t insn)
{
    (void)resolver;
    (void)process;
    return &names[insn];
}

const char *
resolver_text(const struct resolver *resolver, uint32_t number)
{
    (void)resolver;
    return texts[number];
}

size_t
resolver_text_count(const struct resolver *resolver)
{
    (void)resolver;
    return TEXTS;
}

#define EVENTS 3
static struct record_event_row events[EVENTS] = {
    {(char *)"Instr", (char *)"instructions", (char *)"", (char *)"",
     (char *)"exact"},
    {(char *)"Stall", (char *)"stalls", (char *)"", (char *)"",
     (char *)"estimated"},
    {(char *)"Nothing", (char *)"=nothing", (char *)"", (char *)"",
     (char *)"idle"},
};
static struct record_process_row processes[] = {
    {.number = 4,
     .pid = 70,
     .program = (char *)"/bin/app",
     .insns = insns,
     .insn_count = INSNS},
    {.number = 9,
     .pid = 71,
     .program = (char *)"/bin/app",
     .insns = insns,
     .insn_count = INSNS},
};
static int64_t totals[][EVENTS] = {{1005, 40, 0}, {60, 10, 0}, {400, 0, 0}};
static struct record_thread_row threads[] = {
    {0, 0, 0, totals[0]},
    {0, 1, 0, totals[1]},
    {1, 0, 0, totals[2]},
};
static uint32_t every_insn[] = {0, 1, 2, 3, 4, 5, 6, 7};
static uint32_t two_insns[] = {0, 3};
static int64_t first_values[] = {
    500, 200, 100, 80, 70, 30, 15, 5, /* instructions, and 5 elsewhere */
    20,  10,  -5,  0,  0,  5,  0,  0, /* stalls, and 10 elsewhere */
    0,   0,   0,   0,  0,  0,  0,  0,
};
static int64_t second_values[] = {40, 20, 10, 0, 0, 0};
static int64_t third_values[] = {300, 100, 0, 0, 0, 0};
static uint32_t no_paths[INSNS];
/* The values of each event, of `count` rows. */
#define VALUES(values, count)                                 \
    (struct record_values[])                                  \
    {                                                         \
        {.by_row = (values)}, {.by_row = (values) + (count)}, \
            {.by_row = (values) + 2 * (count)},               \
    }
static struct record_counts_row counts[] = {
    {0, 0, INSNS, NULL, no_paths, every_insn, VALUES(first_values, INSNS),
     NULL},
    {0, 1, 2, NULL, no_paths, two_insns, VALUES(second_values, 2), NULL},
    {1, 0, 2, NULL, no_paths, two_insns, VALUES(third_values, 2), NULL},
};
static char *argv[] = {(char *)"app", (char *)"a\nb", NULL};
static const struct record made = {
    .path = (char *)"made.data",
    .machine = (char *)"fake",
    .argv = argv,
    .events = events,
    .event_count = EVENTS,
    .processes = processes,
    .process_count = COUNT(processes),
    .threads = threads,
    .thread_count = COUNT(threads),
    .counts = counts,
    .counts_count = COUNT(counts),
};
static const size_t all_events[EVENTS] = {0, 1, 2};

/* Returns the options of one key and all events. */
static struct breakdown_options
by(enum breakdown_key key)
{
    return (struct breakdown_options){
        .keys = {key},
        .key_count = 1,
        .events = all_events,
        .event_count = EVENTS,
    };
}

static struct breakdown *
break_down(const struct record *record, struct breakdown_options o)
{
    struct breakdown *b = NULL;

    assert_int_equal(breakdown_create(record, NULL, &o, NULL, &b), 0);
    return b;
}

/* Checks that rows, dropped rows and what is elsewhere are the totals. */
static void
assert_adds_up(const struct breakdown *b)
{
    for (size_t e = 0; e < b->options.event_count; e++) {
        int64_t sum = b->more[e] + b->elsewhere[e];
        for (size_t i = 0; i < b->row_count; i++)
            sum += b->rows[i].values[e];
        assert_int_equal(sum, b->totals[e]);
        assert_int_equal(sum, record_total(b->record, b->options.events[e]));
    }
}

/* Checks the name of a row by the first key, and its count of event 0. */
static void
check_row(const struct breakdown *b, size_t row, const char *name,
          int64_t value, int line)
{
    if (row >= b->row_count)
        fail_msg("line %d: %zu rows", line, b->row_count);
    char *got = breakdown_name(b, &b->rows[row], b->options.keys[0]);
    assert_non_null(got);
    if (strcmp(got, name) != 0 || b->rows[row].values[0] != value)
        fail_msg("line %d: row %zu is %s %lld", line, row, got,
                 (long long)b->rows[row].values[0]);
    free(got);
}
#define assert_row(b, row, name, value) \
    check_row((b), (row), (name), (value), __LINE__)

/* Every key alone and every pair of keys, of a whole record and of one that is
 * cut short. */
static void
test_sums(void **state)
{
    struct record cut = made;

    (void)state;
    cut.threads = NULL;
    cut.thread_count = 0;
    cut.cut = true;
    for (int first = 0; first < BREAKDOWN_KEYS; first++)
        for (int second = 0; second < BREAKDOWN_KEYS; second++)
            for (int way = 0; way < 4; way++) {
                struct breakdown_options o = by((enum breakdown_key)first);
                o.keys[1] = (enum breakdown_key)second;
                o.key_count = first == second ? 1 : 2;
                o.no_inline = way % 2 != 0;
                o.top = way == 3 ? 2 : 0;
                struct breakdown *b = break_down(way < 2 ? &made : &cut, o);
                assert_adds_up(b);
                assert_true(b->row_count > 0);
                breakdown_destroy(b);
            }
}

static void
test_functions(void **state)
{
    struct breakdown *b = break_down(&made, by(BREAKDOWN_FUNCTION));

    (void)state;
    /* Both processes and all threads; the header's line is main's too. */
    assert_row(b, 0, "main", 940);
    assert_row(b, 1, "copy", 200);
    assert_row(b, 2, "init (a.c)", 200);
    assert_row(b, 3, "init (b.c)", 70);
    assert_row(b, 4, "(no symbols in app)", 30);
    assert_row(b, 5, "(no symbols in \033[1m.so)", 15);
    assert_row(b, 6, "(code of no file)", 5);
    assert_int_equal(b->row_count, 7);
    assert_int_equal(b->elsewhere[0], 5);
    assert_int_equal(b->elsewhere[1], 10);
    assert_int_equal(b->image_count, 3);
    assert_false(b->rows[0].inlined);
    assert_true(b->rows[1].inlined);
    breakdown_destroy(b);
}

static void
test_no_inline(void **state)
{
    struct breakdown_options o = by(BREAKDOWN_FUNCTION);

    (void)state;
    o.no_inline = true;
    struct breakdown *b = break_down(&made, o);
    assert_row(b, 0, "main", 1140);
    assert_row(b, 1, "init (a.c)", 200);
    assert_false(b->rows[0].inlined);
    breakdown_destroy(b);

    o.keys[0] = BREAKDOWN_LINE;
    b = break_down(&made, o);
    assert_row(b, 0, "/src/a.c:10", 840);
    assert_row(b, 1, "/src/a.c:11", 200);
    breakdown_destroy(b);
}

static void
test_names(void **state)
{
    static const struct {
        int line;
        enum breakdown_key key;
        size_t row;
        const char *name;
        int64_t value;
    } rows[] = {
        {__LINE__, BREAKDOWN_LINE, 0, "/src/a.c:10", 840},
        {__LINE__, BREAKDOWN_LINE, 1, "copy.h:3", 200},
        {__LINE__, BREAKDOWN_LINE, 5, "(no line in app)", 30},
        {__LINE__, BREAKDOWN_INSTRUCTION, 0, "app+0x100  main", 840},
        {__LINE__, BREAKDOWN_INSTRUCTION, 7, "(code of no file)+0xff00", 5},
        {__LINE__, BREAKDOWN_FILE, 0, "/src/a.c", 1040},
        {__LINE__, BREAKDOWN_FILE, 1, "copy.h", 300},
        {__LINE__, BREAKDOWN_FILE, 3, "(no source file in app)", 30},
        {__LINE__, BREAKDOWN_IMAGE, 0, "/bin/app", 1440},
        {__LINE__, BREAKDOWN_IMAGE, 2, "(code of no file)", 5},
        /* The threads' totals, with what no instruction has. */
        {__LINE__, BREAKDOWN_THREAD, 0, "app (pid 70) thread 0", 1005},
        {__LINE__, BREAKDOWN_THREAD, 2, "app (pid 70) thread 1", 60},
        {__LINE__, BREAKDOWN_PROCESS, 0, "app (pid 70)", 1065},
        {__LINE__, BREAKDOWN_PROCESS, 1, "app (pid 71)", 400},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct breakdown *b = break_down(&made, by(rows[i].key));
        check_row(b, rows[i].row, rows[i].name, rows[i].value, rows[i].line);
        breakdown_destroy(b);
    }
}

static void
test_order(void **state)
{
    struct breakdown_options o = by(BREAKDOWN_FUNCTION);

    (void)state;
    o.sort = 1;
    struct breakdown *b = break_down(&made, o);
    assert_row(b, 0, "main", 940);
    assert_int_equal(b->rows[0].values[1], 25);
    assert_row(b, 1, "copy", 200);
    assert_row(b, 2, "(no symbols in app)", 30);
    breakdown_destroy(b);

    o.sort_by_name = true;
    b = break_down(&made, o);
    assert_row(b, 0, "(code of no file)", 5);
    assert_row(b, 3, "copy", 200);
    assert_row(b, 6, "main", 940);
    breakdown_destroy(b);

    /* A count below 0 comes last. */
    o = by(BREAKDOWN_LINE);
    o.sort = 1;
    b = break_down(&made, o);
    assert_int_equal(b->rows[b->row_count - 1].values[1], -5);
    assert_adds_up(b);
    breakdown_destroy(b);
}

static void
test_selection(void **state)
{
    struct breakdown_options o = by(BREAKDOWN_FUNCTION);

    (void)state;
    o.top = 2;
    struct breakdown *b = break_down(&made, o);
    assert_int_equal(b->row_count, 2);
    assert_int_equal(b->more_count, 5);
    assert_int_equal(b->more[0], 200 + 70 + 30 + 15 + 5);
    assert_adds_up(b);
    breakdown_destroy(b);

    o.top = 0;
    o.min = 13; /* of 1465: 190.45 */
    b = break_down(&made, o);
    assert_int_equal(b->row_count, 3);
    assert_adds_up(b);
    breakdown_destroy(b);

    /* Of a total of 0 no row has a part that is too small. */
    o.sort = 2;
    b = break_down(&made, o);
    assert_int_equal(b->row_count, 7);
    assert_true(isnan(breakdown_percent(b, 2, 0)));
    breakdown_destroy(b);
}

static void
test_match(void **state)
{
    static const struct {
        int line;
        const char *match;
        size_t rows;
    } rows[] = {
        {__LINE__, "init", 2},      {__LINE__, "INIT", 0}, {__LINE__, "i*", 2},
        {__LINE__, "mai", 1},       {__LINE__, "mai*", 1}, {__LINE__, "ai*", 0},
        {__LINE__, "[cm]*", 2},     {__LINE__, "cop?", 1}, {__LINE__, "", 7},
        {__LINE__, "*no file*", 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct breakdown_options o = by(BREAKDOWN_FUNCTION);
        o.match = rows[i].match;
        struct breakdown *b = break_down(&made, o);
        if (b->row_count != rows[i].rows)
            fail_msg("line %d: %zu rows", rows[i].line, b->row_count);
        assert_int_equal(b->row_count + b->more_count, 7);
        assert_adds_up(b);
        breakdown_destroy(b);
    }
}

/* Events in another order than the record's, and not all. */
static void
test_events(void **state)
{
    static const size_t chosen[] = {1, 0};
    struct breakdown_options o = by(BREAKDOWN_FUNCTION);

    (void)state;
    o.events = chosen;
    o.event_count = 1;
    struct breakdown *b = break_down(&made, o);
    /* Rows without a stall are left out, and are none of the others. */
    assert_int_equal(b->row_count, 3);
    assert_int_equal(b->more_count, 0);
    assert_int_equal(b->rows[0].values[0], 25);
    assert_adds_up(b);
    breakdown_destroy(b);

    o.event_count = 2;
    b = break_down(&made, o);
    assert_int_equal(b->rows[0].values[1], 940);
    assert_adds_up(b);
    breakdown_destroy(b);
}

static void
test_keys(void **state)
{
    static const struct {
        const char *word;
        int key;
    } rows[] = {
        {"function", BREAKDOWN_FUNCTION},
        {"functions", BREAKDOWN_FUNCTION},
        {"sym", BREAKDOWN_FUNCTION},
        {"dso", BREAKDOWN_IMAGE},
        {"pid", BREAKDOWN_PROCESS},
        {"tid", BREAKDOWN_THREAD},
        {"srcline", BREAKDOWN_LINE},
        {"processes", BREAKDOWN_PROCESS},
        {"", -1},
        {"func", -1},
        {"Function", -1},
        {"functionss", -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(breakdown_key_find(rows[i].word, strlen(rows[i].word)),
                         rows[i].key);
}

/* An empty record has no rows. */
static void
test_empty(void **state)
{
    struct record empty = made;

    (void)state;
    empty.process_count = empty.thread_count = empty.counts_count = 0;
    for (int key = 0; key < BREAKDOWN_KEYS; key++) {
        struct breakdown *b = break_down(&empty, by((enum breakdown_key)key));
        assert_int_equal(b->row_count, 0);
        assert_adds_up(b);
        breakdown_destroy(b);
    }
}

enum form { TEXT, CSV, JSON };

static char *
written(const struct breakdown *b, enum form form,
        const struct breakdown_look *look)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(form == TEXT  ? breakdown_text(b, look, out)
                     : form == CSV ? breakdown_csv(b, ';', out)
                                   : breakdown_json(b, out),
                     0);
    fclose(out);
    return text;
}

static void
test_text(void **state)
{
    static const char wanted[] =
        "hottest: main 64.2 % of instructions\n"
        "\n"
        "app a\\x0ab\n"
        "on fake\n"
        "  1,465  instructions (exact)\n"
        "     50  stalls (estimated)\n"
        "  and 1 event more; -e shows others, as -e =nothing\n"
        "\n"
        "  instructions        stalls  image       function\n"
        " 64.2 %    940    50.0 %  25  app         main\n"
        " 13.7 %    200    20.0 %  10  app         copy (inlined)\n"
        " 13.7 %    200     0.0 %   0  app         init (a.c)\n"
        "  4.8 %     70     0.0 %   0  app         init (b.c)\n"
        "  2.0 %     30    10.0 %   5  app         (no symbols in app)\n"
        "  1.0 %     15     0.0 %   0  \\x1b[1m.so  (no symbols in "
        "\\x1b[1m.so)\n"
        "  0.3 %      5     0.0 %   0  (1 more row)\n"
        "  0.3 %      5    20.0 %  10  (elsewhere)\n"
        "100.0 %  1,465   100.0 %  50  total\n";
    struct breakdown_look look = {0};
    struct breakdown_options o = by(BREAKDOWN_FUNCTION);

    (void)state;
    o.top = 6;
    o.event_count = 2;
    struct breakdown *b = break_down(&made, o);
    char *text = written(b, TEXT, &look);
    assert_string_equal(text, wanted);
    free(text);
    breakdown_destroy(b);

    /* Lines are cut at the width of a terminal. */
    o.top = 0;
    o.event_count = 1;
    b = break_down(&made, o);
    look = (struct breakdown_look){.width = 44};
    text = written(b, TEXT, &look);
    assert_non_null(strstr(text, "...\n"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) <= 44 || strstr(line, "hottest") == line ||
                    strstr(line, "  and") == line);
    free(text);
    breakdown_destroy(b);

    o.event_count = EVENTS;
    b = break_down(&made, o);
    look = (struct breakdown_look){.color = true};
    text = written(b, TEXT, &look);
    assert_non_null(strstr(text, "\033[1;31m 64.2 %\033[0m"));
    assert_non_null(strstr(text, "      -"));
    free(text);
    breakdown_destroy(b);
}

static void
test_csv(void **state)
{
    static const char wanted[] =
        "function;function_file;image;instructions;stalls;'=nothing\n"
        "main;/src/a.c;/bin/app;940;25;0\n"
        "copy;copy.h;/bin/app;200;10;0\n"
        "init;/src/a.c;/bin/app;200;0;0\n"
        "init;/src/b.c;/bin/app;70;0;0\n"
        "(no symbols in app);;/bin/app;30;5;0\n"
        "(2 more rows);;;20;0;0\n"
        "(elsewhere);;;5;10;0\n";
    struct breakdown_options o = by(BREAKDOWN_FUNCTION);

    (void)state;
    o.top = 5;
    struct breakdown *b = break_down(&made, o);
    char *text = written(b, CSV, NULL);
    assert_string_equal(text, wanted);
    free(text);
    breakdown_destroy(b);
}

static void
test_json(void **state)
{
    struct breakdown_options o = by(BREAKDOWN_THREAD);

    (void)state;
    o.keys[o.key_count++] = BREAKDOWN_LINE;
    o.top = 1;
    struct breakdown *b = break_down(&made, o);
    char *text = written(b, JSON, NULL);
    assert_non_null(strstr(text, "\"schema\": 1,"));
    assert_non_null(strstr(text, "\"elsewhere\": 5"));
    assert_non_null(strstr(text, "\"line\": 10"));
    assert_non_null(strstr(text, "\"pid\": 70,"));
    assert_non_null(strstr(text, "\"Instr\": 500,"));
    assert_non_null(strstr(text, "\"more\": {"));
    free(text);
    breakdown_destroy(b);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),      cmocka_unit_test(test_functions),
        cmocka_unit_test(test_no_inline), cmocka_unit_test(test_names),
        cmocka_unit_test(test_order),     cmocka_unit_test(test_selection),
        cmocka_unit_test(test_match),     cmocka_unit_test(test_events),
        cmocka_unit_test(test_keys),      cmocka_unit_test(test_empty),
        cmocka_unit_test(test_text),      cmocka_unit_test(test_csv),
        cmocka_unit_test(test_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
