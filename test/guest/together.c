/* SPDX-License-Identifier: MIT */
/*
 * together WHAT N K: N threads beside the first that do something with each
 * other, K times each, so that the instructions that they take depend on the
 * order in which they run:
 *
 *   locks    take one mutex; at the end all wait on a condition for the last
 *   spin     2 threads hand a word over, each waiting for it in a loop
 *   exchange the same, each by exchanging the word
 *   add      add to one word
 *   requeue  all but the first wait for a word, which the first moves to
 * another word and wakes there pipe     half of them write bytes that the other
 * half reads readers  all but one read bytes that the other writes, some
 * together barrier  meet at a barrier each time yield    call sched_yield()
 * until a word changes sleep    sleep for K milliseconds, some longer than
 * others signal   send each other signals, whose handler counts, and take a
 * mutex timed    all but the first wait for a semaphore until some time, which
 * the first posts now and then fork     each forks K children and waits for
 * them
 *
 * Prints a number that does not depend on the order.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 2000 };

static unsigned long count, turns, sum, done;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t posted; /* at first nobody has */
static _Atomic unsigned long word;
static int ends[2];

static void
locks(unsigned long self)
{
    for (unsigned long i = 0; i < turns; i++) {
        pthread_mutex_lock(&mutex);
        for (volatile unsigned long k = 0; k < self % 7; k++)
            ;
        sum++;
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_lock(&mutex);
    done++;
    pthread_cond_broadcast(&all_done);
    while (done < count)
        pthread_cond_wait(&all_done, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void
spin(unsigned long self)
{
    for (unsigned long i = 0; i < turns; i++) {
        const unsigned long mine = i * count + self;
        while (atomic_load_explicit(&word, memory_order_acquire) != mine)
            ;
        sum++;
        atomic_fetch_add(&word, 1);
    }
}

static void
exchange(unsigned long self)
{
    for (unsigned long i = 0; i < turns; i++) {
        unsigned long seen = self;
        while (!atomic_compare_exchange_weak(&word, &seen, !self))
            seen = self;
        sum++;
    }
}

static void
add(unsigned long self)
{
    (void)self;
    for (int i = 0; i < (int)turns; i++)
        atomic_fetch_add(&word, 3);
}

static atomic_int first, second, over;

static long
futex(atomic_int *at, int operation, int value, long most, atomic_int *other)
{
    return syscall(SYS_futex, at, operation | FUTEX_PRIVATE_FLAG, value, most,
                   other, 0);
}

static void
requeue(unsigned long self)
{
    if (self != 0) {
        while (!over) {
            const int seen = first;
            futex(&first, FUTEX_WAIT, seen, 0, NULL);
            for (volatile unsigned long k = 0; k < self * 100; k++)
                ;
        }
        over++;
        return;
    }
    for (unsigned long i = 0; i < turns; i++) {
        for (volatile unsigned long k = 0; k < 300; k++)
            ;
        first++;
        futex(&first, FUTEX_REQUEUE, 1, 2, &second);
        futex(&second, FUTEX_WAKE, 1, 0, NULL);
        if (i % 3 == 0)
            sched_yield();
    }
    over = 1;
    while (over < (int)count) {
        first++;
        futex(&first, FUTEX_WAKE, 1000, 0, NULL);
        futex(&second, FUTEX_WAKE, 1000, 0, NULL);
        sched_yield();
    }
}

static void
through_pipe(unsigned long self)
{
    unsigned char byte = (unsigned char)self;
    unsigned long mine = 0;

    for (unsigned long i = 0; i < turns; i++) {
        if ((self % 2 == 0 ? write(ends[1], &byte, 1)
                           : read(ends[0], &byte, 1)) != 1)
            abort();
        mine++;
    }
    pthread_mutex_lock(&mutex);
    sum += mine;
    pthread_mutex_unlock(&mutex);
}

static void
read_one_pipe(unsigned long self)
{
    static const char bytes[3];
    const bool writes = self == count - 1;
    unsigned long mine = 0;
    char byte;

    for (unsigned long i = 0; writes && i < turns; i++) {
        for (size_t k = 1; k <= sizeof(bytes); k++) {
            if (write(ends[1], bytes, k) != (ssize_t)k)
                exit(1);
        }
    }
    if (writes)
        close(ends[1]);
    while (!writes && read(ends[0], &byte, 1) == 1) {
        for (volatile unsigned long k = 0; k < self % 7 * 10; k++)
            ;
        mine++;
    }
    pthread_mutex_lock(&mutex);
    sum += mine;
    pthread_mutex_unlock(&mutex);
}

static void
meet(unsigned long self)
{
    for (unsigned long i = 0; i < turns; i++) {
        for (volatile unsigned long k = 0; k < self * 10; k++)
            ;
        if (pthread_barrier_wait(&barrier) != 0)
            sum++;
    }
}

static void
yield(unsigned long self)
{
    for (unsigned long i = 0; i < turns; i++) {
        while (atomic_load(&word) % count != self)
            sched_yield();
        sum++;
        atomic_fetch_add(&word, 1);
    }
}

static void
sleep_long(unsigned long self)
{
    const struct timespec time = {0, (long)(turns + self % 3) * 1000000};

    nanosleep(&time, NULL);
    pthread_mutex_lock(&mutex);
    sum++;
    pthread_mutex_unlock(&mutex);
}

static pthread_t threads[MAX_THREADS];
static _Thread_local volatile unsigned long handled;

static void
handle(int number)
{
    (void)number;
    handled++;
}

static void
send_signals(unsigned long self)
{
    const struct sigaction action = {.sa_handler = handle};

    sigaction(SIGUSR1, &action, NULL);
    pthread_barrier_wait(&barrier);
    for (unsigned long i = 0; i < turns; i++) {
        for (volatile unsigned long k = 0; k < 500 * (self % 7 + 1); k++)
            ;
        if (i % 2 != 0)
            pthread_sigqueue(threads[(self + i) % count], SIGUSR1,
                             (union sigval){0});
        else
            pthread_kill(threads[(self + i) % count], SIGUSR1);
        pthread_mutex_lock(&mutex);
        for (volatile unsigned long k = 0; k < handled; k++)
            ;
        sum++;
        pthread_mutex_unlock(&mutex);
    }
    pthread_barrier_wait(&barrier);
}

static void
wait_until(unsigned long self)
{
    for (unsigned long i = 0; i < turns; i++) {
        struct timespec at;
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_nsec += 2000000 + (long)(self % 3) * 100000;
        at.tv_sec += at.tv_nsec / 1000000000;
        at.tv_nsec %= 1000000000;
        if (self != 0) {
            sem_timedwait(&posted, &at);
        } else {
            nanosleep(&(struct timespec){0, 1100000}, NULL);
            sem_post(&posted);
        }
        pthread_mutex_lock(&mutex);
        sum++;
        pthread_mutex_unlock(&mutex);
    }
}

static void
fork_children(unsigned long self)
{
    unsigned long mine = 0;

    (void)self;
    for (unsigned long i = 0; i < turns; i++) {
        int status;
        const pid_t child = fork();
        if (child == 0)
            _exit(3);
        if (waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3)
            mine++;
    }
    pthread_mutex_lock(&mutex);
    sum += mine;
    pthread_mutex_unlock(&mutex);
}

static const struct {
    const char *name;
    void (*run)(unsigned long self);
} works[] = {
    {"locks", locks},           {"spin", spin},
    {"exchange", exchange},     {"add", add},
    {"requeue", requeue},       {"pipe", through_pipe},
    {"readers", read_one_pipe}, {"barrier", meet},
    {"yield", yield},           {"sleep", sleep_long},
    {"signal", send_signals},   {"timed", wait_until},
    {"fork", fork_children},
};

static void (*work)(unsigned long self);

static void *
run(void *self)
{
    work((unsigned long)self);
    return NULL;
}

int
main(int argc, char **argv)
{
    for (size_t i = 0; argc == 4 && i < sizeof(works) / sizeof(works[0]); i++) {
        if (strcmp(argv[1], works[i].name) == 0)
            work = works[i].run;
    }
    if (work == NULL) {
        fprintf(stderr, "usage: together WHAT N K\n");
        return 2;
    }
    count = strtoul(argv[2], NULL, 0);
    turns = strtoul(argv[3], NULL, 0);
    if (count == 0 || count > MAX_THREADS ||
        pthread_barrier_init(&barrier, NULL, (unsigned)count) != 0 ||
        pipe(ends) != 0)
        return 2;
    for (unsigned long i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, run, (void *)i) != 0)
            return 1;
    }
    for (unsigned long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%lu\n", sum);
    return 0;
}
