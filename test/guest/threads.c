/* SPDX-License-Identifier: MIT */
/*
 * threads N K: N threads beside the first, each exactly K turns of loop() in
 * the function work(). Counted from work() to its end: 3 N K instructions on
 * sparc64 and mips64, 2 N K on x86_64, and 2 N or so to enter and leave it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

enum { MAX_THREADS = 256 };

static __attribute__((noinline)) void *
work(void *turns)
{
    loop(*(const unsigned long *)turns);
    return NULL;
}

int
main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: threads N K\n");
        return 2;
    }
    const unsigned long count = strtoul(argv[1], NULL, 0);
    unsigned long turns = strtoul(argv[2], NULL, 0);
    pthread_t threads[MAX_THREADS];

    if (count > MAX_THREADS || turns == 0) {
        fprintf(stderr, "threads: at most %d threads, at least 1 turn\n",
                MAX_THREADS);
        return 2;
    }
    for (unsigned long i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, &turns) != 0) {
            fprintf(stderr, "threads: cannot start thread %lu\n", i);
            return 1;
        }
    }
    for (unsigned long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
