/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's state for guest programs that count themselves. */
#ifndef TALLY_PLUGIN_GATEWAY_STATE_H
#define TALLY_PLUGIN_GATEWAY_STATE_H

#include "gateway/protocol.h"
#include "machine/clock.h"
#include "source/process_counts.h"

/* Memory that the plugin and the guest share. */
struct gateway_memory {
    struct gateway_page page;
    struct gateway_live live[GATEWAY_THREADS];
    struct gateway_ring rings[GATEWAY_THREADS];
};

/* The signals that an event is read from. */
struct gateway_need {
    bool known;
    bool cycles;      /* read from the clock */
    bool derived;     /* some of its signals follow from others by formulas */
    uint8_t summands; /* live values whose sum the event is; 0: no such sum */
    unsigned signal_count;
    const uint16_t *signals; /* of the event */
    uint16_t used; /* signals that the event follows from, fixed ones first */
    uint16_t uses[SIGNAL_COUNT];
};

/* The fixed signals that the guest's events need, which blocks keep current. */
struct gateway_signals {
    unsigned count;
    uint8_t id[SIGNAL_FIXED_COUNT];
};

/* An event of a thread that the thread watches. */
struct watch {
    unsigned summands;
    uint8_t slots[GATEWAY_SUMMANDS];
    int signal;
    uint64_t period, next; /* next: the value at the next overflow */
};

/* The addresses of a vCPU's last request, which were found to be there. A
 * program that repeats a request, as around a loop, has it checked once: only
 * system calls change the guest's memory. */
struct gateway_reached {
    uint64_t changes; /* gateway.memory_changes at the check; 0: not checked */
    uint64_t request, ids, values, count;
};

struct gateway {
    struct gateway_memory *memory; /* NULL: no thread has said hello */
    struct gateway_need *needs;    /* by event of the machine, owned */
    uint64_t event_count;
    /* Dynamic signals of threads that have ended, by number; owned. */
    struct totals *ended[GATEWAY_THREADS];
    struct clock clock;  /* of `components` */
    uint64_t components; /* of the model that run, or will at `epoch` */
    uint64_t epoch;      /* of the last signal or component added */
    struct gateway_signals signals;
    struct gateway_live *lives[COUNTS_VCPUS]; /* NULL: no hello */
    struct watch *watches[COUNTS_VCPUS];      /* NULL: no watch */
    bool watching; /* some thread has watched: blocks count by calls */
    struct gateway_reached reached[COUNTS_VCPUS];
    uint64_t memory_changes; /* system calls that may change memory; from 1 */
    /* Looks after a block whether a watched event has overflowed, at `pc`. */
    void (*look)(unsigned vcpu, uint64_t pc);
    /* Counts a block of these fixed signals towards the thresholds of virtual
     * counters; NULL: there is no threshold. */
    void (*rise)(const int16_t *fixed, uint64_t pc);
};

#endif
