/* SPDX-License-Identifier: MIT */
/* What the commands that read a record share. */
#ifndef TALLY_CLI_OPEN_RECORD_H
#define TALLY_CLI_OPEN_RECORD_H

#include "record/record.h"

#define RECORD_DEFAULT "tally.data"    /* that tally record writes */
#define RECORD_STREAM "standard input" /* what messages call the file "-" */

/* Takes the file of -i, or of an operand, as the record to read; NULL in
 * *input: none was given yet. 0, or EXIT_USAGE after saying that one record is
 * read. */
int open_record_take(const char *command, const char **input, const char *file);

/* Returns whether the path of an input means standard input. */
bool is_stream(const char *path);

/* Returns whether `output` is the file that is read for `input`, which may be
 * "-", or NULL for RECORD_DEFAULT. */
bool open_record_is(const char *input, const char *output);

/* Refuses to write to the record that is read. `option` is the one of the
 * command that names `output`, which may be NULL. Returns 0, or EXIT_USAGE
 * after saying so. */
int open_record_spares(const char *command, const char *option,
                       const char *input, const char *output);

/* Opens a record; `path` NULL: RECORD_DEFAULT. Of "-", or where the path is a
 * pipe, all of the stream is read first, as open_record_stream() does. Returns
 * 0, or EXIT_OURS after saying why, for the command of this name. The caller
 * closes the record. */
int open_record(const char *command, const char *path, struct record **record);

/* Opens the record that comes from `fd`, which stays the caller's; its first
 * `size` bytes are read already, and are in `begun`. The stream is kept in
 * memory, at most 4 GiB, and read no further where it begins as no record does.
 * Returns as open_record(). */
int open_record_stream(const char *command, int fd, const char *name,
                       const void *begun, size_t size, struct record **record);

#endif
