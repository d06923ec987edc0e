/* SPDX-License-Identifier: MIT */
/*
 * threads N P: N threads, 40 at a time, each touches P pages and ends. Their
 * stacks are touched before, so that they add no faults.
 */
#include <pthread.h>
#include <string.h>

#include "touch.h"

#define AT_ONCE 40
#define STACK 65536

struct share {
    char *area;
    size_t first, count;
};

static void *
work(void *share)
{
    const struct share *s = share;

    pages_touch(s->area, s->first, s->count);
    return NULL;
}

int
main(int argc, char **argv)
{
    static _Alignas(65536) char stacks[AT_ONCE][STACK];
    const size_t n = number(argv, argc, 1), pages = number(argv, argc, 2);
    char *area = pages_map(n * pages);
    pthread_t threads[AT_ONCE];
    struct share shares[AT_ONCE];
    pthread_attr_t attr;

    memset(stacks, 1, sizeof(stacks));
    pthread_attr_init(&attr);
    for (size_t done = 0; done < n;) {
        size_t now = 0;
        for (; now < AT_ONCE && done + now < n; now++) {
            shares[now] = (struct share){area, (done + now) * pages, pages};
            pthread_attr_setstack(&attr, stacks[now], STACK);
            if (pthread_create(&threads[now], &attr, work, &shares[now]) != 0)
                return 9;
        }
        for (size_t i = 0; i < now; i++)
            pthread_join(threads[i], NULL);
        done += now;
    }
    return 0;
}
