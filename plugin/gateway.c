/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/gateway.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine/chip.h"
#include "plugin/monitor.h"
#include "plugin/watch.h"

static_assert(SIGNAL_FIXED_COUNT <= GATEWAY_SLOTS, "a slot each");
static_assert(sizeof(struct gateway_page) == 512 &&
                  sizeof(struct gateway_live) == 512 &&
                  sizeof(struct gateway_ring) == 1024,
              "the guest's compiler lays them out alike");

/* Below where guests map memory, and near enough for the tags of caches that
 * are kept in 32 bits. */
#define HOME ((void *)0x3ff0000000)

struct memory {
    struct gateway_page page;
    struct gateway_live live[GATEWAY_THREADS];
    struct gateway_ring rings[GATEWAY_THREADS];
};

/* What reading an event takes. */
struct need {
    bool known;
    bool derived; /* some of its signals follow from others */
    uint8_t summands;
    uint16_t used; /* signals that it follows from, the fixed ones first */
    uint16_t uses[SIGNAL_COUNT];
};

struct gateway_signals gateway_signals;
struct gateway_live *gateway_lives[REGION_STRANDS];

static struct {
    struct memory *memory; /* NULL: nobody has said hello */
    struct need *needs;    /* by event of the machine, owned */
    /* Dynamic signals of threads that have ended, by number; owned. */
    struct totals *ended[GATEWAY_THREADS];
    bool derived[SIGNAL_COUNT];
    uint32_t parts; /* of the model that are to run */
    uint64_t epoch; /* of the last signal or part added */
} gateway;

static const struct machine_row *
machine(void)
{
    return &tally_machines[tally_plugin.session->request.machine];
}

uint64_t
gateway_word(uint64_t value)
{
    return isa_is_big_endian(tally_plugin.shape.isa) ? be64toh(value)
                                                     : le64toh(value);
}

static void *
guest(uint64_t addr)
{
    return (void *)(uintptr_t)plugin_memory(addr);
}

static void
derive(struct totals *totals)
{
    chip_derive(tally_plugin.session->request.params, gateway.parts, totals);
}

/* Totals that no derivation leaves as they are. */
static struct totals
probe_totals(uint64_t seed)
{
    struct totals t;

    for (size_t s = 0; s < SIGNAL_COUNT; s++)
        t.signal[s] = (seed << 36) + seed * (s + 1) * 7919;
    return t;
}

static void
find_derived(void)
{
    for (uint64_t seed = 3; seed < 5; seed++) {
        const struct totals before = probe_totals(seed);
        struct totals after = before;
        derive(&after);
        for (size_t s = 0; s < SIGNAL_COUNT; s++)
            gateway.derived[s] |= before.signal[s] != after.signal[s];
    }
}

static bool
sums(const struct event_row *event, unsigned signal)
{
    for (size_t i = 0; i < event->signal_count; i++) {
        if (event->signals[i] == signal)
            return true;
    }
    return false;
}

static uint64_t
derived_value(const struct event_row *event, struct totals *totals)
{
    uint64_t sum = 0;

    derive(totals);
    for (size_t i = 0; i < event->signal_count; i++)
        sum += totals->signal[event->signals[i]];
    return sum;
}

/* Whether the event moves when the signal does. */
static bool
depends_on(const struct event_row *event, unsigned signal)
{
    struct totals before = probe_totals(3), after = before;

    after.signal[signal] += UINT64_C(1) << 34;
    return derived_value(event, &before) != derived_value(event, &after);
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
    gateway.epoch++;
    plugin_reset();
}

void
gateway_retranslated(void)
{
    if (gateway.parts != tally_plugin.parts)
        plugin_set_parts(gateway.parts);
    gateway.memory->page.epoch = gateway.epoch;
}

