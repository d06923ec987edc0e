/* SPDX-License-Identifier: MIT */
/*
 * crew THREADS ROUNDS [ARRAYS]: each thread sorts an array of its own, 128 KB
 * of numbers that are the same in every run, ROUNDS times; then all are
 * checked. With 0 THREADS the program's only thread does what ARRAYS of them
 * do, one array after the other, or one.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 16384
#define THREADS_MAX 64

struct member {
    pthread_t thread;
    unsigned number, rounds;
    unsigned long values[COUNT];
};

static void
fill(struct member *m, unsigned round)
{
    unsigned long x = m->number * 977 + round + 1;

    for (unsigned i = 0; i < COUNT; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        m->values[i] = x >> 20;
    }
}

static void
sort(unsigned long *v)
{
    for (unsigned gap = COUNT / 2; gap > 0; gap /= 2)
        for (unsigned i = gap; i < COUNT; i++) {
            const unsigned long x = v[i];
            unsigned k = i;
            for (; k >= gap && v[k - gap] > x; k -= gap)
                v[k] = v[k - gap];
            v[k] = x;
        }
}

static void *
work(void *user)
{
    struct member *m = user;

    for (unsigned r = 0; r < m->rounds; r++) {
        fill(m, r);
        sort(m->values);
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    static struct member crew[THREADS_MAX];
    const unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    const unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 1;

    const unsigned arrays = argc > 3 ? (unsigned)atoi(argv[3]) : 1;

    if (threads > THREADS_MAX || rounds < 1 || arrays > THREADS_MAX)
        return 2;
    for (unsigned i = 0; threads == 0 && i < arrays; i++) {
        crew[i].number = i;
        crew[i].rounds = rounds;
        work(&crew[i]);
    }
    for (unsigned i = 0; i < threads; i++) {
        crew[i].number = i;
        crew[i].rounds = rounds;
        if (pthread_create(&crew[i].thread, NULL, work, &crew[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < (threads > 0 ? threads : arrays); i++) {
        if (threads > 0)
            pthread_join(crew[i].thread, NULL);
        for (unsigned k = 1; k < COUNT; k++)
            if (crew[i].values[k - 1] > crew[i].values[k])
                return 1;
    }
    puts("sorted");
    return 0;
}
