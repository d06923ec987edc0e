/* SPDX-License-Identifier: MIT */
/*
 * Cores that have each a whole hierarchy of caches, an L2 for data, one for
 * code and an L3, and snoop each other over a bus (l3.shared = core,
 * COMPONENT_BUS).
 *
 * A line of the L2 for data or of the L3 is modified, exclusive or shared; of
 * the L2 for code it is there or not. No level includes another: a dirty line
 * that leaves the L2 makes the L3's dirty, or goes to memory if the L3 lacks
 * it. A miss of the L3 reads the line over the bus; the other cores are asked
 * first. A read leaves their copies shared, and what one had modified is
 * written to memory; a read to own takes them away, out of the L1D too. Any
 * snoop takes the line out of their L2s for code. A store to a shared line
 * takes the copies without a read. The L1I is not searched.
 *
 * The arbiter's queues of a core still have its last two write-backs and four
 * castouts, and the bus's in-order queue the last eight transactions: nothing
 * but the next one moves them on.
 *
 * What leaves an L2 modified is followed with COMPONENT_BUS_BACKS, on which
 * nothing depends but the counts of what is written back and of what the bus
 * carries.
 *
 * Reads for which nothing waits, those of stores, are out in memory together:
 * machine/fills.h says until when. Those that end so are a burst.
 * test/ref/bus_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_COHERENCE_BUS_H
#define TALLY_MACHINE_COHERENCE_BUS_H

#include "machine/queue.h"

/* Asks the L2 for code, for a fetch or ahead of one (REQUEST_AHEAD), and what
 * stands behind it. What serves it; AHEAD_IN: the L2. */
enum ahead_out bus_code(struct strand *s, uint64_t addr, unsigned kind);

#endif
