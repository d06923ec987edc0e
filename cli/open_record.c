/* SPDX-License-Identifier: MIT */
#include "cli/open_record.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/input.h"
#include "cli/command.h"
#include "cli/output.h"
#include "record/chunks.h"
#include "table/text.h"

#define MAGIC_SIZE (sizeof(CHUNKS_MAGIC) - 1)
#define STREAM_MOST (UINT64_C(1) << 32) /* bytes */
#define STEP ((size_t)1 << 20)          /* bytes that are read at a time */

int
open_record_take(const char *command, const char **input, const char *file)
{
    if (*input == NULL) {
        *input = file;
        return 0;
    }
    escape_printf(stderr,
                  "tally %s: one record is read, not also '%s'; see tally %s "
                  "--help\n",
                  command, shown(file, strlen(file)).text, command);
    return EXIT_USAGE;
}

bool
is_stream(const char *path)
{
    return strcmp(path, "-") == 0;
}

bool
open_record_is(const char *input, const char *output)
{
    const char *const path = input == NULL      ? RECORD_DEFAULT
                             : is_stream(input) ? "/dev/stdin"
                                                : input;
    struct stat st;

    return stat(output, &st) == 0 && S_ISREG(st.st_mode) &&
           same_file(output, path);
}

int
open_record_spares(const char *command, const char *option, const char *input,
                   const char *output)
{
    if (output == NULL || !open_record_is(input, output))
        return 0;
    escape_printf(stderr, "tally %s: %s %s would replace the record itself\n",
                  command, option, output);
    return EXIT_USAGE;
}

/* Writes all the bytes. 0 or -1 with errno. */
static int
write_all(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        const ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

/* A stream that is copied into memory. */
struct copied {
    int from, to;
    uint8_t begin[MAGIC_SIZE]; /* of the stream */
    uint64_t size;
    bool unread; /* the failure was one to read */
};

/* Adds bytes to the copy. 0 or -1 with errno. */
static int
add_bytes(struct copied *c, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size && c->size + i < MAGIC_SIZE; i++)
        c->begin[c->size + i] = data[i];
    c->size += size;
    errno = EFBIG;
    return c->size <= STREAM_MOST ? write_all(c->to, data, size) : -1;
}

/* Returns whether the stream begins as a record does, as far as it is read. */
static bool
is_record(const struct copied *c)
{
    const size_t size = c->size < MAGIC_SIZE ? (size_t)c->size : MAGIC_SIZE;

    return memcmp(c->begin, CHUNKS_MAGIC, size) == 0;
}

/* Copies the rest of the stream. 0 or -1 with errno. */
static int
copy_rest(struct copied *c)
{
    uint8_t *const room = malloc(STEP);
    ssize_t n = 1;
    int result = room != NULL ? 0 : -1;

    while (result == 0 && n != 0 && is_record(c)) {
        n = read(c->from, room, STEP);
        if (n < 0 && errno == EINTR)
            continue;
        c->unread = n < 0;
        result = n < 0 ? -1 : add_bytes(c, room, (size_t)n);
    }
    const int cause = errno;
    free(room);
    errno = cause;
    return result;
}

/* Copies the stream, whose first bytes are read already, into a file in memory.
 * 0 or -1 with errno. */
static int
copy_stream(struct copied *c, const void *begun, size_t size)
{
    c->to = memfd_create("tally-record", MFD_CLOEXEC);
    if (c->to < 0)
        return -1;
    /* A limit of the size of files holds for memory too. */
    void (*const old)(int) = signal(SIGXFSZ, SIG_IGN);
    const int result = add_bytes(c, begun, size) == 0 ? copy_rest(c) : -1;
    const int cause = errno;
    signal(SIGXFSZ, old);
    if (result != 0)
        close(c->to);
    errno = cause;
    return result;
}

int
open_record_stream(const char *command, int fd, const char *name,
                   const void *begun, size_t size, struct record **record)
{
    struct copied c = {.from = fd};

    if (copy_stream(&c, begun, size) == 0)
        return record_open_fd(c.to, name, &command_log, record) == 0
                   ? 0
                   : EXIT_OURS;
    escape_printf(stderr, "tally %s: cannot %s %s%s: %s\n", command,
                  c.unread ? "read" : "keep", name,
                  c.unread ? "" : " in memory",
                  errno == EFBIG ? "it is too large; write it to a file"
                                 : strerror(errno));
    return EXIT_OURS;
}

/* Opens the record that comes out of a pipe that has a name. */
static int
open_pipe(const char *command, const char *path, struct record **record)
{
    const int fd = input_open(path);

    if (fd < 0) {
        escape_printf(stderr, "tally %s: %s: %s\n", command, path,
                      input_reason(errno));
        return EXIT_OURS;
    }
    const int status = open_record_stream(command, fd, path, NULL, 0, record);
    close(fd);
    return status;
}

int
open_record(const char *command, const char *path, struct record **record)
{
    struct stat st;

    if (path == NULL)
        path = RECORD_DEFAULT;
    else if (is_stream(path))
        return open_record_stream(command, STDIN_FILENO, RECORD_STREAM, NULL, 0,
                                  record);
    if (stat(path, &st) != 0 && errno == ENOENT) {
        escape_printf(stderr,
                      "tally %s: %s: no such file; tally record writes one\n",
                      command, path);
        return EXIT_OURS;
    }
    if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode))
        return open_pipe(command, path, record);
    return record_open(path, &command_log, record) == 0 ? 0 : EXIT_OURS;
}
