/* SPDX-License-Identifier: MIT */
/* Records as lists of samples, and the files that are made of them. */
#include "record/export.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "record/keys.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NOWHERE EXPORT_NOWHERE

static int warnings;

static void
count_warning(void *user, enum tally_level level, const char *text)
{
    (void)user;
    (void)text;
    warnings += level == TALLY_LOG_WARNING || level == TALLY_LOG_ERROR;
}

static const struct tally_log hear = {count_warning, NULL};

/* The record of the lists below. */
static char *const argv_of_run[] = {(char *)"prog", (char *)"a\nb", NULL};
static struct record_event_row events_of_run[] = {
    {(char *)"cycles", (char *)"cycles", (char *)"", (char *)"", (char *)""},
    {(char *)"l1", (char *)"L1-misses", (char *)"", (char *)"", (char *)""},
};
static struct record_image images_of_run[] = {
    {(char *)"/bin/prog one", {0xab, 0x0c}, 2, NULL},
    {(char *)"/lib/libx.so", {0}, 0, NULL},
};
static struct record_process_row processes_of_run[] = {
    {.number = 1, .pid = 7, .program = (char *)"/bin/prog one"},
};

static const struct record run = {
    .path = (char *)"tally.data",
    .version = (char *)"1",
    .machine = (char *)"fake",
    .isa = (char *)"x86_64",
    .argv = (char **)argv_of_run,
    .events = events_of_run,
    .event_count = 2,
    .images = images_of_run,
    .image_count = 2,
    .processes = processes_of_run,
    .process_count = 1,
};

enum { NONE, MAIN, ODD, SIGNS, SOURCE, INL, HEADER, MANGLED, ELSEWHERE };
static const char *const texts[] = {
    [NONE] = "",
    [MAIN] = "main",
    [ODD] = "=odd name;x",
    [SIGNS] = "a\"b\tc\x01",
    [SOURCE] = "/src/a b.c",
    [INL] = "inl",
    [HEADER] = "/src/inc.h",
    [MANGLED] = "_Z4mainv",
    [ELSEWHERE] = "(elsewhere)",
};

/* Returns a frame of main() at byte `at` of the function. */
#define MAIN_AT(at, its_line)                                    \
    {                                                            \
        .function = MAIN, .mangled = MANGLED, .file = SOURCE,    \
        .line = its_line, .image = 0, .address = 0x5100 + (at),  \
        .offset = 0x100 + (at), .file_address = 0x400100 + (at), \
        .function_offset = 0x100,                                \
    }
#define INL_AT(at, its_line)                                               \
    {                                                                      \
        .function = INL, .file = HEADER, .line = its_line, .image = 0,     \
        .inlined = true, .address = 0x5100 + (at), .offset = 0x100 + (at), \
        .file_address = 0x400100 + (at), .function_offset = 0x100,         \
    }
#define ODD_AT(at)                                                             \
    {                                                                          \
        .function = ODD, .image = 1, .address = 0x7000 + (at), .offset = (at), \
        .file_address = NOWHERE, .function_offset = NOWHERE,                   \
    }

static const struct export_frame plain[] = {MAIN_AT(0, 10)};
static const struct export_frame copied[] = {MAIN_AT(4, 11), INL_AT(4, 3)};
static const struct export_frame called[] = {MAIN_AT(8, 12), ODD_AT(0)};
static const struct export_frame recursive[] = {MAIN_AT(8, 12), MAIN_AT(8, 12),
                                                MAIN_AT(0, 10)};
static const struct export_frame unnamed[] = {{
    .image = 1,
    .address = 0x7010,
    .offset = 0x10,
    .file_address = 0x10,
    .function_offset = NOWHERE,
}};
static const struct export_frame signs[] = {{
    .function = SIGNS,
    .image = RECORD_NO_IMAGE,
    .address = 0x9000,
    .offset = 0x9000,
    .file_address = NOWHERE,
    .function_offset = NOWHERE,
}};
static const struct export_frame elsewhere[] = {{
    .function = ELSEWHERE,
    .image = RECORD_NO_IMAGE,
    .address = NOWHERE,
    .offset = NOWHERE,
    .file_address = NOWHERE,
    .function_offset = NOWHERE,
}};

static const uint16_t both[] = {0, 1};

