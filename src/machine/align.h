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

/* 1 or 0. */
static inline uint64_t
align_missed(uint64_t addr, uint64_t last, uint64_t unit)
{
    return ((addr & (last - addr)) != 0) & ((addr ^ last) < unit);
}

static inline void
align_load(uint64_t *total, uint64_t addr, uint64_t last)
{
    total[SIGNAL_MISALIGNED_LOADS] += align_missed(addr, last, ALIGN_LOAD_UNIT);
}

static inline void
align_store(uint64_t *total, uint64_t addr, uint64_t last)
{
    total[SIGNAL_MISALIGNED_STORES] +=
        align_missed(addr, last, ALIGN_STORE_UNIT);
}

#endif
