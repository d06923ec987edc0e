/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way to the session's file. Its place is a path in /proc, which leads
 * nowhere once the process has another user, root, /proc or fewer capabilities.
 * So a process that may lose the way keeps the file open from then on, at a
 * high number; and a program that it executes inherits the file.
 */
#ifndef TALLY_PLUGIN_REACH_H
#define TALLY_PLUGIN_REACH_H

#include "source/process_counts.h"

struct reach {
    const char *place; /* of the file; set by the owner */
    int kept;          /* the file, for want of another way to it; or -1 */
};

/* Opens the session's file, or copies the descriptor that the process before
 * handed on: `inherited`, as a number or NULL. A descriptor that is not needed
 * is closed. Returns a descriptor, or -1 with errno. */
int reach_begin(struct reach *r, const char *inherited);

/* Opens the file; -1 with errno. */
int reach_open(struct reach *r);

/* What a program that is executed now inherits: the file; or -1, and errno says
 * why it cannot be had. reach_take_back() is for an execve that failed. */
int reach_hand_on(struct reach *r);
void reach_take_back(struct reach *r, int fd);

/* Keep the file open before a call that may lose the way to it, and close it
 * after the call if the way is still there. */
void reach_before_loss(struct reach *r);
void reach_after_loss(struct reach *r);

#endif