static bool
start(void)
{
    void *memory = mmap(HOME, sizeof(struct memory), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct need *needs = calloc(machine()->event_count, sizeof(*needs));

    if (memory == MAP_FAILED || needs == NULL) {
        free(needs);
        return false;
    }
    gateway.memory = memory;
    gateway.memory->page.generation = 1;
    gateway.needs = needs;
    gateway.parts = tally_plugin.parts;
    find_derived();
    for (unsigned i = 0; i < tally_plugin.chip.slots_used; i++) {
        if (tally_plugin.counts[i] != NULL)
            gateway_thread_starts(i, tally_plugin.counts[i]->maker);
    }
    count_signal(SIGNAL_INSTRUCTIONS);
    gateway_translate_again();
    return true;
}

void
gateway_thread_starts(unsigned vcpu, unsigned maker)
{
    const struct region_strand *counts = tally_plugin.counts[vcpu];

    if (gateway.memory == NULL || counts->thread >= GATEWAY_THREADS)
        return;
    struct gateway_live *live = &gateway.memory->live[counts->thread];
    live->maker = maker;
    live->strand = counts->strand;
    gateway_lives[vcpu] = live;
}

/* Of all turns; see exec.c for what is folded. */
static inline uint64_t
dynamic_count(const struct region_strand *counts, unsigned signal)
{
    uint64_t sum = counts->folded.signal[signal];

    for (unsigned t = 0; t < tally_plugin.region.head->own_turns; t++)
        sum += counts->totals[t].signal[signal];
    return sum;
}

void
gateway_thread_ends(unsigned vcpu)
{
    const struct region_strand *counts = tally_plugin.counts[vcpu];

    if (gateway_lives[vcpu] == NULL)
        return;
    gateway_lives[vcpu] = NULL;
    monitor_thread_ends(vcpu);
    watch_stop(vcpu);
    struct totals *kept = malloc(sizeof(*kept));
    for (unsigned s = 0; kept != NULL && s < SIGNAL_COUNT; s++)
        kept->signal[s] = dynamic_count(counts, s);
    gateway.ended[counts->thread] = kept;
}

void
gateway_forks(unsigned vcpu)
{
    if (gateway.memory == NULL)
        return;
    for (unsigned i = 0; i < REGION_STRANDS; i++) {
        gateway_lives[i] = NULL;
        watch_stop(i);
    }
    monitor_forget();
    for (unsigned i = 0; i < GATEWAY_THREADS; i++) {
        free(gateway.ended[i]);
        gateway.ended[i] = NULL;
    }
    memset(&gateway.memory->live[0], 0, sizeof(gateway.memory->live[0]));
    gateway.memory->page.generation++;
    gateway_thread_starts(vcpu, 0);
}

/* Translation */

static void
on_live(unsigned vcpu, void *data)
{
    gateway_count(tally_strands[vcpu], vcpu,
                  ((const struct block *)data)->index);
}

static void
register_inline(struct qemu_plugin_tb *tb, const struct block *block)
{
    const int16_t *fixed = tally_plugin.region.infos[block->index].fixed;

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
    if (!p->threaded && !gateway_watching && p->window == WINDOW_ALL &&
        p->window_open && gateway_lives[0] != NULL)
        register_inline(tb, block);
    else
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, on_live, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)block);
}

/* Answers */

static void
answer_hello(unsigned vcpu, struct gateway_hello *hello)
{
    const struct plugin *p = &tally_plugin;
    const uint64_t clock = p->session->request.params[PARAM_CLOCK];
    const bool same = hello->version == gateway_word(GATEWAY_VERSION);

    hello->version = gateway_word(GATEWAY_VERSION);
    if (!same || (gateway.memory == NULL && !start()))
        return;
    const struct gateway_live *live = gateway_lives[vcpu];
    if (live == NULL)
        return;
    hello->page = gateway_word((uintptr_t)&gateway.memory->page);
    hello->live = gateway_word((uintptr_t)live);
    hello->ring = gateway_word(
        (uintptr_t)&gateway.memory->rings[p->counts[vcpu]->thread]);
    hello->thread = gateway_word(p->counts[vcpu]->thread);
    hello->generation = gateway_word(gateway.memory->page.generation);
    hello->rate = gateway_word((UINT64_C(1000000000) << 20) /
                               (clock != 0 ? clock : 1000000000));
    hello->slot = gateway_word(SIGNAL_INSTRUCTIONS);
    hello->strands =
        gateway_word((uint64_t)p->chip.core_count * p->chip.strands_per_core);
    snprintf(hello->machine, sizeof(hello->machine), "%s", machine()->name);
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
    const uint32_t parts = chip_parts(&e, 1, p->session->request.params);
    const bool alone =
        tally_strands[0] != NULL && atomic_load(&p->chip.live) == 1;

    if (e->fidelity == FIDELITY_IDLE)
        return tally_fail(log, TALLY_EIDLE, "%s cannot count on %s: %s",
                          e->name, machine()->name,
                          e->reason != NULL ? e->reason : "not modelled");
    if (p->data_filter)
        return tally_fail(log, TALLY_ERULE,
                          "a program does not count itself under --filter "
                          "data=");
    if (e->signal_count == 1 && e->signals[0] == SIGNAL_STALL_ISSUE)
        return tally_fail(log, TALLY_EIDLE,
                          "%s is known when the program has ended", e->name);
    if ((parts & ~gateway.parts) != 0 && !alone)
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
    const uint32_t parts =
        chip_parts(&e, 1, tally_plugin.session->request.params);
    struct need *n = &gateway.needs[e - machine()->events];
    bool all_fixed = true, added = (parts & ~gateway.parts) != 0;

    if (n->known)
        return false;
    gateway.parts |= parts;
    find_derived();
    for (size_t i = 0; i < e->signal_count; i++) {
        n->derived |= gateway.derived[e->signals[i]];
        all_fixed &= e->signals[i] < SIGNAL_FIXED_COUNT;
    }
    for (unsigned s = 0; s < SIGNAL_COUNT; s++) {
        if (n->derived ? depends_on(e, s) : sums(e, s))
            n->uses[n->used++] = (uint16_t)s;
    }
    for (unsigned i = 0; i < n->used && n->uses[i] < SIGNAL_FIXED_COUNT; i++)
        added |= count_signal(n->uses[i]);
    if (!n->derived && all_fixed && e->signal_count <= GATEWAY_SUMMANDS)
        n->summands = (uint8_t)e->signal_count;
    n->known = true;
    return added;
}

