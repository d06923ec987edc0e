/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This process among those of the session that have virtual counters
 * (src/gateway/vcounter_processes.h). Processes count in the session's memory,
 * so another process reads the counts without help. If another process wants
 * this one to count with more of the model, or up to a threshold, this process
 * finds the wish in its next system call, or at the end of the one it is in.
 */
#ifndef TALLY_PLUGIN_VCOUNTER_PROCESSES_H
#define TALLY_PLUGIN_VCOUNTER_PROCESSES_H

#include "gateway/protocol.h"
#include "gateway/vcounter_processes.h"
#include "source/counts_view.h"
#include "table/table.h"

/* An event of this process that has a threshold. */
struct vcounter_threshold {
    const struct event_row *event;
    int64_t left; /* until it is reached */
};

/* What processes have counted, summed once while the lock is held. */
struct vcounter_sums {
    bool known, failed; /* `totals` are of `process`; some memory lacked */
    uint32_t process;
    struct totals totals;
    struct totals *strands; /* of the machine, owned; NULL: not summed yet */
    /* Copies of another process's records, too large for the stack of a guest
     * thread. */
    struct counts_thread thread;
    struct counts_view_strand strand;
};

/* A profile's ranges, and where the guest has the buckets of each. */
struct vcounter_profile {
    struct virtual_range *ranges; /* owned, with their buckets */
    uint64_t *guest;              /* owned; address by range, 0: gone */
    uint32_t count;
};

struct vcounters {
    struct vcounter_source source;
    struct vcounter_client client; /* client.shared NULL: not mapped */
    bool refused;                  /* the memory cannot be mapped or used */
    unsigned seen;                 /* client.shared->changes, when looked at */
    uint32_t learned;              /* events that the model counts, as bits */
    struct vcounter_threshold thresholds[VIRTUAL_EVENTS];
    unsigned threshold_count;
    struct vcounter_sums sums;
    struct vcounter_profile profile;  /* counts */
    struct vcounter_profile proposed; /* checked while a request is answered */
};

/* Answers a request in place. Words are in the guest's byte order; the plugin's
 * lock is held. */
void vcounter_answer(struct gateway_virtual *request);

/* Notes that a system call begins. Sets `waits` if the call waits for a child.
 */
void vcounter_syscall(int64_t number, const uint64_t args[4], bool *waits);

/* Notes that a system call ends; `waits` as vcounter_syscall() set it. */
void vcounter_return(bool waits);

/* Gives a child of fork() its own place, once it has counts of its own. */
void vcounter_forked(void);

/* Stops counting before execve(). */
void vcounter_before_exec(void);

/* Counts on: execve() failed, or this is the program that it executed. */
void vcounter_after_exec(void);

/* Ends the process's virtual counters, before its counts end. */
void vcounter_end(void);

#endif
