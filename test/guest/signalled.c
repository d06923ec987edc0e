/* SPDX-License-Identifier: MIT */
/*
 * signalled MODE: handles three signals, or is ended by one.
 *   timer   a timer sends them while the program runs
 *   pause   a timer sends them while the program sleeps in pause()
 *   raise   the program sends them to itself
 *   alarm   a timer ends the program, which does nothing else
 *   abort   the program ends itself
 */
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
    for (int i = 0; i < 3; i++) {
        const sig_atomic_t before = handled;
        if (strcmp(mode, "raise") == 0)
            raise(SIGALRM);
        else
            start_timer();
        if (strcmp(mode, "pause") == 0)
            pause();
        while (handled == before)
            ;
    }
    return 0;
}
