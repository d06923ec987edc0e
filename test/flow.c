/* SPDX-License-Identifier: MIT */
/* Runs of instructions between branches: how edges become runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/flow.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
enum { NOWHERE = -1 };

/* Ten instructions of 4 bytes, of which the last two are of another image. */
static struct record_insn insns[10];
static struct record_process_row process = {.insns = insns, .insn_count = 10};

static void
set_insns(void)
{
    for (unsigned i = 0; i < COUNT(insns); i++)
        insns[i] = (struct record_insn){
            .address = 0x1000 + 4 * i, .image = i / 8, .size = 4};
}

#define EDGE(from, to, way, count, wrong)                                    \
    {                                                                        \
        (uint32_t)(from), (uint32_t)(to), RECORD_WAY_##way, (count), (wrong) \
    }

static void
find(struct record_edges_row *rows, size_t row_count, struct flow *flow)
{
    const struct record record = {
        .processes = &process,
        .process_count = 1,
        .edges = rows,
        .edges_count = row_count,
    };

    set_insns();
    assert_int_equal(flow_find(&record, 0, flow), 0);
}

static void
assert_run(const struct flow *flow, size_t i, uint32_t first, uint32_t last,
           uint64_t count, bool wrong)
{
    assert_true(i < flow->run_count);
    assert_int_equal(flow->runs[i].first, first);
    assert_int_equal(flow->runs[i].last, last);
    assert_int_equal(flow->runs[i].count, count);
    assert_int_equal(flow->runs[i].mispredicted, wrong);
    assert_int_equal(flow->edges[flow->runs[i].edge].to, first);
}

/* A loop from 2 to 4, which begins at 0 and is left to 5: the first that came
 * is the first that goes. */
static void
test_loop(void **unused)
{
    struct record_edge edges[] = {
        EDGE(4, 2, TAKEN, 9, 2),
        EDGE(4, 5, ON, 1, 1),
        EDGE(7, NOWHERE, BROKEN, 1, 0),
        EDGE(NOWHERE, 0, BROKEN, 1, 0),
    };
    struct record_edges_row row = {0, 0, COUNT(edges), edges};
    struct flow flow;

    (void)unused;
    find(&row, 1, &flow);
    assert_int_equal(flow.edge_count, COUNT(edges));
    assert_int_equal(flow.run_count, 4);
    assert_run(&flow, 0, 0, 4, 1, false);
    assert_run(&flow, 1, 2, 4, 7, false);
    assert_run(&flow, 2, 2, 4, 1, true);
    assert_run(&flow, 3, 2, 7, 1, true);
    flow_finish(&flow);
}

/* Threads of one process add up; those of another process do not count. */
static void
test_threads(void **unused)
{
    struct record_edge first[] = {EDGE(3, 1, JUMP, 5, 0)};
    struct record_edge second[] = {EDGE(3, 1, JUMP, 6, 1),
                                   EDGE(NOWHERE, 1, BROKEN, 2, 0)};
    struct record_edges_row rows[] = {
        {0, 0, 1, first}, {1, 0, 1, first}, {0, 1, 2, second}};
    struct flow flow;

    (void)unused;
    find(rows, COUNT(rows), &flow);
    assert_int_equal(flow.edge_count, 2);
    assert_int_equal(flow.edges[0].count, 11);
    assert_int_equal(flow.edges[0].mispredicted, 1);
    flow_finish(&flow);
}

/* Code ends where no instruction is behind: so do the runs there. */
static void
test_end_of_image(void **unused)
{
    struct record_edge edges[] = {EDGE(NOWHERE, 6, BROKEN, 3, 0)};
    struct record_edges_row row = {0, 0, 1, edges};
    struct flow flow;

    (void)unused;
    find(&row, 1, &flow);
    assert_int_equal(flow.run_count, 1);
    assert_run(&flow, 0, 6, 7, 3, false);
    flow_finish(&flow);
}

/* More leaves than has come, as in a record that was written while the program
 * ran: what has come leaves. */
static void
test_too_few(void **unused)
{
    struct record_edge edges[] = {EDGE(2, 8, CALL, 9, 0),
                                  EDGE(NOWHERE, 1, BROKEN, 2, 0)};
    struct record_edges_row row = {0, 0, COUNT(edges), edges};
    struct flow flow;

    (void)unused;
    find(&row, 1, &flow);
    assert_int_equal(flow.run_count, 2);
    assert_run(&flow, 0, 1, 2, 2, false);
    assert_run(&flow, 1, 8, 9, 9, false);
    flow_finish(&flow);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_end_of_image),
        cmocka_unit_test(test_too_few),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
