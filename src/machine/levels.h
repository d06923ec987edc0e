/* SPDX-License-Identifier: MIT */
/*
 * The levels behind the L2 that all cores of a chip share: the L3, the L4 and
 * so on. A machine has those whose size its file gives. A request that one
 * level lacks goes to the next, and in the end to memory.
 */
#ifndef TALLY_MACHINE_LEVELS_H
#define TALLY_MACHINE_LEVELS_H

#include "machine/queue.h"

/* A level of any machine: its parameters, and the signals that it raises. */
struct level_row {
    enum component_id component;
    enum param_id size; /* ways and line stand behind it, in this order */
    uint16_t misses[REQUEST_KINDS]; /* signals */
    uint16_t writebacks;
};

/* All levels, the nearest first. */
extern const struct level_row level_rows[LEVELS_MOST];

#endif
