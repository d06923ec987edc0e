/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugin knows of guest programs that count themselves. */
#ifndef TALLY_PLUGIN_GATEWAY_STATE_H
#define TALLY_PLUGIN_GATEWAY_STATE_H

#include "gateway/protocol.h"
#include "machine/clock.h"
#include "source/process_counts.h"

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

/* What the guest's events need of the fixed signals, kept current. */
struct gateway_signals {
    unsigned count;
    uint8_t id[SIGNAL_FIXED_COUNT];
};

/* Whom an event's rise is told to. */
struct watch {
    unsigned summands;
    uint8_t slots[GATEWAY_SUMMANDS];
    int signal;
    uint64_t period, next; /* value of the next overflow */
};

/* What a vCPU's last request was found to reach. A request that is read again
 * and again, as around a loop, is looked at once: the guest's memory changes by
 * system calls only. */
struct gateway_reached {
    uint64_t changes; /* of memory, when it was looked at; 0: not yet */
    uint64_t request, ids, values, count;
};

struct gateway {
    struct gateway_memory *memory; /* NULL: nobody has said hello */
    struct gateway_need *needs;    /* by event of the machine, owned */
    uint64_t event_count;
    /* Dynamic signals of threads that have ended, by number; owned. */
    struct totals *ended[GATEWAY_THREADS];
    struct clock clock;  /* of those components */
    uint32_t components; /* of the model that are to run */
    uint64_t epoch;      /* of the last signal or part added */
    struct gateway_signals signals;
    struct gateway_live *lives[COUNTS_VCPUS]; /* NULL: nobody said hello */
    struct watch *watches[COUNTS_VCPUS];      /* NULL: nobody */
    bool watching; /* some thread has been watched: blocks count by calls */
    struct gateway_reached reached[COUNTS_VCPUS];
    uint64_t memory_changes; /* so often the guest's memory may have; from 1 */
    /* The watched event of a thread has perhaps risen enough, at `pc`. */
    void (*look)(unsigned vcpu, uint64_t pc);
    /* Virtual counters have thresholds that a block of these fixed signals may
     * reach; NULL: none. */
    void (*rise)(const int16_t *fixed, uint64_t pc);
};

#endif
