/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest program that counts itself: the machine's side of
 * src/gateway/protocol.h. The plugin spends no time on it until the guest says
 * hello.
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

/* Returns the number of an event: first the machine's events, then its narrowed
 * ones. */
static inline uint64_t
gateway_id(const struct event_row *event)
{
    const struct machine_row *m = gateway_machine();
    const size_t count = m->event_count + m->made_count;

    return event >= m->events && event < m->events + count
               ? (uint64_t)(event - m->events)
               : count + (uint64_t)(event - m->narrowed_events);
}

/* Computes the signals that follow from others. */
static inline void
gateway_derive(struct totals *totals)
{
    signals_derive(tally_plugin.session->request.params,
                   tally_plugin.gateway.components, totals->signal);
}

/* Returns the count of a dynamic signal in all slices. */
static inline uint64_t
gateway_dynamic(const struct counts_strand *counts, unsigned signal)
{
    uint64_t sum = counts->folded.signal[signal];

    for (unsigned t = 0; t < tally_plugin.process.head->own_slices; t++)
        sum += counts->totals[t].signal[signal];
    return sum;
}

/* Gives a thread that starts, and has counts, its page; `maker` is the number
 * of the thread that made it. */
void gateway_thread_starts(unsigned vcpu, unsigned maker);

/* Keeps the counts of a thread that ends. */
void gateway_thread_ends(unsigned vcpu);

/* Forgets all threads but this one, in a child of fork(). */
void gateway_forks(unsigned vcpu);

/* Notes that QEMU has forgotten its translations: from now on all blocks count
 * the events of the epoch. */
void gateway_retranslated(void);

/* Registers the callback that keeps the live values current for a block, unless
 * the block has a callback that does (`rare`). */
void gateway_register(struct qemu_plugin_tb *tb, const struct block *block,
                      bool rare);

/* Converts a word from or to the guest's byte order. */
static inline uint64_t
gateway_word(uint64_t value)
{
    return tally_plugin.shape.isa->big_endian ? be64toh(value) : le64toh(value);
}

/* Makes the shared memory, unless it is there. False: out of memory. */
bool gateway_ready(void);

/* Has the event count from gateway_epoch() on. False: it cannot be counted in
 * this run. */
bool gateway_learn(const struct event_row *event);

/* The same, before all code is translated again in any case. */
bool gateway_learn_before(const struct event_row *event);

uint64_t gateway_epoch(void);

/* Returns 0, or an error if the event cannot be counted in this run, with the
 * reason in `log`. */
int gateway_check(const struct event_row *e, const struct tally_log *log);

/* Notes the signals that the event is read from. Returns whether some are not
 * counted yet: then the caller must call gateway_translate_again(). */
bool gateway_note(const struct event_row *e);

/* Has QEMU translate all blocks again, so that they count new signals. */
void gateway_translate_again(void);

struct gateway_ring *gateway_ring_of(unsigned vcpu);

/* Adds a block of these fixed signals, at `pc`, to the live values. */
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

/* Adds block `index`, at `pc`, to the live values, if the thread has any. */
static inline void
gateway_count(const struct strand *s, unsigned vcpu, uint32_t index,
              uint64_t pc)
{
    const struct block_info *info = counts_info(&tally_plugin.process, index);

    if (tally_plugin.gateway.lives[vcpu] != NULL)
        gateway_add(s, vcpu, info->fixed, pc);
}

#endif