void
gateway_learn(const struct event_row *event)
{
    if (check_event(event, NULL) == 0 && learn(event))
        gateway_translate_again();
}

struct gateway_ring *
gateway_ring_of(unsigned vcpu)
{
    return &gateway.memory->rings[tally_plugin.counts[vcpu]->thread];
}

uint64_t
gateway_epoch(void)
{
    return gateway.epoch;
}

static void
tell_event(const struct event_row *e, struct gateway_event *row)
{
    const size_t id = (size_t)(e - machine()->events);
    const struct need *n = &gateway.needs[id];

    row->id = gateway_word(id);
    row->summands = gateway_word(n->summands);
    for (size_t i = 0; i < n->summands; i++)
        row->slots[i] = gateway_word(e->signals[i]);
    snprintf(row->name, sizeof(row->name), "%s", e->name);
}

static int
choose_events(struct gateway_events *request, const struct tally_log *log,
              const struct event_row *const *events, size_t count)
{
    struct gateway_event *rows = guest(gateway_word(request->rows));
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
    for (size_t i = 0; i < count; i++)
        tell_event(events[i], &rows[i]);
    request->count = gateway_word(count);
    request->epoch = gateway_word(gateway.epoch);
    return 0;
}

static void
answer_events(struct gateway_events *request)
{
    const struct tally_log log = {keep_message, request};
    const struct event_row **events = NULL;
    size_t count = 0;

    request->message[0] = '\0';
    int error = event_list_parse(machine(), guest(gateway_word(request->text)),
                                 &log, &events, &count);
    if (error == 0)
        error = choose_events(request, &log,
                              (const struct event_row *const *)events, count);
    free(events);
    request->error = gateway_word((uint64_t)(int64_t)error);
}

/* Reading */

/* Where the counts of one thread are: the fixed signals in `live`, the others
 * in one of these. */
struct source {
    const struct gateway_live *live;
    const struct region_strand *counts; /* while it runs, else NULL */
    const struct totals *ended;         /* or NULL */
};

static inline uint64_t
signal_count(const struct source *from, unsigned signal)
{
    if (signal < SIGNAL_FIXED_COUNT)
        return from->live->value[signal];
    if (from->counts != NULL)
        return dynamic_count(from->counts, signal);
    return from->ended != NULL ? from->ended->signal[signal] : 0;
}

/* The signals that a derived event follows from. Of the others there is some
 * number, which it does not care for: 4 KB are not cleared at each reading. */
static void
assemble(const struct source *from, uint64_t id, struct totals *all)
{
    const struct need *n = &gateway.needs[id];

    for (unsigned i = 0; i < n->used; i++)
        all->signal[n->uses[i]] = signal_count(from, n->uses[i]);
}

static __thread struct totals assembled;

static bool
is_derived(uint64_t id)
{
    return id < machine()->event_count && gateway.needs[id].derived;
}

/* `all`: derived, for events that need it. */
static uint64_t
count_event(const struct source *from, const struct totals *all, uint64_t id)
{
    uint64_t sum = 0;

    if (id >= machine()->event_count)
        return from->live->value[SIGNAL_INSTRUCTIONS];
    const struct event_row *e = &machine()->events[id];
    for (size_t i = 0; i < e->signal_count; i++)
        sum += gateway.needs[id].derived ? all->signal[e->signals[i]]
                                         : signal_count(from, e->signals[i]);
    return sum;
}

uint64_t
gateway_event_count(unsigned vcpu, const struct event_row *event)
{
    const struct source from = {gateway_lives[vcpu], tally_plugin.counts[vcpu],
                                NULL};

    const uint64_t id = (uint64_t)(event - machine()->events);

    if (is_derived(id)) {
        assemble(&from, id, &assembled);
        derive(&assembled);
    }
    return count_event(&from, &assembled, id);
}

