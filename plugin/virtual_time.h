/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of a program whose threads take turns: a nanosecond passes with
 * each instruction of the process, whichever thread runs it, so that the time
 * a program reads repeats. While all threads sleep the clock does not run; it
 * is set forward when the first of them goes on, to the time that this thread
 * waited for, or by what the host's clock says.
 *
 * Not thread-safe: the thread that has the turn uses it.
 */
#ifndef TALLY_PLUGIN_VIRTUAL_TIME_H
#define TALLY_PLUGIN_VIRTUAL_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "isa/isa.h"

#define NO_DEADLINE UINT64_MAX

/* In ns. */
#define SECOND UINT64_C(1000000000)
#define MILLISECOND UINT64_C(1000000)

struct virtual_time {
    const struct isa *isa; /* set by the owner */
    uint64_t epoch;        /* what CLOCK_REALTIME says at 0, in ns; by the
                              owner */
    uint64_t now;          /* ns since the first program of the run began */
    uint64_t ran;          /* of these, while the process ran */
};

/* What a thread is found to wait for in a system call. */
struct timed_wait {
    uint64_t deadline; /* when time ends the call; NO_DEADLINE: never */
    uint64_t set_at;   /* where the guest's timespec was changed; 0: none was */
    uint64_t remains;  /* where the call writes what is left; 0: nowhere */
    uint8_t before[16]; /* that timespec */
    bool seconds_only;  /* `remains` is a struct timeval */
    bool alone;         /* nothing but time and signals ends the call */
};

/* How far a call's time-out in the guest's memory is moved for the host. */
enum host_wait {
    HOST_WAIT_SAME, /* as long as the guest asks */
    HOST_WAIT_LONG, /* for ever: somebody else ends the call in time */
};

/* Returns the time of a clock of the host's in ns; 0: there is no such clock.
 */
uint64_t host_time(clockid_t clock);

/* Returns whether the call, which waits, is one that a signal without a meaning
 * for the guest may end when its time has come: it gives -EINTR then. */
bool virtual_time_signal_ends(const struct isa *isa, int64_t number);

/* Returns what such a call, or futex(), gives when time has ended it. */
int64_t virtual_time_result(const struct isa *isa, int64_t number);

/* Returns whether the call tells the guest the time. */
bool virtual_time_is_read(const struct isa *isa, int64_t number);

/* Looks at a call that begins. Where the call names a time of the program's
 * clock, that time is changed to the host's; `how` is for waits in futex(), and
 * for those that a signal may end. */
struct timed_wait
virtual_time_wait(const struct virtual_time *v, int64_t number,
                  const uint64_t args[6], enum host_wait how);

/* Returns whether a clock is that of the processor time of a thread that it
 * names by the thread's number. */
bool virtual_time_is_threads(int32_t clock);

/* Writes the guest's timespec again, once the host has read it. */
void virtual_time_restore(struct timed_wait *wait);

/* Returns whether time ended the call, which has returned `result`. */
bool virtual_time_ended(const struct isa *isa, int64_t number,
                        const struct timed_wait *wait, int64_t result);

/* Writes what is left of the time-out where the call, which has returned, wrote
 * the host's. */
void virtual_time_write_left(const struct virtual_time *v,
                             const struct timed_wait *wait);

/* Replaces the time that a call, which has returned, told by the program's.
 * `thread_ran`: instructions of the calling thread. Returns whether the result
 * itself is a time, and sets *result. */
bool
virtual_time_tell(const struct virtual_time *v, int64_t number,
                  const uint64_t args[6], uint64_t thread_ran, int64_t *result);

#endif
