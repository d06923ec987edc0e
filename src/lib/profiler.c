/* SPDX-License-Identifier: MIT */
#include "lib/profiler_state.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "profile/call_id.h"

static_assert((int)TALLY_PROFILER_TABLE == (int)DUMP_FORM_TABLE &&
                  (int)TALLY_PROFILER_JSON == (int)DUMP_FORM_JSON,
              "public and internal forms are one");

struct profiler profiler = {
    .properties = {.log_table_size = 1024},
    .file = {.fd = -1},
};

/* The calling thread's state, in static memory from the thread's birth, so that
 * a signal handler may read it. */
static _Thread_local struct tally_profiler_thread *self
    __attribute__((tls_model("initial-exec")));

static const struct profiler_source *
source(void)
{
    return profiler.source != NULL ? profiler.source : &profiler_counters;
}

static inline uint64_t
counter_width(void)
{
    const uint64_t bits = profiler.properties.counter_bits;

    return bits != 0 ? bits : source()->width;
}

int
tally_profiler_set_property(const char *name, const char *value)
{
    lock_take(&profiler.lock);
    const int error =
        profiler.ready
            ? tally_fail(&profiler.log, TALLY_ERULE,
                         "%s is set before the first start, not after it", name)
            : profiler_property(&profiler.properties, name, name, value,
                                &profiler.log);
    lock_give(&profiler.lock);
    return error;
}

void
tally_profiler_set_log(const struct tally_log *log)
{
    lock_take(&profiler.lock);
    profiler.log = log != NULL ? *log : (struct tally_log){0};
    lock_give(&profiler.lock);
}

static void
end_thread(void *thread)
{
    struct tally_profiler_thread *const t = thread;

    self = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    for (unsigned i = 0; i < t->chosen_count; i++)
        source()->close(&t->chosen[i].set);
    t->chosen_count = 0;
    source()->close(&t->clock);
}

/* Forgets the threads and the file, in a child of fork(): both are the
 * parent's. */
static void
begin_child(void)
{
    self = NULL;
    profiler.lock = (struct lock){0};
    profiler.ready = false;
    profiler.thread_count = 0;
    atomic_store(&profiler.threads, NULL);
    call_file_close(&profiler.file);
    if (strstr(profiler.properties.buffer_file, "%p") == NULL)
        profiler.properties.buffer_file[0] = '\0';
    if (strstr(profiler.properties.dump_file, "%p") == NULL)
        profiler.properties.dump_file[0] = '\0';
}

static void
cut_turns(void)
{
    char *next = strcpy(profiler.list, profiler.properties.events);

    profiler.turn_count = 0;
    while (*next != '\0' && profiler.turn_count < CALL_LOG_SELECTIONS) {
        profiler.turns[profiler.turn_count++] = next;
        next += strcspn(next, ";");
        if (*next != '\0')
            *next++ = '\0';
    }
}

/* Writes a new place into the file of the buffers, which has the text of
 * profiler_calls_location.txt too. */
static void
keep_place(const struct tally_profiler_site *site)
{
    char text[DUMP_LINE_SIZE];

    if (profiler.file.head != NULL && !profiler_is_known(site))
        call_file_text(&profiler.file, text,
                       profiler_place(site, text, sizeof(text)));
}

static int
open_file(void)
{
    char path[PATH_MAX];
    const struct profiler_properties *p = &profiler.properties;

    if (p->buffer_file[0] == '\0')
        return 0;
    if (!profiler_path(p->buffer_file, path, sizeof(path)))
        return tally_fail(&profiler.log, TALLY_ERANGE, "%s is too long a path",
                          p->buffer_file);
    if (call_file_create(path,
                         call_log_bytes(p->log_table_size, p->user_data_size),
                         &profiler.file) != 0)
        return tally_fail(&profiler.log, TALLY_ESYSTEM, "cannot make %s: %s",
                          path, strerror(errno));
    profiler_keep_names(&profiler.file);
    for (const struct tally_profiler_site *site = atomic_load(&profiler.sites);
         site != NULL; site = site->next)
        keep_place(site);
    return 0;
}

