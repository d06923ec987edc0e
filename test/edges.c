/* SPDX-License-Identifier: MIT */
/* Where control went from blocks: the edges of a thread, and what is handed
 * over of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "machine/recorder.h"

struct fixture {
    struct strand strand;
    struct recorder recorder;
    struct record_strand *record;
    uint64_t total[SIGNAL_COUNT], outside[SIGNAL_COUNT];
};

static void *
map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert_true(memory != MAP_FAILED);
    return memory;
}

static int
set_up(void **state)
{
    struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);

    assert_non_null(f);
    memset(f, 0, sizeof(*f));
    f->record = map(sizeof(*f->record));
    recorder_init(&f->recorder, f->record, NULL, 0, f->total);
    f->strand.total = f->total;
    f->strand.recorder = &f->recorder;
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    struct fixture *f = *state;

    munmap(f->record, sizeof(*f->record));
    free(f);
    return 0;
}

static void
enter(struct fixture *f, uint32_t number)
{
    const struct block block = {.index = number - 1};

    edges_enter(&f->strand, &block);
}

/* Returns the count of an edge, found by the slow, obvious way: those that were
 * mispredicted, or the others. */
static uint64_t
count_of(const struct fixture *f, uint32_t from, uint32_t to, bool wrong)
{
    const struct record_edges *e = &f->record->edges[from];
    const unsigned place = f->record->place & 1;
    uint64_t sum = 0;

    for (unsigned i = 0; i < 2; i++)
        if (to != 0 && e->to[i] == to)
            sum +=
                wrong ? e->mispredicted[i] : e->count[i] - e->mispredicted[i];
    for (size_t i = 0; i < (size_t)1 << f->record->bits; i++) {
        const struct record_site *s = &f->record->sites[place][i];
        if (s->key == record_edge_key(from, to, wrong))
            sum += s->count;
    }
    return sum;
}

static void
test_counts(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 10; i++) {
        enter(f, 3);
        enter(f, 4);
    }
    assert_int_equal(count_of(f, 0, 3, false), 1);
    assert_int_equal(count_of(f, 3, 4, false), 10);
    assert_int_equal(count_of(f, 4, 3, false), 9);
    assert_int_equal(f->record->last, 4);
}

/* An indirect jump leads to many blocks. */
static void
test_many(void **state)
{
    struct fixture *f = *state;

    for (unsigned round = 0; round < 3; round++) {
        for (uint32_t to = 2; to <= 2000; to++) {
            enter(f, 1);
            f->total[SIGNAL_INDIRECT_MISPREDICTS] += to % 5 == 0;
            enter(f, to);
        }
    }
    for (uint32_t to = 2; to <= 2000; to++) {
        assert_int_equal(count_of(f, 1, to, to % 5 == 0), 3);
        assert_int_equal(count_of(f, 1, to, to % 5 != 0), 0);
    }
}

/* What does not count is no edge, but for that which leaves what counts. */
static void
test_outside(void **state)
{
    struct fixture *f = *state;

    f->recorder.outside = true;
    f->strand.total = f->outside;
    enter(f, 1);
    enter(f, 2);
    f->recorder.outside = false;
    f->strand.total = f->total;
    enter(f, 3);
    enter(f, 4);
    f->total[SIGNAL_TAKEN_MISPREDICTS]++; /* of the last branch inside */
    f->recorder.outside = true;
    f->strand.total = f->outside;
    enter(f, 5);
    enter(f, 6);
    assert_int_equal(count_of(f, 1, 2, false), 0);
    assert_int_equal(count_of(f, 2, 3, false), 0);
    assert_int_equal(count_of(f, 0, 3, false), 1);
    assert_int_equal(count_of(f, 3, 4, false), 1);
    assert_int_equal(count_of(f, 4, 5, true), 1);
    assert_int_equal(count_of(f, 5, 6, false), 0);
    assert_int_equal(f->record->last, 0);
}

/* A block that has no number is nowhere. */
static void
test_unknown_block(void **state)
{
    struct fixture *f = *state;

    enter(f, 1);
    enter(f, 0);
    enter(f, 2);
    assert_int_equal(count_of(f, 1, 0, false), 1);
    assert_int_equal(count_of(f, 0, 2, false), 1);
}

static void
test_no_recorder(void **state)
{
    struct fixture *f = *state;

    f->strand.recorder = NULL;
    enter(f, 1);
    assert_int_equal(f->record->last, 0);
}

/* Edges of a thread that has ended, which leads nowhere. */
static void
test_fold(void **state)
{
    struct fixture *f = *state;
    struct process_counts process = {0};
    struct counts_head *head = calloc(1, sizeof(*head));
    struct counts_strand *counts = map(sizeof(*counts));
    struct record_process *record = map(sizeof(*record));

    process.head = head;
    head->blocks = 2;
    enter(f, 1);
    enter(f, 2);
    f->total[SIGNAL_RETURN_MISPREDICTS]++;
    enter(f, 1);
    record_fold(&process, record, counts, f->record);
    const struct record_site wanted[] = {
        {record_edge_key(0, 1, false), 1},
        {record_edge_key(1, 2, false), 1},
        {record_edge_key(2, 1, true), 1},
        {record_edge_key(1, 0, false), 1},
    };
    assert_int_equal(record->ended_count, 5);
    assert_memory_equal(record->ended + 1, wanted, sizeof(wanted));
    assert_int_equal(f->record->last, 0);
    assert_int_equal(count_of(f, 1, 2, false), 0);
    edges_restart(&f->recorder.edges);
    f->total[SIGNAL_RETURN_MISPREDICTS] = 0;
    enter(f, 2);
    assert_int_equal(count_of(f, 0, 2, false), 1);
    free(head);
    munmap(counts, sizeof(*counts));
    munmap(record, sizeof(*record));
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_counts),        CASE(test_many),        CASE(test_outside),
        CASE(test_unknown_block), CASE(test_no_recorder), CASE(test_fold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
