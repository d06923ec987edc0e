/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads counts for a guest: by a system call, or by an instruction that does
 * nothing.
 */
#include <stddef.h>
#include <string.h>

#include "machine/strand.h"
#include "plugin/gateway_read.h"
#include "plugin/qemu.h"

#define PAGE 4096u
#define READ_MOST 65536u /* events that one request reads */

/* Where the counts of one thread are: the fixed signals in `live`, the others
 * in `counts` or `ended`. */
struct source {
    const struct gateway_live *live;
    const struct counts_strand *counts; /* while the thread runs, else NULL */
    const struct totals *ended;         /* or NULL */
};

static inline uint64_t
signal_count(const struct source *from, unsigned signal)
{
    if (signal < SIGNAL_FIXED_COUNT)
        return from->live->value[signal];
    if (from->counts != NULL)
        return gateway_dynamic(from->counts, signal);
    return from->ended != NULL ? from->ended->signal[signal] : 0;
}

/* Reads the signals that a derived event follows from. Other members of `all`
 * keep any old value, as clearing 4 KB at each reading would take time. */
static void
assemble(const struct source *from, uint64_t id, struct totals *all)
{
    const struct gateway_need *n = &tally_plugin.gateway.needs[id];

    for (unsigned i = 0; i < n->used; i++)
        all->signal[n->uses[i]] = signal_count(from, n->uses[i]);
}

/* The totals that derived events are computed in. */
static __thread struct totals assembled;

/* Returns whether the event needs assemble(). */
static bool
is_derived(uint64_t id)
{
    return id < tally_plugin.gateway.event_count &&
           tally_plugin.gateway.needs[id].derived &&
           !tally_plugin.gateway.needs[id].cycles;
}

/* Sums the dynamic signals of the clock, for a running thread with one slice: a
 * loop without branches, which loads fast. */
static inline uint64_t
sum_dynamic(const struct clock *c, const struct counts_strand *counts)
{
    const uint64_t *now = counts->totals[0].signal;
    const uint64_t *before = counts->folded.signal;
    uint64_t sum = 0;

    for (unsigned i = c->fixed; i < c->rest; i++) {
        const struct clock_term *t = &c->all.terms[i];
        sum += t->factor * (now[t->signal] + before[t->signal]);
    }
    return sum;
}

/* Computes the cycles of a thread from its clock's few signals. */
static uint64_t
count_cycles(const struct source *from)
{
    const struct clock *c = &tally_plugin.gateway.clock;
    const bool quick =
        from->counts != NULL && tally_plugin.process.head->own_slices == 1;
    uint64_t sums[CLOCK_SUMS] = {0}, fixed = 0;

    for (unsigned i = 0; i < c->fixed; i++)
        fixed +=
            c->all.terms[i].factor * from->live->value[c->all.terms[i].signal];
    for (unsigned i = quick ? c->rest : c->fixed; i < c->all.count; i++)
        sums[c->all.terms[i].sum] +=
            c->all.terms[i].factor * signal_count(from, c->all.terms[i].signal);
    sums[CLOCK_REST] += fixed + (quick ? sum_dynamic(c, from->counts) : 0);
    return clock_cycles(c, sums);
}

/* Returns the count of an event that is not derived. */
static inline uint64_t
count_plain(const struct source *from, uint64_t id)
{
    uint64_t sum = 0;

    if (id >= tally_plugin.gateway.event_count)
        return from->live->value[SIGNAL_INSTRUCTIONS];
    const struct gateway_need *n = &tally_plugin.gateway.needs[id];
    if (n->cycles)
        return count_cycles(from);
    for (unsigned i = 0; i < n->signal_count; i++)
        sum += signal_count(from, n->signals[i]);
    return sum;
}

/* Returns the count of an event; `all` are the derived totals, if the event
 * needs them. */
static uint64_t
count_event(const struct source *from, const struct totals *all, uint64_t id)
{
    uint64_t sum = 0;

    if (!is_derived(id))
        return count_plain(from, id);
    const struct gateway_need *n = &tally_plugin.gateway.needs[id];
    for (unsigned i = 0; i < n->signal_count; i++)
        sum += all->signal[n->signals[i]];
    return sum;
}

/* Returns the count of an event, with totals derived for that event alone. */
static uint64_t
count_by_itself(const struct source *from, const struct event_row *event)
{
    const uint64_t id = gateway_id(event);

    if (is_derived(id)) {
        assemble(from, id, &assembled);
        gateway_derive(&assembled);
    }
    return count_event(from, &assembled, id);
}

