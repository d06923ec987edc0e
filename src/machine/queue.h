/* SPDX-License-Identifier: MIT */
/* A strand's queue, as those see it who fill and drain it. */
#ifndef TALLY_MACHINE_QUEUE_H
#define TALLY_MACHINE_QUEUE_H

#include "machine/callers.h"
#include "machine/chip.h"
#include "machine/recorder.h"

/* What a miss of the L2 counts as, by the request's kind. Those of the levels
 * behind the L2 are in level_rows. */
/* Puts all that waits in the queue through the caches, whatever else
 * strand_drain() looks at. */
void strand_drain_queue(struct strand *s);

extern const uint16_t queue_l2_signal[REQUEST_KINDS];

/* Where strands of several nodes or cores meet, a queue is full with as many,
 * so that what one does reaches the others soon. */
#define SHORT_QUEUE 32u

/* The kinds that are looked up in the L1D, and those in caches behind it. */
#define DATA_KINDS                                            \
    (REQUEST_BIT(REQUEST_LOAD) | REQUEST_BIT(REQUEST_STORE) | \
     REQUEST_BIT(REQUEST_NEAR) | REQUEST_BIT(REQUEST_NEAR_AHEAD))
#define ALL_KINDS (REQUEST_BIT(REQUEST_KINDS) - 1)

/*
 * The cache goes over to list form before it sees a line whose tag has more
 * than 32 bits: the walks of page tables, which pass the L1s by, are too far up
 * for some. `wanted`: the kinds of requests that the cache will see.
 */
void queue_widen(struct cache *c, const struct request *queue, size_t count,
                 unsigned wanted);

/* Returns the first of the core's strands whose filters forget what another
 * changes in the L1s; NULL: they forget it before they run (strand_goes_on()).
 */
static inline struct strand *
strands_to_void(const struct strand *s)
{
    return s->chip->one_at_a_time ? NULL : s->core->strands;
}

/* Makes the lines of these requests unknown to the other strands of the core,
 * for which they may no longer be most recent. Lines that the strand's own
 * filter holds are first of their set, and stay known. */
void queue_void_siblings(const struct strand *s, const struct request *queue,
                         size_t count);

/* Looks up the fetches that wait for their lookup, and takes those that hit out
 * of the queue. Returns how many requests are left. */
size_t queue_fetches(struct strand *s, struct request *queue, size_t count);

/*
 * Returns whether no other strand runs, so that nothing is locked. A lone
 * strand can only be joined from its own thread, see strand_start(), so the
 * answer holds until the strand leaves the model. Acquire: what a strand that
 * has left wrote is seen.
 */
static inline bool
runs_alone(const struct strand *s)
{
    return atomic_load_explicit(&s->chip->live, memory_order_acquire) <= 1;
}

/* Returns whether the accesses of other cores or nodes reach the strand's
 * caches. */
static inline bool
meets_others(const struct strand *s)
{
    return atomic_load_explicit(&s->chip->meets, memory_order_relaxed);
}

/* Returns whether an atomic is to be taken through the caches at once. Where
 * misses are told apart, each access is as soon as its size is known. */
static inline bool
drains_atomics(const struct strand *s)
{
    return meets_others(s) && s->chip->classes == NULL;
}

/* Returns the cell of an access to data: where that is to the thread's stack,
 * the cell on the frame, as the frame may be gone when the request is served.
 */
static inline uint32_t
cell_of_access(const struct strand *s, uint64_t addr)
{
    if (__builtin_expect(s->callers == NULL, 1) ||
        addr - s->callers->stack_first >= s->callers->stack_size)
        return s->cell;
    return recorder_stack_cell(s, addr);
}

/* `turned`: SECOND_TURNED of the set, or 0. `instruction`: of the block that
 * runs; of a fetch 0. */
static inline void
queue_turned(struct strand *s, uint64_t addr, enum request_kind kind,
             unsigned instruction, uint64_t turned)
{
    request_put(s->queue.next++, addr,
                request_rest(cell_of_access(s, addr), instruction, kind,
                             turned != 0 ? REQUEST_TURN : 0));
}

static inline void
queue_push(struct strand *s, uint64_t addr, enum request_kind kind,
           unsigned instruction)
{
    queue_turned(s, addr, kind, instruction, 0);
}

#endif
