/* SPDX-License-Identifier: MIT */
/* What a session's reader makes of forged memory: it costs nothing, and no
 * count of such a process is in the sums. */
#include "profile/collect.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/counts_layout.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PROCESSES 2u
/* Larger than any number of a process of Linux, so that none such runs. */
#define NO_PID (1 << 22)

struct fixture {
    int fd;
    struct session_header *header;
    struct session_request request;
    struct session_options options;
    struct process_counts process[PROCESSES];
    struct counts_strand *strand[PROCESSES];
    struct session_result result;
};

/* Two processes, each of a block of 3 instructions, run 5 times and folded, and
 * 7 times since. */
static void
setup(struct fixture *f)
{
    const struct machine_row *machine = machine_find("ultrasparc-t2");

    memset(f, 0, sizeof(*f));
    f->request.slices = 1;
    for (size_t i = 0; i < PARAM_COUNT; i++)
        f->request.params[i] = machine->params[i].value;
    f->options.machine = machine;
    f->options.params = f->request.params;
    assert_int_equal(session_create(&f->request, NULL, &f->fd, &f->header), 0);
    for (unsigned i = 0; i < PROCESSES; i++) {
        struct process_counts *const r = &f->process[i];
        assert_int_equal(counts_map(f->fd, i, r), 0);
        f->strand[i] = counts_map_strand(r, 0, NULL);
        assert_non_null(f->strand[i]);
        r->head->pid = NO_PID + (int)i;
        r->head->slices = r->head->own_slices = 1;
        strcpy(r->head->program, "program");
        r->infos[0].fixed[SIGNAL_INSTRUCTIONS] = 3;
        r->infos[0].instructions = 3;
        atomic_store(&r->head->blocks, 1);
        atomic_store(&r->head->strands, 1);
        f->strand[i]->exec[0][0] = 5;
        counts_fold(r, f->strand[i]);
        f->strand[i]->exec[0][0] = 7;
        atomic_store(&r->head->state, COUNTS_RUNNING);
        atomic_fetch_add(&f->header->processes, 1);
    }
}

static void
teardown(struct fixture *f)
{
    session_result_finish(&f->result);
    for (unsigned i = 0; i < PROCESSES; i++) {
        counts_unmap_strand(f->strand[i]);
        counts_unmap(&f->process[i]);
    }
    session_destroy(f->fd, f->header);
}

static uint64_t
collect(struct fixture *f)
{
    assert_int_equal(
        session_collect(&f->options, f->fd, &f->request, &f->result), 0);
    return f->result.totals.signal[SIGNAL_INSTRUCTIONS];
}

static void
test_sound(void **unused)
{
    struct fixture f;

    (void)unused;
    setup(&f);
    assert_int_equal(collect(&f), 2 * 3 * (5 + 7));
    assert_int_equal(f.result.process_count, 2);
    assert_false(session_partial(&f.result));
    teardown(&f);
}

/* A 32-bit value of the second process, and where. */
static const struct forged {
    int line;
    uint64_t offset;
    uint32_t value;
} forged[] = {
#define HEAD(field, value)                                   \
    {                                                        \
        __LINE__, offsetof(struct counts_head, field), value \
    }
#define STRAND(field, value)                                                \
    {                                                                       \
        __LINE__, STRANDS_AT + offsetof(struct counts_strand, field), value \
    }
#define THREAD(field, value)                                                \
    {                                                                       \
        __LINE__, THREADS_AT + offsetof(struct counts_thread, field), value \
    }
#define KIND(value)                 \
    {                               \
        __LINE__, KINDS_AT, (value) \
    }
    HEAD(state, 3),
    HEAD(pid, 0),
    HEAD(pid, UINT32_MAX),
    HEAD(parent, UINT32_MAX),
    HEAD(begin, 3),
    HEAD(blocks, UINT32_MAX),
    HEAD(blocks, COUNTS_BLOCKS + 1),
    HEAD(strands, UINT32_MAX),
    HEAD(strands, COUNTS_STRANDS + 1),
    HEAD(threads, UINT32_MAX),
    HEAD(threads, COUNTS_THREADS), /* never written */
    HEAD(snapshots, UINT32_MAX),
    HEAD(snapshots, COUNTS_SNAPSHOTS),
    HEAD(captures, UINT32_MAX), /* not written either */
    HEAD(slices, 2),
    HEAD(own_slices, 2),
    HEAD(files, UINT32_MAX),
    HEAD(together, UINT32_MAX),
    HEAD(heaped, 2),
    STRAND(strand, 64), /* the machine has 64 */
    STRAND(suspect, 2),
    THREAD(strand, 64),
    KIND(COUNTS_BLOCKS), /* never written */
    KIND(COUNTS_BLOCKS + 1),
};