uint64_t
gateway_event_count(unsigned vcpu, const struct event_row *event)
{
    const struct source from = {tally_plugin.gateway.lives[vcpu],
                                tally_plugin.counts[vcpu], NULL};

    return count_by_itself(&from, event);
}

uint64_t
gateway_event_count_all(const struct event_row *event)
{
    const struct plugin *p = &tally_plugin;
    uint64_t sum = 0;

    for (unsigned i = 0; i < p->chip.slots_used; i++) {
        if (tally_plugin.gateway.lives[i] != NULL)
            sum += gateway_event_count(i, event);
    }
    for (unsigned i = 0; i < p->thread_count && i < GATEWAY_THREADS; i++) {
        const struct source from = {&tally_plugin.gateway.memory->live[i], NULL,
                                    tally_plugin.gateway.ended[i]};
        if (from.ended != NULL)
            sum += count_by_itself(&from, event);
    }
    return sum;
}

/* Returns whether `of` made the thread, or made a thread that did. A thread's
 * number is greater than its maker's; other numbers a guest has forged. */
static bool
is_descendant(uint64_t thread, uint64_t of)
{
    const struct gateway_live *live = tally_plugin.gateway.memory->live;

    for (uint64_t maker; thread != of; thread = maker) {
        maker = live[thread].maker;
        if (maker >= thread)
            return false;
    }
    return true;
}

/* A request whose memory is there. */
struct reading {
    uint64_t scope, thread, since, count;
    const uint64_t *ids;
    uint64_t *values;
};

/* Returns whether the request includes this thread. */
static bool
is_asked(const struct reading *request, uint64_t thread)
{
    const uint64_t asked = request->thread;

    switch ((enum gateway_scope)request->scope) {
    case GATEWAY_THREAD:
        return thread == asked;
    case GATEWAY_DESCENDANTS:
        return thread == asked ||
               (thread >= request->since && is_descendant(thread, asked));
    case GATEWAY_STRAND:
        return tally_plugin.gateway.memory->live[thread].strand == asked;
    default:
        return true;
    }
}

/* Derives into `all` the totals that derived events of the request need. */
static void
derive_all(const struct source *from, const uint64_t *ids, uint64_t count,
           struct totals *all)
{
    bool any = false;

    for (uint64_t i = 0; i < count; i++) {
        const uint64_t id = gateway_word(ids[i]);
        if (!is_derived(id))
            continue;
        any = true;
        assemble(from, id, all);
    }
    if (any)
        gateway_derive(all);
}

/* Adds a thread's counts to the values of the request. */
static void
add_source(const struct reading *request, const struct source *from)
{
    struct totals *all = &assembled;

    derive_all(from, request->ids, request->count, all);
    for (uint64_t i = 0; i < request->count; i++) {
        const uint64_t n =
            count_event(from, all, gateway_word(request->ids[i]));
        request->values[i] = gateway_word(gateway_word(request->values[i]) + n);
    }
}

/* Answers a request for the thread's own counts. False: some event is derived.
 */
static bool
read_own(unsigned vcpu, const struct reading *request)
{
    const struct source from = {tally_plugin.gateway.lives[vcpu],
                                tally_plugin.counts[vcpu], NULL};

    for (uint64_t i = 0; i < request->count; i++) {
        const uint64_t id = gateway_word(request->ids[i]);
        if (is_derived(id))
            return false;
        request->values[i] = gateway_word(count_plain(&from, id));
    }
    return true;
}

static void
add_thread(const struct reading *request, uint64_t thread,
           const struct counts_strand *counts)
{
    const struct source from = {&tally_plugin.gateway.memory->live[thread],
                                counts, tally_plugin.gateway.ended[thread]};

    if (is_asked(request, thread))
        add_source(request, &from);
}

static void
add_all(const struct reading *request)
{
    struct plugin *p = &tally_plugin;

    pthread_mutex_lock(&p->lock);
    for (unsigned i = 0; i < p->chip.slots_used; i++) {
        if (tally_plugin.gateway.lives[i] != NULL)
            add_thread(request, p->counts[i]->thread, p->counts[i]);
    }
    for (unsigned i = 0; i < p->thread_count && i < GATEWAY_THREADS; i++) {
        if (tally_plugin.gateway.ended[i] != NULL)
            add_thread(request, i, NULL);
    }
    pthread_mutex_unlock(&p->lock);
}

void
gateway_memory_changed(void)
{
    __atomic_add_fetch(&tally_plugin.gateway.memory_changes, 1,
                       __ATOMIC_RELAXED);
}

