/* SPDX-License-Identifier: MIT */
/* Where tally-plugin.so is. */
#ifndef TALLY_SOURCE_PLUGIN_PATH_H
#define TALLY_SOURCE_PLUGIN_PATH_H

#include <stddef.h>

#include "base/error.h"

/*
 * Beside the running program in its build folder, or where it is installed
 * relative to it (../lib.../tally), or the installed path. TALLY_EQEMU.
 */
int plugin_find(const struct tally_log *log, char *path, size_t size);

#endif
