/* SPDX-License-Identifier: MIT */
/*
 * Makes one call fail: preloaded into a program, counts its calls of one
 * function of libc and lets the chosen one fail, as if memory, descriptors or
 * the disk were exhausted at that moment. All calls after it work again.
 *
 * TALLY_FAIL=FUNCTION:N:FILE. N counts from 1; FILE is made when the call
 * failed, so that a test knows when N has passed the last call. Only the
 * process that was started fails, not its children; calls that libc makes of
 * itself, as those of fopen() to open(), are not seen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    char function[32];
    long at;
    const char *file;
    pid_t process; /* that fails; 0: none */
    atomic_long calls;
} chosen;

__attribute__((constructor)) static void
choose(void)
{
    const char *const text = getenv("TALLY_FAIL");

    if (text == NULL)
        return;
    const size_t length = strcspn(text, ":");
    char *rest = NULL;
    if (length >= sizeof(chosen.function) || text[length] != ':')
        return;
    memcpy(chosen.function, text, length);
    chosen.at = strtol(text + length + 1, &rest, 10);
    chosen.file = rest + 1;
    chosen.process = getpid();
    /* The children of the process are not to fail. */
    unsetenv("LD_PRELOAD");
}

/* Returns whether this call of the function is the one that fails. */
static bool
fails(const char *function, int cause)
{
    if (chosen.process == 0 || strcmp(chosen.function, function) != 0 ||
        chosen.process != getpid() ||
        atomic_fetch_add(&chosen.calls, 1) + 1 != chosen.at)
        return false;
    const long fd =
        syscall(SYS_openat, AT_FDCWD, chosen.file, O_WRONLY | O_CREAT, 0600);
    syscall(SYS_close, fd);
    errno = cause;
    return true;
}

/* The function of libc that a function below stands before. */
#define NEXT(type, name, parameters) \
    type(*next) parameters = (type(*) parameters)dlsym(RTLD_NEXT, name)

/* libc's dlsym() may ask for memory, so the allocator's own names are used. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

void *
malloc(size_t size)
{
    return fails("malloc", ENOMEM) ? NULL : __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
    return fails("malloc", ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *memory, size_t size)
{
    return fails("malloc", ENOMEM) ? NULL : __libc_realloc(memory, size);
}

void *
reallocarray(void *memory, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(memory, bytes);
}

char *
strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *const copy = malloc(size);

    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

int
open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = va_arg(list, mode_t);
    va_end(list);
    return fails("open", EMFILE)
               ? -1
               : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int
openat(int folder, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = va_arg(list, mode_t);
    va_end(list);
    return fails("open", EMFILE)
               ? -1
               : (int)syscall(SYS_openat, folder, path, flags, mode);
}

FILE *
fopen(const char *path, const char *mode)
{
    NEXT(FILE *, "fopen", (const char *, const char *));
    return fails("open", EMFILE) ? NULL : next(path, mode);
}

FILE *
fdopen(int fd, const char *mode)
{
    NEXT(FILE *, "fdopen", (int, const char *));
    return fails("malloc", ENOMEM) ? NULL : next(fd, mode);
}

ssize_t
read(int fd, void *data, size_t size)
{
    return fails("read", EIO) ? -1 : syscall(SYS_read, fd, data, size);
}

ssize_t
pread(int fd, void *data, size_t size, off_t offset)
{
    return fails("read", EIO) ? -1
                              : syscall(SYS_pread64, fd, data, size, offset);
}

ssize_t
write(int fd, const void *data, size_t size)
{
    return fails("write", ENOSPC) ? -1 : syscall(SYS_write, fd, data, size);
}

int
fflush(FILE *file)
{
    NEXT(int, "fflush", (FILE *));
    return fails("write", ENOSPC) ? EOF : next(file);
}

int
fclose(FILE *file)
{
    NEXT(int, "fclose", (FILE *));
    const bool failed = fails("write", ENOSPC);
    const int result = next(file);
    if (failed)
        errno = ENOSPC;
    return failed ? EOF : result;
}

void *
mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return fails("mmap", ENOMEM)
               ? MAP_FAILED
               : (void *)syscall(SYS_mmap, at, size, protection, flags, fd,
                                 offset);
}

int
ftruncate(int fd, off_t size)
{
    return fails("mmap", ENOSPC) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int
memfd_create(const char *name, unsigned flags)
{
    return fails("open", EMFILE) ? -1
                                 : (int)syscall(SYS_memfd_create, name, flags);
}

int
fcntl(int fd, int command, ...)
{
    va_list list;
    va_start(list, command);
    const long argument = va_arg(list, long);
    va_end(list);
    return (command == F_DUPFD || command == F_DUPFD_CLOEXEC) &&
                   fails("open", EMFILE)
               ? -1
               : (int)syscall(SYS_fcntl, fd, command, argument);
}

int
pipe2(int ends[2], int flags)
{
    return fails("pipe", EMFILE) ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}

pid_t
fork(void)
{
    NEXT(pid_t, "fork", (void));
    return fails("fork", EAGAIN) ? -1 : next();
}

int
renameat(int from, const char *old, int to, const char *new)
{
    return fails("rename", EIO)
               ? -1
               : (int)syscall(SYS_renameat, from, old, to, new);
}

int
rename(const char *old, const char *new)
{
    return renameat(AT_FDCWD, old, AT_FDCWD, new);
}

int
linkat(int from, const char *old, int to, const char *new, int flags)
{
    return fails("rename", EIO)
               ? -1
               : (int)syscall(SYS_linkat, from, old, to, new, flags);
}

int
fchmod(int fd, mode_t mode)
{
    return fails("rename", EPERM) ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
               void *(*run)(void *), void *argument)
{
    NEXT(int, "pthread_create",
         (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *));
    return fails("fork", EAGAIN) ? EAGAIN
                                 : next(thread, attributes, run, argument);
}

/* perf_event_open() comes by here. */
long
syscall(long number, ...)
{
    va_list list;
    long argument[6];
    NEXT(long, "syscall", (long, ...));

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        argument[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_perf_event_open && fails("perf_event_open", EMFILE))
        return -1;
    return next(number, argument[0], argument[1], argument[2], argument[3],
                argument[4], argument[5]);
}

/* The same functions by the names that programs with 64-bit offsets call. */
#define ALSO(name, other) __typeof__(other) name __attribute__((alias(#other)))
ALSO(open64, open);
ALSO(openat64, openat);
ALSO(fopen64, fopen);
ALSO(pread64, pread);
ALSO(mmap64, mmap);
ALSO(ftruncate64, ftruncate);
ALSO(fcntl64, fcntl);
