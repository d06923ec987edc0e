/* SPDX-License-Identifier: MIT */
/*
 * The buffers of an L2 for what it has asked for and the strand does not wait
 * for: misses of stores and prefetches. They are a burst, which is over when
 * the strand waits for any other miss of the L2; all buffers are empty then.
 *
 * A miss that memory serves has an entry of the miss buffer (l2.misses), one
 * that the L3 or another core's L2 serves, whose line is here soon, one of the
 * fill buffer (l2.fills), and the dirty line that had to go for either one of
 * the write-back buffer (l2.writebacks). A buffer is full with its last entry,
 * and is empty then: its entries leave together.
 *
 * Not modelled: time in which the strand runs or waits for hits of the L2, what
 * a full buffer costs, and entries of other strands. Document: SPARC T4
 * Supplement, TABLE 10-2, sl 24. test/ref/buffers_ref.c is the slow, obvious
 * twin.
 */
#ifndef TALLY_MACHINE_BUFFERS_H
#define TALLY_MACHINE_BUFFERS_H

#include "machine/chip.h"

/* A miss of the L2, for which the strand waits, or that some level `behind` the
 * L2 serves, or memory, and that drives a dirty line out, or not. */
void buffers_miss(struct strand *s, bool waits, bool behind, bool dirty);

#endif
