/* SPDX-License-Identifier: MIT */
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
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

/* Reads a stream to its end, or NULL with errno. */
static char *
read_to_end(FILE *file, size_t most, size_t *size)
{
    size_t room = most < 65536 ? most + 2 : 65536;
    char *text = malloc(room);

    *size = 0;
    while (text != NULL) {
        *size += fread(text + *size, 1, room - 1 - *size, file);
        if (ferror(file) || *size > most || *size < room - 1)
            break;
        char *const more = realloc(text, 2 * room);
        if (more == NULL)
            free(text);
        text = more;
        room *= 2;
    }
    if (text == NULL || (!ferror(file) && *size <= most)) {
        if (text != NULL)
            text[*size] = '\0';
        return text;
    }
    if (*size > most)
        errno = EFBIG;
    free(text);
    return NULL;
}

char *
input_read(const char *path, size_t most, size_t *size)
{
    FILE *const file = input_stream(path);
    char *const text = file != NULL ? read_to_end(file, most, size) : NULL;
    const int error = errno;

    if (file != NULL)
        fclose(file);
    errno = error;
    return text;
}

const char *
input_reason(int error)
{
    return error == ENXIO ? "a pipe that nobody writes" : strerror(error);
}
