/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a process ran beside another of its tree in a way that its counts may
 * show. A parent that sleeps in wait(2) until its only child ends runs alone,
 * and so does the child. Counts may show, and counts_head.beside says so, that
 * a process that has not waited for a child yet
 *   - starts another child,
 *   - waits for events (poll, select, epoll) or asks for ends without waiting,
 *   - reads data from a pipe or socket,
 *   - sends a signal to another process,
 *   - ends,
 *   - handles a signal while it runs, not while it sleeps in a call,
 * and that a child reads data from a pipe or socket; but not from one that the
 * first program was started with. Not seen: memory that processes share, locks
 * of files, signals to processes without children.
 */
#ifndef TALLY_PLUGIN_BESIDE_H
#define TALLY_PLUGIN_BESIDE_H

#include <stdint.h>

/* Notes a system call of the calling thread, by its first four arguments and at
 * its return by its number and result: those that wait for another process. */
void beside_syscall(const uint64_t args[4]);
void beside_return(int64_t number, int64_t result);

/* Notes that the process has made one more child. */
void beside_forks(void);

/* Notes that the process ends. */
void beside_ends(void);

#endif
