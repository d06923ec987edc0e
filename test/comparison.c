/* SPDX-License-Identifier: MIT */
/* Two records compared, of records and names that are made here. */
#include "record/comparison.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/comparison_report.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define INSNS 24
#define TEXTS 64
#define EVENTS 2

/* One record with the names of its instructions, which stands in for a resolver
 * that reads real files. */
struct resolver {
    const char *texts[TEXTS];
    uint32_t text_count;
    struct resolved_frame frames[INSNS][2];
    struct resolved names[INSNS];
    bool image_is_gone;
    /* The record: */
    struct record_insn insns[INSNS];
    struct record_image images[3];
    struct record_process_row processes[2];
    struct record_thread_row threads[2];
    struct record_counts_row counts[2];
    uint32_t counted[2][INSNS], paths[2][INSNS];
    int64_t values[2][EVENTS * INSNS], totals[2][EVENTS];
    struct record_values by_event[EVENTS];
    struct record_event_row events[EVENTS];
    struct record record;
    char *argv[2];
};

const struct resolved *
resolver_find(struct resolver *resolver, size_t process, size_t insn)
{
    (void)process;
    return &resolver->names[insn];
}

const char *
resolver_text(const struct resolver *resolver, uint32_t number)
{
    return resolver->texts[number];
}

size_t
resolver_text_count(const struct resolver *resolver)
{
    return resolver->text_count;
}

uint32_t
resolver_text_find(const struct resolver *resolver, const char *text)
{
    for (uint32_t i = 1; i < resolver->text_count; i++)
        if (strcmp(resolver->texts[i], text) == 0)
            return i;
    return 0;
}

bool
resolver_has_names(const struct resolver *resolver, uint32_t image)
{
    (void)image;
    return !resolver->image_is_gone;
}

static uint32_t
intern(struct resolver *r, const char *text)
{
    uint32_t number = *text != '\0' ? resolver_text_find(r, text) : 0;

    if (number == 0 && *text != '\0') {
        assert_true(r->text_count < TEXTS);
        number = r->text_count++;
        r->texts[number] = text;
    }
    return number;
}

/* An instruction, and what it counts. */
struct insn {
    const char *function;
    const char *file;
    uint32_t line, function_line;
    int64_t value;
    uint32_t image;
    const char *outer; /* that the function is copied into, or NULL */
};

/* Makes a record of one process and thread; the second event counts twice what
 * the first does, but for an instruction the other way round. */
static void
make(struct resolver *r, const struct insn *insns, size_t count,
     const char *const *images, size_t image_count)
{
    struct record *record = &r->record;

    memset(r, 0, sizeof(*r));
    r->texts[0] = "";
    r->text_count = 1;
    for (size_t i = 0; i < image_count; i++)
        r->images[i].path = (char *)images[i];
    for (size_t i = 0; i < count; i++) {
        const struct insn *from = &insns[i];
        const uint64_t offset = 0x100 + 4 * i;
        const bool copied = from->outer != NULL;
        r->insns[i] = (struct record_insn){
            offset, offset, from->image, (uint32_t)(4 * i), 4, 0};
        r->frames[i][0] = (struct resolved_frame){
            .function = intern(r, from->function),
            .file = intern(r, from->file),
            .line = from->line,
            .function_line = from->function_line,
        };
        if (copied)
            r->frames[i][1] = (struct resolved_frame){
                .function = intern(r, from->outer),
                .file = intern(r, from->file),
                .line = 1,
                .function_line = 1,
            };
        r->names[i] = (struct resolved){
            .frames = r->frames[i],
            .frame_count = 1 + copied,
            .image = intern(r, images[from->image]),
            .function_offset = UINT64_MAX,
            .file_address = UINT64_MAX,
        };
        r->counted[0][i] = (uint32_t)i;
        r->values[0][i] = from->value;
        r->values[0][count + i] = i % 2 != 0 ? -from->value : 2 * from->value;
        r->totals[0][0] += from->value;
        r->totals[0][1] += r->values[0][count + i];
    }
    r->totals[0][1] += 3; /* elsewhere */
    r->processes[0] = (struct record_process_row){
        .number = 1,
        .pid = 10,
        .program = (char *)images[0],
        .insns = r->insns,
        .insn_count = count,
    };
    r->threads[0] = (struct record_thread_row){0, 0, 0, r->totals[0]};
    r->counts[0] = (struct record_counts_row){
        .count = count,
        .paths = r->paths[0],
        .insns = r->counted[0],
        .values = r->by_event,
    };
    for (size_t e = 0; e < EVENTS; e++)
        r->by_event[e] =
            (struct record_values){.by_row = r->values[0] + e * count};
    r->events[0] = (struct record_event_row){
        (char *)"I", (char *)"instr", (char *)"", (char *)"", (char *)"exact"};
    r->events[1] =
        (struct record_event_row){(char *)"M", (char *)"misses", (char *)"",
                                  (char *)"", (char *)"modelled"};
    r->argv[0] = (char *)images[0];
    *record = (struct record){
        .path = (char *)"made.data",
        .machine = (char *)"fake",
        .isa = (char *)"fake",
        .argv = r->argv,
        .events = r->events,
        .event_count = EVENTS,
        .images = r->images,
        .image_count = image_count,
        .processes = r->processes,
        .process_count = 1,
        .threads = r->threads,
        .thread_count = 1,
        .counts = r->counts,
        .counts_count = 1,
    };
}