#define SAMPLE(its_thread, path, ...)                                   \
    {                                                                   \
        .process = 0, .thread = its_thread, .frame_count = COUNT(path), \
        .frames = path, .values = (const int64_t[]){__VA_ARGS__},       \
        .events = both, .value_count = COUNT(both),                     \
    }
static const struct export_sample samples[] = {
    SAMPLE(0, plain, 5, 0),   SAMPLE(0, copied, 7, -2),
    SAMPLE(0, called, 3, 4),  SAMPLE(0, recursive, 20, 0),
    SAMPLE(1, unnamed, 2, 1), SAMPLE(1, plain, 0, 0),
    SAMPLE(1, signs, 1, 1),   SAMPLE(1, elsewhere, -3, 10),
};
static const size_t events[] = {0, 1};

/* Sums of the samples. */
static const int64_t totals[] = {35, 14};

static const struct export_list list = {
    .record = &run,
    .creator = "tally test",
    .events = events,
    .event_count = 2,
    .texts = texts,
    .text_count = COUNT(texts),
    .depth = 8,
    .elsewhere = ELSEWHERE,
    .samples = samples,
    .sample_count = COUNT(samples),
};

/* Returns what the writer writes, which the caller frees. */
static char *
written(const struct export_list *what,
        int (*write)(const struct export_list *, FILE *, int64_t *),
        int64_t *left_out, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    assert_non_null(out);
    left_out[0] = left_out[1] = 0;
    assert_int_equal(write(what, out, left_out), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void
assert_written(const struct export_list *what,
               int (*write)(const struct export_list *, FILE *, int64_t *),
               int64_t *left_out, const char *wanted)
{
    size_t size;
    char *text = written(what, write, left_out, &size);

    assert_string_equal(text, wanted);
    free(text);
}

static void
test_totals(void **unused)
{
    (void)unused;
    for (size_t e = 0; e < COUNT(totals); e++)
        assert_int_equal(export_total(&list, e), totals[e]);
}

static void
test_folded(void **unused)
{
    struct export_list one = list;
    int64_t left_out[2];

    (void)unused;
    one.event_count = 1;
    assert_written(&one, export_folded, left_out,
                   "prog_one;main 5\n"
                   "prog_one;main;inl 7\n"
                   "prog_one;main;=odd_name:x 3\n"
                   "prog_one;main;main;main 20\n"
                   "libx.so;[libx.so] 2\n"
                   "a\"b\\x09c\\x01 1\n");
    assert_int_equal(left_out[0], -3);
}

static void
test_callgrind(void **unused)
{
    int64_t left_out[2];

    (void)unused;
    assert_written(&list, export_callgrind, left_out,
                   "# callgrind format\n"
                   "version: 1\n"
                   "creator: tally test\n"
                   "pid: 7\n"
                   "cmd: prog a\\x0ab\n"
                   "part: 1\n"
                   "desc: Machine: fake\n"
                   "positions: instr line\n"
                   "event: cycles : cycles\n"
                   "event: L1_misses : L1-misses\n"
                   "events: cycles L1_misses\n"
                   "\n"
                   "ob=(2) /bin/prog one\n"
                   "fl=(5) /src/a b.c\n"
                   "fn=(2) main\n"
                   "0x400100 10 25 0\n"
                   "fi=(7) /src/inc.h\n"
                   "0x400104 3 7 0\n"
                   "fe=(5)\n"
                   "cob=(3) /lib/libx.so\n"
                   "cfi=(1) ???\n"
                   "cfn=(3) =odd name;x\n"
                   "calls=1 0x7000 0\n"
                   "0x400108 12 3 4\n"
                   "cob=(2)\n"
                   "cfi=(5)\n"
                   "cfn=(2)\n"
                   "calls=1 0x400100 10\n"
                   "0x400108 12 20 0\n"
                   "\n"
                   "ob=(3)\n"
                   "fl=(1)\n"
                   "fn=(3)\n"
                   "0x7000 0 3 4\n"
                   "\n"
                   "ob=(3)\n"
                   "fl=(1)\n"
                   "fn=(1) ???\n"
                   "0x10 0 2 1\n"
                   "\n"
                   "ob=(1) ???\n"
                   "fl=(1)\n"
                   "fn=(4) a\"b\\x09c\\x01\n"
                   "0x9000 0 1 1\n"
                   "\n"
                   "ob=(1)\n"
                   "fl=(1)\n"
                   "fn=(9) (elsewhere)\n"
                   "0x0 0 0 10\n"
                   "\n"
                   "totals: 35 14\n");
    assert_int_equal(left_out[0], -3);
    assert_int_equal(left_out[1], -2);
}

/* Two names of events may become one in the letters of Callgrind. */
static void
test_callgrind_events(void **unused)
{
    static const struct {
        int line;
        const char *first, *second, *wanted;
    } rows[] = {
        {__LINE__, "0:x", "0_x", "\nevents: event_0_x event_0_x_2\n"},
        {__LINE__, "a", "a_", "\nevents: a a_\n"},
        {__LINE__, "a_", "a", "\nevents: a_ a\n"},
        {__LINE__, "", "", "\nevents: event_ event__2\n"},
        {__LINE__, "b\nc d", "b-c-d", "\nevents: b_c_d b_c_d_2\n"},
    };

    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *const first = strdup(rows[i].first);
        char *const second = strdup(rows[i].second);
        struct record_event_row named[] = {events_of_run[0], events_of_run[1]};
        struct record other = run;
        struct export_list like = list;
        int64_t left_out[2];
        size_t size;
        named[0].asked = first;
        named[1].asked = second;
        other.events = named;
        like.record = &other;
        char *text = written(&like, export_callgrind, left_out, &size);
        if (strstr(text, rows[i].wanted) == NULL)
            fail_msg("row at line %d: %s", rows[i].line, text);
        free(text);
        free(first);
        free(second);
    }
}

static void
test_perf_script(void **unused)
{
    struct export_list some = list;
    int64_t left_out[2];

    (void)unused;
    some.samples = samples + 1;
    some.sample_count = 2;
    assert_written(&some, export_perf_script, left_out,
                   "prog_one 7/7 0.000000:          7 cycles:\n"
                   "\t            5104 inl (inlined)\n"
                   "\t            5104 main+0x4 (/bin/prog one)\n"
                   "\n"
                   "prog_one 7/7 0.000007:          3 cycles:\n"
                   "\t            7000 =odd name;x (/lib/libx.so)\n"
                   "\t            5108 main+0x8 (/bin/prog one)\n"
                   "\n"
                   "prog_one 7/7 0.000010:          4 L1-misses:\n"
                   "\t            7000 =odd name;x (/lib/libx.so)\n"
                   "\t            5108 main+0x8 (/bin/prog one)\n"
                   "\n");
    assert_int_equal(left_out[0], 0);
    assert_int_equal(left_out[1], -2);
    some.samples = samples + 4;
    some.sample_count = 4;
    assert_written(&some, export_perf_script, left_out,
                   "prog_one 7/8 0.000000:          2 cycles:\n"
                   "\t            7010 [unknown] (/lib/libx.so)\n"
                   "\n"
                   "prog_one 7/8 0.000002:          1 L1-misses:\n"
                   "\t            7010 [unknown] (/lib/libx.so)\n"
                   "\n"
                   "prog_one 7/8 0.000003:          1 cycles:\n"
                   "\t            9000 a\"b\\x09c\\x01 ([unknown])\n"
                   "\n"
                   "prog_one 7/8 0.000004:          1 L1-misses:\n"
                   "\t            9000 a\"b\\x09c\\x01 ([unknown])\n"
                   "\n"
                   "prog_one 7/8 0.000005:         10 L1-misses:\n"
                   "\t               0 [elsewhere] ([unknown])\n"
                   "\n");
    assert_int_equal(left_out[0], -3);
}

/* Returns the sum of the weights of a profile, whose frames must be there. */
static int64_t
check_profile(const json_t *profile, size_t frame_count)
{
    const json_t *stacks = json_object_get(profile, "samples");
    const json_t *weights = json_object_get(profile, "weights");
    int64_t sum = 0;
    size_t i, k;
    json_t *stack, *frame;

    assert_int_equal(json_array_size(stacks), json_array_size(weights));
    json_array_foreach(stacks, i, stack)
    {
        assert_true(json_array_size(stack) > 0);
        json_array_foreach(stack, k, frame)
            assert_true((size_t)json_integer_value(frame) < frame_count);
        sum += json_integer_value(json_array_get(weights, i));
    }
    assert_int_equal(sum,
                     json_integer_value(json_object_get(profile, "endValue")));
    return sum;
}

static void
test_speedscope(void **unused)
{
    static const char *const names[] = {
        "main", "inl", "=odd name;x", "[libx.so]", "a\"b\tc\x01", "(elsewhere)",
    };
    int64_t left_out[2];
    size_t size;

    (void)unused;
    char *text = written(&list, export_speedscope, left_out, &size);
    json_t *document = json_loads(text, 0, NULL);
    free(text);
    const json_t *frames =
        json_object_get(json_object_get(document, "shared"), "frames");
    const json_t *profiles = json_object_get(document, "profiles");
    assert_int_equal(json_array_size(frames), COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(json_string_value(json_object_get(
                                json_array_get(frames, i), "name")),
                            names[i]);
    assert_int_equal(json_array_size(profiles), 4);
    for (size_t e = 0; e < 2; e++) {
        int64_t sum = 0;
        for (size_t t = 0; t < 2; t++)
            sum += check_profile(json_array_get(profiles, 2 * e + t),
                                 COUNT(names));
        assert_int_equal(sum + left_out[e], totals[e]);
    }
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(profiles, 1), "name")),
        "cycles: prog one 7, thread 1");
    json_decref(document);
}

