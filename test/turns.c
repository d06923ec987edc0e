/* SPDX-License-Identifier: MIT */
/*
 * Threads that take turns, on virtual CPUs of the test's own in place of
 * QEMU's: one runs at a time, in the order that a queue gives, whatever the
 * host does. The log that they write is no atomic: TSan sees two that run at
 * once.
 */
#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "isa/isa.h"
#include "plugin/schedule.h"

#define EXPORT __attribute__((visibility("default")))

enum { MOST = 9, WORKS = 4, STEP = 10, LOG = 20000, RUNS = 64 };

/* What is queued for a virtual CPU, as QEMU queues it. */
struct cpu {
    pthread_mutex_t lock;
    struct {
        void (*work)(void *cpu, void *data);
        void *data;
    } works[WORKS];
    unsigned count;
};

static struct cpu cpus[MOST];
/* Of the runs: the watcher of one may look at it for a moment after its end. */
static struct schedule *schedules[RUNS];
static unsigned run_count;
static struct schedule *schedule;
static unsigned char ran[LOG]; /* who made each step, in their order */
static size_t steps;
static int ends[2];
static uint32_t word;

EXPORT long syscall(long number, ...);
EXPORT void *qemu_get_cpu(int vcpu);
EXPORT void
async_run_on_cpu(void *cpu, void (*work)(void *, void *), void *data);

void *
qemu_get_cpu(int vcpu)
{
    return &cpus[vcpu];
}

void
async_run_on_cpu(void *cpu, void (*work)(void *, void *), void *data)
{
    struct cpu *const c = cpu;

    pthread_mutex_lock(&c->lock);
    assert_true(c->count < WORKS);
    c->works[c->count].work = work;
    c->works[c->count++].data = data;
    pthread_mutex_unlock(&c->lock);
}

static long (*library_syscall)(long number, ...);

/* The C library's, but for a wait in futex() of a second or more, which has no
 * end: the schedule has a thread wait so long where another wakes it, and one
 * that nobody wakes is to be noticed. */
