/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual counters of the processes of one session
 * (src/gateway/vcounter_processes.h): what they count is in the session's
 * counts, so a process is read without its doing. What others want of it, a
 * part of its model or a threshold, it finds out in its next system call or at
 * the end of the one that it is in.
 */
#ifndef TALLY_PLUGIN_VCOUNTER_PROCESSES_H
#define TALLY_PLUGIN_VCOUNTER_PROCESSES_H

#include "plugin/gateway.h"

/* In the guest's order of bytes; under the plugin's lock. */
void vcounter_answer(struct gateway_virtual *request);

/* A system call begins, with its arguments, and ends. */
void vcounter_syscall(int64_t number, const uint64_t args[4]);
void vcounter_return(void);

/* This process is a child of fork() with counts of its own, in which
 * nobody finds it yet. */
void vcounter_forked(void);

/* It is about to execute another program; that failed; it is that program. */
void vcounter_executes(void);
void vcounter_stays(void);
void vcounter_executed(void);

/* It ends; before its counts do. */
void vcounter_end(void);

#endif
