/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the files that a guest's system call waits for are ready now. */
#ifndef TALLY_PLUGIN_FILE_WAITS_H
#define TALLY_PLUGIN_FILE_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"

/* Returns whether the file is ready for these events (POLLIN, POLLOUT). A
 * descriptor that is not open is ready: a call on it returns at once. */
bool file_is_ready(uint64_t fd, short events);

/* Returns whether a call that waits for several files (call_waits_for_files())
 * would find one ready. False where its lists cannot be read or have more than
 * 1,024 files. */
bool
files_are_ready(const struct isa *isa, int64_t number, const uint64_t args[6]);

#endif
