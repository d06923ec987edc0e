/* SPDX-License-Identifier: MIT */
/*
 * forker MODE [PROGRAM ARGS...]: starts a child and passes its status on as a
 * shell would, 128 + N when signal N ended it.
 *
 *   fork         without PROGRAM: the child runs loop() of 100000 turns and
 *                leaves with status 3; with it: the child execs PROGRAM
 *   spin         as fork, and the parent runs until it has handled SIGCHLD
 *   kill         the parent kills the child, which sleeps
 *   leave        as fork, and the parent leaves with status 3 at once
 *   vfork        the child execs PROGRAM
 *   posix_spawn  starts PROGRAM, looked for in PATH
 *   exec         no child: this process becomes PROGRAM
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop.h"

extern char **environ;

/* What the parent does before it waits for its child. */
enum before { WAIT, SPIN, KILL, LEAVE };

static volatile sig_atomic_t ended;

static void
note_end(int number)
{
    (void)number;
    ended = 1;
}

static int
wait_for(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int
run_fork(char **program, enum before before)
{
    const pid_t child = fork();

    if (child < 0)
        return 1;
    if (child > 0 && before == LEAVE)
        return 3;
    if (child > 0 && before == KILL)
        kill(child, SIGKILL);
    while (child > 0 && before == SPIN && !ended) {
    }
    if (child > 0)
        return wait_for(child);
    while (before == KILL)
        pause();
    if (program[0] == NULL) {
        loop(100000);
        _exit(3);
    }
    execv(program[0], program);
    _exit(127);
}

static int
run_vfork(char **program)
{
    const pid_t child = vfork();

    if (child < 0)
        return 1;
    if (child > 0)
        return wait_for(child);
    execv(program[0], program);
    _exit(127);
}

static int
run_spawn(char **program)
{
    pid_t child = 0;

    if (posix_spawnp(&child, program[0], NULL, NULL, program, environ) != 0)
        return 127;
    return wait_for(child);
}

int
main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    if (strcmp(mode, "fork") == 0)
        return run_fork(argv + 2, WAIT);
    if (strcmp(mode, "spin") == 0) {
        signal(SIGCHLD, note_end);
        return run_fork(argv + 2, SPIN);
    }
    if (strcmp(mode, "kill") == 0)
        return run_fork(argv + 2, KILL);
    if (strcmp(mode, "leave") == 0)
        return run_fork(argv + 2, LEAVE);
    if (argc > 2 && strcmp(mode, "vfork") == 0)
        return run_vfork(argv + 2);
    if (argc > 2 && strcmp(mode, "posix_spawn") == 0)
        return run_spawn(argv + 2);
    if (argc > 2 && strcmp(mode, "exec") == 0) {
        execv(argv[2], argv + 2);
        return 127;
    }
    fprintf(stderr, "usage: forker fork|spin|kill|leave|vfork|posix_spawn|exec "
                    "PROGRAM...\n");
    return 2;
}
