/* SPDX-License-Identifier: MIT */
/*
 * What test/torture/torture.py does to tally from inside a program:
 *
 *   torture forks N       N children, of which each fourth is left a zombie
 *                         until the end and each fifth has a child of its own
 *   torture parallel N    N children at once
 *   torture vforks N      N children by vfork()
 *   torture chain N       executes itself N times
 *   torture threads N M   N threads over time, M at once
 *   torture signals N     N signals with a handler on a stack of its own, in
 *                         which another comes; each tenth is left by
 *                         siglongjmp()
 *
 * Prints what it has done, and ends with 0 if that was all.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop.h"

static int
waited(pid_t pid, int wanted)
{
    int status;

    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == wanted;
}

static void
child(int nested)
{
    loop(1000);
    if (nested) {
        const pid_t pid = fork();
        if (pid == 0) {
            loop(1000);
            _exit(4);
        }
        _exit(waited(pid, 4) ? 3 : 1);
    }
    _exit(3);
}

static int
forks(int count, int at_once)
{
    pid_t *const left = calloc((size_t)count + 1, sizeof(*left));
    int good = 0, zombies = 0;

    for (int i = 0; i < count; i++) {
        const pid_t pid = fork();
        if (pid == 0)
            child(!at_once && i % 5 == 0);
        if (pid < 0)
            break;
        if (at_once || i % 4 == 0)
            left[zombies++] = pid;
        else
            good += waited(pid, 3);
    }
    for (int i = 0; i < zombies; i++)
        good += waited(left[i], 3);
    free(left);
    return good;
}

static __attribute__((noinline)) int
one_vfork(void)
{
    const pid_t pid = vfork();

    if (pid == 0)
        _exit(3);
    return waited(pid, 3);
}

static int
vforks(int count)
{
    int good = 0;

    for (int i = 0; i < count; i++)
        good += one_vfork();
    return good;
}

static int
chain(const char *self, int count)
{
    char number[16];

    if (count == 0)
        return 0;
    snprintf(number, sizeof(number), "%d", count - 1);
    execl(self, self, "chain", number, (char *)NULL);
    return -1;
}

static void *
work(void *unused)
{
    loop(1000);
    return unused;
}

static int
threads(int count, int at_once)
{
    pthread_t *const thread = calloc((size_t)at_once, sizeof(*thread));
    pthread_attr_t small;
    int good = 0;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    while (good < count) {
        int started = 0;
        while (started < at_once && good + started < count &&
               pthread_create(&thread[started], &small, work, NULL) == 0)
            started++;
        for (int i = 0; i < started; i++)
            good += pthread_join(thread[i], NULL) == 0;
        if (started == 0)
            break;
    }
    free(thread);
    return good;
}

static sigjmp_buf out;
static volatile sig_atomic_t outer, inner;

static void
on_inner(int number)
{
    (void)number;
    inner++;
}

static void
on_outer(int number)
{
    (void)number;
    outer++;
    raise(SIGUSR2);
    if (outer % 10 == 0)
        siglongjmp(out, 1);
}

static int
signals(int count)
{
    static char memory[64 << 10];
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
    struct sigaction action = {.sa_handler = on_outer, .sa_flags = SA_ONSTACK};

    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = on_inner;
    sigaction(SIGUSR2, &action, NULL);
    for (volatile int i = 0; i < count; i++)
        if (sigsetjmp(out, 1) == 0)
            raise(SIGUSR1);
    return outer == inner ? (int)outer : -1;
}

int
main(int argc, char **argv)
{
    const char *const what = argc > 2 ? argv[1] : "";
    const int count = argc > 2 ? atoi(argv[2]) : 0;
    int done = -1, wanted = count;

    if (strcmp(what, "forks") == 0)
        done = forks(count, 0);
    else if (strcmp(what, "parallel") == 0)
        done = forks(count, 1);
    else if (strcmp(what, "vforks") == 0)
        done = vforks(count);
    else if (strcmp(what, "chain") == 0)
        done = chain(argv[0], wanted), wanted = 0;
    else if (strcmp(what, "threads") == 0 && argc > 3)
        done = threads(count, atoi(argv[3]));
    else if (strcmp(what, "signals") == 0)
        done = signals(count);
    printf("%s %d\n", what, done);
    return done != wanted;
}