/* Returns the bytes of a gzip file, which the caller frees. */
static uint8_t *
unpacked(const char *data, size_t size, size_t *length)
{
    static const size_t room = 1 << 16;
    uint8_t *bytes = malloc(room);
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)data,
                  .avail_in = (uInt)size,
                  .next_out = bytes,
                  .avail_out = (uInt)room};

    assert_non_null(bytes);
    assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    *length = z.total_out;
    inflateEnd(&z);
    return bytes;
}

/* Reads a field: its number; of a number the value, of bytes a cursor. */
static unsigned
take_field(struct cursor *c, uint64_t *value, struct cursor *part)
{
    const uint64_t tag = cursor_varint(c);
    size_t size;

    *value = 0;
    *part = cursor_of(NULL, 0);
    if ((tag & 7) == 0) {
        *value = cursor_varint(c);
    } else {
        assert_int_equal(tag & 7, 2);
        const char *text = cursor_string(c, &size);
        *part = cursor_of((const uint8_t *)text, size);
    }
    assert_false(c->failed);
    return (unsigned)(tag >> 3);
}

static void
test_pprof(void **unused)
{
    static const char *const strings[] = {
        "",
        "cycles",
        "count",
        "L1-misses",
        "program",
        "prog one",
        "=odd name;x",
        "_Z4mainv",
        "/bin/prog one",
        "ab0c",
        "a\"b\\x09c\\x01",
    };
    unsigned found[COUNT(strings)] = {0}, fields[16] = {0};
    int64_t left_out[2], sums[2] = {0};
    size_t size, length;

    (void)unused;
    char *data = written(&list, export_pprof, left_out, &size);
    uint8_t *bytes = unpacked(data, size, &length);
    struct cursor c = cursor_of(bytes, length), part, values;
    uint64_t value;
    while (cursor_left(&c) > 0) {
        const unsigned field = take_field(&c, &value, &part);
        assert_true(field < COUNT(fields));
        fields[field]++;
        for (size_t i = 0; field == 6 && i < COUNT(strings); i++)
            found[i] += strlen(strings[i]) == cursor_left(&part) &&
                        memcmp(strings[i], part.at, cursor_left(&part)) == 0;
        while (field == 2 && cursor_left(&part) > 0)
            if (take_field(&part, &value, &values) == 2)
                for (size_t e = 0; e < 2; e++)
                    sums[e] += (int64_t)cursor_varint(&values);
    }
    for (size_t e = 0; e < 2; e++) {
        assert_int_equal(sums[e], totals[e]);
        assert_int_equal(left_out[e], 0);
    }
    for (size_t i = 0; i < COUNT(strings); i++)
        assert_int_equal(found[i], 1);
    assert_int_equal(fields[1], 2); /* events */
    assert_int_equal(fields[2], 7); /* samples; one has only zeroes */
    assert_int_equal(fields[3], 2); /* mappings */
    assert_int_equal(fields[4], 7); /* locations */
    assert_int_equal(fields[5], 5); /* functions */
    assert_int_equal(fields[14], 1);
    free(bytes);
    free(data);
}

