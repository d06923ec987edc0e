/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/gateway_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine/chip.h"
#include "plugin/calls.h"
#include "plugin/monitor.h"
#include "plugin/owners.h"
#include "plugin/watch.h"
#include "table/signals.h"

static_assert(SIGNAL_FIXED_COUNT <= GATEWAY_SLOTS, "a slot each");
static_assert(sizeof(struct gateway_page) == 512 &&
                  sizeof(struct gateway_live) == 1024 &&
                  sizeof(struct gateway_ring) == 1024,
              "the guest's compiler lays them out alike");

/* Below where guests map memory, and near enough for the tags of caches that
 * are kept in 32 bits. */
#define HOME ((void *)0x3ff0000000)

#define TEXT_MOST 65536u /* bytes of a list of events */

struct gateway_signals gateway_signals;
struct gateway_live *gateway_lives[COUNTS_VCPUS];

struct gateway_state gateway_state;

/* Returns whether reading the event takes the signal: one that it sums, or from
 * which such a one is derived. */
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

static bool
is_counted(unsigned signal)
{
    for (unsigned i = 0; i < gateway_signals.count; i++) {
        if (gateway_signals.id[i] == signal)
            return true;
    }
    return false;
}

/* True if the signal was not kept current before. */
static bool
count_signal(unsigned signal)
{
    if (is_counted(signal))
        return false;
    gateway_signals.id[gateway_signals.count] = (uint8_t)signal;
    __atomic_store_n(&gateway_signals.count, gateway_signals.count + 1,
                     __ATOMIC_RELEASE);
    return true;
}

/* Blocks that QEMU has translated already are to count the new signals too. */
void
gateway_translate_again(void)
{
    gateway_state.epoch++;
    plugin_reset();
}

void
gateway_retranslated(void)
{
    if (gateway_state.components != tally_plugin.components)
        plugin_set_parts(gateway_state.components);
    gateway_state.memory->page.epoch = gateway_state.epoch;
}

static bool
start(void)
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
    gateway_state.memory = memory;
    gateway_state.memory->page.generation = 1;
    gateway_state.needs = needs;
    gateway_state.event_count = events;
    gateway_state.components = tally_plugin.components;
    for (unsigned i = 0; i < tally_plugin.chip.slots_used; i++) {
        if (tally_plugin.counts[i] != NULL)
            gateway_thread_starts(i, tally_plugin.counts[i]->maker);
    }
    count_signal(SIGNAL_INSTRUCTIONS);
    gateway_translate_again();
    return true;
}

bool
gateway_ready(void)
{
    return gateway_state.memory != NULL || start();
}

void
gateway_thread_starts(unsigned vcpu, unsigned maker)
{
    const struct counts_strand *counts = tally_plugin.counts[vcpu];

    if (gateway_state.memory == NULL || counts->thread >= GATEWAY_THREADS)
        return;
    struct gateway_live *live = &gateway_state.memory->live[counts->thread];
    live->maker = maker;
    live->strand = counts->strand;
    gateway_lives[vcpu] = live;
}

void
gateway_thread_ends(unsigned vcpu)
{
    const struct counts_strand *counts = tally_plugin.counts[vcpu];

    if (gateway_lives[vcpu] == NULL)
        return;
    gateway_lives[vcpu] = NULL;
    monitor_thread_ends(vcpu);
    watch_stop(vcpu);
    struct totals *kept = malloc(sizeof(*kept));
    for (unsigned s = 0; kept != NULL && s < SIGNAL_COUNT; s++)
        kept->signal[s] = gateway_dynamic(counts, s);
    gateway_state.ended[counts->thread] = kept;
}

void
gateway_forks(unsigned vcpu)
{
    if (gateway_state.memory == NULL)
        return;
    for (unsigned i = 0; i < tally_plugin.chip.slots_used; i++) {
        gateway_lives[i] = NULL;
        watch_stop(i);
    }
    monitor_forget();
    for (unsigned i = 0; i < GATEWAY_THREADS; i++) {
        free(gateway_state.ended[i]);
        gateway_state.ended[i] = NULL;
    }
    memset(&gateway_state.memory->live[0], 0,
           sizeof(gateway_state.memory->live[0]));
    gateway_state.memory->page.generation++;
    gateway_thread_starts(vcpu, 0);
}

/* Translation */

void
gateway_register_asks(const struct plugin *p, struct qemu_plugin_tb *tb,
                      size_t count)
{
    const struct isa *isa = p->shape.isa;

    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        if (qemu_plugin_insn_size(insn) == isa->ask_size &&
            memcmp(qemu_plugin_insn_data(insn), isa->ask, isa->ask_size) == 0)
            qemu_plugin_register_vcpu_insn_exec_cb(
                insn, gateway_asked, QEMU_PLUGIN_CB_NO_REGS, NULL);
    }
}

