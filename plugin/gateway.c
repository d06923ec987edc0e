/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/gateway.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine/chip.h"
#include "plugin/qemu.h"
#include "table/signals.h"

static_assert(SIGNAL_FIXED_COUNT <= GATEWAY_SLOTS, "a slot each");
static_assert(sizeof(struct gateway_page) == 512 &&
                  sizeof(struct gateway_live) == 1024 &&
                  sizeof(struct gateway_ring) == 1024,
              "the guest's compiler has the same sizes");

/* Below the addresses where guests map memory, and low enough for the tags of
 * caches, which have 32 bits. */
#define HOME ((void *)0x3ff0000000)

/* Returns whether the event is read from the signal: whether the event sums the
 * signal, or sums a signal that is derived from it. */
static bool
needs(const struct event_row *event, unsigned signal)
{
    for (size_t i = 0; i < event->signal_count; i++) {
        const struct signal_row *row = &tally_signals[event->signals[i]];
        if (row->source_count == 0 && event->signals[i] == signal)
            return true;
        for (size_t k = 0; k < row->source_count; k++) {
            if (row->sources[k] == signal)
                return signal_possible(signal, tally_plugin.request.params);
        }
    }
    return false;
}

/* Has blocks keep the signal current. Returns false if they do already. */
static bool
count_signal(unsigned signal)
{
    struct gateway_signals *const s = &tally_plugin.gateway.signals;

    for (unsigned i = 0; i < s->count; i++)
        if (s->id[i] == signal)
            return false;
    s->id[s->count] = (uint8_t)signal;
    __atomic_store_n(&s->count, s->count + 1, __ATOMIC_RELEASE);
    return true;
}

void
gateway_translate_again(void)
{
    tally_plugin.gateway.epoch++;
    tally_plugin.translate_again();
}

void
gateway_retranslated(void)
{
    if (tally_plugin.gateway.memory == NULL)
        return;
    tally_plugin.gateway.memory->page.epoch = tally_plugin.gateway.epoch;
}

/* Makes what the gateway needs. Returns false where there is no memory. */
static bool
make_ready(void)
{
    void *memory =
        mmap(HOME, sizeof(struct gateway_memory), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const uint64_t events = gateway_machine()->event_count +
                            gateway_machine()->made_count +
                            gateway_machine()->narrowed_event_count;
    struct gateway_need *needs = calloc(events, sizeof(*needs));

    if (memory == MAP_FAILED || needs == NULL) {
        free(needs);
        return false;
    }
    tally_plugin.gateway.memory = memory;
    tally_plugin.gateway.memory->page.generation = 1;
    tally_plugin.gateway.needs = needs;
    tally_plugin.gateway.event_count = events;
    tally_plugin.gateway.components = tally_plugin.components;
    for (unsigned i = 0; i < tally_plugin.chip.slots_used; i++) {
        if (tally_plugin.counts[i] != NULL)
            gateway_thread_starts(i, tally_plugin.counts[i]->maker);
    }
    count_signal(SIGNAL_INSTRUCTIONS);
    return true;
}

bool
gateway_ready(void)
{
    if (tally_plugin.gateway.memory != NULL)
        return true;
    if (!make_ready())
        return false;
    gateway_translate_again();
    return true;
}

void
gateway_thread_starts(unsigned vcpu, unsigned maker)
{
    const struct counts_strand *counts = tally_plugin.counts[vcpu];

    if (tally_plugin.gateway.memory == NULL ||
        counts->thread >= GATEWAY_THREADS)
        return;
    struct gateway_live *live =
        &tally_plugin.gateway.memory->live[counts->thread];
    live->maker = maker;
    live->strand = counts->strand;
    tally_plugin.gateway.lives[vcpu] = live;
}

void
gateway_thread_ends(unsigned vcpu)
{
    const struct counts_strand *counts = tally_plugin.counts[vcpu];

    if (tally_plugin.gateway.lives[vcpu] == NULL)
        return;
    tally_plugin.gateway.lives[vcpu] = NULL;
    struct totals *kept = malloc(sizeof(*kept));
    for (unsigned s = 0; kept != NULL && s < SIGNAL_COUNT; s++)
        kept->signal[s] = gateway_dynamic(counts, s);
    tally_plugin.gateway.ended[counts->thread] = kept;
}

void
gateway_forks(unsigned vcpu)
{
    if (tally_plugin.gateway.memory == NULL)
        return;
    for (unsigned i = 0; i < tally_plugin.chip.slots_used; i++)
        tally_plugin.gateway.lives[i] = NULL;
    for (unsigned i = 0; i < GATEWAY_THREADS; i++) {
        free(tally_plugin.gateway.ended[i]);
        tally_plugin.gateway.ended[i] = NULL;
    }
    memset(&tally_plugin.gateway.memory->live[0], 0,
           sizeof(tally_plugin.gateway.memory->live[0]));
    tally_plugin.gateway.memory->page.generation++;
    gateway_thread_starts(vcpu, 0);
}

/* Translation */

/* Adds a block to the live values each time the block runs. */
static void
on_live(unsigned vcpu, void *data)
{
    const struct block *block = data;

    gateway_count(tally_plugin.strands[vcpu], vcpu, block->index, block->pc);
}

/* Has QEMU add a block's signals to the live values of the only thread. */
static void
register_inline(struct qemu_plugin_tb *tb, const struct block *block)
{
    const int16_t *fixed =
        counts_info(&tally_plugin.process, block->index)->fixed;

    for (unsigned i = 0; i < tally_plugin.gateway.signals.count; i++) {
        const unsigned signal = tally_plugin.gateway.signals.id[i];
        if (fixed[signal] != 0)
            qemu_register_add(tb, &tally_plugin.gateway.lives[0]->value[signal],
                              (uint64_t)(int64_t)fixed[signal]);
    }
}

void
gateway_register(struct qemu_plugin_tb *tb, const struct block *block,
                 bool rare)
{
    const struct plugin *p = &tally_plugin;

    if (tally_plugin.gateway.signals.count == 0 || rare)
        return;
    if (!p->threaded && !tally_plugin.gateway.watching && p->span == SPAN_ALL &&
        p->span_open && tally_plugin.gateway.lives[0] != NULL && qemu_can_add())
        register_inline(tb, block);
    else
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, on_live, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)block);
}

