/* SPDX-License-Identifier: MIT */
/* The blocks of irix_counter.c, and system mode over them, irix_system.c. */
#ifndef TALLY_IRIX_COUNTER_H
#define TALLY_IRIX_COUNTER_H

#include <pthread.h>

#include "irix.h"
#include "tally/counter.h"

#define BLOCKS 64

struct block {
    pid_t pid; /* 0: free */
    bool active, save;
    bool lost; /* `kept` lacks counts that could not be read */
    int generation;
    struct virtual_request request;
    struct tally_counter *counter[VIRTUAL_EVENTS];
    struct counter_reading kept[VIRTUAL_EVENTS]; /* of handles closed since */
};

struct irix_state {
    pthread_mutex_t lock;
    pthread_once_t once, watched;
    pid_t forker; /* who called fork() last */
    int processor;
    bool emulated, chosen;
    struct block blocks[BLOCKS];
    /* System mode: a block a CPU. */
    struct block *cpus;
    unsigned cpu_count;
    bool active;
    int generation;
    struct virtual_request request;
    struct counter_reading global[VIRTUAL_EVENTS];
    bool lost; /* `global` lacks counts that could not be read */
};

/* What this process knows; everything is done under its lock. */
extern struct irix_state irix;

/* Checks a request. Returns 0, -EINVAL or -EPERM; *system: the request asks for
 * kernel mode. */
int irix_check(const struct virtual_request *request, bool *system);

/* Opens and starts the request's events in the block's handles: of a process,
 * or, `pid` 0, of a cpu. 0, or -errno and no handle. */
int irix_open_all(struct block *block, const struct virtual_request *request,
                  pid_t pid, unsigned cpu);
void irix_close_all(struct block *block);

/* Adds what the block has counted. 0, or -EIO where a count cannot be had. */
int irix_add_readings(const struct block *block,
                      struct counter_reading readings[VIRTUAL_EVENTS]);

/* Its handles are closed, their counts kept, or known to be lost; it is active
 * no longer. */
void irix_keep(struct block *block);

/* Takes the lock; returns `result` and gives the lock back. */
void irix_lock(void);
int irix_leave(int result);

/* System mode, from whoever counts; the lock is held. */
int irix_begin_system(const struct virtual_request *request);

int irix_system_start(void *system, const struct virtual_request *request);
int
irix_system_read(void *system, struct counter_reading readings[VIRTUAL_EVENTS]);
int irix_system_read_cpu(void *system, unsigned cpu,
                         struct counter_reading readings[VIRTUAL_EVENTS]);
int irix_system_control(void *system, uint16_t spec[VIRTUAL_EVENTS]);
int irix_system_change(void *system, const struct virtual_request *request);
int irix_system_release(void *system);

#endif