static void
on_live(unsigned vcpu, void *data)
{
    const struct block *block = data;

    gateway_count(tally_plugin.strands[vcpu], vcpu, block->index, block->pc);
}

static void
register_inline(struct qemu_plugin_tb *tb, const struct block *block)
{
    const int16_t *fixed = tally_plugin.process.infos[block->index].fixed;

    for (unsigned i = 0; i < gateway_signals.count; i++) {
        const unsigned signal = gateway_signals.id[i];
        if (fixed[signal] != 0)
            qemu_plugin_register_vcpu_tb_exec_inline(
                tb, QEMU_PLUGIN_INLINE_ADD_U64,
                &gateway_lives[0]->value[signal],
                (uint64_t)(int64_t)fixed[signal]);
    }
}

void
gateway_register(struct qemu_plugin_tb *tb, const struct block *block,
                 bool rare)
{
    const struct plugin *p = &tally_plugin;

    if (gateway_signals.count == 0 || rare)
        return;
    if (!p->threaded && !gateway_watching && p->span == SPAN_ALL &&
        p->span_open && gateway_lives[0] != NULL)
        register_inline(tb, block);
    else
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, on_live, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)block);
}

/* Answers */

static void
fill_hello(unsigned vcpu, const struct gateway_live *live,
           struct gateway_hello *hello)
{
    const struct plugin *p = &tally_plugin;
    const uint64_t clock = p->request.params[PARAM_CLOCK];

    hello->page = gateway_word((uintptr_t)&gateway_state.memory->page);
    hello->live = gateway_word((uintptr_t)live);
    hello->ring = gateway_word(
        (uintptr_t)&gateway_state.memory->rings[p->counts[vcpu]->thread]);
    hello->thread = gateway_word(p->counts[vcpu]->thread);
    hello->generation = gateway_word(gateway_state.memory->page.generation);
    hello->rate = gateway_word((UINT64_C(1000000000) << 20) /
                               (clock != 0 ? clock : 1000000000));
    hello->slot = gateway_word(SIGNAL_INSTRUCTIONS);
    hello->strands =
        gateway_word((uint64_t)p->chip.core_count * p->chip.strands_per_core);
    snprintf(hello->machine, sizeof(hello->machine), "%s",
             gateway_machine()->name);
}

/* Another version of the struct may be shorter: nothing but the first word is
 * read or written of one. */
static void
answer_hello(unsigned vcpu, uint64_t at)
{
    struct gateway_hello hello = {.version = gateway_word(GATEWAY_VERSION)};
    uint64_t version;

    if (!plugin_read_word(tally_plugin.shape.isa, at, &version) ||
        !plugin_write(at, &hello.version, sizeof(hello.version)) ||
        version != GATEWAY_VERSION || !gateway_ready() ||
        gateway_lives[vcpu] == NULL)
        return;
    fill_hello(vcpu, gateway_lives[vcpu], &hello);
    plugin_write(at, &hello, sizeof(hello));
}

static void
keep_message(void *user, enum tally_level level, const char *text)
{
    struct gateway_events *request = user;

    if (level == TALLY_LOG_ERROR && request->message[0] == '\0')
        snprintf(request->message, sizeof(request->message), "%s", text);
}

/* Why the event cannot be counted in this run, or 0. */
static int
check_event(const struct event_row *e, const struct tally_log *log)
{
    const struct plugin *p = &tally_plugin;
    const uint32_t components = components_of(&e, 1, p->request.params);
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
    if ((components & ~gateway_state.components) != 0 && !alone)
        return tally_fail(log, TALLY_EIDLE,
                          "%s needs a part of the model that does not run, and "
                          "none is added for several threads: ask for it "
                          "before, or from outside, tally count -e %s",
                          e->name, e->name);
    return 0;
}

/* Finds out what reading the event takes; true if that is not all there. */
static bool
learn(const struct event_row *e)
{
    const uint32_t components =
        components_of(&e, 1, tally_plugin.request.params);
    struct gateway_need *n = &gateway_state.needs[gateway_id(e)];
    bool all_fixed = true,
         added = (components & ~gateway_state.components) != 0;

    if (n->known)
        return false;
    gateway_state.components |= components;
    n->cycles = e->signal_count == 1 && e->signals[0] == SIGNAL_CYCLES;
    /* Not while other threads read it: then no part is added. */
    if (added || gateway_state.clock.all.count == 0)
        clock_init(&gateway_state.clock, tally_plugin.request.params,
                   gateway_state.components);
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
    if (!gateway_ready() || check_event(event, NULL) != 0)
        return false;
    if (learn(event))
        gateway_translate_again();
    return true;
}

