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
 * first program was started with; and that a process makes a child with which
 * it shares memory that it may write (mmap with MAP_SHARED). Not seen: memory
 * that processes share in another way, and locks of files.
 *
 * A process that has never made a child and whose handler of a signal begins
 * while the process runs was interrupted where a timer or a process outside
 * chose: counts_head.signalled. Signals that its own threads have sent come
 * where the schedule has it. Not seen: handlers that leave by longjmp(); and a
 * signal from outside for each signal of its own that has no handler, or is the
 * same as one which has not been handled yet.
 */
#ifndef TALLY_PLUGIN_BESIDE_H
#define TALLY_PLUGIN_BESIDE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"
#include "source/process_counts.h"

/* Set by the owner. */
struct beside {
    const struct isa *isa;
    const struct session_request *request;
    const struct process_counts *process;
    /* Begin as false: the process handles signals that no instruction raises;
     * and has made a child, whose end sends it some. */
    bool handles, forked;
    bool shares; /* begins as false: it maps memory that a child would share */
    /* Begins as 0: signals that the process has sent itself and whose handlers
     * have not returned yet. */
    atomic_uint raised;
};

/* What is known of a thread's signals; begins as zeros. */
struct beside_signals {
    /* Calls that a signal has interrupted and whose handlers have not returned
     * yet. */
    unsigned interrupted;
};

/* Notes that a thread makes a call with these arguments. */
void beside_syscall(struct beside *b, int64_t number, const uint64_t args[4]);

/* Notes that a call of a thread with these arguments returns. */
void beside_return(struct beside *b, struct beside_signals *signals,
                   int64_t number, const uint64_t args[4], int64_t result);

/* Notes that the process has made one more child; and, in the child, that it is
 * one: signals for the parent do not come to the child. */
void beside_forks(struct beside *b);
void beside_is_child(struct beside *b);

/* Notes that the process ends. */
void beside_ends(const struct beside *b);

#endif
