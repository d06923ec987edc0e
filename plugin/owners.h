/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual counters of the processes of one session (src/gateway/owners.h): what
 * they count is in the session's counts, so a process is read without its
 * doing. What others want of it, a part of its model or a threshold, it finds
 * out in its next system call or at the end of the one that it is in.
 */
#ifndef TALLY_PLUGIN_OWNERS_H
#define TALLY_PLUGIN_OWNERS_H

#include "plugin/gateway.h"

/* In the guest's order of bytes; under the plugin's lock. */
void owners_answer(struct gateway_virtual *request);

/* A system call begins, with its arguments, and ends. */
void owners_syscall(int64_t number, const uint64_t args[4]);
void owners_return(void);

/* This process is a child of fork() with counts of its own, in which
 * nobody finds it yet. */
void owners_forked(void);

/* It is about to execute another program; that failed; it is that program. */
void owners_executes(void);
void owners_stays(void);
void owners_executed(void);

/* It ends; before its counts do. */
void owners_end(void);

#endif