static const size_t all_events[EVENTS] = {0, 1};

static struct comparison *
compare(struct resolver *before, struct resolver *after,
        const enum breakdown_key *keys, size_t key_count,
        const struct source_move *moves)
{
    const struct paired_record sides[] = {
        {&before->record, before, moves, moves != NULL},
        {&after->record, after, NULL, 0},
    };
    struct comparison_options o = {
        .breakdown = {.key_count = key_count,
                      .events = all_events,
                      .event_count = EVENTS},
        .after_events = all_events,
        .sort_is_free = true,
    };
    struct comparison *c = NULL;

    memcpy(o.breakdown.keys, keys, key_count * sizeof(*keys));
    assert_int_equal(comparison_of_records(&sides[0], &sides[1], &o, NULL, &c),
                     0);
    return c;
}

/* Checks that for every event rows, others and elsewhere are the totals. */
static void
assert_adds_up(const struct comparison *c)
{
    for (size_t e = 0; e < c->event_count; e++) {
        int64_t sums[SIDES], change = 0;
        for (int s = 0; s < SIDES; s++) {
            sums[s] = c->more[s][e] +
                      comparison_elsewhere(c, (enum compared_side)s, e);
            for (size_t i = 0; i < c->row_count; i++)
                sums[s] +=
                    comparison_value(&c->rows[i], (enum compared_side)s, e);
            assert_int_equal(sums[s], c->events[e].values[s].count);
        }
        change = c->more[AFTER][e] - c->more[BEFORE][e] +
                 comparison_elsewhere(c, AFTER, e) -
                 comparison_elsewhere(c, BEFORE, e);
        for (size_t i = 0; i < c->row_count; i++)
            change += c->rows[i].change[e];
        assert_int_equal(change, c->events[e].change.count);
    }
}

/* Checks that the rows are these, in any order: "NAME BEFORE AFTER", where a
 * side that lacks the row has -, then what else is known of it. */
static void
check_rows(const struct comparison *c, const char *const *expected,
           size_t count, int line)
{
    assert_adds_up(c);
    for (size_t i = 0; i < c->row_count; i++) {
        const struct compared_row *row = &c->rows[i];
        char text[256], sides[SIDES][24];
        bool found = false;
        char *name = comparison_name(c, row, c->options.breakdown.keys[0]);
        for (int s = 0; s < SIDES; s++)
            if (row->rows[s] != NULL)
                snprintf(sides[s], sizeof(sides[s]), "%lld",
                         (long long)row->rows[s]->values[0]);
            else
                strcpy(sides[s], "-");
        snprintf(text, sizeof(text), "%s %s %s%s%s", name, sides[BEFORE],
                 sides[AFTER], row->edited ? " edited" : "",
                 row->moved ? " moved" : "");
        free(name);
        for (size_t k = 0; k < count; k++)
            found |= strcmp(text, expected[k]) == 0;
        if (!found)
            fail_msg("line %d: %s", line, text);
    }
    if (c->row_count != count)
        fail_msg("line %d: %zu rows", line, c->row_count);
}