/* A record of two threads. What it counts is in several rows. */
static struct record_insn insns[] = {
    {0x5100, 0x100, 0, 0, 4, 0},
    {0x5104, 0x104, 0, 4, 4, 0},
    {0x9000, 0x9000, RECORD_NO_IMAGE, 8, 2, 0},
};
static uint32_t of_first[] = {0, 2}, of_second[] = {0, 1}, of_third[] = {1};
static int64_t first[] = {5, 6, 1, 0}, second[] = {10, 20, 3, -4},
               third[] = {100, 7};
static uint32_t no_paths[2];
/* The values of two events, of `count` rows. */
#define VALUES(values, count)                                 \
    (struct record_values[])                                  \
    {                                                         \
        {.by_row = (values)}, {.by_row = (values) + (count)}, \
    }
static struct record_counts_row counts[] = {
    {0, 0, 2, NULL, no_paths, of_first, VALUES(first, 2), NULL},
    {0, 1, 1, NULL, no_paths, of_third, VALUES(third, 1), NULL},
    {0, 0, 2, NULL, no_paths, of_second, VALUES(second, 2), NULL},
};
static struct record_thread_row threads[] = {
    {0, 0, 0, (int64_t[]){50, 0}},
    {0, 1, 0, (int64_t[]){99, 8}},
    {UINT32_MAX, 4, 0, (int64_t[]){3, 3}},
    {0, 0, 1, (int64_t[]){2, 1}},
};

