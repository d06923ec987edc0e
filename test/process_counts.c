/* SPDX-License-Identifier: MIT */
/* The session's file: what is shared, summed, folded and given back. */
#include "source/process_counts.h"
#include "source/counts_view.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define FEW 1000u /* blocks */

/* A session and its first process, with one strand. */
struct fixture {
    int fd;
    struct session_header *header;
    struct process_counts process;
    struct counts_strand *strand;
};

static void
setup(struct fixture *f)
{
    const struct session_request request = {.machine = 1, .skip = 77};

    memset(f, 0, sizeof(*f));
    assert_int_equal(session_create(&request, NULL, &f->fd, &f->header), 0);
    assert_int_equal(counts_map(f->fd, 0, &f->process), 0);
    f->strand = counts_map_strand(&f->process, 0, NULL);
    assert_non_null(f->strand);
}

static void
teardown(struct fixture *f)
{
    counts_unmap_strand(f->strand);
    counts_unmap(&f->process);
    session_destroy(f->fd, f->header);
}

/* Block i adds i + 1 instructions and takes i % 5 - 2 spills. */
static void
add_blocks(struct fixture *f, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        int16_t *fixed = f->process.infos[i].fixed;
        f->process.infos[i].instructions = (uint16_t)(i + 1);
        fixed[SIGNAL_INSTRUCTIONS] = (int16_t)(i + 1);
        fixed[SIGNAL_WINDOW_SPILLS] = (int16_t)(i % 5 - 2);
    }
    atomic_store(&f->process.head->blocks, count);
}

/* Runs every block `times` times in the window, once outside. */
static void
run_blocks(struct fixture *f, unsigned count, uint64_t times)
{
    for (unsigned i = 0; i < count; i++) {
        f->strand->exec[0][i] += times;
        f->strand->exec[COUNTS_OUTSIDE][i]++;
    }
    f->strand->totals[0].signal[SIGNAL_L1D_LOAD_MISSES] += 3 * times;
}

static int
attach(int fd, int *copy, struct session_header **header)
{
    static const struct session_request asked = {.machine = 1, .skip = 77};
    struct session_request request = {.machine = 2};
    char place[SESSION_PLACE];

    assert_int_equal(session_place(fd, &asked, place, sizeof(place)), 0);
    const int file = session_open(place);
    const int error = session_attach(place, NULL, file, header, &request);
    if (error == 0)
        *copy = file;
    else
        close(file);
    assert_true(error != 0 || memcmp(&request, &asked, sizeof(asked)) == 0);
    return error;
}