/* Compares by one key and checks the rows. */
static void
check(struct resolver *before, struct resolver *after, enum breakdown_key key,
      const struct source_move *moves, const char *const *expected,
      size_t count, int line)
{
    struct comparison *c = compare(before, after, &key, 1, moves);

    check_rows(c, expected, count, line);
    comparison_destroy(c);
}
#define CHECK(before, after, key, moves, ...)  \
    check(&(before), &(after), (key), (moves), \
          (const char *const[]){__VA_ARGS__},  \
          COUNT(((const char *const[]){__VA_ARGS__})), __LINE__)

static const char *const old_images[] = {"/old/app", "/lib/libx.so.1"};
static const char *const new_images[] = {"/new/app", "/lib/libx.so.2"};

static void
test_functions(void **state)
{
    static const struct insn a[] = {
        {"same", "/old/a.c", 10, 9, 5, 0, NULL},
        {"rose", "/old/a.c", 20, 19, 7, 0, NULL},
        {"gone", "/old/a.c", 30, 29, 1, 0, NULL},
        {"went", "/old/a.c", 40, 39, 3, 0, NULL}, /* to another file */
        {"copy.isra.0", "/old/a.c", 50, 49, 9, 0, NULL},
        {"init", "/old/a.c", 60, 59, 20, 0, NULL}, /* two of one name */
        {"init", "/old/b.c", 5, 4, 30, 0, NULL},
        {"lib", "", 0, 0, 40, 1, NULL},              /* another version */
        {"", "", 0, 0, 2, 1, NULL},                  /* without a name */
        {"inner", "/old/a.c", 70, 69, 8, 0, "same"}, /* no copy any more */
    };
    static const struct insn b[] = {
        {"same", "/new/a.c", 10, 9, 5, 0, NULL},
        {"rose", "/new/a.c", 20, 19, 17, 0, NULL},
        {"new", "/new/a.c", 30, 29, 4, 0, NULL},
        {"went", "/new/c.c", 40, 39, 6, 0, NULL},
        {"copy.constprop.1", "/new/a.c", 50, 49, 10, 0, NULL},
        {"init", "/new/b.c", 5, 4, 31, 0, NULL},
        {"init", "/new/a.c", 60, 59, 22, 0, NULL},
        {"lib", "", 0, 0, 41, 1, NULL},
        {"", "", 0, 0, 3, 1, NULL},
        {"inner", "/new/a.c", 70, 69, 9, 0, NULL},
    };
    static struct resolver before, after;

    (void)state;
    make(&before, a, COUNT(a), old_images, 2);
    make(&after, b, COUNT(b), new_images, 2);
    CHECK(before, after, BREAKDOWN_FUNCTION, NULL, "rose 7 17", "gone 1 -",
          "new - 4", "went 3 6", "copy.constprop.1 9 10", "init (a.c) 20 22",
          "init (b.c) 30 31", "lib 40 41", "(no symbols in libx.so.2) 2 3",
          "inner 8 9");
    CHECK(before, after, BREAKDOWN_IMAGE, NULL, "/new/app 83 104",
          "/lib/libx.so.2 42 44");
    CHECK(before, after, BREAKDOWN_THREAD, NULL,
          "app (pid 10) thread 0 125 148");
    CHECK(before, after, BREAKDOWN_FILE, NULL, "/new/a.c 53 67", "/new/c.c - 6",
          "/new/b.c 30 31", "(no source file in libx.so.2) 42 44");
    /* Each side against itself. */
    for (int key = 0; key < BREAKDOWN_KEYS; key++) {
        if (key == BREAKDOWN_OBJECT)
            continue;
        const enum breakdown_key one = (enum breakdown_key)key;
        struct comparison *c = compare(&before, &before, &one, 1, NULL);
        assert_adds_up(c);
        /* Instructions of an image without a build id have no counterpart. */
        if (key != BREAKDOWN_INSTRUCTION)
            assert_int_equal(c->row_count, 0);
        assert_int_equal(comparison_answer_event(c), SIZE_MAX);
        comparison_destroy(c);
    }
}

