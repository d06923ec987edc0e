/* SPDX-License-Identifier: MIT */
/*
 * The doors of the mock: an object for LD_PRELOAD that plays perf_event for an
 * unmodified program. README.md here says how to use it.
 *
 * It stands before the C library's functions, so the one state that it keeps
 * has to be static; a lock guards it. A program that calls the kernel itself
 * goes past it.
 */
#include "attr.h"
#include "event.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define DOOR __attribute__((visibility("default")))
/* The function that would have been called without the mock. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static struct mock_kernel kernel;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool playing;
/* The mock's own calls pass. */
static __thread bool inside;

static void
lock_kernel(void)
{
    pthread_mutex_lock(&lock);
}

static void
unlock_kernel(void)
{
    pthread_mutex_unlock(&lock);
}

static void
start(void)
{
    const char *script = getenv("TALLY_MOCK_SCRIPT");

    if (!script || !*script)
        return;
    mock_script_read(script, &kernel.machine);
    pthread_atfork(lock_kernel, unlock_kernel, unlock_kernel);
    playing = true;
}

/* Whether the mock plays and the caller is not the mock. */
static bool
plays(void)
{
    if (inside)
        return false;
    inside = true;
    pthread_once(&once, start);
    inside = false;
    return playing;
}

/* A handler that reads a counter must not find the kernel half-way. */
static void
enter(sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
    lock_kernel();
    inside = true;
}

static void
leave(const sigset_t *before)
{
    const int error = errno;

    inside = false;
    unlock_kernel();
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = error;
}

static long
answer(long result)
{
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

static void
log_open(const void *attr, pid_t pid, int cpu, int group, unsigned long flags,
         int result)
{
    const char *path = getenv("TALLY_MOCK_LOG");
    struct perf_event_attr copy = {0};
    char text[4096];
    uint32_t size;

    if (!path || !*path)
        return;
    memcpy(&size, (const char *)attr + offsetof(struct perf_event_attr, size),
           sizeof(size));
    memcpy(&copy, attr, size && size < sizeof(copy) ? size : sizeof(copy));
    size_t length = attr_print(&copy, text, sizeof(text));
    length += attr_print_call(pid, cpu, group, flags, result, text + length,
                              sizeof(text) - length);
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, text, length) != (ssize_t)length)
        dprintf(2, "mock: cannot write %s\n", path);
    if (fd >= 0)
        close(fd);
}

static long
open_event(const long *arguments)
{
    const void *attr = (const void *)arguments[0];
    const pid_t pid = (pid_t)arguments[1];
    const int cpu = (int)arguments[2], group = (int)arguments[3];
    const unsigned long flags = (unsigned long)arguments[4];
    sigset_t before;

    enter(&before);
    const int result = mock_event_open(&kernel, attr, pid, cpu, group, flags);
    log_open(attr, pid, cpu, group, flags, result);
    leave(&before);
    return answer(result);
}

DOOR long
syscall(long number, ...)
{
    long arguments[6];
    va_list list;

    va_start(list, number);
    for (unsigned i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_perf_event_open && plays())
        return open_event(arguments);
    return REAL(syscall)(number, arguments[0], arguments[1], arguments[2],
                         arguments[3], arguments[4], arguments[5]);
}

/* Reads an event; false: the descriptor is none. */
static bool
read_event(int fd, void *buffer, size_t size, ssize_t *result)
{
    sigset_t before;

    if (!plays())
        return false;
    enter(&before);
    struct mock_event *event = mock_event_find(&kernel, fd);
    if (event)
        *result = mock_event_read(&kernel, event, buffer, size);
    leave(&before);
    return event;
}

DOOR ssize_t
read(int fd, void *buffer, size_t size)
{
    ssize_t result;

    if (read_event(fd, buffer, size, &result))
        return answer(result);
    return REAL(read)(fd, buffer, size);
}

/* What -D_FORTIFY_SOURCE makes of read(). */
ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);

DOOR ssize_t
__read_chk(int fd, void *buffer, size_t size, size_t room)
{
    if (size > room)
        abort();
    return read(fd, buffer, size);
}

static ssize_t
scatter(const struct iovec *parts, int count, const char *from, size_t size)
{
    size_t done = 0;

    for (int i = 0; i < count && done < size; i++) {
        const size_t left = size - done;
        const size_t part = parts[i].iov_len < left ? parts[i].iov_len : left;
        memcpy(parts[i].iov_base, from + done, part);
        done += part;
    }
    return (ssize_t)done;
}

DOOR ssize_t
readv(int fd, const struct iovec *parts, int count)
{
    char buffer[8192];
    size_t size = 0;
    ssize_t result;

    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    if (size > sizeof(buffer))
        size = sizeof(buffer);
    if (!read_event(fd, buffer, size, &result))
        return REAL(readv)(fd, parts, count);
    if (result > 0)
        result = scatter(parts, count, buffer, (size_t)result);
    return answer(result);
}

DOOR int
ioctl(int fd, unsigned long request, ...)
{
    sigset_t before;
    va_list list;

    va_start(list, request);
    const unsigned long argument = va_arg(list, unsigned long);
    va_end(list);
    if (plays()) {
        int result = 0;
        enter(&before);
        struct mock_event *event = mock_event_find(&kernel, fd);
        if (event)
            result = mock_event_ioctl(&kernel, event, request, argument);
        leave(&before);
        if (event)
            return (int)answer(result);
    }
    return REAL(ioctl)(fd, request, argument);
}

