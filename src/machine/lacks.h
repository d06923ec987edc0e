/* SPDX-License-Identifier: MIT */
/*
 * What a machine lacks as its parameters have it: the hubs of one and of two
 * nodes, memory banks of nodes that are not there, memory behind no L2, bundles
 * where instructions are put in none, prefetches that are not performed.
 */
#ifndef TALLY_MACHINE_LACKS_H
#define TALLY_MACHINE_LACKS_H

#include "table/table.h"

/* Why none of the event's signals can move, in static memory; NULL: some can,
 * or the event has none. */
const char *
machine_lacks(const struct event_row *event, const uint64_t *params);

#endif
