/* SPDX-License-Identifier: MIT */
/*
 * This host's counters as a program sees them: public header only, linked to
 * the shared library. Software events, which every Linux counts for its own
 * processes; where even those are refused the cases are skipped.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "counter_help.h"

static void
counts_this_thread(void **state)
{
    struct tally_counter *c = open_with(NULL, "page-faults:u,task-clock:u");
    struct tally_reading r[2], again[2];
    struct tally_counted event;

    (void)state;
    touch_more();
    assert_int_equal(tally_counter_read(c, r, 2), 0);
    assert_int_equal(r[0].value, 0); /* not started */
    assert_int_equal(r[0].enabled, 0);
    assert_int_equal(tally_counter_start(c), 0);
    touch_more();
    assert_int_equal(tally_counter_stop(c), 0);
    assert_int_equal(tally_counter_read(c, r, 2), 0);
    assert_in_range(r[0].value, PAGES, MOST(PAGES + 20));
    assert_true(r[1].value > 0 && r[1].enabled > 0);
    assert_int_equal(r[1].enabled, r[1].running);
    touch_more();
    assert_int_equal(tally_counter_read(c, again, 2), 0);
    assert_memory_equal(r, again, sizeof(r)); /* stopped */

    assert_int_equal(tally_counter_count(c), 2);
    assert_int_equal(tally_counter_event(c, 0, &event), 0);
    assert_non_null(strstr(event.name, "page-faults"));
    assert_true(event.scale == 1);
    assert_non_null(event.unit);
    assert_int_equal(tally_counter_event(c, 2, &event), TALLY_ERANGE);
    tally_counter_close(c);
}

static void
resets_and_goes_on(void **state)
{
    struct tally_counter *c =
        open_with(NULL, "{page-faults:u,minor-faults:u},task-clock:u");
    struct tally_reading r[3];

    (void)state;
    assert_int_equal(tally_counter_start(c), 0);
    touch_more();
    spin(1000000);
    assert_int_equal(tally_counter_reset(c), 0);
    touch_pages(10);
    assert_int_equal(tally_counter_read(c, r, 3), 0);
    assert_in_range(r[0].value, 10, MOST(40));
    assert_in_range(r[1].value, 10, MOST(40));
    /* The times too, which the kernel keeps. */
    assert_true(r[2].enabled < 1000000000);
    assert_int_equal(tally_counter_stop(c), 0);
    assert_int_equal(tally_counter_reset(c), 0);
    assert_int_equal(tally_counter_read(c, r, 3), 0);
    for (int i = 0; i < 3; i++)
        assert_true(r[i].value == 0 && r[i].enabled == 0 && r[i].running == 0);
    tally_counter_close(c);
}

static void
adds_when_stopped(void **state)
{
    struct line line = {""};
    struct tally_counter_options options = defaults();
    struct tally_reading r[3];

    (void)state;
    options.log = (struct tally_log){keep_line, &line};
    struct tally_counter *c = open_with(&options, "page-faults:u");
    assert_int_equal(tally_counter_start(c), 0);
    assert_int_equal(tally_counter_add(c, "task-clock:u"), TALLY_ERULE);
    assert_non_null(strstr(line.text, "stop"));
    assert_int_equal(tally_counter_stop(c), 0);
    assert_int_equal(tally_counter_add(c, "{minor-faults:u,task-clock:u}"), 0);
    assert_int_equal(tally_counter_count(c), 3);
    assert_int_equal(tally_counter_start(c), 0);
    touch_more();
    assert_int_equal(tally_counter_read(c, r, 3), 0);
    assert_true(r[0].value >= PAGES && r[1].value >= PAGES && r[2].value > 0);
    assert_int_equal(tally_counter_read(c, r, 2), TALLY_ERANGE);
    tally_counter_close(c);
}

static void *
touch_on_thread(void *user)
{
    (void)user;
    touch_more();
    return NULL;
}

