/* SPDX-License-Identifier: MIT */
/* The tree of calls of a record that is made here, for a page. */
#include "record/page_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum text { NONE, MAIN, WORK, COPY, A_C, APP, TEXTS };

/*
 * The instructions of each process:
 *   0  main           a.c:1, calls work
 *   1  copy in work   a.c:2
 *   2  work           a.c:3, calls main
 *   3  not known, of no file
 */
static const struct resolved_frame frames[][2] = {
    {{MAIN, 0, A_C, 1, 0}},
    {{COPY, 0, A_C, 2, 0}, {WORK, 0, A_C, 5, 0}},
    {{WORK, 0, A_C, 3, 0}},
    {{NONE, 0, NONE, 9, 0}},
};
static const struct resolved names[] = {
    {frames[0], 1, APP, 0x100, 0x100},
    {frames[1], 2, APP, 0x200, 0x200},
    {frames[2], 1, APP, 0x200, 0x204},
    {frames[3], 1, NONE, UINT64_MAX, UINT64_MAX},
};
static struct record_insn insns[] = {
    {0x100, 0x100, 0, 0, 4, 0},
    {0x200, 0x200, 0, 4, 4, 0},
    {0x204, 0x204, 0, 8, 4, 0},
    {0x900, 0x900, RECORD_NO_IMAGE, 12, 4, 0},
};
static uint8_t code[16];
static struct record_image image = {.path = (char[]){"/app"}};

/* Paths: 1 main's call, 2 work's call below, 3 unknown calls. */
static struct record_path paths[] = {
    {0, RECORD_NO_CALL}, {0, 0}, {1, 2}, {0, RECORD_NO_CALL}};

/* Stands in for the resolver, which reads real files. */
const struct resolved *
resolver_find(struct resolver *resolver, size_t process, size_t insn)
{
    (void)resolver, (void)process;
    return &names[insn];
}

static struct record_process_row
process_row(unsigned number)
{
    return (struct record_process_row){
        .number = number,
        .program = (char[]){"/app"},
        .insns = insns,
        .insn_count = COUNT(insns),
        .code = code,
        .code_size = sizeof(code),
        .paths = paths,
        .path_count = COUNT(paths),
    };
}

/* The counts of a thread that are found, by node. */
struct found {
    const struct page_tree *tree;
    char text[512];
    size_t length;
};

static const char *const words[TEXTS] = {"?", "main", "work", "copy"};

/* Writes the path of a node, outermost first. */
static size_t
write_path(const struct page_tree *t, uint32_t node, char *text, size_t size)
{
    const struct page_node *n = &t->nodes[node];
    size_t used =
        n->parent != PAGE_NO_NODE ? write_path(t, n->parent, text, size) : 0;
    const struct page_function f = page_places_function(t->places, n->function);

    return used + (size_t)snprintf(text + used, size - used, "/%s%s",
                                   n->function == t->unknown ? "unknown"
                                                             : words[f.name],
                                   n->inlined ? "*" : "");
}

static void
take(void *user, uint32_t node, int64_t value)
{
    struct found *f = user;

    f->length += write_path(f->tree, node, f->text + f->length,
                            sizeof(f->text) - f->length);
    f->length +=
        (size_t)snprintf(f->text + f->length, sizeof(f->text) - f->length,
                         " %lld;", (long long)value);
}

static void
check_values(const struct page_tree *tree, uint32_t thread, size_t event,
             const char *wanted)
{
    struct found f = {.tree = tree};

    page_tree_values(tree, thread, event, take, &f);
    assert_string_equal(f.text, wanted);
    /* The sums are zeroes again. */
    f.length = 0;
    page_tree_values(tree, thread, event, take, &f);
    assert_string_equal(f.text, wanted);
}

