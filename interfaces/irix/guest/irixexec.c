/* SPDX-License-Identifier: MIT */
/*
 * Counters stay with a process that executes another program, here this one:
 * prints what the child has counted with 1000 turns, and with 5000, before and
 * after it. Then whether files of /proc go over an exec, as they are opened.
 */
#include "family.h"

static void
go_on(char **argv, int hear)
{
    unsigned long turns = strtoul(argv[1], NULL, 10);

    loop(turns);
    if (write(hear, &turns, sizeof(turns)) < 0)
        _exit(3);
    for (;;)
        pause();
}

static unsigned long long
count_child(const char *program, const char *turns, int *change)
{
    unsigned long answer;
    int tell[2], hear[2];
    char byte = 0;

    if (pipe(tell) != 0 || pipe(hear) != 0)
        exit(3);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(hear[1], 9);
        if (read(tell[0], &byte, 1) != 1)
            _exit(3);
        loop(strtoul(turns, NULL, 10));
        execl(program, program, turns, (char *)NULL);
        _exit(3);
    }
    await_sleep(pid);
    const int fd = open_counters(pid);
    const int started = start(fd, U);
    if (write(tell[1], &byte, 1) != 1 ||
        read(hear[0], &answer, sizeof(answer)) != sizeof(answer))
        exit(3);
    await_sleep(pid);
    const unsigned long long counted = count(fd, change);
    *change -= started;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return counted;
}

static int
is_closed(int flags)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%05d", (int)getpid());
    return (fcntl(open(path, O_RDWR | flags), F_GETFD) & FD_CLOEXEC) != 0;
}

int
main(int argc, char **argv)
{
    int change;

    if (argc > 1)
        go_on(argv, 9);
    const unsigned long long small = count_child(argv[0], "1000", &change);
    printf("%llu %llu\n", small, count_child(argv[0], "3000", &change));
    printf("generation %d\n", change);
    printf("closed %d %d\n", is_closed(0), is_closed(O_CLOEXEC));
    return 0;
}