static uint64_t
allocated(const struct fixture *f)
{
    struct stat st;

    assert_int_equal(fstat(f->fd, &st), 0);
    return (uint64_t)st.st_blocks;
}

static void
test_forged(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(forged); i++) {
        struct fixture f;
        setup(&f);
        assert_int_equal(
            pwrite(f.fd, &forged[i].value, sizeof(forged[i].value),
                   (off_t)(HEADER_SIZE + COUNTS_SIZE + forged[i].offset)),
            sizeof(forged[i].value));
        const uint64_t before = allocated(&f);
        if (collect(&f) != 3 * (5 + 7) || f.result.inconsistent_count != 1 ||
            f.result.process_count != 1 || !session_partial(&f.result))
            fail_msg("line %d: a forged value is believed", forged[i].line);
        assert_int_equal(allocated(&f), before);
        teardown(&f);
    }
}

/* Threads beyond the rows of a report share the row of a thread on their
 * strand, with every count; 16,000 rows take as little memory whatever a
 * process writes.
 */
static void
test_many_threads(void **unused)
{
    const unsigned many = SESSION_ROWS + 100;
    struct fixture f;

    (void)unused;
    setup(&f);
    struct process_counts *const r = &f.process[1];
    for (unsigned i = 1; i < many; i++) {
        f.strand[1]->thread = i;
        f.strand[1]->strand = i % 64;
        f.strand[1]->exec[0][0] = 2;
        counts_fold(r, f.strand[1]);
    }
    counts_end(r);
    assert_int_equal(collect(&f), 3 * (5 + 7) + 3 * (5 + 2 * (many - 1)));
    assert_int_equal(f.result.thread_count, SESSION_ROWS - 1);
    assert_in_range(f.result.heaped_threads, many + 2 - SESSION_ROWS,
                    many + 4 - SESSION_ROWS);
    assert_false(session_partial(&f.result));
    teardown(&f);
}

/* Numbers that are possible, of records that are holes, cost nothing. */
static void
test_holes(void **unused)
{
    struct fixture f;

    (void)unused;
    setup(&f);
    atomic_store(&f.process[1].head->blocks, COUNTS_BLOCKS);
    atomic_store(&f.process[1].head->strands, COUNTS_STRANDS);
    atomic_store(&f.header->processes, SESSION_PROCESSES);
    const uint64_t before = allocated(&f);
    assert_int_equal(collect(&f), 2 * 3 * (5 + 7));
    assert_int_equal(allocated(&f), before);
    teardown(&f);
}

/* A record that another process raises, lowers or hides after the process has
 * ended is found by its seal. */
static void
test_overwritten(void **unused)
{
    for (unsigned way = 0; way < 6; way++) {
        struct fixture f;
        (void)unused;
        setup(&f);
        struct process_counts *const r = &f.process[1];
        counts_fold(r, f.strand[1]);
        counts_end(r);
        assert_int_equal(collect(&f), 2 * 3 * (5 + 7));
        assert_int_equal(f.result.inconsistent_count, 0);
        session_result_finish(&f.result);
        if (way == 0)
            r->threads[1].totals[0].signal[SIGNAL_INSTRUCTIONS]++;
        else if (way == 1)
            r->threads[0].totals[0].signal[SIGNAL_INSTRUCTIONS] = 0;
        else if (way == 2)
            atomic_store(&r->head->threads, 1);
        else if (way == 3)
            r->threads[1] = r->threads[0];
        else if (way == 4)
            r->head->pid = 7;
        else
            strcpy(r->head->program, "another");
        assert_int_equal(collect(&f), 3 * (5 + 7));
        assert_int_equal(f.result.inconsistent_count, 1);
        assert_true(session_partial(&f.result));
        teardown(&f);
    }
}

static void
test_impossible_counts(void **unused)
{
    struct fixture f;

    (void)unused;
    setup(&f);
    f.strand[1]->exec[0][0] = UINT64_C(1) << 60;
    assert_int_equal(collect(&f), 3 * (5 + 7));
    assert_int_equal(f.result.inconsistent[0].pid, NO_PID + 1);
    teardown(&f);
}

/* A process that counted for a part of its life makes the sums partial. */
static void
test_cut(void **unused)
{
    struct fixture f;

    (void)unused;
    setup(&f);
    atomic_store(&f.process[0].head->cut, 1);
    assert_int_equal(collect(&f), 2 * 3 * (5 + 7));
    assert_int_equal(f.result.cut_processes, 1);
    assert_true(session_partial(&f.result));
    teardown(&f);
}

