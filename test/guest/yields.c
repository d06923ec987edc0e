/* SPDX-License-Identifier: MIT */
/*
 * yields N K T [pause]: N threads beside the first, each K times T turns of
 * loop() and then sched_yield(), or the no-op of loops that wait.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

enum { MAX_THREADS = 256 };

static unsigned long times, turns;
static bool pauses;
static pthread_barrier_t all_here; /* so that each has a strand of its own */

static void
pause_here(void)
{
#if defined(__x86_64__)
    __asm__ volatile("pause");
#elif defined(__sparc__)
    __asm__ volatile("rd %%ccr, %%g0" :);
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#elif defined(__riscv)
    __asm__ volatile(".insn i MISC_MEM, 0, x0, x0, 0x010"); /* pause */
#else
    __asm__ volatile(".word 0x00000140");
#endif
}

static void *
work(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&all_here);
    for (unsigned long i = 0; i < times; i++) {
        loop(turns);
        if (pauses)
            pause_here();
        else
            sched_yield();
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];

    if (argc != 4 && argc != 5)
        return 2;
    pauses = argc == 5;
    const int count = atoi(argv[1]);
    times = strtoul(argv[2], NULL, 10);
    turns = strtoul(argv[3], NULL, 10);
    if (count < 0 || count > MAX_THREADS)
        return 2;
    if (count > 0)
        pthread_barrier_init(&all_here, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
