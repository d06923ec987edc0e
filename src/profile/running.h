/* SPDX-License-Identifier: MIT */
/* Tells whether a process of a session still runs at the session's end. */
#ifndef TALLY_PROFILE_RUNNING_H
#define TALLY_PROFILE_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns whether a process runs. `pid` is the process's number in its own PID
 * namespace, `space` the namespace's inode; 0: unknown, taken for tally's own.
 * A process that has ended and was not waited for does not run.
 */
bool process_runs(int pid, uint64_t space);

#endif