/* What was asked for is the session's own copy; and no process is hidden. */
static void
test_header(void **unused)
{
    for (unsigned way = 0; way < 3; way++) {
        struct fixture f;
        (void)unused;
        setup(&f);
        if (way == 0)
            f.header->request.slices = 7;
        else if (way == 1)
            atomic_store(&f.header->processes, 1);
        else
            atomic_store(&f.header->uncounted, UINT32_MAX);
        assert_int_equal(collect(&f), 2 * 3 * (5 + 7));
        assert_int_equal(f.result.inconsistent_count, 1);
        assert_int_equal(f.result.inconsistent[0].pid, 0);
        assert_true(session_partial(&f.result));
        teardown(&f);
    }
}

/* Counts that a killed process kept to itself are said to lack. */
static void
test_lost_threads(void **unused)
{
    struct fixture f;

    (void)unused;
    setup(&f);
    atomic_store(&f.process[0].head->apart, 2);
    atomic_store(&f.process[1].head->lost, 1);
    collect(&f);
    assert_int_equal(f.result.lost_threads, 3);
    assert_true(session_partial(&f.result));
    session_result_finish(&f.result);
    counts_end(&f.process[0]);
    collect(&f);
    assert_int_equal(f.result.lost_threads, 1);
    teardown(&f);
}

/* The process that ends when somebody asks whether it runs, or NULL. */
static struct process_counts *ending;

/* In place of the C library's. */
int
kill(pid_t pid, int sig)
{
    if (ending != NULL && pid == ending->head->pid) {
        counts_end(ending);
        ending = NULL;
    }
    return (int)syscall(SYS_kill, pid, sig);
}

/* A process that ends in good order while it is read has not died. */
static void
test_end_meanwhile(void **unused)
{
    struct fixture f;

    (void)unused;
    setup(&f);
    collect(&f);
    assert_int_equal(f.result.left_early, 1); /* the second died */
    session_result_finish(&f.result);
    ending = &f.process[1];
    collect(&f);
    assert_null(ending);
    assert_int_equal(f.result.left_early, 0);
    assert_true(f.result.processes[1].ended);
    assert_false(session_left_early(&f.result));
    teardown(&f);
}

/* A process that has ended and was not waited for does not run; neither does
 * one of whose number there is another, in our PID namespace. */
static void
test_running(void **unused)
{
    struct fixture f;
    struct stat space;
    siginfo_t info;

    (void)unused;
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(stat("/proc/self/ns/pid", &space), 0);
    setup(&f);
    f.process[0].head->pid = child;
    f.process[1].head->pid = getpid();
    f.process[1].head->pid_space = space.st_ino;
    collect(&f);
    assert_false(f.result.processes[0].running);
    assert_true(f.result.processes[1].running);
    session_result_finish(&f.result);
    f.process[1].head->pid_space = space.st_ino + 1;
    collect(&f);
    assert_false(f.result.processes[1].running);
    teardown(&f);
    waitpid(child, NULL, 0);
}

/* Processes are counted, not numbers, which two may have. */
static void
test_processes(void **unused)
{
    static const struct {
        uint32_t begin;
        size_t processes;
    } cases[] = {{BEGIN_FORK, 2}, {BEGIN_EXEC, 1}};

    (void)unused;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f;
        setup(&f);
        f.process[1].head->pid = f.process[0].head->pid;
        f.process[1].head->begin = cases[i].begin;
        collect(&f);
        assert_int_equal(f.result.pid_count, cases[i].processes);
        teardown(&f);
    }
}

/* Names of what ran outside: a note that was taken back leaves no name. */
static void
test_uncounted(void **unused)
{
    struct fixture f;

    (void)unused;
    setup(&f);
    const unsigned first = session_note_uncounted(f.header, "first");
    session_note_uncounted(f.header, "second");
    session_forget_uncounted(f.header, first);
    collect(&f);
    assert_true(session_partial(&f.result));
    assert_int_equal(f.result.uncounted, 1);
    assert_int_equal(f.result.uncounted_named, 1);
    assert_string_equal(f.result.uncounted_names[0], "second");
    session_result_finish(&f.result);
    for (unsigned i = 0; i < SESSION_UNCOUNTED; i++)
        session_note_uncounted(f.header, "more");
    collect(&f);
    assert_int_equal(f.result.uncounted, SESSION_UNCOUNTED + 1);
    assert_int_equal(f.result.uncounted_named, SESSION_UNCOUNTED);
    teardown(&f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_forged),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_impossible_counts),
        cmocka_unit_test(test_overwritten),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_lost_threads),
        cmocka_unit_test(test_end_meanwhile),
        cmocka_unit_test(test_running),
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_uncounted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
