/* SPDX-License-Identifier: MIT */
#include "cli/open_record.h"

#include <errno.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/command.h"

int
open_record(const char *command, const char *path, struct record **record)
{
    if (path == NULL)
        path = RECORD_DEFAULT;
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        escape_printf(stderr,
                      "tally %s: %s: no such file; tally record writes one\n",
                      command, path);
        return EXIT_OURS;
    }
    return record_open(path, &command_log, record) == 0 ? 0 : EXIT_OURS;
}
