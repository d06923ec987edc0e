/* SPDX-License-Identifier: MIT */
/*
 * Fetches of lines that the filters do not know: the L1I, whose misses go into
 * the queue. Where a lone strand's filters hold two lines of each set, the
 * lookup itself waits there.
 */
#ifndef TALLY_MACHINE_FETCH_H
#define TALLY_MACHINE_FETCH_H

#include "machine/chip.h"

/* Drains the queue, and puts the order of the L1I's sets right: the filters
 * hold one line of each from now on. */
void fetch_settle(struct strand *s);

#endif
