/* SPDX-License-Identifier: MIT */
/*
 * The file that `tally profile` dumps to. The program writes a new dump into a
 * private folder beside the file; when the program has ended, a dump that has
 * records takes the file's place. So a run without records, or one that fails,
 * leaves the dump of an earlier run as it is.
 *
 * For a device, a pipe or /dev/stdout the folder is that of temporary files,
 * and the dump is copied. A symbolic link to a file, and a name with %p (one
 * file a process), are written by the program itself.
 */
#ifndef TALLY_CLI_PROFILE_DUMP_H
#define TALLY_CLI_PROFILE_DUMP_H

#include "table/table.h"

struct profile_dump {
    const char *path; /* as the user gave it */
    char *written;    /* absolute path that the program writes to, owned */
    char *folder;     /* private folder, owned; NULL: written is path */
    bool copied;      /* path is no file that another can take the place of */
};

/* Makes the private folder, or checks that the file can be written. Returns 0
 * or an exit status, after one line on stderr; *dump is then untouched. */
int profile_dump_open(const char *path, struct profile_dump *dump);

/*
 * Puts a dump with records in the file's place and removes the folder. Says in
 * one line why there is no new dump. `status` is the run's exit status; returns
 * `status`, or EXIT_OURS where the run ended with 0 and has no dump to keep.
 */
int profile_dump_keep(const struct profile_dump *dump,
                      const struct machine_row *machine, int status);

/* Removes the folder with all that is in it and frees the names. Accepts a
 * zeroed struct. */
void profile_dump_finish(struct profile_dump *dump);

/* Returns an absolute path for `path`, which the caller frees; NULL after
 * telling why there is none. */
char *absolute_path(const char *path);

/* Creates the file, if there is none, and checks that it can be written. 0 or
 * an exit status, after one line on stderr. */
int make_file(const char *path);

#endif
