/* SPDX-License-Identifier: MIT */
/*
 * open and ioctl of r10k_evcntrs(5). They stand before those of the C library
 * where this library is linked in front of it, and hand on whatever is not for
 * the counters.
 *
 * What open() gives for /proc/NNNNN is a file in memory whose name holds the
 * process: it can be copied, passed on and closed like any other, and nothing
 * has to be remembered. A child of fork() has it too.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "irix.h"
#include "sys/procfs.h"

#define EXPORT __attribute__((visibility("default")))
#define FILE_NAME "irix-proc-"

/* "/proc/00123": five digits or more; Linux's own files have no leading 0 and
 * something behind the number, or are folders. */
static bool
is_process(const char *path, pid_t *pid)
{
    char *end;

    if (path == NULL || strncmp(path, "/proc/", 6) != 0 || path[6] < '0' ||
        path[6] > '9')
        return false;
    errno = 0;
    const long number = strtol(path + 6, &end, 10);
    *pid = (pid_t)number;
    return *end == '\0' && end - path >= 11 && number > 0 && errno == 0 &&
           number <= 0x3fffffff;
}

static int
open_process(pid_t pid, int flags)
{
    char name[32];
    void *system;

    const int error = irix_system(&system)->open(system, pid);
    if (error < 0) {
        errno = -error;
        return -1;
    }
    snprintf(name, sizeof(name), FILE_NAME "%d", (int)pid);
    return memfd_create(name, (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
}

/* Returns the process of a file that open_process() made, or -1. */
static pid_t
process_of(int fd)
{
    static const char wanted[] = "/memfd:" FILE_NAME;
    char link[32], target[64];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, target, sizeof(target) - 1);
    if (length <= 0)
        return -1;
    target[length] = '\0';
    if (strncmp(target, wanted, sizeof(wanted) - 1) != 0)
        return -1;
    return (pid_t)atoi(target + sizeof(wanted) - 1);
}

static int
open_any(const char *path, int flags, mode_t mode)
{
    pid_t pid;

    if ((flags & O_DIRECTORY) == 0 && is_process(path, &pid))
        return open_process(pid, flags);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#define MODE_OF(flags, mode)                          \
    do {                                              \
        va_list list;                                 \
        va_start(list, flags);                        \
        if (((flags) & (O_CREAT | __O_TMPFILE)) != 0) \
            mode = va_arg(list, unsigned);            \
        va_end(list);                                 \
    } while (0)

/* Their names are the C library's, whose headers may give open() another. */
EXPORT int irix_open(const char *path, int flags, ...) __asm__("open");
EXPORT int irix_open64(const char *path, int flags, ...) __asm__("open64");

EXPORT int
irix_open(const char *path, int flags, ...)
{
    mode_t mode = 0;

    MODE_OF(flags, mode);
    return open_any(path, flags, mode);
}

EXPORT int
irix_open64(const char *path, int flags, ...)
{
    mode_t mode = 0;

    MODE_OF(flags, mode);
    return open_any(path, flags | O_LARGEFILE, mode);
}

EXPORT int
ioctl(int fd, unsigned long command, ...)
{
    va_list list;

    va_start(list, command);
    void *const argument = va_arg(list, void *);
    va_end(list);
    if (command >= PIOCENEVCTRS && command <= PIOCSAVECCNTRS) {
        const pid_t pid = process_of(fd);
        if (pid > 0)
            return irix_file_call(pid, command, argument);
    }
    return (int)syscall(SYS_ioctl, fd, command, argument);
}