struct gateway_ring *
gateway_ring_of(unsigned vcpu)
{
    return &gateway_state.memory->rings[tally_plugin.counts[vcpu]->thread];
}

uint64_t
gateway_epoch(void)
{
    return gateway_state.epoch;
}

/* Writes the row that is at the guest's address; false: it is not there. */
static bool
tell_event(const struct event_row *e, uint64_t at)
{
    const uint64_t id = gateway_id(e);
    const struct gateway_need *n = &gateway_state.needs[id];
    struct gateway_event row = {
        .id = gateway_word(id),
        .summands = gateway_word(n->summands),
    };

    for (size_t i = 0; i < n->summands; i++)
        row.slots[i] = gateway_word(e->signals[i]);
    snprintf(row.name, sizeof(row.name), "%s", e->name);
    return plugin_write(at, &row, sizeof(row));
}

static int
choose_events(struct gateway_events *request, const struct tally_log *log,
              const struct event_row *const *events, size_t count)
{
    const uint64_t rows = gateway_word(request->rows);
    bool added = false;

    if (count > gateway_word(request->room))
        return tally_fail(log, TALLY_ERANGE, "more than %u events in one list",
                          (unsigned)gateway_word(request->room));
    for (size_t i = 0; i < count; i++) {
        const int error = check_event(events[i], log);
        if (error != 0)
            return error;
    }
    for (size_t i = 0; i < count; i++)
        added |= learn(events[i]);
    if (added)
        gateway_translate_again();
    for (size_t i = 0; i < count; i++) {
        if (!tell_event(events[i], rows + i * sizeof(struct gateway_event)))
            return tally_fail(log, TALLY_ESYSTEM,
                              "no memory is where the events are to be put");
    }
    request->count = gateway_word(count);
    request->epoch = gateway_word(gateway_state.epoch);
    return 0;
}

static void
answer_events(struct gateway_events *request)
{
    const struct tally_log log = {keep_message, request};
    const struct event_row **events = NULL;
    size_t count = 0;

    request->message[0] = '\0';
    char *const text =
        plugin_read_string(gateway_word(request->text), TEXT_MOST);
    int error = text == NULL ? tally_fail(&log, TALLY_ESYSTEM,
                                          "no list of events is at the address")
                             : event_list_parse(gateway_machine(), text, &log,
                                                &events, &count);
    free(text);
    if (error == 0)
        error = choose_events(request, &log,
                              (const struct event_row *const *)events, count);
    free(events);
    request->error = gateway_word((uint64_t)(int64_t)error);
}

/* A request, as the guest has it in memory. */
union gateway_request {
    struct gateway_events events;
    struct gateway_watch watch;
    struct gateway_register access;
    struct gateway_virtual virtual;
};

static size_t
request_size(uint64_t operation)
{
    switch (operation) {
    case GATEWAY_EVENTS:
        return sizeof(struct gateway_events);
    case GATEWAY_WATCH:
        return sizeof(struct gateway_watch);
    case GATEWAY_REGISTER:
        return sizeof(struct gateway_register);
    case GATEWAY_VIRTUAL:
        return sizeof(struct gateway_virtual);
    default:
        return 0;
    }
}

/* Answers on a copy: the address may be anything, and another thread may write
 * there meanwhile. Without memory there, nothing happens. */
static void
answer(unsigned vcpu, uint64_t operation, uint64_t at)
{
    struct plugin *p = &tally_plugin;
    const size_t size = request_size(operation);
    union gateway_request request;

    if (operation == GATEWAY_READ)
        gateway_read(vcpu, at);
    if (size == 0 || !plugin_read(at, &request, size))
        return;
    pthread_mutex_lock(&p->lock);
    if (operation == GATEWAY_EVENTS)
        answer_events(&request.events);
    else if (operation == GATEWAY_WATCH)
        watch_answer(vcpu, &request.watch);
    else if (operation == GATEWAY_REGISTER)
        monitor_answer(vcpu, &request.access);
    else
        owners_answer(&request.virtual);
    pthread_mutex_unlock(&p->lock);
    plugin_write(at, &request, size);
}

void
gateway_syscall(unsigned vcpu, int64_t number, uint64_t operation,
                uint64_t request)
{
    struct plugin *p = &tally_plugin;

    if (number != GATEWAY_CALL)
        gateway_memory_changed();
    if (number == GATEWAY_CALL) {
        if (gateway_lives[vcpu] != NULL)
            answer(vcpu, operation, request);
    } else if (operation == GATEWAY_PRCTL &&
               call_is(CALL_PRCTL, tally_plugin.shape.isa, number) &&
               p->counts[vcpu] != NULL) {
        pthread_mutex_lock(&p->lock);
        answer_hello(vcpu, request);
        pthread_mutex_unlock(&p->lock);
    }
}
