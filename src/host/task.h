/* SPDX-License-Identifier: MIT */
/* Lists the threads of a process, from /proc. */
#ifndef TALLY_HOST_TASK_H
#define TALLY_HOST_TASK_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Lists the threads that `pid` has now; the caller frees *tasks. 0, or a
 * negative errno: -ESRCH if there is no such process.
 */
int host_task_list(pid_t pid, pid_t **tasks, size_t *count);

#endif
