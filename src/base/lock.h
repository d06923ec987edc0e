/* SPDX-License-Identifier: MIT */
/*
 * A lock for short sections among many threads on few processors: it spins a
 * little and then gives its time slice to the holder, who may be waiting for
 * one. Zeroed memory is an open lock.
 */
#ifndef TALLY_BASE_LOCK_H
#define TALLY_BASE_LOCK_H

#include <sched.h>
#include <stdatomic.h>

#define LOCK_SPINS 64

struct lock {
    atomic_int held;
};

static inline void
lock_take(struct lock *lock)
{
    int spins = 0;

    while (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire)) {
        if (++spins < LOCK_SPINS)
            continue;
        spins = 0;
        sched_yield();
    }
}

static inline void
lock_give(struct lock *lock)
{
    atomic_store_explicit(&lock->held, 0, memory_order_release);
}

#endif
