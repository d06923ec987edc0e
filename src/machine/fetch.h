/* SPDX-License-Identifier: MIT */
/*
 * Fetches of lines that the filters do not know: the L1I, whose misses go into
 * the queue. Where a lone strand's filters hold two lines of each set, the
 * lookup itself waits there.
 */
#ifndef TALLY_MACHINE_FETCH_H
#define TALLY_MACHINE_FETCH_H

#include "machine/chip.h"
#include "source/record_counts.h"

/* Drains the queue, and puts the order of the L1I's sets right: the filters
 * hold one line of each from now on. */
void fetch_settle(struct strand *s);

/* Returns what a record calls the line of a fetch, which is at `addr` where the
 * caches see it: see record_counts.h. */
static inline unsigned
fetch_number(const struct strand *s, uint64_t addr)
{
    return RECORD_LINE |
           (unsigned)(layout_address(s->chip->layout, addr) >> s->fetch.shift &
                      (RECORD_LINE - 1));
}

#endif
