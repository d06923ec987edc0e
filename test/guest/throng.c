/* SPDX-License-Identifier: MIT */
/*
 * throng N [kill]: N threads beside the first that are there at once, each with
 * exactly 1000 turns of loop() in the function work(). Counted from work() to
 * its end: 2000 N instructions on x86_64, and 2 N to enter and leave. Ends
 * with status 3 where the system does not start as many; with `kill`, by a
 * signal while all are there.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static unsigned long there, wanted;
static int open_now;

static __attribute__((noinline)) void
work(void)
{
    loop(1000);
}

static void *
wait_and_work(void *unused)
{
    work();
    pthread_mutex_lock(&lock);
    if (++there == wanted)
        pthread_cond_signal(&came);
    while (!open_now)
        pthread_cond_wait(&released, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

int
main(int argc, char **argv)
{
    pthread_attr_t small;

    if (argc < 2)
        return 2;
    wanted = strtoul(argv[1], NULL, 0);
    pthread_t *threads = calloc(wanted, sizeof(*threads));
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 32768);
    for (unsigned long i = 0; i < wanted; i++)
        if (pthread_create(&threads[i], &small, wait_and_work, NULL) != 0)
            return 3;
    pthread_mutex_lock(&lock);
    while (there < wanted)
        pthread_cond_wait(&came, &lock);
    if (argc > 2 && strcmp(argv[2], "kill") == 0)
        raise(SIGKILL);
    open_now = 1;
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&lock);
    for (unsigned long i = 0; i < wanted; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    printf("%lu threads\n", wanted);
    return 0;
}
