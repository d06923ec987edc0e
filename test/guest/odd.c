/* SPDX-License-Identifier: MIT */
/*
 * odd MODE: what programs do that a tool which follows them may trip over.
 *
 *   badargv  executes itself with arguments that are no addresses; leaves with
 *            0 if that fails with EFAULT
 *   self     executes /proc/self/exe from another folder, which prints "again"
 *   many N   executes itself with N arguments more, which prints their number
 *   nofile   allows itself no descriptors and forks a child that counts to
 *            100000 turns
 *   memory PROGRAM
 *            executes a copy of PROGRAM in a memory file, for 100000 turns
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop.h"

extern char **environ;

static int
bad_arguments(const char *self)
{
    char **volatile nowhere = (char **)8;

    execve(self, nowhere, environ);
    return errno == EFAULT ? 0 : 1;
}

static int
many(char *self, int count)
{
    char **args = calloc((size_t)count + 3, sizeof(*args));

    if (args == NULL)
        return 1;
    args[0] = self;
    args[1] = "number";
    for (int i = 0; i < count; i++)
        args[2 + i] = "x";
    execv(self, args);
    perror(self);
    return 1;
}

static int
memory_file(const char *path)
{
    static char bytes[65536];
    char *const args[] = {"spin", "100000", NULL};
    const int from = open(path, O_RDONLY | O_CLOEXEC);
    const int to = memfd_create("copy", MFD_CLOEXEC);
    ssize_t n;

    while ((n = read(from, bytes, sizeof(bytes))) > 0) {
        if (write(to, bytes, (size_t)n) != n)
            return 1;
    }
    fexecve(to, args, environ);
    /* The C library of riscv64 tries execveat() alone, which QEMU 7.2 lacks;
     * others go on to this. */
    if (errno == ENOSYS) {
        char name[32];
        snprintf(name, sizeof(name), "/proc/self/fd/%d", to);
        execve(name, args, environ);
    }
    perror("fexecve");
    return 1;
}

static int
no_descriptors(void)
{
    const struct rlimit none = {0, 0};
    int status = 1;

    setrlimit(RLIMIT_NOFILE, &none);
    const pid_t child = fork();
    if (child == 0) {
        loop(100000);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status;
}

int
main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    if (strcmp(mode, "badargv") == 0)
        return bad_arguments(argv[0]);
    if (strcmp(mode, "self") == 0)
        return chdir("/") != 0 ||
               execl("/proc/self/exe", argv[0], "again", (char *)NULL);
    if (strcmp(mode, "many") == 0 && argc > 2)
        return many(argv[0], atoi(argv[2]));
    if (strcmp(mode, "memory") == 0 && argc > 2)
        return memory_file(argv[2]);
    if (strcmp(mode, "nofile") == 0)
        return no_descriptors();
    if (strcmp(mode, "number") == 0)
        printf("%d\n", argc - 2);
    else
        puts(mode);
    return 0;
}
