/* SPDX-License-Identifier: MIT */
/*
 * Lesson 9, multithreading: THREADS threads, the main thread among them, each
 * go 100,000 times round a loop. A round of `compute` is 10 instructions, of
 * which the last but one is a branch that is taken. A round of `chase` is 4
 * instructions: the first loads the address of the next link of a list that is
 * twice as large as the L1 data cache of an UltraSPARC T1 or T2.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 100000, MOST = 8, LINKS = 1024, LINE = 16, PAGE = 4096 };

struct link {
    struct link *next;
    char rest[LINE - sizeof(void *)];
};

static struct link lists[MOST][LINKS] __attribute__((aligned(PAGE)));

__attribute__((noinline)) static void *
compute(void *list)
{
    long rounds = ROUNDS;

    __asm__ volatile("1:\n\t"
                     ".rept 7\n\t"
                     "add %%g0, 1, %%g1\n\t"
                     ".endr\n\t"
                     "subcc %0, 1, %0\n\t"
                     "bne,pt %%xcc, 1b\n\t"
                     " nop"
                     : "+r"(rounds)
                     :
                     : "g1", "cc");
    return list;
}

__attribute__((noinline)) static void *
chase(void *list)
{
    long rounds = ROUNDS;

    __asm__ volatile("1:\n\t"
                     "ldx [%1], %1\n\t"
                     "subcc %0, 1, %0\n\t"
                     "bne,pt %%xcc, 1b\n\t"
                     " nop"
                     : "+r"(rounds), "+r"(list)
                     :
                     : "cc", "memory");
    return list;
}

int
main(int argc, char **argv)
{
    const char *word = argc == 3 ? argv[1] : "";
    const int threads = argc == 3 ? atoi(argv[2]) : 0;
    void *(*work)(void *) = strcmp(word, "chase") == 0 ? chase : compute;
    pthread_t thread[MOST];

    if ((work == compute && strcmp(word, "compute") != 0) || threads < 1 ||
        threads > MOST) {
        fprintf(stderr, "usage: %s compute|chase THREADS, at most %d\n",
                argv[0], MOST);
        return 2;
    }
    for (int i = 0; i < threads; i++)
        for (int j = 0; j < LINKS; j++)
            lists[i][j].next = &lists[i][(j + 1) % LINKS];
    for (int i = 1; i < threads; i++)
        pthread_create(&thread[i], NULL, work, lists[i]);
    work(lists[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
