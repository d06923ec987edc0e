/* SPDX-License-Identifier: MIT */
/*
 * share N K: N threads that each K times add to one counter, write a line of
 * their own and read their neighbour's. They meet before every 1000th turn, so
 * none is over before another begins. Prints the counter, N x K.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_THREADS = 256, ROUND = 1000 };

struct line {
    _Alignas(64) atomic_ulong value;
};

static struct line counter, lines[MAX_THREADS];
static unsigned long count, turns;
static pthread_barrier_t meeting;

static void *
work(void *own)
{
    struct line *line = own;
    struct line *next = &lines[(unsigned long)(line - lines + 1) % count];

    for (unsigned long i = 0; i < turns; i++) {
        if (i % ROUND == 0)
            pthread_barrier_wait(&meeting);
        atomic_fetch_add(&counter.value, 1);
        atomic_store_explicit(&line->value, i, memory_order_relaxed);
        atomic_load_explicit(&next->value, memory_order_relaxed);
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];

    if (argc != 3)
        return 2;
    count = strtoul(argv[1], NULL, 0);
    turns = strtoul(argv[2], NULL, 0);
    if (count == 0 || count > MAX_THREADS)
        return 2;
    if (pthread_barrier_init(&meeting, NULL, (unsigned)count) != 0)
        return 1;
    for (unsigned long i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, &lines[i]) != 0)
            return 1;
    }
    for (unsigned long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%lu\n", atomic_load(&counter.value));
    return 0;
}
