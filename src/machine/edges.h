/* SPDX-License-Identifier: MIT */
/*
 * Where control went from each block of a thread, for `tally record
 * --branches`: how often one block came behind another, and how often the
 * branch between the two was mispredicted.
 *
 * Each execution of a block is one edge to the block from the one before, or
 * from nowhere where a thread or the span of the recording begins. A block that
 * stands in for the one before (a delay slot or a window instruction by itself)
 * is no end of an edge.
 */
#ifndef TALLY_MACHINE_EDGES_H
#define TALLY_MACHINE_EDGES_H

#include <stdint.h>

struct block;
struct strand;

/* Of one thread. */
struct edges {
    const uint64_t *total; /* where the last block counted, */
    uint64_t wrong;        /* and the mispredictions that it had then */
};

/* Enters a block of a strand that may be recorded, once the model has entered
 * the block. */
void edges_enter(struct strand *s, const struct block *b);

/* The strand's totals are zeroed. */
void edges_restart(struct edges *e);

#endif
