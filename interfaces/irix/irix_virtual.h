/* SPDX-License-Identifier: MIT */
/*
 * The IRIX calls over virtual counters (counter/virtual.h), for tests: any
 * number of processes that somebody makes up and schedules, on CPUs that
 * somebody lets count.
 */
#ifndef TALLY_IRIX_VIRTUAL_H
#define TALLY_IRIX_VIRTUAL_H

#include "irix.h"

#define IRIX_PROCESSES 64

struct irix_process {
    pid_t pid; /* 0: there is none */
    struct virtual_owner owner;
};

struct irix_virtual {
    struct virtual_system *system; /* initialised by the caller */
    pid_t caller;                  /* who calls ioctl and syssgi */
    struct irix_process processes[IRIX_PROCESSES];
};

/* Adds a process; NULL: there are too many. */
struct virtual_owner *irix_virtual_add(struct irix_virtual *irix, pid_t pid,
                                       uint32_t group, bool root);

/* It ends; its parent, NULL: none, waits or not. */
void irix_virtual_exit(struct irix_virtual *irix, pid_t pid, pid_t parent,
                       bool waiting);

/* By number, or NULL. */
struct virtual_owner *irix_virtual_find(struct irix_virtual *irix, pid_t pid);

extern const struct irix_ops irix_virtual_ops;

#endif
