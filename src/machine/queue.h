/* SPDX-License-Identifier: MIT */
/* A strand's queue, as those see it who fill and drain it. */
#ifndef TALLY_MACHINE_QUEUE_H
#define TALLY_MACHINE_QUEUE_H

#include "machine/chip.h"

/* Kinds with those that only some machines have: REQUEST_FLOAT, _AHEAD. */
#define REQUEST_KINDS (REQUEST_COUNT + 2)

/* What a miss of the L2, of the L3 counts as, by the request's kind. */
extern const uint16_t queue_l2_signal[REQUEST_KINDS];
extern const uint16_t queue_l3_signal[REQUEST_KINDS];

/* Where strands of several nodes or cores meet, a queue is full with as many,
 * so that what one does reaches the others soon. */
#define SHORT_QUEUE 32u

#define REQUEST_BIT(request) (1u << (request))
#define DATA_KINDS (REQUEST_BIT(REQUEST_LOAD) | REQUEST_BIT(REQUEST_STORE))
#define ALL_KINDS (REQUEST_BIT(REQUEST_MASK + 1) - 1)

/*
 * The cache goes over to list form before it sees a line whose tag has more
 * than 32 bits: the walks of page tables, which pass the L1s by, are too far up
 * for some. `wanted`: a bit for each kind of request that it will see;
 * `beside`: bits of an entry that are no address's.
 */
void queue_widen(struct cache *c, const uint64_t *queue, size_t count,
                 unsigned wanted, uint64_t beside);

static inline uint64_t
request_addr(uint64_t entry)
{
    return entry & ~(REQUEST_MASK | REQUEST_TURN | REQUEST_LOOKUP);
}

/*
 * Whether no other strand runs: then nothing is locked. A lone strand can only
 * be joined from its own thread, see strand_start(), so the answer holds until
 * we leave the model. Acquire: what a strand that has left wrote is seen.
 */
static inline bool
runs_alone(const struct strand *s)
{
    return atomic_load_explicit(&s->chip->live, memory_order_acquire) <= 1;
}

/* Whether what other cores or nodes do reaches the strand's caches. */
static inline bool
meets_others(const struct strand *s)
{
    return atomic_load_explicit(&s->chip->meets, memory_order_relaxed);
}

static inline void
queue_push(struct strand *s, uint64_t addr, enum request kind)
{
    *s->queue.next++ = addr | kind;
}

#endif
