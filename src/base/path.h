/* SPDX-License-Identifier: MIT */
/* Where a name without a folder is found: as execvp(3) looks. */
#ifndef TALLY_BASE_PATH_H
#define TALLY_BASE_PATH_H

#include <stdbool.h>

/* Whether it is a file that may be executed. */
bool path_executable(const char *path);

/* Fills in `path` (PATH_MAX bytes) from $PATH; false if it is nowhere. */
bool path_search(const char *name, char *path);

#endif
