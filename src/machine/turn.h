/* SPDX-License-Identifier: MIT */
/* Two lines of each set in a lone strand's filters. */
#ifndef TALLY_MACHINE_TURN_H
#define TALLY_MACHINE_TURN_H

#include "machine/strand.h"

/*
 * Makes a line the most recent of its set, which it is not yet, where a lone
 * strand's filters hold two lines of each set. Returns 0 if it was the second,
 * else pushes the request, of an address and request_rest(), and returns 1. No
 * branch depends on which, as it cannot be foreseen.
 */
static inline __attribute__((always_inline)) uint64_t
turn_or_push(struct strand *s, uint64_t *first, uint64_t *second, uint64_t line,
             uint64_t addr, uint64_t rest)
{
    const uint64_t turned = *second & SECOND_TURNED; /* 0 or 1 */
    uint64_t pushed = (*second ^ turned) != line;

    __asm__("" : "+r"(pushed)); /* a number, or compilers make a branch of it */
    request_put(
        s->queue.next, addr,
        rest | request_rest(0, 0, (enum request_kind)0, turned * REQUEST_TURN));
    *second = *first | ((pushed ^ 1) & (turned ^ 1));
    *first = line;
    s->queue.next += pushed;
    return pushed;
}

#endif
