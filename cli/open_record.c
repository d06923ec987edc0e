/* SPDX-License-Identifier: MIT */
#include "cli/open_record.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/command.h"
#include "table/text.h"

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
