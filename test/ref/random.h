/* SPDX-License-Identifier: MIT */
/*
 * Seeded random numbers for tests. The seed is printed as a TAP comment;
 * TALLY_SEED repeats a run with another.
 */
#ifndef TALLY_TEST_RANDOM_H
#define TALLY_TEST_RANDOM_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* splitmix64 */
static inline uint64_t
random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint64_t
random_below(uint64_t *state, uint64_t limit)
{
    return random_next(state) % limit;
}

static inline uint64_t
random_seed(void)
{
    const char *text = getenv("TALLY_SEED");
    const uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 1;

    printf("# TALLY_SEED=%" PRIu64 "\n", seed);
    return seed;
}

#endif
