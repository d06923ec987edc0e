/* SPDX-License-Identifier: MIT */
/*
 * waiter: says "ready", then waits for SIGINT or SIGTERM, says which came and
 * leaves with status 7. Gives up after a minute with status 8.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t received;

static void
receive(int signal)
{
    received = signal;
}

static void
say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(1);
}

int
main(void)
{
    struct sigaction action = {.sa_handler = receive};
    sigset_t block;
    sigset_t open;

    sigemptyset(&block);
    sigaddset(&block, SIGINT);
    sigaddset(&block, SIGTERM);
    sigaddset(&block, SIGALRM);
    sigprocmask(SIG_BLOCK, &block, &open);
    sigdelset(&open, SIGINT);
    sigdelset(&open, SIGTERM);
    sigdelset(&open, SIGALRM);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    alarm(600);

    say("ready\n");
    while (received == 0)
        sigsuspend(&open);
    if (received == SIGALRM)
        return 8;
    say(received == SIGINT ? "got SIGINT\n" : "got SIGTERM\n");
    return 7;
}
