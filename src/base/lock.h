/* SPDX-License-Identifier: MIT */
/*
 * A lock for short sections among many threads on few processors. A waiter
 * spins a little and then sleeps, since the holder may wait for a processor
 * itself. Zeroed memory is an open lock. A lock serves one process; a forked
 * child must give the locks that other threads held.
 *
 * Measured with eight guest threads on two cores of a busy host: 2000 to 10000
 * context switches in most runs of a second; 55000 to 120000 when waiters yield
 * in place of sleeping.
 */
#ifndef TALLY_BASE_LOCK_H
#define TALLY_BASE_LOCK_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* How often a waiter looks at the lock before it sleeps, 20 to 40 ns each time:
 * together less than sleeping costs the waiter and the holder. */
#define LOCK_SPINS 1000

enum lock_state { LOCK_OPEN, LOCK_HELD, LOCK_AWAITED };

struct lock {
    atomic_int state; /* enum lock_state */
};

static inline void
lock_wait(struct lock *lock)
{
    while (atomic_exchange_explicit(&lock->state, LOCK_AWAITED,
                                    memory_order_acquire) != LOCK_OPEN)
        syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, LOCK_AWAITED, NULL,
                NULL, 0);
}

static inline bool
lock_try(struct lock *lock)
{
    int open = LOCK_OPEN;

    return atomic_compare_exchange_strong_explicit(
        &lock->state, &open, LOCK_HELD, memory_order_acquire,
        memory_order_relaxed);
}

static inline void
lock_pause(void)
{
#ifdef __SSE2__
    _mm_pause();
#endif
}

static inline void
lock_take(struct lock *lock)
{
    if (lock_try(lock))
        return;
    /* Only reads while the lock is held: a write would take the cache line from
     * the holder, who must write to give the lock. */
    for (int spins = 0; spins < LOCK_SPINS; spins++) {
        lock_pause();
        if (atomic_load_explicit(&lock->state, memory_order_relaxed) ==
                LOCK_OPEN &&
            lock_try(lock))
            return;
    }
    lock_wait(lock);
}

static inline void
lock_give(struct lock *lock)
{
    if (atomic_exchange_explicit(&lock->state, LOCK_OPEN,
                                 memory_order_release) == LOCK_AWAITED)
        syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