/* Returns whether `count` words are there, by reading or writing one word of
 * each page, and the last word. */
static bool
has_words(uint64_t at, uint64_t count, bool written)
{
    const uint64_t size = 8 * count;
    uint64_t word = 0;

    for (uint64_t done = 0; done < size; done += PAGE) {
        if (!(written ? plugin_write(at + done, &word, sizeof(word))
                      : plugin_read(at + done, &word, sizeof(word))))
            return false;
    }
    return size == 0 ||
           (written ? plugin_write(at + size - 8, &word, sizeof(word))
                    : plugin_read(at + size - 8, &word, sizeof(word)));
}

/* Returns whether the addresses of a request are there, and keeps them. */
static bool
can_reach(unsigned vcpu, const struct gateway_reached *r)
{
    struct gateway_reached *const last = &tally_plugin.gateway.reached[vcpu];

    if (last->changes == r->changes && last->request == r->request &&
        last->ids == r->ids && last->values == r->values &&
        last->count == r->count)
        return true;
    if (r->count > READ_MOST || (r->ids | r->values) % 8 != 0 ||
        !has_words(r->ids, r->count, false) ||
        !has_words(r->values, r->count, true))
        return false;
    *last = *r;
    return true;
}

static void *
guest(uint64_t addr)
{
    return (void *)(uintptr_t)plugin_memory(addr);
}

/* Returns the request at the guest's address; NULL: there is no memory. */
static struct gateway_read *
find_request(unsigned vcpu, uint64_t at, uint64_t changes)
{
    const struct gateway_reached *const last =
        &tally_plugin.gateway.reached[vcpu];
    struct gateway_read request;

    if (last->changes == changes && last->request == at)
        return guest(at);
    return at % 8 == 0 && plugin_read(at, &request, sizeof(request)) &&
                   plugin_write(at + offsetof(struct gateway_read, threads),
                                &request.threads, sizeof(request.threads))
               ? guest(at)
               : NULL;
}

void
gateway_read(unsigned vcpu, uint64_t at)
{
    const struct plugin *p = &tally_plugin;
    const struct counts_strand *own = p->counts[vcpu];
    const uint64_t changes =
        __atomic_load_n(&tally_plugin.gateway.memory_changes, __ATOMIC_RELAXED);
    struct gateway_read *const found = find_request(vcpu, at, changes);

    if (found == NULL)
        return;
    const struct gateway_read q = *(volatile struct gateway_read *)found;
    const struct gateway_reached reach = {changes, at, gateway_word(q.ids),
                                          gateway_word(q.values),
                                          gateway_word(q.count)};
    if (!can_reach(vcpu, &reach))
        return;
    const struct reading request = {
        .scope = gateway_word(q.scope),
        .thread = gateway_word(q.thread),
        .since = gateway_word(q.since),
        .count = reach.count,
        .ids = guest(reach.ids),
        .values = guest(reach.values),
    };
    const bool alone =
        request.scope == GATEWAY_THREAD && request.thread == own->thread;
    found->threads = gateway_word(p->thread_count);
    if (alone && read_own(vcpu, &request))
        return;
    for (uint64_t i = 0; i < request.count; i++)
        request.values[i] = 0;
    if (alone)
        add_thread(&request, own->thread, own);
    else
        add_all(&request);
}

/* Saves a system call, which costs QEMU some hundred nanoseconds. Drains the
 * strand's queue as a system call does. */
void
gateway_on_lookup(unsigned vcpu, void *unused)
{
    const struct gateway_live *live = tally_plugin.gateway.lives[vcpu];

    (void)unused;
    if (live == NULL || live->lookup == 0)
        return;
    if (tally_plugin.strands[vcpu]->queue.next !=
        tally_plugin.strands[vcpu]->queue.entries)
        strand_drain(tally_plugin.strands[vcpu]);
    gateway_read(vcpu, gateway_word(live->lookup));
}

void
gateway_register_lookups(const struct plugin *p, struct qemu_plugin_tb *tb,
                         size_t count)
{
    const struct isa *isa = p->shape.isa;

    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint8_t room[QEMU_INSN_BYTES];
        if (qemu_plugin_insn_size(insn) == isa->lookup_size &&
            memcmp(qemu_insn_bytes(insn, room), isa->lookup,
                   isa->lookup_size) == 0)
            qemu_plugin_register_vcpu_insn_exec_cb(
                insn, gateway_on_lookup, QEMU_PLUGIN_CB_NO_REGS, NULL);
    }
}
