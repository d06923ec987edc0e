/* SPDX-License-Identifier: MIT */
/*
 * Misaligned accesses, as the events of Montecito count them: at no multiple of
 * their size (2, 4 or 8 bytes; one byte is always aligned), and within what the
 * processor reads or writes at once, the 8 bytes from a multiple of 8 on for a
 * load, 16 for a store. All others trap there, and do not count.
 */
#ifndef TALLY_MACHINE_ALIGN_H
#define TALLY_MACHINE_ALIGN_H

#include "table/table.h"

#define ALIGN_LOAD_UNIT 8u
#define ALIGN_STORE_UNIT 16u

/* Counts an access of the bytes from `addr` to `last` as `signal`, where it is
 * misaligned within its unit. Misaligned accesses are so few that a branch
 * costs less than an addition of 0: 7 % of all time of bzip2 on Montecito. */
static inline void
align_count(uint64_t *total, enum signal_id signal, uint64_t addr,
            uint64_t last, uint64_t unit)
{
    if (__builtin_expect((addr & (last - addr)) != 0, 0))
        total[signal] += (addr ^ last) < unit;
}

static inline void
align_load(uint64_t *total, uint64_t addr, uint64_t last)
{
    align_count(total, SIGNAL_MISALIGNED_LOADS, addr, last, ALIGN_LOAD_UNIT);
}

static inline void
align_store(uint64_t *total, uint64_t addr, uint64_t last)
{
    align_count(total, SIGNAL_MISALIGNED_STORES, addr, last, ALIGN_STORE_UNIT);
}

#endif