static bool
is_descendant(uint64_t thread, uint64_t of)
{
    const struct gateway_live *live = gateway.memory->live;

    while (thread != of && live[thread].maker != thread)
        thread = live[thread].maker;
    return thread == of;
}

/* Whether the request is of this thread, too. */
static bool
is_asked(const struct gateway_read *request, uint64_t thread)
{
    const uint64_t asked = gateway_word(request->thread);

    switch ((enum gateway_scope)gateway_word(request->scope)) {
    case GATEWAY_THREAD:
        return thread == asked;
    case GATEWAY_DESCENDANTS:
        return thread == asked || (thread >= gateway_word(request->since) &&
                                   is_descendant(thread, asked));
    case GATEWAY_STRAND:
        return gateway.memory->live[thread].strand == asked;
    default:
        return true;
    }
}

/* Those of the events that are derived, into `all`. */
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
        derive(all);
}

static void
add_source(const struct gateway_read *request, const struct source *from)
{
    const uint64_t *ids = guest(gateway_word(request->ids));
    uint64_t *values = guest(gateway_word(request->values));
    const uint64_t count = gateway_word(request->count);
    struct totals *all = &assembled;

    derive_all(from, ids, count, all);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t n = count_event(from, all, gateway_word(ids[i]));
        values[i] = gateway_word(gateway_word(values[i]) + n);
    }
}

static void
add_thread(const struct gateway_read *request, uint64_t thread,
           const struct region_strand *counts)
{
    const struct source from = {&gateway.memory->live[thread], counts,
                                gateway.ended[thread]};

    if (is_asked(request, thread))
        add_source(request, &from);
}

static void
add_all(const struct gateway_read *request)
{
    struct plugin *p = &tally_plugin;

    pthread_mutex_lock(&p->lock);
    for (unsigned i = 0; i < p->chip.slots_used; i++) {
        if (gateway_lives[i] != NULL)
            add_thread(request, p->counts[i]->thread, p->counts[i]);
    }
    for (unsigned i = 0; i < p->thread_count && i < GATEWAY_THREADS; i++) {
        if (gateway.ended[i] != NULL)
            add_thread(request, i, NULL);
    }
    pthread_mutex_unlock(&p->lock);
}

static void
answer_read(unsigned vcpu, struct gateway_read *request)
{
    const struct plugin *p = &tally_plugin;
    uint64_t *values = guest(gateway_word(request->values));
    const struct region_strand *own = p->counts[vcpu];

    memset(values, 0, gateway_word(request->count) * sizeof(*values));
    request->threads = gateway_word(p->thread_count);
    if (gateway_word(request->scope) == GATEWAY_THREAD &&
        gateway_word(request->thread) == own->thread)
        add_thread(request, own->thread, own);
    else
        add_all(request);
}

static int64_t
prctl_number(void)
{
    switch (tally_plugin.shape.isa) {
    case ISA_SPARC64:
        return 147;
    case ISA_X86_64:
        return 157;
    default:
        return 5153; /* MIPS, n64 */
    }
}

static void
answer(unsigned vcpu, uint64_t operation, uint64_t request)
{
    struct plugin *p = &tally_plugin;

    switch ((enum gateway_operation)operation) {
    case GATEWAY_READ:
        answer_read(vcpu, guest(request));
        break;
    case GATEWAY_EVENTS:
        pthread_mutex_lock(&p->lock);
        answer_events(guest(request));
        pthread_mutex_unlock(&p->lock);
        break;
    case GATEWAY_WATCH:
        pthread_mutex_lock(&p->lock);
        watch_answer(vcpu, guest(request));
        pthread_mutex_unlock(&p->lock);
        break;
    case GATEWAY_REGISTER:
        pthread_mutex_lock(&p->lock);
        monitor_answer(vcpu, guest(request));
        pthread_mutex_unlock(&p->lock);
        break;
    default:
        break;
    }
}

void
gateway_syscall(unsigned vcpu, int64_t number, uint64_t operation,
                uint64_t request)
{
    struct plugin *p = &tally_plugin;

    if (number == GATEWAY_CALL) {
        if (gateway_lives[vcpu] != NULL)
            answer(vcpu, operation, request);
    } else if (operation == GATEWAY_PRCTL && number == prctl_number() &&
               p->counts[vcpu] != NULL) {
        pthread_mutex_lock(&p->lock);
        answer_hello(vcpu, guest(request));
        pthread_mutex_unlock(&p->lock);
    }
}
