/* SPDX-License-Identifier: MIT */
/*
 * A fully associative cache of any number of lines, least recently used, for
 * one access at a time: a list in order of use, found by a hash. cache.h has
 * the caches of machines, whose sets are searched way by way.
 */
#ifndef TALLY_MACHINE_RECENCY_H
#define TALLY_MACHINE_RECENCY_H

#include <stdbool.h>
#include <stdint.h>

struct recency_line {
    uint64_t line;
    uint32_t newer, older; /* in order of use; numbers + 1, or 0 */
    uint32_t next;         /* of the same hash; number + 1, or 0 */
};

/* A zeroed one is none. */
struct recency {
    struct recency_line *lines; /* [capacity], owned */
    uint32_t *heads; /* [mask + 1] by hash; numbers + 1, or 0; owned */
    uint32_t capacity, count, mask;
    uint32_t newest, oldest; /* numbers + 1, or 0 */
};

/* Makes an empty cache of `capacity` lines, 1 at least, of a zeroed struct;
 * does nothing where there is one. Returns 0 or TALLY_ENOMEM. */
int recency_init(struct recency *r, uint32_t capacity);
/* Accepts a zeroed struct, as does recency_clear(). */
void recency_finish(struct recency *r);
/* Empties the cache. */
void recency_clear(struct recency *r);

/* Makes `line` the most recent. Returns whether the cache had it. */
bool recency_touch(struct recency *r, uint64_t line);

#endif
