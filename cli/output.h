/* SPDX-License-Identifier: MIT */
/* Where a report goes: stderr, a descriptor, or a file (base/replace.h). */
#ifndef TALLY_CLI_OUTPUT_H
#define TALLY_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/replace.h"

struct output {
    FILE *file;
    bool replaces;          /* whether `file` writes to `replace` */
    struct replace replace; /* the file that the report goes to */
};

/* Returns the status for a file that cannot be opened, by its errno: 2 where
 * the path is at fault, 125 where the system is. */
int output_status(int cause);

/* Says that `path` cannot be opened, by errno, and returns the status: 2 where
 * the path is at fault, 125 where the system is. */
int output_refused(const char *path);

/* Says that what output_open() opened could not be written, by errno, and
 * returns 125; where the reader of a pipe is gone, the process dies silently,
 * as command_unwritten() has it. `path` NULL: stdout. */
int output_unwritten(const char *path);

/* `path` NULL: stderr; "-": stdout. 0 or a status, as output_refused(). */
int output_open(const char *path, enum replace_way way, struct output *out);

/* Writes to a copy of an open descriptor. 0 or a status: 2 where it is not
 * open. */
int output_open_descriptor(int descriptor, struct output *out);

/* Closes and, if `keep`, puts the file in its place; 0 or TALLY_EIO. */
int output_close(struct output *out, bool keep);

/* Ends a report that was written, or where `error` is not 0, was not: closes
 * the file and puts it in its place if all went well. `out` has no file then.
 * Returns `error` or, where what was written has not come to the file,
 * TALLY_EIO with errno. */
int output_end(struct output *out, int error);

/* Ends a report to `path` as output_end(), and says what went wrong. Returns 0,
 * or the exit status after telling why. `error`: 0, TALLY_ENOMEM or TALLY_EIO.
 */
int output_finish(struct output *out, const char *path, int error);

/* Refuses to write to the program that is to run, as it is typed or as it is
 * found in $PATH. `option` is the one of the command that names the file
 * `path`; either path may be NULL. Returns 0, or EXIT_USAGE after saying so. */
int output_spares_program(const char *command, const char *option,
                          const char *path, const char *program);

/* Returns whether both paths are of the same file, or will be once it is there.
 */
bool same_file(const char *a, const char *b);

#endif
