/* SPDX-License-Identifier: MIT */
/*
 * Lesson 5, false sharing: each of THREADS threads adds 1 to a counter of its
 * own, 1,000 times. The counters are numbers of 8 bytes, APART numbers from one
 * to the next. After each addition a thread lets the others go on, so that the
 * threads add in turn, as if all ran at once.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16, LINE = 64, TIMES = 1000 };

static volatile long counters[MOST * MOST] __attribute__((aligned(LINE)));
static pthread_barrier_t start;

static void *
add(void *counter)
{
    volatile long *mine = counter;

    pthread_barrier_wait(&start);
    for (int i = 0; i < TIMES; i++) {
        *mine += 1;
        sched_yield();
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    const int threads = argc == 3 ? atoi(argv[1]) : 0;
    const int apart = argc == 3 ? atoi(argv[2]) : 0;
    pthread_t thread[MOST];

    if (threads < 1 || threads > MOST || apart < 1 || apart > MOST) {
        fprintf(stderr, "usage: %s THREADS APART, each 1 to %d\n", argv[0],
                MOST);
        return 2;
    }
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, add, (void *)&counters[i * apart]);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