static void
test_attach(void **unused)
{
    struct session_header *header = NULL;
    struct fixture f;
    int fd = -1;

    (void)unused;
    setup(&f);
    assert_int_equal(fcntl(f.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(attach(f.fd, &fd, &header), 0);
    assert_int_equal(header->request.machine, 1);
    assert_int_equal(header->request.skip, 77);
    atomic_fetch_add(&header->processes, 1);
    assert_int_equal(atomic_load(&f.header->processes), 1);
    session_destroy(fd, header);
    teardown(&f);
}

static void
refuse(const struct fixture *f)
{
    struct session_header *header = NULL;
    int fd = -2;

    assert_int_equal(attach(f->fd, &fd, &header), TALLY_ESYSTEM);
    assert_int_equal(fd, -2);
}

static void
test_attach_wrong(void **unused)
{
    struct session_request request;
    struct session_header *header = NULL;
    struct fixture f;
    int fd = -2;

    (void)unused;
    setup(&f);
    f.header->magic++;
    refuse(&f);
    f.header->magic--;
    f.header->header_size++;
    refuse(&f);
    f.header->header_size--;
    f.header->counts_size++;
    refuse(&f);
    f.header->counts_size--;
    /* Another process may have written what the session seems to ask for. */
    f.header->request.qemu_arg_count = UINT32_MAX;
    refuse(&f);
    f.header->request.qemu_arg_count = 0;
    f.header->request.params[0]++;
    refuse(&f);
    teardown(&f);
    assert_int_equal(
        session_attach("/nonexistent", NULL, -1, &header, &request),
        TALLY_ESYSTEM);
    assert_int_equal(fd, -2);
}

/* The number of the process that made the session, and of its descriptor, may
 * be another's by now: such a file is not opened, whatever it holds. */
static void
test_open_another(void **unused)
{
    char place[SESSION_PLACE];
    struct fixture f, other;
    int ends[2];

    (void)unused;
    setup(&f);
    setup(&other);
    assert_int_equal(
        session_place(f.fd, &f.header->request, place, sizeof(place)), 0);
    const int own = dup(f.fd);
    assert_int_equal(dup2(other.fd, f.fd), f.fd);
    assert_int_equal(session_open(place), -1);
    assert_int_equal(errno, ESTALE);
    assert_int_equal(pipe(ends), 0); /* opening its end would wait */
    assert_int_equal(dup2(ends[0], f.fd), f.fd);
    assert_int_equal(session_open(place), -1);
    assert_int_equal(errno, ESTALE);
    assert_int_equal(dup2(own, f.fd), f.fd);
    const int again = session_open(place);
    assert_true(again >= 0);
    assert_int_equal(ftruncate(again, 4096), 0);
    assert_int_equal(session_open(place), -1);
    assert_int_equal(errno, ESTALE);
    const char *const wrong[] = {"",     "@",   "/proc/self/fd/0",
                                 "@1.2", "/@1", "/@1.2"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(session_open(wrong[i]), -1);
    close(ends[0]);
    close(ends[1]);
    close(own);
    close(again);
    teardown(&other);
    counts_unmap_strand(f.strand);
    counts_unmap(&f.process);
    session_destroy(f.fd, f.header);
}

/* Memory beyond the end of a file cannot be read. */
static void
test_attach_short(void **unused)
{
    struct session_header *header = NULL;
    const int file = memfd_create("short", MFD_CLOEXEC);
    int fd = -2;

    (void)unused;
    assert_true(file >= 0);
    assert_int_equal(attach(file, &fd, &header), TALLY_ESYSTEM);
    assert_int_equal(ftruncate(file, 4096), 0);
    assert_int_equal(attach(file, &fd, &header), TALLY_ESYSTEM);
    close(file);
}

/* Parts of processes and strands do not overlap. */
static void
test_map(void **unused)
{
    struct counts_strand *last;
    struct process_counts other;
    struct fixture f;

    (void)unused;
    setup(&f);
    assert_int_equal(counts_map(f.fd, SESSION_PROCESSES, &other),
                     TALLY_ESYSTEM);
    assert_int_equal(counts_map(f.fd, SESSION_PROCESSES - 1, &other), 0);
    last = counts_map_strand(&f.process, COUNTS_STRANDS - 1, NULL);
    assert_non_null(last);
    f.process.head->pid = 5;
    f.process.infos[COUNTS_BLOCKS - 1].instructions = 6;
    f.process.threads[COUNTS_THREADS - 1].thread = 7;
    f.strand->thread = 8;
    last->exec[COUNTS_OUTSIDE][COUNTS_BLOCKS - 1] = 9;
    assert_int_equal(other.head->pid, 0);
    assert_int_equal(other.infos[COUNTS_BLOCKS - 1].instructions, 0);
    assert_int_equal(f.process.threads[0].strand, 0);
    assert_int_equal(f.strand->totals[0].signal[0], 0);
    assert_int_equal(last->thread, 0);
    counts_unmap_strand(last);
    counts_unmap(&other);
    counts_unmap(&other);
    assert_int_equal(counts_map(f.fd, 0, &other), 0);
    assert_int_equal(other.head->pid, 5);
    assert_int_equal(other.infos[COUNTS_BLOCKS - 1].instructions, 6);
    assert_int_equal(other.threads[COUNTS_THREADS - 1].thread, 7);
    counts_unmap(&other);
    teardown(&f);
}

/* Without the file, by the header: the same memory, also laid over other. */
static void
test_map_session(void **unused)
{
    struct process_counts seen;
    struct fixture f;

    (void)unused;
    setup(&f);
    f.process.head->pid = 5;
    f.process.infos[COUNTS_BLOCKS - 1].instructions = 6;
    f.strand->exec[COUNTS_OUTSIDE][COUNTS_BLOCKS - 1] = 7;
    assert_int_equal(counts_map_session(f.header, -1, 0, &seen), 0);
    struct counts_strand *strand = counts_map_strand(&seen, 0, NULL);
    assert_non_null(strand);
    assert_int_equal(seen.head->pid, 5);
    assert_int_equal(seen.infos[COUNTS_BLOCKS - 1].instructions, 6);
    assert_int_equal(strand->exec[COUNTS_OUTSIDE][COUNTS_BLOCKS - 1], 7);
    strand->thread = 8;
    assert_int_equal(f.strand->thread, 8);

    const struct counts_head *const head = seen.head;
    assert_int_equal(counts_remap(&seen, SESSION_PROCESSES - 1), 0);
    assert_ptr_equal(seen.head, head);
    assert_int_equal(seen.head->pid, 0);
    assert_ptr_equal(counts_map_strand(&seen, COUNTS_STRANDS - 1, strand),
                     strand);
    assert_int_equal(strand->thread, 0);
    seen.head->pid = 9;
    counts_unmap_strand(strand);
    counts_unmap(&seen);
    assert_int_equal(counts_map(f.fd, SESSION_PROCESSES - 1, &seen), 0);
    assert_int_equal(seen.head->pid, 9);
    counts_unmap(&seen);
    teardown(&f);
}

/* Sum over i < blocks of i + 1. */
static uint64_t
triangle(uint64_t blocks)
{
    return blocks * (blocks + 1) / 2;
}

static void
test_sum(void **unused)
{
    struct totals sum;
    struct fixture f;

    (void)unused;
    setup(&f);
    add_blocks(&f, FEW);
    run_blocks(&f, FEW, 10);
    counts_sum(&f.process, f.strand, 0, &sum);
    assert_int_equal(sum.signal[SIGNAL_INSTRUCTIONS], 10 * triangle(FEW));
    assert_int_equal(sum.signal[SIGNAL_WINDOW_SPILLS], 0);
    assert_int_equal(sum.signal[SIGNAL_L1D_LOAD_MISSES], 30);
    /* A negative signal takes away. */
    f.strand->exec[0][4] += 7;
    f.strand->exec[0][0] += 3;
    counts_sum(&f.process, f.strand, 0, &sum);
    assert_int_equal(sum.signal[SIGNAL_WINDOW_SPILLS], 7 * 2 - 3 * 2);
    teardown(&f);
}

static void
check_thread(const struct counts_thread *thread, unsigned number,
             uint64_t times)
{
    const uint64_t *n = thread->totals[0].signal;

    assert_int_equal(thread->thread, number);
    assert_int_equal(thread->strand, number % 64);
    assert_int_equal(n[SIGNAL_INSTRUCTIONS], times * triangle(FEW));
    assert_int_equal(n[SIGNAL_L1D_LOAD_MISSES], times * 3);
}

/* Counts move to a record once; the window's outside goes nowhere. */
static void
test_fold(void **unused)
{
    struct totals sum, nothing = {{0}};
    struct fixture f;

    (void)unused;
    setup(&f);
    add_blocks(&f, FEW);
    for (unsigned i = 0; i < 5; i++) {
        f.strand->thread = i;
        f.strand->strand = i % 64;
        run_blocks(&f, FEW, i + 1);
        counts_fold(&f.process, f.strand);
        counts_sum(&f.process, f.strand, 0, &sum);
        assert_memory_equal(&sum, &nothing, sizeof(sum));
    }
    assert_int_equal(atomic_load(&f.process.head->threads), 5);
    for (unsigned i = 0; i < 5; i++)
        check_thread(&f.process.threads[i], i, i + 1);
    for (unsigned b = 0; b < FEW; b++) {
        assert_int_equal(f.strand->exec[0][b], 0);
        assert_int_equal(f.strand->exec[COUNTS_OUTSIDE][b], 0);
    }
    teardown(&f);
}

/* More threads than records: the last one has the rest. */
static void
test_fold_many(void **unused)
{
    struct fixture f;

    (void)unused;
    setup(&f);
    add_blocks(&f, FEW);
    atomic_store(&f.process.head->threads, COUNTS_THREADS - 1);
    for (unsigned i = 0; i < 4; i++) {
        run_blocks(&f, FEW, 2);
        counts_fold(&f.process, f.strand);
        assert_int_equal(atomic_load(&f.process.head->threads), COUNTS_THREADS);
    }
    check_thread(&f.process.threads[COUNTS_THREADS - 1], 0, 8);
    assert_int_equal(f.process.threads[COUNTS_THREADS - 2]
                         .totals[0]
                         .signal[SIGNAL_INSTRUCTIONS],
                     0);
    teardown(&f);
}

static uint64_t
file_bytes(int fd)
{
    struct stat stat;

    assert_int_equal(fstat(fd, &stat), 0);
    return (uint64_t)stat.st_blocks * 512;
}

static void
test_release(void **unused)
{
    const unsigned blocks = 20000;
    struct fixture f;

    (void)unused;
    setup(&f);
    add_blocks(&f, blocks);
    const uint64_t before = file_bytes(f.fd);
    run_blocks(&f, blocks, 1);
    counts_fold(&f.process, f.strand);
    f.process.infos[COUNTS_BLOCKS - 1].instructions = 1;
    f.strand->exec[COUNTS_OUTSIDE][COUNTS_BLOCKS - 1] = 1;
    const uint64_t most = file_bytes(f.fd);
    counts_release(&f.process, 1);
    const uint64_t after = file_bytes(f.fd);
    const uint64_t infos = blocks * sizeof(struct block_info);
    const uint64_t counts = (uint64_t)blocks * 2 * sizeof(uint64_t);
    assert_true(before >= infos);
    assert_true(most >= before + counts);
    assert_true(after + infos + counts <= most);
    /* What is left is the header, the head and one record. */
    assert_true(after <= 32 * 4096);
    assert_int_equal(atomic_load(&f.process.head->threads), 1);
    assert_int_not_equal(
        f.process.threads[0].totals[0].signal[SIGNAL_INSTRUCTIONS], 0);
    assert_int_equal(f.process.infos[3].instructions, 0);
    assert_int_equal(f.strand->exec[COUNTS_OUTSIDE][COUNTS_BLOCKS - 1], 0);
    teardown(&f);
}

/* Pointers stay, and the old part keeps what it has. */
static void
test_remap(void **unused)
{
    struct process_counts old;
    struct fixture f;

    (void)unused;
    setup(&f);
    add_blocks(&f, FEW);
    run_blocks(&f, FEW, 4);
    const struct counts_head *head = f.process.head;
    const struct block_info *infos = f.process.infos;
    assert_int_equal(counts_remap(&f.process, 1), 0);
    assert_ptr_equal(f.process.head, head);
    assert_ptr_equal(f.process.infos, infos);
    assert_int_equal(atomic_load(&head->blocks), 0);
    assert_int_equal(infos[3].instructions, 0);
    assert_ptr_equal(counts_map_strand(&f.process, 0, f.strand), f.strand);
    assert_int_equal(f.strand->exec[0][0], 0);
    assert_int_equal(f.strand->totals[0].signal[SIGNAL_L1D_LOAD_MISSES], 0);
    f.strand->exec[0][0] = 1;
    assert_int_equal(counts_map(f.fd, 0, &old), 0);
    struct counts_strand *strand = counts_map_strand(&old, 0, NULL);
    assert_int_equal(strand->exec[0][0], 4);
    assert_int_equal(atomic_load(&old.head->blocks), FEW);
    counts_unmap_strand(strand);
    counts_unmap(&old);
    teardown(&f);
}

/* What a detached child writes reaches nobody. */
static void
test_detach(void **unused)
{
    struct process_counts seen;
    struct fixture f;

    (void)unused;
    setup(&f);
    add_blocks(&f, FEW);
    run_blocks(&f, FEW, 4);
    assert_int_equal(counts_detach(&f.process, f.strand), 0);
    assert_int_equal(f.strand->exec[0][0], 0);
    f.strand->exec[0][0] = 99;
    f.process.head->pid = 99;
    assert_int_equal(counts_map(f.fd, 0, &seen), 0);
    struct counts_strand *strand = counts_map_strand(&seen, 0, NULL);
    assert_int_equal(strand->exec[0][0], 4);
    assert_int_equal(seen.head->pid, 0);
    counts_unmap_strand(strand);
    counts_unmap(&seen);
    teardown(&f);
}

static uint64_t
instructions(const struct fixture *f)
{
    const struct counts_rules rules = {1, 1, 1};
    struct counts_view view;

    f->process.head->slices = f->process.head->own_slices = 1;
    f->process.head->pid = 1;
    atomic_store(&f->process.head->state, COUNTS_RUNNING);
    assert_int_equal(counts_view_open(&view, f->fd, 0, &rules), 0);
    const uint64_t sum = counts_view_instructions(&view);
    assert_null(view.wrong);
    return sum;
}

/* Ended and live threads, inside and outside the window. */
static void
test_instructions(void **unused)
{
    struct fixture f;

    (void)unused;
    setup(&f);
    add_blocks(&f, FEW);
    atomic_store(&f.process.head->strands, 1);
    run_blocks(&f, FEW, 4);
    assert_int_equal(instructions(&f), 5 * triangle(FEW));
    counts_fold(&f.process, f.strand);
    run_blocks(&f, FEW, 1);
    assert_int_equal(instructions(&f), (4 + 2) * triangle(FEW));
    teardown(&f);
}

/* The strands of a process, of which some were never used. */
static void
test_instructions_of_strands(void **unused)
{
    static const unsigned used[] = {1, 2, 5};
    struct fixture f;
    uint64_t wanted;

    (void)unused;
    setup(&f);
    add_blocks(&f, FEW);
    atomic_store(&f.process.head->strands, 6);
    run_blocks(&f, FEW, 4);
    wanted = 5 * triangle(FEW);
    assert_int_equal(instructions(&f), wanted);
    for (unsigned i = 0; i < 3; i++) {
        struct fixture other = f;
        other.strand = counts_map_strand(&f.process, used[i], NULL);
        assert_non_null(other.strand);
        run_blocks(&other, FEW, i + 1);
        counts_unmap_strand(other.strand);
        wanted += (i + 2) * triangle(FEW);
        assert_int_equal(instructions(&f), wanted);
    }
    teardown(&f);
}

static void
add_all(void *user, const struct process_counts *process, uint32_t strand,
        struct totals *sum)
{
    struct totals *const all = user;

    (void)process;
    totals_add(&all[strand], sum);
}

/* A thread whose counts were folded while it went on is counted once. */
static void
test_each(void **unused)
{
    struct totals all[2] = {0};
    struct fixture f;

    (void)unused;
    setup(&f);
    add_blocks(&f, FEW);
    atomic_store(&f.process.head->strands, 1);
    f.process.head->own_slices = 1;
    run_blocks(&f, FEW, 4);
    f.strand->strand = 1;
    counts_fold(&f.process, f.strand);
    run_blocks(&f, FEW, 1);
    f.strand->strand = 0;
    counts_each(&f.process, add_all, all);
    assert_int_equal(all[0].signal[SIGNAL_INSTRUCTIONS], triangle(FEW));
    assert_int_equal(all[1].signal[SIGNAL_INSTRUCTIONS], 4 * triangle(FEW));
    counts_each_ended(&f.process, add_all, all);
    assert_int_equal(all[1].signal[SIGNAL_INSTRUCTIONS], 8 * triangle(FEW));
    assert_int_equal(all[0].signal[SIGNAL_INSTRUCTIONS], triangle(FEW));
    teardown(&f);
}

/* Nothing is laid over what is there; all of it is the header's. */
static void
test_owners(void **unused)
{
    void *at = mmap(NULL, SESSION_VCOUNTERS, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct fixture f;

    (void)unused;
    setup(&f);
    assert_null(session_map_vcounters(f.header, at));
    munmap(at, SESSION_VCOUNTERS);
    unsigned char *owners = session_map_vcounters(f.header, at);
    assert_ptr_equal(owners, at);
    owners[0] = 1;
    owners[SESSION_VCOUNTERS - 1] = 2;
    assert_int_equal(f.header->vcounters[0], 1);
    assert_int_equal(f.header->vcounters[SESSION_VCOUNTERS - 1], 2);
    munmap(at, SESSION_VCOUNTERS);
    teardown(&f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attach),
        cmocka_unit_test(test_attach_wrong),
        cmocka_unit_test(test_attach_short),
        cmocka_unit_test(test_open_another),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_map_session),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_fold_many),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_remap),
        cmocka_unit_test(test_detach),
        cmocka_unit_test(test_instructions),
        cmocka_unit_test(test_instructions_of_strands),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_owners),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
