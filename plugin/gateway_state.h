/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the gateway share: gateway.c, which translates and learns
 * of events, and gateway_read.c, which reads them.
 */
#ifndef TALLY_PLUGIN_GATEWAY_STATE_H
#define TALLY_PLUGIN_GATEWAY_STATE_H

#include "machine/clock.h"
#include "plugin/gateway.h"
#include "table/signals.h"

struct gateway_memory {
    struct gateway_page page;
    struct gateway_live live[GATEWAY_THREADS];
    struct gateway_ring rings[GATEWAY_THREADS];
};

/* What reading an event takes. */
struct gateway_need {
    bool known;
    bool cycles;  /* the clock tells */
    bool derived; /* some of its signals follow from others */
    uint8_t summands;
    unsigned signal_count;
    const uint16_t *signals; /* of the event */
    uint16_t used; /* signals that it follows from, the fixed ones first */
    uint16_t uses[SIGNAL_COUNT];
};

struct gateway_state {
    struct gateway_memory *memory; /* NULL: nobody has said hello */
    struct gateway_need *needs;    /* by event of the machine, owned */
    uint64_t event_count;
    /* Dynamic signals of threads that have ended, by number; owned. */
    struct totals *ended[GATEWAY_THREADS];
    struct clock clock;  /* of those components */
    uint32_t components; /* of the model that are to run */
    uint64_t epoch;      /* of the last signal or part added */
};

extern struct gateway_state gateway_state;

static inline const struct machine_row *
gateway_machine(void)
{
    return &tally_machines[tally_plugin.session->request.machine];
}

/* Events by number: the machine's, and behind them its narrowed ones. */
static inline uint64_t
gateway_id(const struct event_row *event)
{
    const struct machine_row *m = gateway_machine();
    const size_t count = m->event_count + m->made_count;

    return event >= m->events && event < m->events + count
               ? (uint64_t)(event - m->events)
               : count + (uint64_t)(event - m->narrowed_events);
}

/* Fills in the signals that follow from others. */
static inline void
gateway_derive(struct totals *totals)
{
    signals_derive(tally_plugin.session->request.params,
                   gateway_state.components, totals->signal);
}

/* Returns the count of a dynamic signal in all slices; exec.c folds some. */
static inline uint64_t
gateway_dynamic(const struct counts_strand *counts, unsigned signal)
{
    uint64_t sum = counts->folded.signal[signal];

    for (unsigned t = 0; t < tally_plugin.process.head->own_slices; t++)
        sum += counts->totals[t].signal[signal];
    return sum;
}

/* Answers a GATEWAY_READ at the guest's address; nothing happens where the
 * guest has no memory for the request or the answer. */
void gateway_read(unsigned vcpu, uint64_t request);

/* The guest's memory may have changed: addresses that could be reached before
 * are looked at again. */
void gateway_memory_changed(void);

#endif