static void
run_threads(unsigned count)
{
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < count; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, touch_on_thread, NULL), 0);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void
run_child(void)
{
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        touch_more();
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void
leaves_others_out(void **state)
{
    struct tally_counter *c = open_with(NULL, "page-faults:u");

    (void)state;
    assert_int_equal(tally_counter_start(c), 0);
    run_threads(THREADS);
    assert_in_range(first_value(c), 0, MOST(PAGES * THREADS / 2));
    tally_counter_close(c);
}

static void
inherits(void **state)
{
    struct tally_counter_options options = defaults();

    (void)state;
    options.inherit = true;
    struct tally_counter *c =
        open_with(&options, "{page-faults:u,minor-faults:u}");
    assert_int_equal(tally_counter_start(c), 0);
    run_threads(THREADS);
    run_child();
    assert_true(first_value(c) >= PAGES * (THREADS + 1));
    /* What ended children counted is gone as well. */
    assert_int_equal(tally_counter_reset(c), 0);
    assert_in_range(first_value(c), 0, MOST(PAGES / 2));
    tally_counter_close(c);
}

struct gate {
    pthread_barrier_t go, done;
};

static void *
touch_behind_gate(void *user)
{
    struct gate *gate = user;

    pthread_barrier_wait(&gate->go);
    touch_more();
    pthread_barrier_wait(&gate->done);
    pthread_barrier_wait(&gate->go);
    return NULL;
}

/* Threads that are there already, and threads to come; no child process. */
static void
sums_a_process(void **state)
{
    struct tally_counter_options options = defaults();
    struct gate gate;
    pthread_t threads[THREADS];

    (void)state;
    pthread_barrier_init(&gate.go, NULL, THREADS + 1);
    pthread_barrier_init(&gate.done, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, touch_behind_gate, &gate), 0);
    options.scope = TALLY_COUNTER_PROCESS;
    struct tally_counter *c = open_with(&options, "page-faults:u,task-clock:u");
    assert_int_equal(tally_counter_start(c), 0);
    pthread_barrier_wait(&gate.go);
    pthread_barrier_wait(&gate.done);
    assert_true(first_value(c) >= PAGES * THREADS);
    run_threads(THREADS);
    const uint64_t threads_did = first_value(c);
    assert_true(threads_did >= PAGES * THREADS * 2);
    for (int i = 0; i < 10; i++)
        run_child();
    const uint64_t all = first_value(c);
    assert_true(all < threads_did + MOST(PAGES * 10)); /* fork() faults */
    pthread_barrier_wait(&gate.go);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(first_value(c) >= all); /* nothing leaves with them */
    tally_counter_close(c);
    pthread_barrier_destroy(&gate.go);
    pthread_barrier_destroy(&gate.done);
}

