/* SPDX-License-Identifier: MIT */
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TURNS 300 /* that a writer has time to come */
#define TURN_MS 10

/* Returns whether the pipe has a writer, data or an end. `spare` is the writing
 * end of another pipe: tee() tells a writer that is silent from none, and takes
 * nothing out of the pipe. */
static bool
is_written(int fd, int spare)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};

    if (poll(&wait, 1, TURN_MS) > 0)
        return true;
    return tee(fd, spare, 1, SPLICE_F_NONBLOCK) < 0 && errno == EAGAIN;
}

static bool
gets_writer(int fd)
{
    int spare[2];
    bool written = false;

    if (pipe2(spare, O_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < TURNS && !written; i++)
        written = is_written(fd, spare[1]);
    close(spare[0]);
    close(spare[1]);
    if (!written)
        errno = ENXIO;
    return written;
}

int
input_open(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && (!S_ISFIFO(st.st_mode) || gets_writer(fd)) &&
        fcntl(fd, F_SETFL, 0) == 0)
        return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

FILE *
input_stream(const char *path)
{
    const int fd = input_open(path);
    FILE *const file = fd >= 0 ? fdopen(fd, "r") : NULL;

    if (file == NULL && fd >= 0)
        close(fd);
    return file;
}

const char *
input_reason(int error)
{
    return error == ENXIO ? "a pipe that nobody writes" : strerror(error);
}
