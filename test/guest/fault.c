/* SPDX-License-Identifier: MIT */
/*
 * fault MODE N: N blocks that a signal leaves before their end.
 *
 *   catch    loads from nowhere, and a handler that jumps out
 *   known    loads from nowhere, and a handler that jumps out, and that has run
 *            as a function before
 *   child    children that load from nowhere and that wait4() waits for
 *   waitid   children that load from nowhere and that waitid() waits for
 *   unasked  children that load from nowhere, waited for without asking how
 *            they ended
 *   none     N system calls and no signal
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum wait { ASKED, BY_ID, UNASKED };

static sigjmp_buf before;
static volatile sig_atomic_t jumps;

/* A function of its own, so that a call leaves its code translated. */
static __attribute__((noinline)) void
handler(int number)
{
    (void)number;
    if (jumps)
        siglongjmp(before, 1);
}

static void
load(void)
{
    const volatile int *volatile nowhere = (const volatile int *)8;

    (void)*nowhere;
}

static void
install(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    sigaction(SIGSEGV, &action, NULL);
    jumps = 1;
}

static void
end_child(enum wait wait)
{
    siginfo_t info;
    int status;
    const pid_t child = fork();

    if (child == 0) {
        load();
        _exit(1);
    }
    if (wait == UNASKED)
        waitpid(child, NULL, 0);
    else if (wait == BY_ID)
        waitid(P_PID, (id_t)child, &info, WEXITED);
    else
        waitpid(child, &status, 0);
}

int
main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    const int count = argc > 2 ? atoi(argv[2]) : 0;

    if (strcmp(mode, "known") == 0)
        handler(0);
    if (strcmp(mode, "known") == 0 || strcmp(mode, "catch") == 0)
        install();
    for (volatile int i = 0; i < count; i++) {
        if (strcmp(mode, "none") == 0)
            getppid();
        else if (strcmp(mode, "child") == 0 || strcmp(mode, "waitid") == 0)
            end_child(strcmp(mode, "waitid") == 0 ? BY_ID : ASKED);
        else if (strcmp(mode, "unasked") == 0)
            end_child(UNASKED);
        else if (sigsetjmp(before, 1) == 0)
            load();
    }
    return 0;
}
