/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest program that counts itself: src/gateway/protocol.h from the side of
 * the machine. Nothing here costs anything until the guest says hello.
 */
#ifndef TALLY_PLUGIN_GATEWAY_H
#define TALLY_PLUGIN_GATEWAY_H

#include <endian.h>

#include "gateway/protocol.h"
#include "plugin/plugin.h"

/* What the guest's events need of the fixed signals, kept current. */
struct gateway_signals {
    unsigned count;
    uint8_t id[SIGNAL_FIXED_COUNT];
};

extern struct gateway_signals gateway_signals;

/* By vCPU; NULL: nobody has said hello. */
extern struct gateway_live *gateway_lives[COUNTS_VCPUS];

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

/* Likewise what answers a thread that asks without a call, see
 * gateway_live.ask. */
void gateway_register_asks(const struct plugin *p, struct qemu_plugin_tb *tb,
                           size_t count);
void gateway_asked(unsigned vcpu, void *unused);

/* For plugin/monitor.c and watch.c. A word of the guest's memory, from or to
 * its order. */
static inline uint64_t
gateway_word(uint64_t value)
{
    return tally_plugin.shape.isa->big_endian ? be64toh(value) : le64toh(value);
}

/* What the thread has counted of an event so far. */
uint64_t gateway_event_count(unsigned vcpu, const struct event_row *event);

/* Likewise all threads together, those that have ended too; under the lock of
 * the plugin. */
uint64_t gateway_event_count_all(const struct event_row *event);

/* Somebody has said hello, or now as good as; false: no memory. */
bool gateway_ready(void);

/* From gateway_epoch() on the event is counted; false: its part of the model
 * cannot be had. */
bool gateway_learn(const struct event_row *event);
uint64_t gateway_epoch(void);
void gateway_translate_again(void);
struct gateway_ring *gateway_ring_of(unsigned vcpu);

/* Whom an event's rise is told to. */
struct watch {
    unsigned summands;
    uint8_t slots[GATEWAY_SUMMANDS];
    int signal;
    uint64_t period, next; /* value of the next overflow */
};

/* By vCPU; NULL: nobody. */
extern struct watch *gateway_watches[COUNTS_VCPUS];

/* Virtual counters have thresholds that a block may reach (plugin/owners.c). */
extern bool owners_armed;
void owners_rise(const int16_t *fixed, uint64_t pc);

/* The watched event has perhaps risen enough. */
void gateway_look(unsigned vcpu, uint64_t pc);

/* A block at `pc` of these fixed signals has been counted. */
static inline void
gateway_add(const struct strand *s, unsigned vcpu, const int16_t *fixed,
            uint64_t pc)
{
    struct gateway_live *live = gateway_lives[vcpu];

    if (live == NULL || s->span.outside)
        return;
    for (unsigned i = 0; i < gateway_signals.count; i++) {
        const unsigned signal = gateway_signals.id[i];
        live->value[signal] += (uint64_t)(int64_t)fixed[signal];
    }
    if (__builtin_expect(gateway_watches[vcpu] != NULL, 0))
        gateway_look(vcpu, pc);
    if (__builtin_expect(owners_armed, 0))
        owners_rise(fixed, pc);
}

/* A block at `pc` has been counted that gateway_register() left to others. */
static inline void
gateway_count(const struct strand *s, unsigned vcpu, uint32_t index,
              uint64_t pc)
{
    const struct block_info *info = &tally_plugin.process.infos[index];

    if (gateway_lives[vcpu] != NULL)
        gateway_add(s, vcpu, info->fixed, pc);
}

#endif