/* Prepares the process, at its first start. The lock is held. */
static int
begin(void)
{
    static bool hooked; /* survives fork(), as the hooks do */

    if (profiler.ready)
        return 0;
    int error = profiler_environment(&profiler.properties, &profiler.log);
    if (error != 0)
        return error;
    if (call_log_bytes(profiler.properties.log_table_size,
                       profiler.properties.user_data_size) == 0)
        return tally_fail(&profiler.log, TALLY_ERANGE, "too many records");
    cut_turns();
    profiler.rotates = profiler.properties.rotate && profiler.turn_count > 1;
    if (source()->machine != NULL)
        source()->machine(profiler.machine);
    error = open_file();
    if (error != 0)
        return error;
    if (!hooked && (pthread_key_create(&profiler.key, end_thread) != 0 ||
                    pthread_atfork(NULL, NULL, begin_child) != 0 ||
                    atexit(profiler_dump_at_exit) != 0))
        return tally_fail(&profiler.log, TALLY_ESYSTEM,
                          "no room for a hook at exit");
    hooked = profiler.ready = true;
    return 0;
}

static void *
log_memory(size_t bytes)
{
    if (profiler.file.head != NULL)
        return call_file_grow(&profiler.file);
    void *const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

/* Returns the number that tells the thread's block in a dump. Of threads that
 * share a strand, the later ones have numbers of strands that do not exist. */
static uint64_t
cpu_of(struct tally_profiler_thread *t)
{
    uint64_t strands, cpu;

    t->number = profiler.thread_count++;
    if (!source()->strand(&t->strand, &strands))
        return t->strand = t->number;
    cpu = t->strand;
    for (const struct tally_profiler_thread *other =
             atomic_load_explicit(&profiler.threads, memory_order_relaxed);
         other != NULL; other = other->next)
        if (other->strand == t->strand)
            cpu += strands;
    return cpu;
}

static int
begin_thread(struct tally_profiler_thread **thread)
{
    const struct profiler_properties *p = &profiler.properties;
    const size_t bytes = call_log_bytes(p->log_table_size, p->user_data_size);
    struct tally_profiler_thread *t = calloc(1, sizeof(*t));
    int error = 0;

    if (t != NULL)
        error = source()->open("", !p->instructions, &profiler.log, &t->clock);
    if (t != NULL && error == 0)
        error = source()->start(&t->clock, &t->clock);
    if (error != 0) {
        free(t);
        return error;
    }
    void *memory = t != NULL ? log_memory(bytes) : NULL;
    if (memory == NULL) {
        free(t);
        return tally_fail(&profiler.log, TALLY_ENOMEM,
                          "no room for %llu records of a thread: %s",
                          (unsigned long long)p->log_table_size,
                          strerror(errno));
    }
    call_log_init(&t->log, memory, cpu_of(t), p->log_table_size,
                  p->user_data_size);
    pthread_setspecific(profiler.key, t);
    t->next = atomic_load_explicit(&profiler.threads, memory_order_relaxed);
    atomic_store_explicit(&profiler.threads, t, memory_order_release);
    *thread = self = t;
    return 0;
}

static int
own_thread(struct tally_profiler_thread **thread)
{
    *thread = self;
    if (*thread != NULL)
        return 0;
    lock_take(&profiler.lock);
    int error = begin();
    if (error == 0)
        error = begin_thread(thread);
    lock_give(&profiler.lock);
    return error;
}

struct tally_profiler_thread *
tally_profiler_self(void)
{
    struct tally_profiler_thread *t;

    return own_thread(&t) == 0 ? t : NULL;
}

size_t
profiler_place(const struct tally_profiler_site *site, char *text, size_t size)
{
    const int length = snprintf(text, size, "%x %s:%u:%s\n", site->id,
                                site->file, site->line, site->function);

    if (length < 0 || (size_t)length >= size)
        return 0;
    return (size_t)length;
}

bool
profiler_is_known(const struct tally_profiler_site *site)
{
    const struct tally_profiler_site *old = site->next;

    while (old != NULL && (old->id != site->id || old->line != site->line ||
                           strcmp(old->file, site->file) != 0 ||
                           strcmp(old->function, site->function) != 0))
        old = old->next;
    return old != NULL;
}

/* Returns the id of a place in the program, and adds the place to the list
 * once. Any thread and any signal handler may call this. */
static uint32_t
meet(struct tally_profiler_site *site)
{
    const uint32_t id = call_id(site->file, site->line, site->function);
    uint32_t none = 0;

    if (!__atomic_compare_exchange_n(&site->id, &none, id, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return none;
    struct tally_profiler_site *first = atomic_load(&profiler.sites);
    do
        site->next = first;
    while (!atomic_compare_exchange_weak(&profiler.sites, &first, site));
    keep_place(site);
    return id;
}

static inline uint32_t
caller_of(struct tally_profiler_site *site)
{
    const uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);

    return __builtin_expect(id != 0, 1) ? id : meet(site);
}

static struct profiler_chosen *
find_chosen(struct tally_profiler_thread *t, unsigned group, const char *events)
{
    for (unsigned i = 0; i < t->chosen_count; i++)
        if (t->chosen[i].group == group &&
            strcmp(t->chosen[i].events, events) == 0)
            return &t->chosen[i];
    return NULL;
}

/* Returns the code as the document has it: without the group, where that is the
 * unit's. */
static uint64_t
code_in(unsigned group, uint64_t code)
{
    return code >> 32 == DUMP_UNIT + (group > 0 ? group : 1) ? (uint32_t)code
                                                             : code;
}

/* Returns whether events that do not open were told of already: else each
 * thread, and each start of a loop, would log the same line. */
static bool
is_told(const char *events)
{
    lock_take(&profiler.lock);
    const bool told = *events != '\0' && strcmp(events, profiler.refused) == 0;
    strcpy(profiler.refused, events);
    lock_give(&profiler.lock);
    return told;
}

/* Opens events for a thread. */
static int
open_chosen(const char *events, struct profiler_set *set)
{
    const struct tally_log silent = {0};
    const bool cycles = !profiler.properties.instructions;

    int error = source()->open(events, cycles, &silent, set);
    /* A second try logs why the first one failed. */
    if (error != 0 && !is_told(events))
        error = source()->open(events, cycles, &profiler.log, set);
    return error;
}

static int
choose(struct tally_profiler_thread *t, unsigned group, const char *events,
       struct profiler_chosen **chosen)
{
    *chosen = find_chosen(t, group, events);
    if (*chosen != NULL)
        return 0;
    if (strlen(events) >= PROFILER_EVENTS ||
        t->chosen_count == CALL_LOG_SELECTIONS)
        return tally_fail(&profiler.log, TALLY_ERULE,
                          "a thread chooses at most %d pairs of events, each "
                          "of %d bytes",
                          CALL_LOG_SELECTIONS, PROFILER_EVENTS - 1);
    struct profiler_chosen *c = &t->chosen[t->chosen_count];
    const int error = open_chosen(events, &c->set);
    if (error != 0)
        return error;
    const struct call_selection selection = {group, code_in(group, c->set.hi),
                                             code_in(group, c->set.lo)};
    const int index = call_log_select(&t->log, &selection);
    if (index < 0) {
        source()->close(&c->set);
        return TALLY_ERULE;
    }
    c->selection = (unsigned)index;
    c->group = group;
    strcpy(c->events, events);
    const uint64_t codes[] = {selection.hi, selection.lo};
    const int unnamed = profiler_name_events(source(), group, codes, c);
    if (unnamed != 0) {
        source()->close(&c->set);
        return unnamed;
    }
    c->quick = profiler.source == NULL && !profiler.rotates &&
               profiler_is_quick(&c->set) && counter_width() >= 64;
    t->chosen_count++;
    *chosen = c;
    return 0;
}

/* Starts a group with the chosen events, from 0, in place of what it counted.
 */
static int
count_chosen(const struct tally_profiler_thread *t, struct profiler_group *g,
             struct profiler_chosen *chosen)
{
    struct profiler_chosen *const old = g->chosen;
    int error = 0;

    g->chosen = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    if (old != chosen) {
        if (old != NULL)
            error = source()->stop(&old->set);
        if (error == 0)
            error = source()->start(&chosen->set, &t->clock);
    }
    if (error == 0)
        error = source()->read(&chosen->set, &g->base);
    atomic_signal_fence(memory_order_seq_cst);
    if (error == 0)
        g->chosen = chosen;
    return error;
}

static void
write_start(struct tally_profiler_thread *t, const struct profiler_group *g,
            const struct profiler_chosen *chosen, uint64_t pc, uint32_t caller)
{
    call_log_add(&t->log, &(struct call){
                              .cycles = g->base.cycles,
                              .pc = pc,
                              .caller = caller,
                              .call = DUMP_CALL_START,
                              .selection = chosen->selection,
                          });
}

/* Returns the events of the group's turn where the property `events` lists
 * turns, else those asked for; an empty text: none. */
static const char *
events_of(const struct profiler_group *g, const char *asked)
{
    if (profiler.turn_count > 0)
        return profiler.turns[g->turn % profiler.turn_count];
    return asked != NULL ? asked : "";
}

/* All pairs, so that no update opens one. */
static int
choose_turns(struct tally_profiler_thread *t, unsigned group)
{
    struct profiler_chosen *chosen;
    int error = 0;

    for (unsigned i = 0; i < profiler.turn_count && error == 0; i++)
        error = choose(t, group, profiler.turns[i], &chosen);
    return error;
}

__attribute__((noinline)) int
tally_profiler_start_at(struct tally_profiler_site *site, unsigned group,
                        const char *events)
{
    const uint64_t pc = (uint64_t)(uintptr_t)__builtin_return_address(0);
    struct tally_profiler_thread *t;
    struct profiler_chosen *chosen;

    if (group >= TALLY_PROFILER_GROUPS)
        return tally_fail(&profiler.log, TALLY_ERANGE,
                          "groups are 0 to %d, not %u",
                          TALLY_PROFILER_GROUPS - 1, group);
    int error = own_thread(&t);
    if (error != 0)
        return error;
    struct profiler_group *const g = &t->groups[group];
    error = choose_turns(t, group);
    if (error == 0)
        error = choose(t, group, events_of(g, events), &chosen);
    if (error == 0)
        error = count_chosen(t, g, chosen);
    if (error != 0)
        return error;
    g->turned = false;
    write_start(t, g, chosen, pc, caller_of(site));
    return 0;
}

/* Goes on to the next pair of events. A pair that cannot be opened leaves all
 * as it is. */
static void
take_turn(struct tally_profiler_thread *t, struct profiler_group *g,
          unsigned group, uint64_t pc, uint32_t caller)
{
    struct profiler_chosen *chosen;

    g->turn++;
    if (choose(t, group, events_of(g, NULL), &chosen) != 0 ||
        count_chosen(t, g, chosen) != 0)
        return;
    g->turned = true;
    g->pc = pc;
    g->caller = caller;
}

static inline __attribute__((always_inline)) uint64_t
counted(uint64_t now, uint64_t base, unsigned bit, unsigned *overflow)
{
    const uint64_t width = counter_width();
    const uint64_t count = now - base;

    if (width >= 64 || count >> width == 0)
        return count;
    *overflow |= bit;
    return count & ((UINT64_C(1) << width) - 1);
}

/* Returns the events of the group, read once: a signal handler may stop the
 * group during a call. NULL: the group counts nothing, or does not exist. */
static inline __attribute__((always_inline)) struct profiler_chosen *
chosen_now(const struct tally_profiler_thread *t, unsigned group)
{
    if (t == NULL || group >= TALLY_PROFILER_GROUPS)
        return NULL;
    return __atomic_load_n(&t->groups[group].chosen, __ATOMIC_RELAXED);
}

/* Updates any pair of events, at `pc`. */
static __attribute__((noinline)) int
update(struct tally_profiler_thread *t, unsigned group,
       const struct profiler_chosen *chosen, struct call *call,
       struct tally_profiler_site *site)
{
    struct profiler_group *const g = &t->groups[group];
    struct profiler_reading now;
    const int error = source()->read(&chosen->set, &now);

    if (error != 0)
        return error;
    call->cycles = now.cycles;
    call->caller = caller_of(site);
    call->call = DUMP_CALL_UPDATE;
    call->selection = chosen->selection;
    call->hi = counted(now.hi, g->base.hi, 2, &call->overflow);
    call->lo = counted(now.lo, g->base.lo, 1, &call->overflow);
    if (g->turned) {
        g->turned = false;
        write_start(t, g, chosen, g->pc, g->caller);
    }
    call_log_add(&t->log, call);
    if (profiler.rotates)
        take_turn(t, g, group, call->pc, call->caller);
    return 0;
}

/* Updates a pair whose values are at hand, without a call, so that no register
 * is saved for one. */
static inline __attribute__((always_inline)) void
update_quick(const struct tally_profiler_thread *t,
             const struct profiler_group *g,
             const struct profiler_chosen *chosen, struct call *call)
{
    struct profiler_reading now;

    profiler_quick(&chosen->set, &now);
    call->cycles = now.cycles;
    call->call = DUMP_CALL_UPDATE;
    call->selection = chosen->selection;
    call->hi = now.hi - g->base.hi;
    call->lo = now.lo - g->base.lo;
    call_log_add(&t->log, call);
}

__attribute__((noinline)) int
tally_profiler_update_at(struct tally_profiler_site *site, unsigned group,
                         const uint64_t *words, size_t count)
{
    struct tally_profiler_thread *const t = self;
    const struct profiler_chosen *const chosen = chosen_now(t, group);

    if (chosen == NULL)
        return TALLY_ERULE;
    struct call call = {
        .pc = (uint64_t)(uintptr_t)__builtin_return_address(0),
        .caller = __atomic_load_n(&site->id, __ATOMIC_RELAXED),
        .words = words,
        .word_count = count,
    };
    if (__builtin_expect(!chosen->quick || call.caller == 0, 0)) {
        struct call slow = call;
        return update(t, group, chosen, &slow, site);
    }
    update_quick(t, &t->groups[group], chosen, &call);
    return 0;
}

int
tally_profiler_stop_at(unsigned group)
{
    struct tally_profiler_thread *const t = self;
    const struct profiler_chosen *const chosen = chosen_now(t, group);

    if (chosen == NULL)
        return TALLY_ERULE;
    struct profiler_group *const g = &t->groups[group];
    g->chosen = NULL;
    g->turned = false;
    atomic_signal_fence(memory_order_seq_cst);
    return source()->stop(&chosen->set);
}

int
tally_profiler_values_at(unsigned group, struct tally_profiler_values *values)
{
    const struct tally_profiler_thread *const t = self;
    const struct profiler_chosen *const chosen = chosen_now(t, group);
    struct profiler_reading now;
    unsigned overflow = 0;

    if (chosen == NULL)
        return TALLY_ERULE;
    const struct profiler_group *const g = &t->groups[group];
    const int error = source()->read(&chosen->set, &now);
    if (error != 0)
        return error;
    values->cycles = now.cycles;
    values->hi = counted(now.hi, g->base.hi, 2, &overflow);
    values->lo = counted(now.lo, g->base.lo, 1, &overflow);
    values->overflow = overflow;
    return 0;
}
