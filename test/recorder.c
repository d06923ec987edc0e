/* SPDX-License-Identifier: MIT */
/* Where signals were raised: the recorder's table, and what it charges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "machine/recorder.h"

static const uint16_t signals[] = {
    SIGNAL_CLASS_BRANCH,       SIGNAL_L1I_MISSES,
    SIGNAL_L1D_LOAD_MISSES,    SIGNAL_INDIRECT_MISPREDICTS,
    SIGNAL_RETURN_MISPREDICTS, SIGNAL_L2_LOAD_MISSES,
    SIGNAL_DTLB_LOAD_MISSES,   SIGNAL_L2_STALLS,
    SIGNAL_MEMORY_READS_3,     SIGNAL_COUNT - 1,
};
#define SIGNALS (sizeof(signals) / sizeof(*signals))

/* A strand that records, without a chip. */
struct fixture {
    struct strand strand;
    struct recorder recorder;
    struct record_strand *record;
    uint64_t total[SIGNAL_COUNT], outside[SIGNAL_COUNT];
};

static int
set_up(void **state)
{
    struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) / 64 * 64);

    assert_non_null(f);
    memset(f, 0, sizeof(*f));
    f->record = mmap(NULL, sizeof(*f->record), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(f->record != MAP_FAILED);
    f->total[SIGNAL_L1I_MISSES] = 77; /* before the recording */
    recorder_init(&f->recorder, f->record, signals, SIGNALS, f->total);
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

/* Returns the count of a site, found by the slow, obvious way. */
static uint64_t
count_of(const struct fixture *f, uint32_t block, unsigned instruction,
         unsigned signal)
{
    const unsigned place = f->record->place & 1;
    uint64_t sum = 0;

    for (size_t i = 0; i < (size_t)1 << f->record->bits; i++) {
        const struct record_site *s = &f->record->sites[place][i];
        if (s->key == record_key(block, instruction, signal))
            sum += s->count;
    }
    return sum;
}

static uint64_t
sum_of(const struct fixture *f)
{
    const unsigned place = f->record->place & 1;
    uint64_t sum = 0;

    for (size_t i = 0; i < (size_t)1 << f->record->bits; i++)
        sum += f->record->sites[place][i].count;
    return sum;
}

static void
test_charge(void **state)
{
    struct fixture *f = *state;

    f->total[SIGNAL_L1I_MISSES] += 2;
    f->total[SIGNAL_COUNT - 1] += 5;
    f->total[SIGNAL_CYCLES] += 9; /* is not recorded */
    recorder_charge(&f->strand, 3, 1, RECORDER_NO_DATA);
    assert_int_equal(count_of(f, 3, 1, SIGNAL_L1I_MISSES), 2);
    assert_int_equal(count_of(f, 3, 1, SIGNAL_COUNT - 1), 5);
    assert_int_equal(sum_of(f), 7);
    recorder_charge(&f->strand, 4, 1,
                    RECORDER_NO_DATA); /* nothing has come since */
    assert_int_equal(sum_of(f), 7);
    f->total[SIGNAL_L1I_MISSES]++;
    recorder_charge(&f->strand, 3, 1, RECORDER_NO_DATA);
    assert_int_equal(count_of(f, 3, 1, SIGNAL_L1I_MISSES), 3);
}

/* The signals of a branch's target are charged by a call of their own. */
static void
test_branch(void **state)
{
    struct fixture *f = *state;

    f->total[SIGNAL_RETURN_MISPREDICTS] += 3;
    f->total[SIGNAL_L2_LOAD_MISSES] += 4;
    recorder_charge_branch(&f->strand, 8);
    assert_int_equal(count_of(f, 8, RECORD_BRANCH, SIGNAL_RETURN_MISPREDICTS),
                     3);
    assert_int_equal(sum_of(f), 3);
    recorder_charge(&f->strand, 8, 2, RECORDER_NO_DATA);
    assert_int_equal(count_of(f, 8, 2, SIGNAL_L2_LOAD_MISSES), 4);
    assert_int_equal(sum_of(f), 7);
}

/* What is charged by itself is not charged again. */
static void
test_charge_one(void **state)
{
    struct fixture *f = *state;

    f->total[SIGNAL_L1D_LOAD_MISSES] += 3;
    recorder_charge_one(&f->strand, &(struct request){.cell = 1},
                        SIGNAL_L1D_LOAD_MISSES, 1);
    recorder_charge_one(&f->strand, &(struct request){.cell = 2},
                        SIGNAL_L1D_LOAD_MISSES, 2);
    recorder_charge_one(&f->strand, &(struct request){.cell = 2}, SIGNAL_CYCLES,
                        2);
    recorder_charge(&f->strand, 9, 0, RECORDER_NO_DATA);
    assert_int_equal(count_of(f, 1, 0, SIGNAL_L1D_LOAD_MISSES), 1);
    assert_int_equal(count_of(f, 2, 0, SIGNAL_L1D_LOAD_MISSES), 2);
    assert_int_equal(sum_of(f), 3);
}

/* Requests of some kinds are charged with the signal of their kind, and no
 * others. */
static void
test_charge_each(void **state)
{
    struct fixture *f = *state;
    static const uint16_t by_kind[REQUEST_KINDS] = {
        [REQUEST_LOAD] = SIGNAL_L1D_LOAD_MISSES,
        [REQUEST_FETCH] = SIGNAL_L1I_MISSES,
    };
    const struct request queue[] = {
        {.cell = 1, .instruction = 4, .kind = REQUEST_LOAD},
        {.cell = 1, .kind = REQUEST_FETCH},
        {.cell = 2, .kind = REQUEST_LOAD},
        {.cell = 1, .instruction = 4, .kind = REQUEST_LOAD},
    };

    f->total[SIGNAL_L1D_LOAD_MISSES] += 3;
    recorder_charge_each(&f->strand, queue, 4, by_kind,
                         REQUEST_BIT(REQUEST_LOAD));
    recorder_charge(&f->strand, 9, 0, RECORDER_NO_DATA);
    assert_int_equal(count_of(f, 1, 4, SIGNAL_L1D_LOAD_MISSES), 2);
    assert_int_equal(count_of(f, 2, 0, SIGNAL_L1D_LOAD_MISSES), 1);
    assert_int_equal(sum_of(f), 3);
}

/* What is behind an L2 is charged by itself, and the rest by the next call. */
static void
test_charge_behind(void **state)
{
    struct fixture *f = *state;
    const struct request r = {.cell = 3, .instruction = 2};

    f->total[SIGNAL_L2_STALLS] += 2;
    f->total[SIGNAL_MEMORY_READS_3] += 1;
    f->total[SIGNAL_DTLB_LOAD_MISSES] += 5;
    recorder_charge_behind(&f->strand, &r);
    assert_int_equal(count_of(f, 3, 2, SIGNAL_L2_STALLS), 2);
    assert_int_equal(count_of(f, 3, 2, SIGNAL_MEMORY_READS_3), 1);
    assert_int_equal(sum_of(f), 3);
    recorder_charge(&f->strand, 4, 0, RECORDER_NO_DATA);
    assert_int_equal(count_of(f, 4, 0, SIGNAL_DTLB_LOAD_MISSES), 5);
    assert_int_equal(sum_of(f), 8);
}

/* What comes in blocks for which the counts have no room stays in the total
 * alone; with callers that number is a cell's. */
static void
test_no_room(void **state)
{
    struct fixture *f = *state;

    f->total[SIGNAL_L1I_MISSES] += 2;
    recorder_charge(&f->strand, RECORD_NO_ROOM, 0, RECORDER_NO_DATA);
    assert_int_equal(sum_of(f), 0);
    atomic_store(&f->record->cell_count, RECORD_NO_ROOM);
    f->total[SIGNAL_L1I_MISSES] += 2;
    recorder_charge(&f->strand, RECORD_NO_ROOM, 0, RECORDER_NO_DATA);
    assert_int_equal(sum_of(f), 2);
}

/* Block 0 is not known: what comes there stays in the total alone. */
static void
test_unknown_block(void **state)
{
    struct fixture *f = *state;

    f->total[SIGNAL_L1I_MISSES] += 2;
    recorder_charge(&f->strand, 0, 0, RECORDER_NO_DATA);
    recorder_charge(&f->strand, 1, 0, RECORDER_NO_DATA);
    assert_int_equal(sum_of(f), 0);
}

static void
test_outside(void **state)
{
    struct fixture *f = *state;

    f->strand.total = f->outside;
    recorder_switch(&f->strand, true);
    assert_ptr_equal(f->strand.branches, f->record->outside);
    f->outside[SIGNAL_L1I_MISSES] += 6;
    recorder_charge(&f->strand, 1, 0, RECORDER_NO_DATA);
    assert_int_equal(sum_of(f), 0);
    f->strand.total = f->total;
    recorder_switch(&f->strand, false);
    assert_ptr_equal(f->strand.branches, f->record->branches);
    f->total[SIGNAL_L1I_MISSES] += 2;
    recorder_charge(&f->strand, 1, 0, RECORDER_NO_DATA);
    assert_int_equal(sum_of(f), 2);
}

/* The table grows, several times, and keeps all; a recorder that begins on a
 * table goes on with it. */
static void
test_growth(void **state)
{
    struct fixture *f = *state;
    const uint32_t blocks = 20 * RECORD_SITES_LEAST;

    for (unsigned round = 0; round < 3; round++) {
        for (uint32_t b = 1; b <= blocks; b++) {
            f->total[SIGNAL_L2_LOAD_MISSES] += b;
            recorder_charge(&f->strand, b, b % 7, RECORDER_NO_DATA);
        }
        recorder_init(&f->recorder, f->record, signals, SIGNALS, f->total);
    }
    for (uint32_t b = 1; b <= blocks; b += 997)
        assert_int_equal(count_of(f, b, b % 7, SIGNAL_L2_LOAD_MISSES), 3 * b);
    assert_int_equal(sum_of(f), 3 * ((uint64_t)blocks * (blocks + 1) / 2));
    assert_true((size_t)1 << f->record->bits >= blocks);
    for (size_t i = 0; i < RECORD_SITES_LEAST; i++)
        assert_int_equal(f->record->sites[~f->record->place & 1][i].key, 0);
}

/* Threads that have ended: their sites, one behind another. */
static void
test_fold(void **state)
{
    struct fixture *f = *state;
    struct process_counts process = {0};
    struct counts_head *head = calloc(1, sizeof(*head));
    struct counts_strand *counts =
        mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct record_process *record =
        mmap(NULL, sizeof(*record), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    process.head = head;
    head->blocks = 2;
    counts->thread = 5;
    counts->exec[0][1] = 40;
    f->record->branches[2].outcome[1] = 4;
    f->record->branches[2].outcome[3] = 6;
    f->record->branches[2].outcome[2] = 1;
    f->total[SIGNAL_L1I_MISSES]++;
    recorder_charge(&f->strand, 2, RECORD_LINE | 3, RECORDER_NO_DATA);
    record_fold(&process, record, counts, f->record);
    const struct record_thread *thread = (const void *)record->ended;
    assert_int_equal(thread->thread, 5);
    assert_int_equal(thread->count, 5);
    assert_int_equal(record->ended_count, 6);
    const struct record_site wanted[] = {
        {record_key(2, 0, RECORD_EXECUTIONS), 40},
        {record_key(2, RECORD_BRANCH, SIGNAL_CONDITIONAL_TAKEN), 7},
        {record_key(2, RECORD_BRANCH, SIGNAL_NOT_TAKEN_MISPREDICTS), 4},
        {record_key(2, RECORD_BRANCH, SIGNAL_TAKEN_MISPREDICTS), 6},
        {record_key(2, RECORD_LINE | 3, SIGNAL_L1I_MISSES), 1},
    };
    assert_memory_equal(record->ended + 1, wanted, sizeof(wanted));
    assert_int_equal(sum_of(f), 0);
    record_fold(&process, record, counts, f->record); /* executions stay */
    assert_int_equal(record->ended_count, 8);
    free(head);
    munmap(counts, sizeof(*counts));
    munmap(record, sizeof(*record));
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_charge),        CASE(test_branch),
        CASE(test_charge_one),    CASE(test_charge_each),
        CASE(test_charge_behind), CASE(test_no_room),
        CASE(test_unknown_block), CASE(test_outside),
        CASE(test_growth),        CASE(test_fold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
