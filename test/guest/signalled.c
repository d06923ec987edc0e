/* SPDX-License-Identifier: MIT */
/*
 * signalled MODE: handles three signals, or is ended by one.
 *   timer   a timer sends them while the program runs
 *   pause   a timer sends them while the program sleeps in pause()
 *   raise   the program sends them to itself
 *   ask     as timer, after a signal 0 to itself each time, which is none
 *   spin    a thread sends them to another, which spins
 *   read    and to one that sleeps in a call
 *   beside  a timer sends them while threads run
 *   alarm   a timer ends the program, which does nothing else
 *   abort   the program ends itself
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void
handle(int signal)
{
    (void)signal;
    handled = handled + 1;
}

/* Sends one SIGALRM soon. */
static void
start_timer(void)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 20000}};

    setitimer(ITIMER_REAL, &soon, NULL);
}

static volatile sig_atomic_t over;
static int ends[2];

static void *
spin(void *data)
{
    while (!over)
        sched_yield();
    return data;
}

static void *
read_all(void *data)
{
    char byte;

    while (read(ends[0], &byte, 1) != 0)
        continue;
    return data;
}

static void
take_three(const char *mode, const pthread_t *thread)
{
    for (int i = 0; i < 3; i++) {
        const sig_atomic_t before = handled;
        if (strcmp(mode, "ask") == 0)
            kill(getpid(), 0);
        if (strcmp(mode, "raise") == 0)
            raise(SIGALRM);
        else if (strcmp(mode, "spin") == 0 || strcmp(mode, "read") == 0)
            pthread_kill(*thread, SIGALRM);
        else
            start_timer();
        if (strcmp(mode, "pause") == 0)
            pause();
        while (handled == before)
            if (thread != NULL)
                sched_yield();
    }
}

static int
have_thread(const char *mode)
{
    pthread_t thread;

    if (pipe(ends) != 0 ||
        pthread_create(&thread, NULL,
                       strcmp(mode, "read") == 0 ? read_all : spin, NULL) != 0)
        return 1;
    take_three(mode, &thread);
    over = 1;
    close(ends[1]);
    return pthread_join(thread, NULL) != 0;
}

int
main(int argc, char **argv)
{
    const char *const mode = argc > 1 ? argv[1] : "";
    struct sigaction action = {.sa_handler = handle};

    if (strcmp(mode, "abort") == 0)
        abort();
    if (strcmp(mode, "alarm") == 0) {
        start_timer();
        for (;;)
            ;
    }
    if (sigaction(SIGALRM, &action, NULL) != 0)
        return 1;
    if (strcmp(mode, "spin") == 0 || strcmp(mode, "read") == 0 ||
        strcmp(mode, "beside") == 0)
        return have_thread(mode);
    take_three(mode, NULL);
    return 0;
}
