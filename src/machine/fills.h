/* SPDX-License-Identifier: MIT */
/*
 * The fill buffers of a strand's L2 for data (machine/coherence_bus.h): a burst
 * of reads of memory for which the strand does not wait, those of stores and of
 * code ahead. It is over when the strand has waited as long as the last of them
 * takes, for anything but fetches that the L2 serves, or must wait for one of
 * them: a load of a line that a store has out, which is a secondary miss, or an
 * atomic, which is cancelled until all are there. It is over, too, when
 * `bus.reads` are out; what next misses the L2 before the strand has waited for
 * them is refused once, and so is a request of the L2 for code whose line a
 * store has out.
 *
 * The dirty lines that stores' reads drive out of the L2 leave with the burst,
 * one after the other; more than VICTIMS of them fill their buffer. That of the
 * read that makes the burst full is not among them.
 *
 * Not modelled: stores and loads that pass the L1D by of a line that is out,
 * which are taken as hits; what a refused request waits.
 */
#ifndef TALLY_MACHINE_FILLS_H
#define TALLY_MACHINE_FILLS_H

#include "machine/chip.h"

/* A store, or code ahead, reads a line (its address) from memory. */
void fills_add(struct strand *s, uint64_t addr, bool store);

/* What is out is there, and counts as a burst. */
void fills_end(struct strand *s);

/* The strand waits for a read of memory of its own, which joins what is out. */
void fills_end_with(struct strand *s);

/* A load finds its line in the L2: whether it is out, and is waited for. */
bool fills_load(struct strand *s, uint64_t addr);

/* An atomic, and whether the L2 has its line. */
void fills_atomic(struct strand *s, uint64_t addr, bool hit);

/* A request that the L2 did not serve, for code or data. */
void fills_refuse(struct strand *s, uint64_t addr, unsigned kind);

void fills_pass(struct strand *s, uint64_t cycles);

/* The strand waits. */
static inline void
fills_wait(struct strand *s, uint64_t cycles)
{
    if (s->bus->fills.left != 0)
        fills_pass(s, cycles);
}

#endif
