/* SPDX-License-Identifier: MIT */
/* What the commands that read a record share. */
#ifndef TALLY_CLI_OPEN_RECORD_H
#define TALLY_CLI_OPEN_RECORD_H

#include "record/record.h"

#define RECORD_DEFAULT "tally.data" /* that tally record writes */

/* Takes the file of -i, or of an operand, as the record to read; NULL in
 * *input: none was given yet. 0, or EXIT_USAGE after saying that one record is
 * read. */
int open_record_take(const char *command, const char **input, const char *file);

/* Opens a record; `path` NULL: RECORD_DEFAULT. Returns 0, or EXIT_OURS after
 * saying why, for the command of this name. The caller closes the record. */
int open_record(const char *command, const char *path, struct record **record);

#endif
