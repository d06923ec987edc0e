/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the threads of a process wait for (struct record_wait), in modelled
 * cycles in which each thread has a processor of its own: a thread's clock goes
 * on with its own cycles, and where another thread ends a wait it is set
 * forward to the clock of that thread. Who waits for its turn alone waits for
 * nothing.
 *
 * The schedule calls with its lock held, so that one caller is at work at a
 * time; see doc/locks.md for what the clocks mean.
 */
#ifndef TALLY_PLUGIN_WAITS_H
#define TALLY_PLUGIN_WAITS_H

#include "base/numbering.h"
#include "plugin/schedule.h"
#include "source/record_counts.h"

struct plugin;

/* Where a thread is, and when. */
struct wait_place {
    uint32_t thread; /* number, or NO_THREAD: none */
    uint32_t call;   /* as in struct record_wait, and so is */
    uint64_t place;
    uint64_t clock;
};

/* A part of a wait that has not ended: the cycles until one thread let the lock
 * go, which yet another thread got. */
struct wait_part {
    struct wait_place waker;
    uint64_t time;
};

struct wait_thread {
    uint64_t waited;          /* cycles that the clock is ahead of its own */
    struct wait_place waker;  /* that has ended its sleep */
    struct wait_place ended;  /* where it ended, if it has */
    struct wait_place asleep; /* where it is in a call that may sleep; thread
                                 NO_THREAD: it is not */
    /* A signal has ended its sleep, which took `ns` so far: the wait is counted
     * once the thread goes on. */
    bool interrupted;
    uint64_t ns;
    /* The word that the thread waits at told who held it: a lock. Nobody holds
     * a condition or a semaphore, whose waits have no parts. */
    bool at_lock;
    /* Of the wait that the thread is in: its parts so far, one for each place
     * that let the lock go; owned. */
    struct wait_part *parts;
    size_t part_count, part_room;
    uint64_t parts_end; /* the cycle in which the last of them ended */
};

struct waits {
    struct record_process *process; /* NULL: waits are not recorded */
    struct wait_thread *threads;    /* [COUNTS_STRANDS], by number of QEMU's */
    struct numbering rows;          /* of process->waits, by what they are of */
    /* Of process->stretches, by thread and part of its time, and the cycles of
     * such a part: twice as many each time that there is no room. */
    struct numbering stretches;
    uint64_t part;
    uint64_t forked; /* the clock of the thread that forks */
};

/* Begins to record the waits of a process, and has the schedule tell them. 0 or
 * TALLY_ENOMEM. */
int waits_begin(struct plugin *p, struct record_process *process);

/* A thread ends, the caller; its counts are there for the last time. */
void waits_thread_ends(struct plugin *p, unsigned vcpu);

/* The thread, the caller, is about to fork. */
void waits_before_fork(struct plugin *p, unsigned vcpu);

/* In the child of a fork, whose only thread is `vcpu`: goes on in other memory,
 * at the time of the fork. */
void
waits_forks(struct plugin *p, unsigned vcpu, struct record_process *process);

void waits_end(struct plugin *p);

#endif
