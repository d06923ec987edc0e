/* SPDX-License-Identifier: MIT */
/*
 * turns w|rw N: two threads take N turns each with one line, one after the
 * other: w stores to it, rw loads it and stores to it. After each turn a thread
 * loads 40 lines of its own that stand in one set of any L1 and not in the
 * line's, so that a model's queue of misses is full and what it did is seen.
 * Pipes wake the threads: nobody spins.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STRIDE = 16384, LINES = 40 };

struct side {
    _Alignas(STRIDE) volatile unsigned char own[LINES][STRIDE];
};

static struct {
    _Alignas(STRIDE) char before[STRIDE / 8];
    volatile unsigned long value;
} shared;

static struct side sides[2];
static int pipes[2][2];
static unsigned long turns;
static int reads;

static void *
work(void *side)
{
    const int own = (int)((struct side *)side - sides);
    char token = 0;

    for (unsigned long i = 0; i < turns; i++) {
        if (read(pipes[own][0], &token, 1) != 1)
            abort();
        if (reads)
            (void)shared.value;
        shared.value = i;
        for (int k = 0; k < LINES; k++)
            (void)sides[own].own[k][0];
        if (write(pipes[!own][1], &token, 1) != 1)
            abort();
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t other;

    if (argc != 3 || (strcmp(argv[1], "w") != 0 && strcmp(argv[1], "rw") != 0))
        return 2;
    reads = argv[1][0] == 'r';
    turns = strtoul(argv[2], NULL, 0);
    if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0 ||
        pthread_create(&other, NULL, work, &sides[1]) != 0 ||
        write(pipes[0][1], "", 1) != 1)
        return 1;
    work(&sides[0]);
    pthread_join(other, NULL);
    return 0;
}