/* Checks that the list has the record's totals, and as many samples. */
static struct export_list *
check_list(const struct record *record, struct resolver **resolver,
           size_t sample_count)
{
    struct export_list *made = NULL;

    assert_int_equal(
        resolver_create(record, &(struct resolver_options){0}, &hear, resolver),
        0);
    assert_int_equal(
        export_list_create(record, *resolver, events, 2, "tally", &hear, &made),
        0);
    for (size_t e = 0; e < 2; e++)
        assert_int_equal(export_total(made, e), record_total(record, e));
    assert_int_equal(made->sample_count, sample_count);
    for (size_t i = 1; i < made->sample_count; i++)
        assert_true(made->samples[i - 1].process < made->samples[i].process ||
                    (made->samples[i - 1].process == made->samples[i].process &&
                     made->samples[i - 1].thread <= made->samples[i].thread));
    return made;
}

static void
test_list(void **unused)
{
    struct record_process_row process = processes_of_run[0];
    struct record record = run;
    struct resolver *resolver;

    (void)unused;
    process.insns = insns;
    process.insn_count = COUNT(insns);
    record.processes = &process;
    record.threads = threads;
    record.thread_count = COUNT(threads);
    record.counts = counts;
    record.counts_count = COUNT(counts);
    warnings = 0;
    struct export_list *made = check_list(&record, &resolver, 8);
    assert_int_equal(warnings, 2); /* both images are gone */
    /* Rows of one thread add up at an instruction. */
    assert_int_equal(export_value(&made->samples[0], 0), 15);
    assert_int_equal(export_value(&made->samples[0], 1), 4);
    assert_int_equal(made->samples[2].frames->image, RECORD_NO_IMAGE);
    assert_int_equal(made->samples[2].frames->address, 0x9000);
    /* The thread's two rows of totals, less its instructions. */
    assert_int_equal(made->samples[3].frames->function, made->elsewhere);
    assert_int_equal(export_value(&made->samples[3], 0) +
                         export_value(&made->samples[4], 0),
                     52 - 41);
    assert_int_equal(export_value(&made->samples[6], 0), -1);
    assert_int_equal(made->samples[7].process, EXPORT_NO_PROCESS);
    for (const struct export_writer *w = export_writers; w->name; w++) {
        int64_t left_out[2];
        size_t size;
        free(written(made, w->write, left_out, &size));
        assert_int_equal(size == 0, w->branches); /* the record has none */
    }
    export_list_destroy(made);
    resolver_destroy(resolver);

    /* A thread whose totals are missing. */
    record.thread_count = 1;
    made = check_list(&record, &resolver, 6);
    export_list_destroy(made);
    resolver_destroy(resolver);

    /* A record that is cut short has what its instructions have. */
    record.threads = NULL;
    record.thread_count = 0;
    made = check_list(&record, &resolver, 4);
    export_list_destroy(made);
    resolver_destroy(resolver);
}

