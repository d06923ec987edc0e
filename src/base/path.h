/* SPDX-License-Identifier: MIT */
/* Finds programs by name, as execvp(3) does. */
#ifndef TALLY_BASE_PATH_H
#define TALLY_BASE_PATH_H

#include <stdbool.h>

/* Returns whether the path is a file that may be executed. */
bool path_executable(const char *path);

/* Fills in `path` (PATH_MAX bytes) with the program's path in $PATH; false: not
 * found. */
bool path_search(const char *name, char *path);

#endif
