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
#include "table/signals.h"

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
                   tally_plugin.gateway.components, totals->signal);
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

/* A word of the guest's memory, from or to
 * its order. */
static inline uint64_t
gateway_word(uint64_t value)
{
    return tally_plugin.shape.isa->big_endian ? be64toh(value) : le64toh(value);
}

/* Somebody has said hello, or now as good as; false: no memory. */
bool gateway_ready(void);

/* From gateway_epoch() on the event is counted; false: its part of the model
 * cannot be had. */
bool gateway_learn(const struct event_row *event);
uint64_t gateway_epoch(void);

/* Says why the event cannot be counted in this run, to `log`, or returns 0. */
int gateway_check(const struct event_row *e, const struct tally_log *log);

/* Notes what reading the event takes. Returns whether something of that is not
 * counted yet: gateway_translate_again() is to follow. */
bool gateway_note(const struct event_row *e);

void gateway_translate_again(void);
struct gateway_ring *gateway_ring_of(unsigned vcpu);

/* A block at `pc` of these fixed signals has been counted. */
static inline void
gateway_add(const struct strand *s, unsigned vcpu, const int16_t *fixed,
            uint64_t pc)
{
    struct gateway_live *live = tally_plugin.gateway.lives[vcpu];

    if (live == NULL || s->span.outside)
        return;
    for (unsigned i = 0; i < tally_plugin.gateway.signals.count; i++) {
        const unsigned signal = tally_plugin.gateway.signals.id[i];
        live->value[signal] += (uint64_t)(int64_t)fixed[signal];
    }
    if (__builtin_expect(tally_plugin.gateway.watches[vcpu] != NULL, 0))
        tally_plugin.gateway.look(vcpu, pc);
    if (__builtin_expect(tally_plugin.gateway.rise != NULL, 0))
        tally_plugin.gateway.rise(fixed, pc);
}

/* A block at `pc` has been counted that gateway_register() left to others. */
static inline void
gateway_count(const struct strand *s, unsigned vcpu, uint32_t index,
              uint64_t pc)
{
    const struct block_info *info = &tally_plugin.process.infos[index];

    if (tally_plugin.gateway.lives[vcpu] != NULL)
        gateway_add(s, vcpu, info->fixed, pc);
}

#endif