/* A child that waits for a byte, faults, answers, and waits for the end. */
static pid_t
start_child(int go[2], int done[2])
{
    char byte = 0;

    assert_true(pipe(go) == 0 && pipe(done) == 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0)
        return child;
    if (read(go[0], &byte, 1) == 1) {
        touch_more();
        if (write(done[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1)
            _exit(0);
    }
    _exit(1);
}

static void
counts_others(void **state)
{
    static const enum tally_counter_scope scopes[] = {TALLY_COUNTER_THREAD,
                                                      TALLY_COUNTER_PROCESS};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct tally_counter_options options = defaults();
        int go[2], done[2];
        char byte = 0;
        const pid_t child = start_child(go, done);
        options.scope = scopes[i];
        options.id = child;
        struct tally_counter *c = open_with(&options, "page-faults:u");
        assert_int_equal(tally_counter_start(c), 0);
        assert_int_equal(write(go[1], &byte, 1), 1);
        assert_int_equal(read(done[0], &byte, 1), 1);
        assert_in_range(first_value(c), PAGES, MOST(PAGES * 2));
        assert_int_equal(write(go[1], &byte, 1), 1);
        assert_int_equal(waitpid(child, NULL, 0), child);
        /* It has gone; what it did has not. */
        assert_in_range(first_value(c), PAGES, MOST(PAGES * 2));
        assert_int_equal(tally_counter_stop(c), 0);
        tally_counter_close(c);
        close(go[0]), close(go[1]), close(done[0]), close(done[1]);
    }
}

static void
counts_a_cpu(void **state)
{
    struct tally_counter_options options = defaults();

    (void)state;
    options.scope = TALLY_COUNTER_CPU;
    struct tally_counter *c = open_with(&options, "cpu-clock");
    assert_int_equal(tally_counter_start(c), 0);
    spin(1000000);
    assert_true(first_value(c) > 0);
    tally_counter_close(c);
}

static void
scales(void **state)
{
    const struct {
        int line;
        struct tally_reading reading;
        int error;
        uint64_t scaled;
    } rows[] = {
        {__LINE__, {100, 10, 10}, 0, 100},
        {__LINE__, {100, 20, 10}, 0, 200},
        {__LINE__, {1, 4, 3}, 0, 1},
        {__LINE__, {1, 3, 2}, 0, 2},
        {__LINE__, {0, 20, 10}, 0, 0},
        {__LINE__, {7, 20, 0}, TALLY_EIDLE, 42},
        {__LINE__, {0, 0, 0}, TALLY_EIDLE, 42},
        {__LINE__, {UINT64_MAX, 2, 2}, 0, UINT64_MAX},
        {__LINE__, {UINT64_MAX, UINT64_MAX, 1}, 0, UINT64_MAX},
        /* Beyond 64 bits on the way, as a week of a fast counter is. */
        {__LINE__,
         {UINT64_C(3) << 50, UINT64_C(6) << 48, UINT64_C(3) << 48},
         0,
         UINT64_C(6) << 50},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t scaled = 42;
        const int error = tally_reading_scaled(&rows[i].reading, &scaled);
        if (error != rows[i].error || scaled != rows[i].scaled)
            fail_msg("row of line %d: error %d, %llu", rows[i].line, error,
                     (unsigned long long)scaled);
    }
}

struct overflows {
    size_t count;
    uint64_t lost;
    int32_t tid;
    struct tally_counter *counter;
    pthread_t on;
    int fd;
};

static void
take_overflow(void *user, const struct tally_overflow *o)
{
    struct overflows *seen = user;

    seen->count++;
    seen->lost += o->lost;
    seen->tid = o->tid;
}

static void
polls_overflows(void **state)
{
    struct tally_counter_options options = defaults();
    struct overflows seen = {0};

    (void)state;
    options.period = 10;
    struct tally_counter *c = open_with(&options, "page-faults:u");
    struct pollfd poller = {tally_counter_overflow_fd(c), POLLIN, 0};
    assert_true(poller.fd >= 0);
    assert_int_equal(poll(&poller, 1, 0), 0);
    assert_int_equal(tally_counter_start(c), 0);
    /* A few overflows wake who waits: far less than the buffer holds. */
    touch_pages(30);
    assert_int_equal(poll(&poller, 1, 60000), 1);
    assert_int_equal(poller.revents, POLLIN);
    for (int i = 0; i < 300; i++) { /* the buffer goes round */
        touch_more();
        assert_int_equal(tally_counter_overflows(c, take_overflow, &seen), 0);
    }
    assert_int_equal(tally_counter_stop(c), 0);
    const uint64_t faults = first_value(c);
    assert_int_equal(tally_counter_overflows(c, take_overflow, &seen), 0);
    assert_int_equal(seen.count + seen.lost, faults / 10);
    assert_int_equal(seen.lost, 0);
    assert_int_equal(seen.tid, syscall(SYS_gettid));

    /* A full buffer: the samples that find no room are counted as lost. */
    assert_int_equal(tally_counter_start(c), 0);
    for (int i = 0; i < 200; i++)
        touch_more();
    seen.count = 0;
    assert_int_equal(tally_counter_overflows(c, take_overflow, &seen), 0);
    assert_in_range(seen.count, 500, 1024);
    touch_more();
    assert_int_equal(tally_counter_overflows(c, take_overflow, &seen), 0);
    assert_true(seen.lost > 500);
    tally_counter_close(c);

    c = open_with(NULL, "page-faults:u");
    assert_int_equal(tally_counter_overflows(c, take_overflow, &seen),
                     TALLY_ERULE);
    assert_int_equal(tally_counter_overflow_fd(c), -1);
    tally_counter_close(c);
}

/* A handler has nothing else to find its handle by. */
static struct overflows signalled;

static void
on_overflow(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    signalled.on = pthread_self();
    signalled.fd = info->si_fd;
    tally_counter_overflows(signalled.counter, take_overflow, &signalled);
}

static void
signals_overflows(void **state)
{
    struct tally_counter_options options = defaults();
    struct sigaction action = {.sa_sigaction = on_overflow,
                               .sa_flags = SA_SIGINFO | SA_RESTART};

    (void)state;
    sigemptyset(&action.sa_mask);
    sigaction(SIGRTMIN, &action, NULL);
    options.period = 10;
    options.signal = SIGRTMIN;
    signalled.counter = open_with(&options, "page-faults:u");
    assert_int_equal(tally_counter_start(signalled.counter), 0);
    for (int i = 0; i < 10; i++)
        touch_more();
    assert_int_equal(tally_counter_stop(signalled.counter), 0);
    assert_true(signalled.count + signalled.lost >= PAGES * 10 / 10 - 1);
    assert_true(pthread_equal(signalled.on, pthread_self()));
    assert_int_equal(signalled.fd,
                     tally_counter_overflow_fd(signalled.counter));
    tally_counter_close(signalled.counter);
    signal(SIGRTMIN, SIG_DFL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_this_thread),
        cmocka_unit_test(resets_and_goes_on),
        cmocka_unit_test(adds_when_stopped),
        cmocka_unit_test(leaves_others_out),
        cmocka_unit_test(inherits),
        cmocka_unit_test(sums_a_process),
        cmocka_unit_test(counts_others),
        cmocka_unit_test(counts_a_cpu),
        cmocka_unit_test(scales),
        cmocka_unit_test(polls_overflows),
        cmocka_unit_test(signals_overflows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
