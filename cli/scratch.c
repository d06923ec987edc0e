/* SPDX-License-Identifier: MIT */
#include "cli/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/path.h"

/* Opens a file, and takes its name away: for file systems where no file is
 * opened without a name. Returns its descriptor, or -1 with errno. */
static int
open_unlinked(const char *folder)
{
    char *path = NULL;

    if (asprintf(&path, "%s/tally-XXXXXX", folder) < 0)
        return -1;
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    const int reason = errno;
    free(path);
    errno = reason;
    return fd;
}

int
scratch_open(void)
{
    const char *const folder = path_scratch();
    const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
        return open_unlinked(folder);
    return fd;
}

int
scratch_record(const char *command)
{
    const int fd = scratch_open();

    if (fd < 0)
        escape_printf(stderr,
                      "tally %s: cannot write the record of the program to "
                      "the folder %s: %s; TMPDIR names another\n",
                      command, path_scratch(), strerror(errno));
    return fd;
}
