/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/watch.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "plugin/qemu.h"

/* Returns the watched event's count. */
static uint64_t
value(unsigned vcpu, const struct watch *w)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < w->summands; i++)
        sum += tally_plugin.gateway.lives[vcpu]->value[w->slots[i]];
    return sum;
}

/* Writes an overflow to the thread's ring. */
static void
note(unsigned vcpu, uint64_t pc)
{
    struct gateway_ring *ring = gateway_ring_of(vcpu);
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    ring->rows[ring->head % GATEWAY_OVERFLOWS] = (struct gateway_overflow){
        .ip = pc,
        .time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
    };
    __atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_RELEASE);
}

/* Notes overflows after a block. A block may raise the event by several
 * periods: each is noted, but the guest gets one signal, when the block has
 * run. */
static void
look(unsigned vcpu, uint64_t pc)
{
    struct watch *w = tally_plugin.gateway.watches[vcpu];
    const uint64_t now = value(vcpu, w);

    if ((int64_t)(now - w->next) < 0)
        return;
    const uint64_t times = (now - w->next) / w->period + 1;
    const uint64_t noted =
        times < GATEWAY_OVERFLOWS ? times : GATEWAY_OVERFLOWS;
    w->next += times * w->period;
    /* The ring has no room for more: the guest sees that others are lost. */
    gateway_ring_of(vcpu)->head += times - noted;
    for (uint64_t i = 0; i < noted; i++)
        note(vcpu, pc);
    if (w->signal != 0)
        qemu_signal_thread(w->signal);
}

void
watch_stop(unsigned vcpu)
{
    free(tally_plugin.gateway.watches[vcpu]);
    tally_plugin.gateway.watches[vcpu] = NULL;
}

static struct watch *
make(const struct gateway_watch *request)
{
    struct watch *w = calloc(1, sizeof(*w));

    if (w == NULL)
        return NULL;
    w->summands = (unsigned)gateway_word(request->summands);
    if (w->summands > GATEWAY_SUMMANDS)
        w->summands = GATEWAY_SUMMANDS;
    for (unsigned i = 0; i < w->summands; i++)
        w->slots[i] =
            (uint8_t)(gateway_word(request->slots[i]) % GATEWAY_SLOTS);
    w->period = gateway_word(request->period);
    w->signal = (int)gateway_word(request->signal);
    return w;
}

void
watch_answer(unsigned vcpu, struct gateway_watch *request)
{
    struct watch *w = tally_plugin.gateway.watches[vcpu];

    if (request->period == 0) {
        if (w != NULL)
            request->left = gateway_word(w->next - value(vcpu, w));
        watch_stop(vcpu);
        return;
    }
    request->busy = gateway_word(w != NULL);
    if (w != NULL)
        return;
    w = make(request);
    if (w == NULL)
        return;
    w->next = value(vcpu, w) + gateway_word(request->left);
    tally_plugin.gateway.watches[vcpu] = w;
    tally_plugin.gateway.look = look;
    if (!tally_plugin.gateway.watching) {
        tally_plugin.gateway.watching = true;
        gateway_translate_again();
    }
    request->epoch = gateway_word(gateway_epoch());
}