static void
test_tree(void **state)
{
    struct record_process_row processes[] = {process_row(1), process_row(2)};
    struct record_event_row events[2] = {{0}};
    /* Two rows of one thread, the second of objects; one of another process. */
    uint32_t path_a[] = {0, 1, 1, 2, 3}, insn_a[] = {0, 1, 2, 0, 1};
    int64_t value_a[] = {1, 2, 3, 4, 5, 0, 0, -7, 0, 8};
    uint32_t path_b[] = {1, 1}, insn_b[] = {1, 1}, objects[] = {1, 2};
    int64_t value_b[] = {10, 20, 0, 7};
    uint32_t path_c[] = {0}, insn_c[] = {3};
    int64_t value_c[] = {INT64_MAX, 1};
    struct record_values values[][2] = {
        {{.by_row = value_a}, {.by_row = value_a + 5}},
        {{.by_row = value_c}, {.by_row = value_c + 1}},
        {{.by_row = value_b}, {.by_row = value_b + 2}},
    };
    struct record_counts_row counts[] = {
        {0, 0, 5, NULL, path_a, insn_a, values[0], NULL},
        {1, 3, 1, NULL, path_c, insn_c, values[1], NULL},
        {0, 0, 2, objects, path_b, insn_b, values[2], NULL},
    };
    int64_t total_a[] = {50, 9}, total_c[] = {INT64_MAX, 2};
    struct record_thread_row threads[] = {{0, 0, 0, total_a},
                                          {1, 3, 1, total_c}};
    const struct record record = {
        .events = events,
        .event_count = 2,
        .images = &image,
        .image_count = 1,
        .processes = processes,
        .process_count = 2,
        .threads = threads,
        .thread_count = 2,
        .counts = counts,
        .counts_count = 3,
        .has_callers = true,
    };
    struct page_places places;
    struct page_tree tree;

    (void)state;
    assert_int_equal(page_places_create(&record, NULL, &places), 0);
    /* The processes share all instructions. */
    assert_int_equal(places.insns.count, 4);
    assert_int_equal(places.chains.count, 4);
    assert_int_equal(places.functions.count, 4);
    assert_int_equal(page_tree_create(&places, &tree), 0);
    assert_int_equal(tree.thread_numbers.count, 2);
    check_values(&tree, 0, 0,
                 "/main 1;/main/work 3;/main/work/copy* 32;"
                 "/main/work/main 4;/unknown/work/copy* 5;");
    check_values(&tree, 0, 1,
                 "/main/work -7;/main/work/copy* 7;/unknown/work/copy* 8;");
    check_values(&tree, 1, 0, "/? 9223372036854775807;");
    assert_int_equal(tree.threads[0].totals[0], 50);
    assert_int_equal(tree.threads[1].totals[1], 2);
    for (uint32_t i = 0; i < tree.numbers.count; i++)
        assert_true(tree.nodes[i].parent == PAGE_NO_NODE ||
                    tree.nodes[i].parent < i);
    page_tree_finish(&tree);
    page_places_finish(&places);
}

/* A line without a file is none. */
static void
test_places(void **state)
{
    struct record_process_row process = process_row(1);
    const struct record record = {
        .images = &image,
        .image_count = 1,
        .processes = &process,
        .process_count = 1,
    };
    struct page_places places;
    size_t count;

    (void)state;
    assert_int_equal(page_places_create(&record, NULL, &places), 0);
    const struct page_frame *frame = page_places_frames(&places, 0, 1, &count);
    assert_int_equal(count, 2);
    assert_int_equal(frame[0].line, 2);
    assert_int_equal(page_places_function(&places, frame[1].function).name,
                     WORK);
    frame = page_places_frames(&places, 0, 3, &count);
    assert_int_equal(count, 1);
    assert_int_equal(frame->line, 0);
    /* A copy in work and work itself are one function's instructions. */
    assert_int_equal(page_places_frames(&places, 0, 2, &count)->function,
                     page_places_frames(&places, 0, 1, &count)[1].function);
    page_places_finish(&places);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
