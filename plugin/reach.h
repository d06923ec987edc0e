/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way to the session's file. Its place is a path in /proc, which leads
 * nowhere once the process has another user, root, /proc or fewer capabilities.
 * So a process that may lose the way keeps the file open from then on, at a
 * high number; and a program that it executes inherits the file.
 */
#ifndef TALLY_PLUGIN_REACH_H
#define TALLY_PLUGIN_REACH_H

#include "plugin/plugin.h"

/* Opens the session's file, or copies the descriptor that the process before
 * handed on: `inherited`, as a number or NULL. A descriptor that is not needed
 * is closed. Returns a descriptor, or -1 with errno. */
int reach_begin(struct plugin *p, const char *inherited);

/* Opens the file; -1 with errno. */
int reach_open(struct plugin *p);

/* What a program that is executed now inherits: the file; or -1, and errno says
 * why it cannot be had. reach_take_back() is for an execve that failed. */
int reach_hand_on(struct plugin *p);
void reach_take_back(struct plugin *p, int fd);

/* A call of the guest, and its return. */
void reach_syscall(struct plugin *p, int64_t number);
void reach_return(struct plugin *p, int64_t number);

#endif
