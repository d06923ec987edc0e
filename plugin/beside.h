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

#include "isa/isa.h"
#include "source/process_counts.h"

/* Set by the owner. */
struct beside {
    const struct isa *isa;
    const struct session_request *request;
    const struct process_counts *process;
};

/* Notes that a call of a thread with these arguments returns. `interrupted`:
 * the calls of this thread that a signal has interrupted and whose handlers
 * have not returned yet; begins as 0. */
void beside_return(const struct beside *b, unsigned *interrupted,
                   int64_t number, const uint64_t args[4], int64_t result);

/* Notes that the process has made one more child. */
void beside_forks(const struct beside *b);

/* Notes that the process ends. */
void beside_ends(const struct beside *b);

#endif
