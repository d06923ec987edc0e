/* SPDX-License-Identifier: MIT */
/* Returns whether processes of a session are still there at its end. */
#ifndef TALLY_PROFILE_RUNNING_H
#define TALLY_PROFILE_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns whether a process runs. `pid` is its number in its own PID namespace,
 * `space` the namespace's inode, 0: unknown, then it is taken for ours. One
 * that has ended and was not waited for does not run.
 */
bool process_runs(int pid, uint64_t space);

#endif