/* The first programs are one image, whatever their names are. */
static void
test_programs(void **state)
{
    static const char *const others[] = {"/new/app-after"};
    static const struct insn a[] = {{"main", "", 0, 0, 5, 0, NULL},
                                    {"", "", 0, 0, 1, 0, NULL}};
    static const struct insn b[] = {{"main", "", 0, 0, 6, 0, NULL},
                                    {"", "", 0, 0, 3, 0, NULL}};
    static struct resolver before, after;
    const enum breakdown_key key = BREAKDOWN_IMAGE;

    (void)state;
    make(&before, a, COUNT(a), old_images, 1);
    make(&after, b, COUNT(b), others, 1);
    CHECK(before, after, BREAKDOWN_IMAGE, NULL, "/new/app-after 6 9");
    CHECK(before, after, BREAKDOWN_FUNCTION, NULL, "main 5 6",
          "(no symbols in app-after) 1 3");
    CHECK(before, after, BREAKDOWN_PROCESS, NULL, "app-after (pid 10) 6 9");
    struct comparison *c = compare(&before, &after, &key, 1, NULL);
    assert_int_equal(c->note_count, 2);
    assert_string_equal(c->notes[0], "the commands differ: /old/app before, "
                                     "/new/app-after after");
    assert_string_equal(c->notes[1], "the programs are taken for one image: "
                                     "app before, app-after after");
    comparison_destroy(c);
}

