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
 *
 * With TALLY_FAIL_OBJECT=NAME the calls from the code of that shared object
 * fail alone, in whichever process has the object: in each process the N-th of
 * them, where a forked process goes on with its parent's number.
 *
 * With TALLY_FAIL=count:0:FILE no call fails. FILE, which must exist with
 * sizeof(long) bytes for each of functions[], then holds how many calls of each
 * could fail; of several processes, the most calls that one made.
 */
#include <dirent.h>
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

/* The played kernel of test/mock, whose own calls never fail. */
#define MOCK "mock-kernel.so"

/* In the order of FUNCTIONS in test/faults.py. */
static const char *const functions[] = {
    "malloc", "open",   "read", "write", "mmap",   "pipe",
    "fork",   "rename", "stat", "ioctl", "execve", "perf_event_open",
};
enum { FUNCTIONS = sizeof(functions) / sizeof(*functions) };

static struct {
    char function[32];
    long at;
    const char *file;
    const char *object; /* whose calls fail; NULL: all */
    pid_t process;      /* that fails, without an object; 0: none */
    atomic_long calls[FUNCTIONS];
    atomic_long *counted; /* of all processes, to be counted; NULL: fail */
} chosen;

/* Takes this layer, the first object that is preloaded, away from the children
 * of the process: the children are not to fail. */
static void
spare_children(void)
{
    const char *const rest = strchr(getenv("LD_PRELOAD"), ':');

    if (rest != NULL)
        setenv("LD_PRELOAD", rest + 1, 1);
    else
        unsetenv("LD_PRELOAD");
}

/* Returns the file's numbers, shared with all processes that count, or NULL. */
static atomic_long *
map_counts(const char *path)
{
    const size_t size = FUNCTIONS * sizeof(atomic_long);
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    void *const counts = (void *)syscall(
        SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);

    syscall(SYS_close, fd);
    return counts != MAP_FAILED ? counts : NULL;
}

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
    chosen.object = getenv("TALLY_FAIL_OBJECT");
    if (strcmp(chosen.function, "count") == 0)
        chosen.counted = map_counts(chosen.file);
    if (chosen.object != NULL)
        return;
    spare_children();
    chosen.process = getpid();
}

/* Returns whether the address lies in the shared object of this name. */
static bool
is_of_object(const void *address, const char *name)
{
    Dl_info info;

    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return false;
    const char *const slash = strrchr(info.dli_fname, '/');
    return strcmp(slash != NULL ? slash + 1 : info.dli_fname, name) == 0;
}

/* Returns whether a call from `caller` may fail. */
static bool
may_fail(const void *caller)
{
    if (chosen.object != NULL)
        return is_of_object(caller, chosen.object);
    return chosen.process == getpid() && !is_of_object(caller, MOCK);
}

/* Notes that a process made `calls` of the function. */
static void
count_calls(int function, long calls)
{
    atomic_long *const most = &chosen.counted[function];
    long known = atomic_load(most);

    while (known < calls && !atomic_compare_exchange_weak(most, &known, calls))
        ;
}

/* Returns whether this call of the function is the one that fails. */
static bool
fails_for(const char *function, int cause, const void *caller)
{
    int i = 0;

    if (chosen.counted == NULL && strcmp(chosen.function, function) != 0)
        return false;
    while (strcmp(functions[i], function) != 0)
        i++;
    if (!may_fail(caller))
        return false;
    const long calls = atomic_fetch_add(&chosen.calls[i], 1) + 1;
    if (chosen.counted != NULL)
        count_calls(i, calls);
    if (chosen.counted != NULL || calls != chosen.at)
        return false;
    const long fd =
        syscall(SYS_openat, AT_FDCWD, chosen.file, O_WRONLY | O_CREAT, 0600);
    syscall(SYS_close, fd);
    errno = cause;
    return true;
}

/* The same for the function that this stands in. */
#define fails(function, cause) \
    fails_for(function, cause, __builtin_return_address(0))

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
    return fails("malloc", ENOMEM) ? NULL : __libc_realloc(memory, bytes);
}

void *__libc_memalign(size_t alignment, size_t size);

int
posix_memalign(void **memory, size_t alignment, size_t size)
{
    void *const made =
        fails("malloc", ENOMEM) ? NULL : __libc_memalign(alignment, size);

    if (made == NULL)
        return ENOMEM;
    *memory = made;
    return 0;
}

void *
aligned_alloc(size_t alignment, size_t size)
{
    return fails("malloc", ENOMEM) ? NULL : __libc_memalign(alignment, size);
}

char *
strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *const copy = fails("malloc", ENOMEM) ? NULL : __libc_malloc(size);

    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

int
open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = va_arg(list, mode_t);
    va_end(list);
    NEXT(int, "open", (const char *, int, ...));
    return fails("open", EMFILE) ? -1 : next(path, flags, mode);
}

int
openat(int folder, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = va_arg(list, mode_t);
    va_end(list);
    NEXT(int, "openat", (int, const char *, int, ...));
    return fails("open", EMFILE) ? -1 : next(folder, path, flags, mode);
}

DIR *
opendir(const char *path)
{
    NEXT(DIR *, "opendir", (const char *));
    return fails("open", EMFILE) ? NULL : next(path);
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
    NEXT(ssize_t, "read", (int, void *, size_t));
    return fails("read", EIO) ? -1 : next(fd, data, size);
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
    NEXT(void *, "mmap", (void *, size_t, int, int, int, off_t));
    return fails("mmap", ENOMEM)
               ? MAP_FAILED
               : next(at, size, protection, flags, fd, offset);
}

int
ftruncate(int fd, off_t size)
{
    return fails("mmap", ENOSPC) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int
ioctl(int fd, unsigned long request, ...)
{
    va_list list;
    va_start(list, request);
    void *const argument = va_arg(list, void *);
    va_end(list);
    NEXT(int, "ioctl", (int, unsigned long, ...));
    return fails("ioctl", EIO) ? -1 : next(fd, request, argument);
}

int
fstat(int fd, struct stat *result)
{
    NEXT(int, "fstat", (int, struct stat *));
    return fails("stat", EIO) ? -1 : next(fd, result);
}

int
stat(const char *path, struct stat *result)
{
    NEXT(int, "stat", (const char *, struct stat *));
    return fails("stat", EIO) ? -1 : next(path, result);
}

ssize_t
readlink(const char *path, char *target, size_t size)
{
    NEXT(ssize_t, "readlink", (const char *, char *, size_t));
    return fails("stat", EIO) ? -1 : next(path, target, size);
}

char *
realpath(const char *path, char *resolved)
{
    NEXT(char *, "realpath", (const char *, char *));
    return fails("stat", EIO) ? NULL : next(path, resolved);
}

int
execve(const char *path, char *const argv[], char *const env[])
{
    NEXT(int, "execve", (const char *, char *const[], char *const[]));
    return fails("execve", ENOMEM) ? -1 : next(path, argv, env);
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
    return fails("rename", EIO) ? -1 : (int)syscall(SYS_rename, old, new);
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

/* Their struct has another name. */
int
stat64(const char *path, struct stat64 *result)
{
    NEXT(int, "stat64", (const char *, struct stat64 *));
    return fails("stat", EIO) ? -1 : next(path, result);
}

int
fstat64(int fd, struct stat64 *result)
{
    NEXT(int, "fstat64", (int, struct stat64 *));
    return fails("stat", EIO) ? -1 : next(fd, result);
}