/* Edges of `insns`: a call of the second by the first, a conditional branch of
 * the second to itself, and a jump to made code, where the thread ended. */
static struct record_edge edges_of_first[] = {
    {0, 1, RECORD_WAY_CALL, 5, 0},
    {1, 1, RECORD_WAY_TAKEN, 20, 2},
    {1, 2, RECORD_WAY_INDIRECT, 5, 1},
    {2, UINT32_MAX, RECORD_WAY_BROKEN, 1, 0},
    {UINT32_MAX, 0, RECORD_WAY_BROKEN, 1, 0},
};
static struct record_edges_row edges_of_run[] = {
    {0, 0, COUNT(edges_of_first), edges_of_first}};

static void
test_branches(void **unused)
{
    struct record_process_row process = processes_of_run[0];
    struct record_mapping mapping = {0x5000, 0x6fff, 0, 0};
    struct record record = run;
    struct resolver *resolver;
    int64_t left_out[2];

    (void)unused;
    process.insns = insns;
    process.insn_count = COUNT(insns);
    process.mappings = &mapping;
    process.mapping_count = 1;
    record.processes = &process;
    record.counts = counts;
    record.counts_count = COUNT(counts);
    record.edges = edges_of_run;
    record.edges_count = 1;
    struct export_list *made = check_list(&record, &resolver, 4);
    assert_int_equal(made->edge_count, COUNT(edges_of_first));
    made->image = 0;
    assert_written(
        made, export_brstack, left_out,
        "PERF_RECORD_MMAP2 7/7: [0x5000(0x2000) @ 0x0 00:00 0 0]: r-xp "
        "/bin/prog one\n"
        "1\n"
        "            5100  0x5100/0x0/P/-/-/0  0x0/0x5100/P/-/-/0  "
        "0x5000/0x0/P/-/-/0\n"
        "5\n"
        "            5104  0x5104/0x0/P/-/-/0  0x5100/0x5104/P/-/-/0\n"
        "18\n"
        "            5104  0x5104/0x0/P/-/-/0  0x5104/0x5104/P/-/-/0\n"
        "2\n"
        "            5104  0x5104/0x0/P/-/-/0  0x5104/0x5104/M/-/-/0\n");
    size_t size;
    char *text = written(made, export_callgrind, left_out, &size);
    assert_non_null(strstr(text, "\njump=5 0x9000 0\n0x5104 0\n"));
    assert_non_null(strstr(text, "\njcnd=20/25 0x5104 0\n0x5104 0\n"));
    assert_non_null(strstr(text, "\ncalls=5 0x5100 0\n0x5100 0 0 0\n"));
    free(text);
    export_list_destroy(made);
    resolver_destroy(resolver);
}

/* A record without a process is a list without samples. */
static void
test_empty(void **unused)
{
    struct record record = run;
    struct resolver *resolver;
    struct record_thread_row none;

    (void)unused;
    record.process_count = 0;
    record.threads = &none;
    struct export_list *made = check_list(&record, &resolver, 0);
    for (const struct export_writer *w = export_writers; w->name; w++) {
        int64_t left_out[2];
        size_t size;
        free(written(made, w->write, left_out, &size));
    }
    export_list_destroy(made);
    resolver_destroy(resolver);
}

static void
test_keys(void **unused)
{
    struct keys keys = {0};
    size_t size;

    (void)unused;
    for (unsigned turn = 0; turn < 2; turn++)
        for (uint32_t i = 0; i < 100000; i++) {
            const uint32_t key[2] = {i * 2654435761u, i};
            assert_int_equal(keys_add(&keys, key, i % 7 == 0 ? 8 : 4), i);
        }
    assert_int_equal(keys.count, 100000);
    const uint32_t *key = keys_get(&keys, 7, &size);
    assert_int_equal(size, 8);
    assert_int_equal(key[1], 7);
    keys_finish(&keys);
    assert_int_equal(keys_add(&keys, NULL, 0), 0);
    assert_int_equal(keys_add(&keys, NULL, 0), 0);
    keys_finish(&keys);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_folded),
        cmocka_unit_test(test_callgrind),
        cmocka_unit_test(test_callgrind_events),
        cmocka_unit_test(test_perf_script),
        cmocka_unit_test(test_speedscope),
        cmocka_unit_test(test_pprof),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
