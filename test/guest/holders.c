/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait for each other in ways whose length follows from counted
 * loops: holders KIND N. A unit of work is a loop of N rounds, of 2
 * instructions each; test/locks.py says what follows.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t meeting;
static sem_t items;
static volatile int spun, turn, held;
static long unit;

/* Works for `units`. */
__attribute__((noinline)) static void
work(long units)
{
    for (long i = 0; i < units; i++)
        loop((unsigned long)unit);
}

__attribute__((noinline)) static void
drain(void)
{
    pthread_mutex_lock(&queue_lock);
    held = 1;
    work(10);
    pthread_mutex_unlock(&queue_lock);
    held = 2;
}

/* Holds the lock for 10 units. */
static void *
holder(void *data)
{
    drain();
    return data;
}

/* Waits for the lock as soon as the holder has it. */
static void *
waiter(void *data)
{
    while (!held)
        sched_yield();
    pthread_mutex_lock(&queue_lock);
    work(1);
    pthread_mutex_unlock(&queue_lock);
    return data;
}

/* Comes to the barrier after 1, 2, 3 ... units. */
static void *
meets(void *data)
{
    work((long)data);
    pthread_barrier_wait(&meeting);
    return NULL;
}

/* Has every other of 10 turns, of a unit each. */
static void *
plays(void *data)
{
    const int own = (int)(long)data;

    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&queue_lock);
        while (turn != own)
            pthread_cond_wait(&turn_cond, &queue_lock);
        work(1);
        turn = !own;
        pthread_cond_signal(&turn_cond);
        pthread_mutex_unlock(&queue_lock);
    }
    return NULL;
}

/* Tells the processor that the thread spins. */
static void
pause_here(void)
{
#if defined(__x86_64__)
    __asm__ volatile("pause");
#elif defined(__sparc__)
    __asm__ volatile("rd %ccr, %g0");
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#elif defined(__riscv)
    __asm__ volatile(".insn i MISC_MEM, 0, x0, x0, 0x010"); /* pause */
#endif
}

static void *
spins(void *data)
{
    while (!spun)
        pause_here();
    return data;
}

static void *
sets(void *data)
{
    work(10);
    spun = 1;
    return data;
}

static void *
consumes(void *data)
{
    for (int i = 0; i < 5; i++)
        sem_wait(&items);
    return data;
}

static void *
produces(void *data)
{
    for (int i = 0; i < 5; i++) {
        work(2);
        sem_post(&items);
    }
    return data;
}

/* Waits for one of the two items. */
static void *
takes(void *data)
{
    sem_wait(&items);
    return data;
}

/* Makes one after so many units. */
static void *
posts(void *data)
{
    work((long)data);
    sem_post(&items);
    return data;
}

static void *
works(void *data)
{
    work(10);
    return data;
}

static void
run(int count, void *(*const functions[])(void *), const long *data)
{
    pthread_t threads[8];

    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, functions[i],
                       (void *)(data != NULL ? data[i] : 0));
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

int
main(int argc, char **argv)
{
    const char *const kind = argc > 1 ? argv[1] : "";

    unit = argc > 2 ? atol(argv[2]) : 1000;
    if (strcmp(kind, "mutex") == 0) {
        run(2, (void *(*[])(void *)){holder, waiter}, NULL);
    } else if (strcmp(kind, "queue") == 0) {
        run(3, (void *(*[])(void *)){holder, waiter, waiter}, NULL);
    } else if (strcmp(kind, "barrier") == 0) {
        pthread_barrier_init(&meeting, NULL, 3);
        run(3, (void *(*[])(void *)){meets, meets, meets},
            (long[]){10, 20, 40});
    } else if (strcmp(kind, "condition") == 0) {
        run(2, (void *(*[])(void *)){plays, plays}, (long[]){0, 1});
    } else if (strcmp(kind, "spin") == 0) {
        run(2, (void *(*[])(void *)){sets, spins}, NULL);
    } else if (strcmp(kind, "semaphore") == 0) {
        run(2, (void *(*[])(void *)){consumes, produces}, NULL);
    } else if (strcmp(kind, "posts") == 0) {
        run(4, (void *(*[])(void *)){takes, takes, posts, posts},
            (long[]){0, 0, 10, 30});
    } else if (strcmp(kind, "join") == 0) {
        run(1, (void *(*[])(void *)){works}, NULL);
    } else if (strcmp(kind, "sleep") == 0) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    } else if (strcmp(kind, "killed") == 0) {
        pthread_t thread;
        pthread_mutex_lock(&queue_lock);
        pthread_create(&thread, NULL, holder, NULL);
        work(10);
        abort();
    } else if (strcmp(kind, "fork") == 0) {
        if (fork() == 0) {
            run(2, (void *(*[])(void *)){holder, waiter}, NULL);
            return 0;
        }
        wait(NULL);
    } else if (strcmp(kind, "alone") != 0) {
        fprintf(stderr, "usage: holders KIND N\n");
        return 2;
    }
    return 0;
}
