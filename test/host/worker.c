/* SPDX-License-Identifier: MIT */
/*
 * worker N P: N threads beside the first; says their ids ("ready 17 18 19"),
 * waits for a line or the end of stdin; then thread i touches i * P pages, the
 * first thread, whose i is 0, P / 2, and all end: status 3. Leaves with 7 when
 * SIGINT or SIGTERM comes.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "touch.h"

#define MOST 64

struct worker {
    char *area;
    size_t pages;
    int gate[2];
    pthread_t thread;
    pid_t tid;
};

static pthread_barrier_t named;

static void
leave(int signal)
{
    (void)signal;
    _exit(7);
}

static void *
work(void *worker)
{
    struct worker *w = worker;
    char byte;

    w->tid = (pid_t)syscall(SYS_gettid);
    pthread_barrier_wait(&named);
    if (read(w->gate[0], &byte, 1) < 0)
        exit(9);
    pages_touch(w->area, 0, w->pages);
    return NULL;
}

int
main(int argc, char **argv)
{
    static struct worker workers[MOST];
    const size_t n = number(argv, argc, 1), pages = number(argv, argc, 2);
    char *own = pages_map(pages), line[64];

    signal(SIGINT, leave);
    signal(SIGTERM, leave);
    pthread_barrier_init(&named, NULL, (unsigned)n + 1);
    for (size_t i = 0; i < n && i < MOST; i++) {
        struct worker *w = &workers[i];
        w->pages = (i + 1) * pages;
        w->area = pages_map(w->pages);
        if (pipe(w->gate) != 0 ||
            pthread_create(&w->thread, NULL, work, w) != 0)
            return 9;
    }
    pthread_barrier_wait(&named);
    printf("ready %d", (int)getpid());
    for (size_t i = 0; i < n; i++)
        printf(" %d", (int)workers[i].tid);
    printf("\n");
    fflush(stdout);
    if (read(STDIN_FILENO, line, sizeof(line)) < 0)
        return 9;
    pages_touch(own, 0, pages / 2);
    for (size_t i = 0; i < n; i++) {
        close(workers[i].gate[1]);
        pthread_join(workers[i].thread, NULL);
    }
    return 3;
}
