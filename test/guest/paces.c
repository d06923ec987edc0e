/* SPDX-License-Identifier: MIT */
/*
 * paces N: a thread walks a list over 4 MB, which misses most caches at each
 * step, until the first thread, which counts to N in a register, has stored
 * that it is done. How far the walk comes depends on how turns are told alone.
 */
#include <pthread.h>
#include <stdlib.h>

enum { LINE = 64, LINES = 65536, STEP = 40503 };

static struct node {
    _Alignas(LINE) struct node *next;
} nodes[LINES];

static volatile int done;

static void *
walk(void *unused)
{
    struct node *at = nodes;

    (void)unused;
    while (!done)
        at = at->next;
    return at;
}

int
main(int argc, char **argv)
{
    const unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000;
    pthread_t walker;

    for (unsigned i = 0; i < LINES; i++)
        nodes[(unsigned long)i * STEP % LINES].next =
            &nodes[(unsigned long)(i + 1) * STEP % LINES];
    if (pthread_create(&walker, NULL, walk, NULL) != 0)
        return 1;
    for (unsigned long i = 0; i < n; i++)
        __asm__ volatile("" : "+r"(i));
    done = 1;
    return pthread_join(walker, NULL);
}
