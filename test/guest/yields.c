/* SPDX-License-Identifier: MIT */
/*
 * yields N K T: N threads beside the first, each K times T turns of loop() and
 * then sched_yield().
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

enum { MAX_THREADS = 256 };

static unsigned long times, turns;

static void *
work(void *unused)
{
    (void)unused;
    for (unsigned long i = 0; i < times; i++) {
        loop(turns);
        sched_yield();
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];

    if (argc != 4)
        return 2;
    const int count = atoi(argv[1]);
    times = strtoul(argv[2], NULL, 10);
    turns = strtoul(argv[3], NULL, 10);
    if (count < 0 || count > MAX_THREADS)
        return 2;
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
