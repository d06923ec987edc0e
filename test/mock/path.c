/* SPDX-License-Identifier: MIT */
/*
 * The second half of the mock's doors: files about the machine come from the
 * tree TALLY_MOCK_ROOT, which tree.py makes, and from nowhere else: what the
 * tree lacks does not exist.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DOOR __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Beginnings of paths. */
static const char *const machine[] = {
    "/sys/bus/event_source",   "/sys/devices/cpu", /* cpu, cpu_core, cpu_atom */
    "/sys/devices/system/cpu", "/sys/devices/system/node",
    "/sys/kernel/debug",       "/sys/kernel/tracing",
    "/proc/cpuinfo",           "/proc/self/status",
    "/proc/sys/kernel",        "/proc/thread-self/status",
};

/* Paths of the machine where its script has the file; else this host's. */
static const char *const given[] = {"/proc/stat", "/proc/vmstat"};

static bool
is_given(const char *path, const char *root)
{
    char room[PATH_MAX];

    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        if (!strcmp(path, given[i]) &&
            snprintf(room, PATH_MAX, "%s%s", root, path) < PATH_MAX)
            return syscall(SYS_access, room, F_OK) == 0;
    return false;
}

static bool
is_of_machine(const char *path)
{
    for (size_t i = 0; i < sizeof(machine) / sizeof(machine[0]); i++)
        if (!strncmp(path, machine[i], strlen(machine[i])))
            return true;
    return false;
}

/* //a//b is /a/b; its own status is also under the process's number. */
static void
straighten(const char *path, char straight[PATH_MAX])
{
    char own[32];
    size_t length = 0;

    for (; *path && length + 1 < PATH_MAX; path++)
        if (*path != '/' || path[1] != '/')
            straight[length++] = *path;
    straight[length] = '\0';
    snprintf(own, sizeof(own), "/proc/%d/status", (int)getpid());
    if (!strcmp(straight, own))
        strcpy(straight, "/proc/self/status");
}

/* Where the file really is: the path itself, or one made in `room`. */
static const char *
place(const char *path, char room[PATH_MAX])
{
    const char *root = getenv("TALLY_MOCK_ROOT");
    char straight[PATH_MAX];

    if (!root || !*root || !path || *path != '/')
        return path;
    straighten(path, straight);
    if ((!is_of_machine(straight) && !is_given(straight, root)) ||
        snprintf(room, PATH_MAX, "%s%s", root, straight) >= PATH_MAX)
        return path;
    return room;
}

#define OPEN_MODE                                  \
    va_list list;                                  \
    char room[PATH_MAX];                           \
    va_start(list, flags);                         \
    const mode_t mode = (mode_t)va_arg(list, int); \
    va_end(list)

DOOR int
open(const char *path, int flags, ...)
{
    OPEN_MODE;
    return REAL(open)(place(path, room), flags, mode);
}

DOOR int
open64(const char *path, int flags, ...)
{
    OPEN_MODE;
    return REAL(open64)(place(path, room), flags, mode);
}

DOOR int
openat(int folder, const char *path, int flags, ...)
{
    OPEN_MODE;
    return REAL(openat)(folder, place(path, room), flags, mode);
}

DOOR int
openat64(int folder, const char *path, int flags, ...)
{
    OPEN_MODE;
    return REAL(openat64)(folder, place(path, room), flags, mode);
}

/* What -D_FORTIFY_SOURCE makes of open() with two arguments. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

DOOR int
__open_2(const char *path, int flags)
{
    return open(path, flags);
}

DOOR int
__open64_2(const char *path, int flags)
{
    return open64(path, flags);
}

DOOR FILE *
fopen(const char *path, const char *mode)
{
    char room[PATH_MAX];
    return REAL(fopen)(place(path, room), mode);
}

DOOR FILE *
fopen64(const char *path, const char *mode)
{
    char room[PATH_MAX];
    return REAL(fopen64)(place(path, room), mode);
}

DOOR int
stat(const char *restrict path, struct stat *restrict result)
{
    char room[PATH_MAX];
    return REAL(stat)(place(path, room), result);
}

DOOR int
stat64(const char *restrict path, struct stat64 *restrict result)
{
    char room[PATH_MAX];
    return REAL(stat64)(place(path, room), result);
}

DOOR int
lstat(const char *restrict path, struct stat *restrict result)
{
    char room[PATH_MAX];
    return REAL(lstat)(place(path, room), result);
}

DOOR int
lstat64(const char *restrict path, struct stat64 *restrict result)
{
    char room[PATH_MAX];
    return REAL(lstat64)(place(path, room), result);
}

DOOR int
fstatat(int folder, const char *restrict path, struct stat *restrict result,
        int flags)
{
    char room[PATH_MAX];
    return REAL(fstatat)(folder, place(path, room), result, flags);
}

DOOR int
access(const char *path, int mode)
{
    char room[PATH_MAX];
    return REAL(access)(place(path, room), mode);
}

DOOR int
faccessat(int folder, const char *path, int mode, int flags)
{
    char room[PATH_MAX];
    return REAL(faccessat)(folder, place(path, room), mode, flags);
}

DOOR DIR *
opendir(const char *path)
{
    char room[PATH_MAX];
    return REAL(opendir)(place(path, room));
}

DOOR int
scandir(const char *restrict path, struct dirent ***restrict names,
        int (*filter)(const struct dirent *),
        int (*compare)(const struct dirent **, const struct dirent **))
{
    char room[PATH_MAX];
    return REAL(scandir)(place(path, room), names, filter, compare);
}

DOOR int
scandir64(const char *restrict path, struct dirent64 ***restrict names,
          int (*filter)(const struct dirent64 *),
          int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
    char room[PATH_MAX];
    return REAL(scandir64)(place(path, room), names, filter, compare);
}

DOOR ssize_t
readlink(const char *restrict path, char *restrict text, size_t size)
{
    char room[PATH_MAX];
    return REAL(readlink)(place(path, room), text, size);
}

DOOR char *
realpath(const char *restrict path, char *restrict result)
{
    char room[PATH_MAX];
    return REAL(realpath)(place(path, room), result);
}