int
gateway_check(const struct event_row *e, const struct tally_log *log)
{
    const struct plugin *p = &tally_plugin;
    const uint64_t components = components_of(&e, 1, p->request.params);
    const bool alone =
        tally_plugin.strands[0] != NULL && atomic_load(&p->chip.live) == 1;

    if (e->fidelity == FIDELITY_IDLE)
        return tally_fail(log, TALLY_EIDLE, "%s cannot count on %s: %s",
                          e->name, gateway_machine()->name,
                          e->reason != NULL ? e->reason : "not modelled");
    if (p->data_filter)
        return tally_fail(log, TALLY_ERULE,
                          "a program does not count itself under --filter "
                          "data=");
    if (event_is_late(e))
        return tally_fail(log, TALLY_EIDLE,
                          "%s is known when the program has ended", e->name);
    if ((components & ~tally_plugin.gateway.components) != 0 && !alone)
        return tally_fail(log, TALLY_EIDLE,
                          "%s needs a part of the model that does not run, and "
                          "none is added for several threads: ask for it "
                          "before, or from outside, tally count -e %s",
                          e->name, e->name);
    return 0;
}

bool
gateway_note(const struct event_row *e)
{
    const uint64_t components =
        components_of(&e, 1, tally_plugin.request.params);
    struct gateway_need *n = &tally_plugin.gateway.needs[gateway_id(e)];
    bool all_fixed = true,
         added = (components & ~tally_plugin.gateway.components) != 0;

    if (n->known)
        return false;
    tally_plugin.gateway.components |= components;
    n->cycles = e->signal_count == 1 && e->signals[0] == SIGNAL_CYCLES;
    /* No other thread reads the clock meanwhile: components are added only for
     * a single thread. */
    if (added || tally_plugin.gateway.clock.all.count == 0)
        clock_init(&tally_plugin.gateway.clock, tally_plugin.request.params,
                   tally_plugin.gateway.components);
    for (size_t i = 0; i < e->signal_count; i++) {
        n->derived |= tally_signals[e->signals[i]].source_count != 0;
        all_fixed &= e->signals[i] < SIGNAL_FIXED_COUNT;
    }
    for (unsigned s = 0; s < SIGNAL_COUNT; s++) {
        if (needs(e, s))
            n->uses[n->used++] = (uint16_t)s;
    }
    for (unsigned i = 0; i < n->used && n->uses[i] < SIGNAL_FIXED_COUNT; i++)
        added |= count_signal(n->uses[i]);
    if (!n->derived && all_fixed && e->signal_count <= GATEWAY_SUMMANDS)
        n->summands = (uint8_t)e->signal_count;
    n->signals = e->signals;
    n->signal_count = (unsigned)e->signal_count;
    n->known = true;
    return added;
}

bool
gateway_learn(const struct event_row *event)
{
    if (!gateway_ready() || gateway_check(event, NULL) != 0)
        return false;
    if (gateway_note(event))
        gateway_translate_again();
    return true;
}

bool
gateway_learn_before(const struct event_row *event)
{
    if ((tally_plugin.gateway.memory == NULL && !make_ready()) ||
        gateway_check(event, NULL) != 0)
        return false;
    gateway_note(event);
    return true;
}

struct gateway_ring *
gateway_ring_of(unsigned vcpu)
{
    return &tally_plugin.gateway.memory
                ->rings[tally_plugin.counts[vcpu]->thread];
}

uint64_t
gateway_epoch(void)
{
    return tally_plugin.gateway.epoch;
}
