/* SPDX-License-Identifier: MIT */
/*
 * A threshold comes to a process from another one, often while it forks: prints
 * how many such processes have ended well.
 */
#include "family.h"

enum { PROCESSES = 40, FORKS = 8 };

/* Never asks for counters, so that the first threshold is one from outside. */
static void
fork_often(int ready)
{
    if (write(ready, "", 1) != 1)
        _exit(3);
    for (int i = 0; i < FORKS; i++) {
        const pid_t pid = fork();
        int status = 1;
        if (pid == 0)
            _exit(0);
        waitpid(pid, &status, 0);
        if (status != 0)
            _exit(1);
    }
    _exit(0);
}

static void
start_each(int pids)
{
    hwperf_profevctrarg_t args = request(INSTRUCTIONS, U);
    pid_t pid;

    args.hwp_ovflw_freq[INSTRUCTIONS] = 1 << 30;
    for (int i = 0; read(pids, &pid, sizeof(pid)) == sizeof(pid); i++) {
        const int fd = open_counters(pid);
        usleep(i % 8 * 500);
        ioctl(fd, PIOCENEVCTRS, (void *)&args);
        close(fd);
    }
    _exit(0);
}

int
main(void)
{
    int pids[2], ready[2], status, well = 0;
    char byte;

    if (pipe(pids) != 0 || pipe(ready) != 0)
        return 3;
    const pid_t starter = fork();
    if (starter == 0) {
        close(pids[1]);
        start_each(pids[0]);
    }
    for (int i = 0; i < PROCESSES; i++) {
        const pid_t pid = fork();
        if (pid == 0)
            fork_often(ready[1]);
        if (read(ready[0], &byte, 1) != 1 ||
            write(pids[1], &pid, sizeof(pid)) != sizeof(pid))
            return 3;
        waitpid(pid, &status, 0);
        well += status == 0;
    }
    close(pids[1]);
    waitpid(starter, NULL, 0);
    printf("%d\n", well);
    return 0;
}
