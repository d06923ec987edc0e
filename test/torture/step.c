/* SPDX-License-Identifier: MIT */
/*
 * step PROGRAM: runs a program one instruction at a time, by ptrace(2), and
 * prints how many instructions it executed, "N instructions, status S".
 *
 * Slow and obvious: the twin of tally's counts for programs that write or
 * unload code. The processor counts each iteration of an instruction with a REP
 * prefix, as QEMU does not: a program that is compared has none.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
    uint64_t instructions = 0;
    int status;

    if (argc < 2)
        return 2;
    const pid_t pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        return 1;
    while (WIFSTOPPED(status)) {
        const int given = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        instructions += given == 0;
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (long)given) != 0 ||
            waitpid(pid, &status, 0) != pid)
            return 1;
    }
    printf("%" PRIu64 " instructions, status %d\n", instructions,
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
