/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"

int
output_open(const char *path, enum output_kind kind, struct output *out)
{
    struct stat st;

    *out = (struct output){.file = stderr};
    if (path == NULL)
        return 0;
    const bool special = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    /* A link keeps pointing where it does: its target is replaced. */
    if (realpath(path, out->target) == NULL)
        snprintf(out->target, sizeof(out->target), "%s", path);
    if (kind == OUTPUT_WHOLE && !special &&
        asprintf(&out->temporary, "%s.%d.new", out->target, (int)getpid()) < 0)
        out->temporary = NULL;
    out->file = fopen(out->temporary ? out->temporary : path,
                      kind == OUTPUT_APPEND ? "ae" : "we");
    if (out->file != NULL)
        return 0;
    free(out->temporary);
    return tally_fail(&command_log, TALLY_EIO, "cannot write %s: %s", path,
                      strerror(errno));
}

int
output_open_descriptor(int descriptor, struct output *out)
{
    const int fd = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    *out = (struct output){.file = fd < 0 ? NULL : fdopen(fd, "w")};
    if (out->file != NULL)
        return 0;
    const int cause = errno;
    if (fd >= 0)
        close(fd);
    return tally_fail(&command_log, TALLY_EIO,
                      "cannot write to descriptor %d: %s", descriptor,
                      strerror(cause));
}

int
output_close(struct output *out, bool keep)
{
    int error = 0;

    if (out->file != NULL && out->file != stderr && fclose(out->file) != 0)
        error = TALLY_EIO;
    if (out->temporary != NULL) {
        if (!keep || error != 0)
            unlink(out->temporary);
        else if (rename(out->temporary, out->target) != 0)
            error = TALLY_EIO;
    }
    free(out->temporary);
    return error;
}
