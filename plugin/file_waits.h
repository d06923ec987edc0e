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

#define FILES_MOST 1024u

/* The sets of files that a guest's select() waits for; the call empties them
 * where no file is ready in time. */
struct file_sets {
    uint64_t words[3][FILES_MOST / 64]; /* to read, to write, of exceptions */
};

/* Keeps the sets of a call that has sets (call_has_sets()) and is about to be
 * made. Sets of more than FILES_MOST files, or that cannot be read, are empty.
 */
void file_sets_keep(struct file_sets *sets, const struct isa *isa,
                    const uint64_t args[6]);

/* Returns whether a call that waits for several files (call_waits_for_files())
 * would find one ready. `sets`: of the call, if it has sets. False where its
 * lists cannot be read or have more than FILES_MOST files. */
bool files_are_ready(const struct isa *isa, int64_t number,
                     const uint64_t args[6], const struct file_sets *sets);

/* Asks again for a call that waits for several files and that the host's clock
 * has ended: writes to the guest's memory which are ready now, as the call
 * would. Returns the call's result: how many are ready. */
int64_t files_ask(const struct isa *isa, int64_t number, const uint64_t args[6],
                  const struct file_sets *sets);

#endif