/* What the script has against mapping the descriptor, or 0. */
static int
map_error(int fd, size_t size, int flags, off_t offset)
{
    const size_t page = (size_t)getpagesize();
    const size_t data = size / page - 1;
    int error = 0;
    sigset_t before;

    enter(&before);
    const struct mock_event *event = mock_event_find(&kernel, fd);
    if (event) {
        error = mock_fault(&kernel.machine, MOCK_MMAP, &event->state->attr,
                           event->state->cpu);
        if (!error &&
            (size < page || data & (data - 1) || offset || flags & MAP_PRIVATE))
            error = EINVAL;
    }
    leave(&before);
    return error;
}

DOOR void *
mmap(void *address, size_t size, int protection, int flags, int fd,
     off_t offset)
{
    const int error =
        fd >= 0 && plays() ? map_error(fd, size, flags, offset) : 0;

    if (error) {
        errno = error;
        return MAP_FAILED;
    }
    return REAL(mmap)(address, size, protection, flags, fd, offset);
}

DOOR void *
mmap64(void *address, size_t size, int protection, int flags, int fd,
       off64_t offset)
{
    return mmap(address, size, protection, flags, fd, offset);
}

static void
forget(int fd)
{
    sigset_t before;

    if (!plays())
        return;
    enter(&before);
    struct mock_event *event = mock_event_find(&kernel, fd);
    if (event)
        mock_event_close(&kernel, event);
    leave(&before);
}

static int
remember(int copy)
{
    sigset_t before;

    if (copy < 0 || !plays())
        return copy;
    enter(&before);
    struct mock_event *event = mock_event_find(&kernel, copy);
    if (event)
        mock_event_dup(event);
    leave(&before);
    return copy;
}

DOOR int
close(int fd)
{
    forget(fd);
    return REAL(close)(fd);
}

DOOR int
dup(int fd)
{
    return remember(REAL(dup)(fd));
}

DOOR int
dup2(int fd, int copy)
{
    if (fd == copy)
        return REAL(dup2)(fd, copy);
    forget(copy);
    return remember(REAL(dup2)(fd, copy));
}

DOOR int
dup3(int fd, int copy, int flags)
{
    forget(copy);
    return remember(REAL(dup3)(fd, copy, flags));
}

DOOR int
fcntl(int fd, int command, ...)
{
    va_list list;

    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    const int result = REAL(fcntl)(fd, command, argument);
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
        return remember(result);
    return result;
}

DOOR int
fcntl64(int fd, int command, ...)
{
    va_list list;

    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return fcntl(fd, command, argument);
}

/* An event has nothing to read, and hangs up when its task has ended. */
static int
poll_events(struct pollfd *fds, nfds_t count, short *hung)
{
    sigset_t before;
    int ready = 0;

    enter(&before);
    for (nfds_t i = 0; i < count; i++) {
        const struct mock_event *event = mock_event_find(&kernel, fds[i].fd);
        hung[i] = 0;
        if (!event)
            continue;
        hung[i] = mock_event_task_gone(event) ? POLLHUP : -1;
        ready += hung[i] > 0;
        fds[i].fd = -fds[i].fd - 1;
    }
    leave(&before);
    return ready;
}

enum { POLLED = 256 };

DOOR int
ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
      const sigset_t *mask)
{
    static const struct timespec none = {0};
    short hung[POLLED];

    if (count > POLLED || !plays())
        return REAL(ppoll)(fds, count, timeout, mask);
    const int ready = poll_events(fds, count, hung);
    const int result = REAL(ppoll)(fds, count, ready ? &none : timeout, mask);
    for (nfds_t i = 0; i < count; i++) {
        if (!hung[i])
            continue;
        fds[i].fd = -fds[i].fd - 1;
        fds[i].revents = hung[i] > 0 ? hung[i] : 0;
    }
    return result < 0 ? result : result + ready;
}

DOOR int
poll(struct pollfd *fds, nfds_t count, int timeout)
{
    const struct timespec time = {.tv_sec = timeout / 1000,
                                  .tv_nsec = timeout % 1000 * 1000000l};

    return ppoll(fds, count, timeout < 0 ? NULL : &time, NULL);
}

/* libcap's door to the capabilities; no header declares it. */
int capget(cap_user_header_t header, cap_user_data_t data);

DOOR int
capget(cap_user_header_t header, cap_user_data_t data)
{
    const int result = REAL(capget)(header, data);
    const unsigned words =
        header->version == _LINUX_CAPABILITY_VERSION_1 ? 1 : 2;

    if (!result && data && plays() && !kernel.machine.capable)
        memset(data, 0, words * sizeof(*data));
    return result;
}

DOOR long
sysconf(int name)
{
    if (name == _SC_NPROCESSORS_CONF && plays())
        return kernel.machine.cpu_count;
    if (name == _SC_NPROCESSORS_ONLN && plays())
        return CPU_COUNT(&kernel.machine.online);
    return REAL(sysconf)(name);
}

DOOR int
get_nprocs(void)
{
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

DOOR int
get_nprocs_conf(void)
{
    return (int)sysconf(_SC_NPROCESSORS_CONF);
}

/* Returns the machine's first processor: the host may have others. */
DOOR int
sched_getcpu(void)
{
    if (!plays())
        return REAL(sched_getcpu)();
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &kernel.machine.online))
            return (int)cpu;
    return 0;
}

/* The machine has processors that are not there: going to one succeeds. */
DOOR int
sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    const int result = REAL(sched_setaffinity)(pid, size, set);

    return result && errno == EINVAL && plays() ? 0 : result;
}
