/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest program that counts itself: src/gateway/protocol.h from the side of
 * the machine. Nothing here costs anything until the guest says hello.
 */
#ifndef TALLY_PLUGIN_GATEWAY_H
#define TALLY_PLUGIN_GATEWAY_H

#include "gateway/protocol.h"
#include "plugin/plugin.h"

/* What the guest's events need of the fixed signals, kept current. */
struct gateway_signals {
    unsigned count;
    uint8_t id[SIGNAL_FIXED_COUNT];
};

extern struct gateway_signals gateway_signals;

/* By vCPU; NULL: nobody has said hello. */
extern struct gateway_live *gateway_lives[REGION_STRANDS];

/* Hears every system call of the guest. */
void gateway_syscall(unsigned vcpu, int64_t number, uint64_t operation,
                     uint64_t request);

/* A thread, made by another, has its counts; it ends, and these are whole; it
 * is alone in a child of fork. */
void gateway_thread_starts(unsigned vcpu, unsigned maker);
void gateway_thread_ends(unsigned vcpu);
void gateway_forks(unsigned vcpu);

/* All that the plugin's code was registered for is to be registered again. */
void gateway_retranslated(void);

/* Registers what keeps the signals of a block current, if others do not. */
void gateway_register(struct qemu_plugin_tb *tb, const struct block *block,
                      bool rare);

/* For plugin/monitor.c. A word of the guest's memory, from or to its order. */
uint64_t gateway_word(uint64_t value);

/* What the thread has counted of an event so far. */
uint64_t gateway_event_count(unsigned vcpu, const struct event_row *event);

/* From gateway_epoch() on the event is counted, if its part of the model can be
 * had. */
void gateway_learn(const struct event_row *event);
uint64_t gateway_epoch(void);

/* A block of these fixed signals has been counted. */
static inline void
gateway_add(const struct strand *s, unsigned vcpu, const int16_t *fixed)
{
    struct gateway_live *live = gateway_lives[vcpu];

    if (live == NULL || s->outside)
        return;
    for (unsigned i = 0; i < gateway_signals.count; i++) {
        const unsigned signal = gateway_signals.id[i];
        live->value[signal] += (uint64_t)(int64_t)fixed[signal];
    }
}

/* A block has been counted that gateway_register() left to others. */
static inline void
gateway_count(const struct strand *s, unsigned vcpu, uint32_t index)
{
    if (gateway_lives[vcpu] != NULL)
        gateway_add(s, vcpu, tally_plugin.region.infos[index].fixed);
}

#endif
