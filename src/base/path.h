/* SPDX-License-Identifier: MIT */
/* Finds programs by name, as execvp(3) does, and a folder for files that are
 * not kept; tells files by their names. */
#ifndef TALLY_BASE_PATH_H
#define TALLY_BASE_PATH_H

#include <stdbool.h>

/* Returns whether the path is a file that may be executed. */
bool path_executable(const char *path);

/* Fills in `path` (PATH_MAX bytes) with the program's path in $PATH; false: not
 * found. */
bool path_search(const char *name, char *path);

/* Returns the folder for files that are not kept: $TMPDIR or, where that is not
 * set or empty, /tmp. */
const char *path_scratch(void);

/* Returns whether the file is a jitdump, by its path: jit-PID.dump. A program
 * that makes code maps such a file, so that profilers find its names. */
bool path_is_jitdump(const char *path);

/* Returns the path's file name, the whole path if the path ends in a slash. */
const char *path_base(const char *path);

#endif
