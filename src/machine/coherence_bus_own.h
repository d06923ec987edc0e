/* SPDX-License-Identifier: MIT */
/* What the files of the bus share. */
#ifndef TALLY_MACHINE_COHERENCE_BUS_OWN_H
#define TALLY_MACHINE_COHERENCE_BUS_OWN_H

#include "machine/ahead.h"
#include "machine/coherence_bus.h"
#include "machine/fills.h"

/* Kinds of requests, a bit each. */
#define BUS_WRITES (1u << REQUEST_THROUGH | 1u << REQUEST_ATOMIC)
#define BUS_CODE (1u << REQUEST_FETCH | 1u << REQUEST_AHEAD)
/* For these the strand does not wait. */
#define BUS_GO_ON (1u << REQUEST_THROUGH | 1u << REQUEST_AHEAD)

/*
 * A request that the L2 did not serve asks the L3, which has its line or not
 * (`hit`); of one that it lacks nothing is read yet. In both files: each is the
 * hot path of its own.
 */
static inline void
bus_ask(struct strand *s, uint64_t addr, unsigned kind, bool hit)
{
    const uint64_t *params = s->chip->params;
    const bool waits = (BUS_GO_ON >> kind & 1) == 0;
    const bool load = kind == REQUEST_LOAD || kind == REQUEST_FLOAT;

    s->total[queue_l2_signal[kind]]++;
    if (s->bus->fills.left != 0)
        fills_refuse(s, addr, kind);
    if (s->chip->ahead != 0 && waits)
        ahead_settle(s, hit ? AHEAD_L3 : AHEAD_MEMORY);
    s->total[SIGNAL_L3_BYPASSES] +=
        hit & load & (s->bus->fills.out == s->bus->fills.out_ahead);
    if (hit && waits)
        fills_wait(s, params[PARAM_TIME_L2] + params[PARAM_TIME_L3]);
}

/* Takes a request that the L3 lacks over the bus. Returns the state in which
 * the core has the line then. */
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
