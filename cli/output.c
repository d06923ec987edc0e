/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/path.h"
#include "cli/command.h"

int
output_status(int cause)
{
    switch (cause) {
    case EBADF:
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
    case ENAMETOOLONG:
    case ENXIO:
    case ETXTBSY:
        return EXIT_USAGE;
    default:
        return EXIT_OURS;
    }
}

int
output_refused(const char *path)
{
    const int cause = errno;

    tally_fail(&command_log, TALLY_EIO, "cannot write %s: %s", path,
               strerror(cause));
    return output_status(cause);
}

int
output_unwritten(const char *path)
{
    if (errno == 0)
        errno = EIO;
    if (path == NULL || strcmp(path, "-") == 0 || errno == EPIPE)
        return command_unwritten("output");
    escape_printf(stderr, "tally: cannot write %s: %s\n", path,
                  strerror(errno));
    return EXIT_OURS;
}

/* Opens a stream on a copy of the descriptor; NULL with errno. */
static FILE *
open_copy(int descriptor)
{
    const int fd = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *const file = fd < 0 ? NULL : fdopen(fd, "w");

    if (file == NULL && fd >= 0) {
        const int cause = errno;
        close(fd);
        errno = cause;
    }
    return file;
}

int
output_open(const char *path, enum replace_way way, struct output *out)
{
    *out = (struct output){.file = stderr};
    if (path == NULL)
        return 0;
    if (strcmp(path, "-") == 0) {
        out->file = open_copy(STDOUT_FILENO);
        return out->file != NULL ? 0 : output_refused("standard output");
    }
    if (replace_open(path, way, &command_log, &out->replace) != 0)
        return output_status(errno);
    out->file = open_copy(out->replace.fd);
    out->replaces = out->file != NULL;
    if (out->replaces)
        return 0;
    const int cause = errno;
    replace_discard(&out->replace);
    errno = cause;
    return output_refused(path);
}

int
output_open_descriptor(int descriptor, struct output *out)
{
    *out = (struct output){.file = open_copy(descriptor)};
    if (out->file != NULL)
        return 0;
    const int cause = errno;
    tally_fail(&command_log, TALLY_EIO, "cannot write to descriptor %d: %s",
               descriptor, strerror(cause));
    return output_status(cause);
}

int
output_close(struct output *out, bool keep)
{
    int error = 0;

    if (out->file != NULL && out->file != stderr && fclose(out->file) != 0)
        error = TALLY_EIO;
    if (!out->replaces)
        return error;
    if (keep && error == 0)
        return replace_commit(&out->replace);
    replace_discard(&out->replace);
    return error;
}

int
output_end(struct output *out, int error)
{
    if (error == 0 && fflush(out->file) != 0)
        error = TALLY_EIO;
    const int cause = errno;
    const int unwritten = output_close(out, error == 0);
    *out = (struct output){.file = NULL};
    if (error == 0)
        return unwritten;
    errno = cause;
    return error;
}

int
output_finish(struct output *out, const char *path, int error)
{
    error = output_end(out, error);
    return error == 0              ? 0
           : error == TALLY_ENOMEM ? command_no_memory()
                                   : output_unwritten(path);
}

int
output_spares_program(const char *command, const char *option, const char *path,
                      const char *program)
{
    char found[PATH_MAX];

    if (path == NULL || program == NULL)
        return 0;
    if (strchr(program, '/') == NULL && path_search(program, found))
        program = found;
    if (!same_file(path, program))
        return 0;
    escape_printf(stderr,
                  "tally %s: %s %s would replace the program that is to run\n",
                  command, option, path);
    return EXIT_USAGE;
}

/* Finds the folder of a path. Returns whether there is one. */
static bool
folder_of(const char *path, struct stat *st)
{
    const size_t length = (size_t)(path_base(path) - path);
    char *const folder = length > 0 ? strndup(path, length) : strdup(".");
    const bool found = folder != NULL && stat(folder, st) == 0;

    free(folder);
    return found;
}

bool
same_file(const char *a, const char *b)
{
    struct stat x, y;
    const bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;

    if (has_a != has_b)
        return false;
    /* Of two that are not there yet, the folders. */
    if (!has_a && (!folder_of(a, &x) || !folder_of(b, &y) ||
                   strcmp(path_base(a), path_base(b)) != 0))
        return false;
    return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
