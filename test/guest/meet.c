/* SPDX-License-Identifier: MIT */
/*
 * meet N K: N threads beside the first, which all meet before each does K turns
 * of loop(); so all run at once, each on a strand of its own.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

enum { MAX_THREADS = 256 };

static pthread_barrier_t meeting;

static void *
work(void *turns)
{
    pthread_barrier_wait(&meeting);
    loop(*(const unsigned long *)turns);
    return NULL;
}

int
main(int argc, char **argv)
{
    unsigned long count = argc == 3 ? strtoul(argv[1], NULL, 0) : 0;
    unsigned long turns = argc == 3 ? strtoul(argv[2], NULL, 0) : 0;
    pthread_t threads[MAX_THREADS];

    if (count == 0 || count > MAX_THREADS || turns == 0) {
        fprintf(stderr, "usage: meet N K (at most %d threads)\n", MAX_THREADS);
        return 2;
    }
    pthread_barrier_init(&meeting, NULL, (unsigned)count);
    for (unsigned long i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, &turns) != 0) {
            fprintf(stderr, "meet: cannot start thread %lu\n", i);
            return 1;
        }
    }
    for (unsigned long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
