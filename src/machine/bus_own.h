/* SPDX-License-Identifier: MIT */
/* What the files of the bus share. */
#ifndef TALLY_MACHINE_BUS_OWN_H
#define TALLY_MACHINE_BUS_OWN_H

#include "machine/bus.h"

/* Kinds of requests, a bit each. */
#define BUS_WRITES (1u << REQUEST_THROUGH | 1u << REQUEST_ATOMIC)
#define BUS_CODE (1u << REQUEST_FETCH | 1u << REQUEST_AHEAD)
/* For these the strand does not wait. */
#define BUS_GO_ON (1u << REQUEST_THROUGH | 1u << REQUEST_AHEAD)

/* A request of the L3 that it lacks goes over the bus. The state in which the
 * core has the line then. */
enum mesi_state bus_read(struct strand *s, uint64_t addr, unsigned kind);

/* A line has to leave the L3, or 0. */
void bus_drive_out(struct strand *s, uint64_t gone);

/* The strands of the core, but for this, no longer know a line of the L2. */
void bus_void_line(struct strand *s, uint64_t addr);

/* A modified line that leaves the L2 goes past the L3, which lacks it. */
void bus_write_past(struct strand *s, uint64_t line);

/* A read finds its line in the L2 for data. */
void bus_read_hit(struct strand *s, uint64_t addr, unsigned kind);

#endif
