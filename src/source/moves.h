/* SPDX-License-Identifier: MIT */
/*
 * Shows the caches some of a program's data at other addresses than the program
 * has them: with a gap after each so many bytes, as a padded array would have,
 * or a gap once before all. So a run tells what such a change of the program
 * would save, while the program stays as it is.
 *
 * The new addresses are 2^47 and up, where no program of a 47-bit address space
 * has any: an address modulo 2^41 keeps its place, and its sets where there is
 * no gap before it. Data of one object that stand 2 TiB apart come together.
 */
#ifndef TALLY_SOURCE_MOVES_H
#define TALLY_SOURCE_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest part of memory that may be gaps: `every` and `gap` together are
 * at most so many times `every`. */
#define MOVES_GROWTH 64u
#define MOVES_GAP (UINT64_C(1) << 40) /* at most, bytes */
#define MOVES_OBJECTS 64u

/* What is moved, and how; the same from the first access to the last. */
struct moves {
    uint64_t every; /* bytes; 0: the gap is before all data */
    uint64_t gap;   /* bytes */
    uint32_t count;
    uint32_t
        objects[MOVES_OBJECTS]; /* numbers, as recorder_object() has them */
};

/* Returns whether the gaps are such that moves_address() can put them. */
bool moves_fit(uint64_t every, uint64_t gap);

/* Returns whether the data of an object are moved. With `m` NULL none are. */
static inline bool
moves_object(const struct moves *m, uint32_t object)
{
    for (uint32_t i = 0; m != NULL && i < m->count; i++) {
        if (m->objects[i] == object)
            return true;
    }
    return false;
}

/* Returns where the caches see the data of an address of such an object. */
static inline uint64_t
moves_address(const struct moves *m, uint64_t addr)
{
    const uint64_t place = addr & ((UINT64_C(1) << 41) - 1);
    const uint64_t gaps = m->every != 0 ? place / m->every : 1;

    return (UINT64_C(1) << 47) + place + gaps * m->gap;
}

#endif