long
syscall(long number, ...)
{
    uint64_t a[6];
    va_list list;

    va_start(list, number);
    for (size_t i = 0; i < 6; i++)
        a[i] = va_arg(list, uint64_t);
    va_end(list);
    if (number == SYS_futex && ((int)a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT &&
        a[3] != 0 && ((const struct timespec *)(uintptr_t)a[3])->tv_sec >= 1)
        a[3] = 0;
    return library_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Does what is queued for the CPU: between two blocks. */
static void
do_works(struct cpu *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->count > 0) {
        const unsigned last = --c->count;
        void (*const work)(void *, void *) = c->works[last].work;
        void *const data = c->works[last].data;
        pthread_mutex_unlock(&c->lock);
        work(c, data);
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
}

/* Runs a block of STEP instructions. */
static void
step(unsigned vcpu)
{
    do_works(&cpus[vcpu]);
    assert_true(steps < LOG);
    ran[steps++] = (unsigned char)vcpu;
    schedule_ran(schedule, STEP, STEP);
}

/* Makes a system call of this kind as a guest would. */
static int64_t
call(unsigned vcpu, enum system_call which, uint64_t a, uint64_t b, uint64_t c)
{
    const int64_t number = schedule->isa->calls[which];
    const uint64_t args[6] = {a, b, c};
    int64_t result = 0;

    do_works(&cpus[vcpu]);
    schedule_call(schedule, vcpu, number, args);
    if (which == CALL_READ)
        result = read((int)a, (void *)(uintptr_t)b, c);
    else if (which == CALL_WRITE)
        result = write((int)a, (const void *)(uintptr_t)b, c);
    else if (which == CALL_NANOSLEEP)
        result = nanosleep((const struct timespec *)(uintptr_t)a, NULL);
    else if (which == CALL_FUTEX)
        result = syscall(SYS_futex, (void *)(uintptr_t)a, b, c, NULL, NULL, 0);
    schedule_return(schedule, vcpu, number, &result);
    return result;
}

/* What a thread does, and the threads of a run. */
typedef void (*deed)(unsigned vcpu);

struct thread {
    unsigned vcpu;
    deed does;
};

static void *
run_thread(void *data)
{
    const struct thread *const t = data;

    do_works(&cpus[t->vcpu]); /* waits for the first turn */
    t->does(t->vcpu);
    do_works(&cpus[t->vcpu]);
    schedule_thread_ends(schedule, t->vcpu);
    return NULL;
}

/* Runs `count` threads that do the same, made by a thread 0 that then ends. */
static void
run(unsigned count, uint64_t quantum, deed does)
{
    pthread_t threads[MOST];
    struct thread each[MOST];

    memset(cpus, 0, sizeof(cpus));
    assert_true(run_count < RUNS);
    schedule = schedules[run_count++] = calloc(1, sizeof(*schedule));
    assert_non_null(schedule);
    for (unsigned i = 0; i < MOST; i++)
        pthread_mutex_init(&cpus[i].lock, NULL);
    pthread_mutex_init(&schedule->lock, NULL);
    schedule->isa = schedule->time.isa = &isa_rows[ISA_X86_64];
    schedule->processors.count = 4;
    schedule->processors.first = processors_all(&schedule->processors);
    schedule->quantum = quantum;
    steps = 0;
    word = 0;
    assert_int_equal(pipe(ends), 0);
    assert_true(schedule_thread_starts(schedule, 0, 0));
    for (unsigned i = 1; i <= count; i++) {
        each[i - 1] = (struct thread){i, does};
        assert_true(schedule_thread_starts(schedule, i, 0));
        assert_int_equal(
            pthread_create(&threads[i - 1], NULL, run_thread, &each[i - 1]), 0);
    }
    schedule_thread_ends(schedule, 0);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    schedule_stop(schedule);
    processors_release(&schedule->processors);
    close(ends[0]);
    close(ends[1]);
}

static void
walk(unsigned vcpu)
{
    for (unsigned i = 0; i < 40 + vcpu * 10; i++)
        step(vcpu);
}

/* Turns go round: the twin takes from a queue and puts back. */
static void
test_round(void **state)
{
    static const uint64_t quanta[] = {STEP, 35, 100, 1000000};

    (void)state;
    for (size_t q = 0; q < sizeof(quanta) / sizeof(quanta[0]); q++) {
        const uint64_t turn = (quanta[q] + STEP - 1) / STEP;
        unsigned left[MOST];
        size_t at = 0;

        run(8, quanta[q], walk);
        for (unsigned i = 1; i <= 8; i++)
            left[i] = 40 + i * 10;
        while (at < steps) {
            for (unsigned i = 1; i <= 8; i++) {
                for (uint64_t k = 0; k < turn && left[i] > 0; k++, left[i]--)
                    assert_int_equal(ran[at++], i);
            }
        }
        assert_int_equal(steps, 8 * 40 + 36 * 10);
    }
}

static void
spin(unsigned vcpu)
{
    for (unsigned i = 0; i < 20; i++) {
        step(vcpu);
        schedule_spins(schedule, SPIN_PAUSE);
    }
}

static void
test_spin(void **state)
{
    (void)state;
    run(2, 1000000, spin);
    /* Eight pauses end a turn. */
    for (size_t i = 0; i < 32; i++)
        assert_int_equal(ran[i], i / 8 % 2 + 1);
}

static void
yield(unsigned vcpu)
{
    for (unsigned i = 0; i < 20; i++) {
        step(vcpu);
        call(vcpu, CALL_SCHED_YIELD, 0, 0, 0);
    }
}

static void
test_yield(void **state)
{
    (void)state;
    run(3, 1000000, yield);
    for (size_t i = 0; i < steps; i++)
        assert_int_equal(ran[i], i % 3 + 1);
}

/* Threads with even numbers read what those with odd ones write. */
static void
talk(unsigned vcpu)
{
    for (unsigned i = 0; i < 50; i++) {
        char byte = 0;
        step(vcpu);
        assert_int_equal(call(vcpu, vcpu % 2 == 0 ? CALL_READ : CALL_WRITE,
                              (uint64_t)ends[vcpu % 2], (uintptr_t)&byte, 1),
                         1);
    }
}

/* All wait on a word but the last, which wakes them. */
static void
wait_on_word(unsigned vcpu)
{
    if (vcpu != 8) {
        step(vcpu);
        assert_int_equal(
            call(vcpu, CALL_FUTEX, (uintptr_t)&word, FUTEX_WAIT_PRIVATE, 0), 0);
    } else {
        for (unsigned i = 0; i < 30; i++)
            step(vcpu);
        __atomic_store_n(&word, 1, __ATOMIC_RELAXED);
        assert_int_equal(
            call(vcpu, CALL_FUTEX, (uintptr_t)&word, FUTEX_WAKE_PRIVATE, 100),
            7);
    }
    for (unsigned i = 0; i < 30; i++)
        step(vcpu);
}

/* Sleeps for short times that differ: often all sleep, and several calls are
 * over whose times have not come. */
static void
doze(unsigned vcpu)
{
    for (unsigned i = 0; i < 10; i++) {
        const struct timespec t = {0, (1 + (vcpu * 5 + i * 3) % 7) * 100000};
        assert_int_equal(call(vcpu, CALL_NANOSLEEP, (uintptr_t)&t, 0, 0), 0);
        step(vcpu);
    }
}

/* The same order each time, whoever the kernel lets run first. */
static void
test_repeats(void **state)
{
    static const deed deeds[] = {talk, wait_on_word, doze};
    static unsigned char before[LOG];

    (void)state;
    for (size_t d = 0; d < sizeof(deeds) / sizeof(deeds[0]); d++) {
        run(8, 100, deeds[d]);
        const size_t count = steps;
        memcpy(before, ran, sizeof(before));
        for (unsigned again = 0; again < 5; again++) {
            run(8, 100, deeds[d]);
            assert_int_equal(steps, count);
            assert_memory_equal(ran, before, count);
        }
    }
}

static atomic_uint stopped;

/* The first that runs ends all turns: the others go on without. */
static void
stop(unsigned vcpu)
{
    if (atomic_fetch_add(&stopped, 1) == 0)
        schedule_stop(schedule);
    do_works(&cpus[vcpu]);
    while (atomic_load(&stopped) < 8)
        sched_yield();
}

static void
test_stop(void **state)
{
    (void)state;
    atomic_store(&stopped, 0);
    run(8, 1000000, stop);
    assert_int_equal(stopped, 8);
}

static void
test_possible(void **state)
{
    (void)state;
    assert_true(schedule_possible());
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_possible), cmocka_unit_test(test_round),
        cmocka_unit_test(test_spin),     cmocka_unit_test(test_yield),
        cmocka_unit_test(test_repeats),  cmocka_unit_test(test_stop),
    };

    *(void **)&library_syscall = dlsym(RTLD_NEXT, "syscall");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