/* Writes a source file, and returns its path. */
static char *
write_source(const char *folder, const char *text)
{
    char *path;

    assert_true(asprintf(&path, "%s/a.c", folder) > 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* Lines: by the texts where both are there, else by their place in the
 * function, else by nothing where the image is the same build. */
static void
test_lines(void **state)
{
    static const char old_text[] = "f()\n{\n  go(1);\n  up();\n}\ng()\n{\n"
                                   "  dead();\n}\n";
    static const char new_text[] = "// new\n\nf()\n{\n  up();\n  go(2);\n}\n"
                                   "\ng()\n{\n  fine(x, y);\n}\n";
    char old_folder[] = "/tmp/tally-old-XXXXXX";
    char new_folder[] = "/tmp/tally-new-XXXXXX";
    static struct resolver before, after;
    const enum breakdown_key key = BREAKDOWN_LINE;

    (void)state;
    assert_non_null(mkdtemp(old_folder));
    assert_non_null(mkdtemp(new_folder));
    char *old_path = write_source(old_folder, old_text);
    char *new_path = write_source(new_folder, new_text);
    const struct insn a[] = {
        {"f", old_path, 3, 1, 10, 0, NULL},
        {"f", old_path, 4, 1, 20, 0, NULL},
        {"g", old_path, 8, 6, 30, 0, NULL},
        {"h", old_path, 0, 0, 1, 0, NULL}, /* a line that is not known */
    };
    const struct insn b[] = {
        {"f", new_path, 6, 3, 11, 0, NULL},
        {"f", new_path, 5, 3, 21, 0, NULL},
        {"g", new_path, 11, 9, 31, 0, NULL},
        {"h", new_path, 0, 0, 2, 0, NULL},
    };
    char rows[8][256];
    make(&before, a, COUNT(a), old_images, 1);
    make(&after, b, COUNT(b), new_images, 1);

    /* By the texts: up() is the same line, go() went behind it. */
    snprintf(rows[0], 256, "%s:5 20 21 moved", new_path);
    snprintf(rows[1], 256, "%s:3 10 -", old_path);
    snprintf(rows[2], 256, "%s:6 - 11", new_path);
    snprintf(rows[3], 256, "%s:8 30 -", old_path);
    snprintf(rows[4], 256, "%s:11 - 31", new_path);
    snprintf(rows[5], 256, "%s:? 1 2", new_path);
    CHECK(before, after, BREAKDOWN_LINE, NULL, rows[0], rows[1], rows[2],
          rows[3], rows[4], rows[5]);

    /* One text alone: by the place in the function. */
    const struct source_move lost = {old_folder, "/nowhere"};
    snprintf(rows[0], 256, "%s:5 10 21 moved", new_path);
    snprintf(rows[1], 256, "%s:6 20 11 moved", new_path);
    snprintf(rows[2], 256, "%s:11 30 31 moved", new_path);
    CHECK(before, after, BREAKDOWN_LINE, &lost, rows[0], rows[1], rows[2],
          rows[5]);
    struct comparison *c = compare(&before, &after, &key, 1, &lost);
    assert_int_equal(c->note_count, 2);
    assert_non_null(strstr(c->notes[1], "the text of the build before is not "
                                        "there (--source-before OLD=NEW"));
    comparison_destroy(c);
    /* One text that is read for both builds tells nothing. */
    const struct source_move same = {old_folder, new_folder};
    CHECK(before, after, BREAKDOWN_LINE, &same, rows[0], rows[1], rows[2],
          rows[5]);

    /* The same build: a line is its number, whatever the texts say. */
    before.images[0].build_id_size = after.images[0].build_id_size = 4;
    snprintf(rows[0], 256, "%s:3 10 -", old_path);
    snprintf(rows[1], 256, "%s:4 20 -", old_path);
    snprintf(rows[2], 256, "%s:8 30 -", old_path);
    snprintf(rows[3], 256, "%s:5 - 21", new_path);
    snprintf(rows[4], 256, "%s:6 - 11", new_path);
    snprintf(rows[6], 256, "%s:11 - 31", new_path);
    CHECK(before, after, BREAKDOWN_LINE, NULL, rows[0], rows[1], rows[2],
          rows[3], rows[4], rows[5], rows[6]);
    CHECK(before, after, BREAKDOWN_INSTRUCTION, NULL, "app+0x100  f 10 11",
          "app+0x104  f 20 21", "app+0x108  g 30 31", "app+0x10c  h 1 2");
    unlink(old_path);
    unlink(new_path);
    rmdir(old_folder);
    rmdir(new_folder);
    free(old_path);
    free(new_path);
}

/* Several functions of a file with one name, as C++ makes of lambdas, are told
 * by their order. */
static void
test_one_name(void **state)
{
    static const struct insn a[] = {
        {"op", "/none/a.c", 31, 30, 1, 0, NULL},
        {"op", "/none/a.c", 12, 10, 2, 0, NULL},
        {"op", "/none/a.c", 50, 50, 3, 0, NULL},
    };
    static const struct insn b[] = {
        {"op", "/none/a.c", 22, 20, 5, 0, NULL},
        {"op", "/none/a.c", 41, 40, 6, 0, NULL},
    };
    static struct resolver before, after;

    (void)state;
    make(&before, a, COUNT(a), old_images, 1);
    make(&after, b, COUNT(b), new_images, 1);
    CHECK(before, after, BREAKDOWN_LINE, NULL, "/none/a.c:22 2 5 moved",
          "/none/a.c:41 1 6 moved", "/none/a.c:50 3 -");
}

/* Random records: by every pair of keys, for every choice of rows, sums are
 * the totals. */
static void
test_sums(void **state)
{
    static const char *const functions[] = {"", "f", "g", "f.isra.1", "h"};
    static const char *const files[] = {"", "/a/x.c", "/b/x.c", "/a/y.c"};
    static struct resolver sides[SIDES];
    unsigned seed = 11;

    (void)state;
    for (int round = 0; round < 200; round++) {
        for (int s = 0; s < SIDES; s++) {
            struct insn insns[INSNS];
            const size_t count = 1 + (size_t)rand_r(&seed) % (INSNS - 1);
            for (size_t i = 0; i < count; i++) {
                const uint32_t line = (uint32_t)rand_r(&seed) % 9;
                insns[i] = (struct insn){
                    .function = functions[(size_t)rand_r(&seed) % 5],
                    .file = files[(size_t)rand_r(&seed) % 4],
                    .line = line,
                    .function_line = line / 2,
                    .value = rand_r(&seed) % 5 - 1,
                    .image = (uint32_t)rand_r(&seed) % 2,
                    .outer = rand_r(&seed) % 4 == 0 ? "outer" : NULL,
                };
            }
            make(&sides[s], insns, count, s == 0 ? old_images : new_images, 2);
        }
        for (int first = 0; first < BREAKDOWN_KEYS; first++)
            for (int second = 0; second < BREAKDOWN_KEYS; second++) {
                const enum breakdown_key keys[] = {(enum breakdown_key)first,
                                                   (enum breakdown_key)second};
                if (first == BREAKDOWN_OBJECT || second == BREAKDOWN_OBJECT)
                    continue;
                struct comparison *c =
                    compare(&sides[BEFORE], &sides[AFTER], keys,
                            first == second ? 1 : 2, NULL);
                assert_adds_up(c);
                comparison_destroy(c);
            }
    }
}

/* Which event the answer is about, and what is known of each. */
static void
test_counts(void **state)
{
    static struct count_row before[] = {
        {(char *)"noise",
         (char *)"noise",
         (char *)"",
         (char *)"measured",
         NULL,
         NULL,
         {true, true, 10, 10},
         {false, false, 0, 0},
         1,
         10,
         0,
         false,
         0,
         0},
        {(char *)"within",
         (char *)"within",
         (char *)"",
         (char *)"modelled",
         NULL,
         NULL,
         {true, true, 100, 100},
         {false, false, 0, 0},
         3,
         100,
         5,
         false,
         0,
         0},
        {(char *)"A",
         (char *)"cycles",
         (char *)"",
         (char *)"estimated",
         NULL,
         NULL,
         {true, true, 200, 200},
         {false, false, 0, 0},
         1,
         200,
         0,
         false,
         0,
         0},
        {(char *)"huge",
         (char *)"huge",
         (char *)"",
         (char *)"exact",
         NULL,
         NULL,
         {true, true, INT64_MIN, (double)INT64_MIN},
         {false, false, 0, 0},
         1,
         0,
         0,
         false,
         0,
         0},
    };
    static struct count_row after[] = {
        {(char *)"noise",
         (char *)"noise",
         (char *)"",
         (char *)"measured",
         NULL,
         NULL,
         {true, true, 11, 11},
         {false, false, 0, 0},
         1,
         11,
         0,
         false,
         0,
         0},
        {(char *)"within",
         (char *)"within",
         (char *)"",
         (char *)"modelled",
         NULL,
         NULL,
         {true, true, 108, 108},
         {false, false, 0, 0},
         3,
         108,
         1,
         false,
         0,
         0},
        {(char *)"B",
         (char *)"cycles",
         (char *)"",
         (char *)"estimated",
         NULL,
         NULL,
         {true, true, 150, 150},
         {false, false, 0, 0},
         1,
         150,
         0,
         false,
         0,
         0},
        {(char *)"huge",
         (char *)"huge",
         (char *)"",
         (char *)"varies",
         NULL,
         NULL,
         {true, true, INT64_MAX, (double)INT64_MAX},
         {false, false, 0, 0},
         1,
         0,
         0,
         false,
         0,
         0},
    };
    const struct count_document a = {.path = (char *)"a",
                                     .machine = (char *)"m",
                                     .events = before,
                                     .event_count = 3};
    struct count_document b = {.path = (char *)"b",
                               .machine = (char *)"n",
                               .events = after,
                               .event_count = 3};
    struct count_document c = a;
    struct comparison *d = NULL;

    (void)state;
    assert_int_equal(comparison_of_counts(&a, &b, NULL, &d), 0);
    assert_int_equal(d->event_count, 3);
    assert_true(d->events[1].overlaps && !d->events[0].overlaps);
    /* cycles is asked for on both machines, by two names. */
    assert_int_equal(d->events[2].change.count, -50);
    assert_int_equal(comparison_answer_event(d), 2);
    assert_int_equal(d->note_count, 1);
    assert_string_equal(d->notes[0], "the machines differ: m before, n after");
    comparison_destroy(d);
    c.event_count = b.event_count = 4;
    assert_int_equal(comparison_of_counts(&c, &b, NULL, &d), 0);
    /* A difference that no integer holds is a number all the same. */
    assert_true(d->events[3].change.known && !d->events[3].change.whole);
    assert_true(d->events[3].change.real > 1.8e19);
    assert_string_equal(comparison_standing(&d->events[3]), "varies");
    assert_null(comparison_advice("exact"));
    assert_non_null(comparison_advice("varies"));
    comparison_destroy(d);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_programs),
        cmocka_unit_test(test_lines),     cmocka_unit_test(test_one_name),
        cmocka_unit_test(test_sums),      cmocka_unit_test(test_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
