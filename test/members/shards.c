/* SPDX-License-Identifier: MIT */
/* Two threads add to two members of one structure of the heap. */
#include "members.h"

#include <pthread.h>
#include <stdlib.h>

#define TURNS 20000

static void *
counts(void *arg)
{
    volatile struct shard *const s = arg;

    for (long i = 0; i < TURNS; i++)
        s->count++; /* LINE counts */
    return NULL;
}

static void *
sums(void *arg)
{
    volatile struct shard *const s = arg;

    for (long i = 0; i < TURNS; i++)
        s->sum += i; /* LINE sums */
    return NULL;
}

int
main(void)
{
    struct shard *const shard =
        aligned_alloc(64, sizeof(*shard)); /* LINE given */
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, counts, shard);
    pthread_create(&threads[1], NULL, sums, shard);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(shard);
    return 0;
}
