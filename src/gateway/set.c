/* SPDX-License-Identifier: MIT */
#include "gateway/set.h"

#include <stdlib.h>
#include <string.h>

#include "gateway/doorbell.h"
#include "gateway/register.h"
#include "gateway/host_signal.h"

struct event {
    uint64_t summands;                      /* 0: ring */
    const uint64_t *live[GATEWAY_SUMMANDS]; /* of the set's thread */
    uint64_t base;                          /* live value when counting began */
    uint64_t value;                         /* counted before the last stop */
    char name[GATEWAY_NAME];
};

struct gateway_set {
    struct gateway_set_options options;
    const struct gateway_page *page;
    const struct gateway_live *live;
    uint64_t generation, rate;
    struct gateway_read request;
    const uint64_t *instructions;
    bool started;
    bool paged; /* no event needs to ring */
    size_t count;
    struct event *events; /* owned */
    /* The request to the plugin: ids and values of the events and, last, of
     * instructions. */
    uint64_t *ids, *now;              /* owned */
    uint64_t time_base, time_counted; /* in instructions */
    const struct gateway_ring *ring;
    uint64_t taken;             /* of the ring */
    struct gateway_watch watch; /* of the first event; period 0: stopped */
};

/* Refuses a call in a forked child. Kept out of line: a function without calls
 * needs no register window on SPARC, and a window costs 40 ns under QEMU. */
static __attribute__((noinline, cold)) int
refuse(const struct gateway_set *s)
{
    return tally_fail(&s->options.log, TALLY_ERULE,
                      "these counters belong to the process that opened them, "
                      "which made this one by fork(): open others here");
}

static inline bool
ours(const struct gateway_set *s)
{
    return gateway_load(&s->page->generation) == s->generation;
}

int
gateway_set_create(const struct gateway_set_options *options,
                   const struct gateway_hello *hello, struct gateway_set **set)
{
    struct gateway_set *s = calloc(1, sizeof(*s));

    if (s == NULL)
        return tally_fail(&options->log, TALLY_ENOMEM,
                          "no memory for counters");
    s->options = *options;
    s->page = (const struct gateway_page *)(uintptr_t)hello->page;
    s->live = (const struct gateway_live *)(uintptr_t)hello->live;
    s->instructions = &s->live->value[hello->slot];
    s->ring = (const struct gateway_ring *)(uintptr_t)hello->ring;
    s->taken = gateway_load(&s->ring->head);
    s->watch.left = options->period;
    s->generation = hello->generation;
    s->request.scope = options->scope;
    s->request.thread =
        options->scope == GATEWAY_STRAND ? options->strand : hello->thread;
    s->rate = hello->rate;
    s->paged = options->scope == GATEWAY_THREAD;
    *set = s;
    return 0;
}

size_t
gateway_set_count(const struct gateway_set *s)
{
    return s->count;
}

const char *
gateway_set_name(const struct gateway_set *s, size_t index)
{
    return s->events[index].name;
}

/* Asks for the values of all events and of instructions, counted from the
 * plugin's zero. */
static inline void
ring_values(struct gateway_set *s)
{
    gateway_lookup(&s->request);
}

static uint64_t
load_event(const struct event *e)
{
    uint64_t sum = gateway_load(e->live[0]);

    for (uint64_t i = 1; i < e->summands; i++)
        sum += gateway_load(e->live[i]);
    return sum;
}

static void
get_values(struct gateway_set *s)
{
    if (!s->paged) {
        ring_values(s);
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        s->now[i] = load_event(&s->events[i]);
    s->now[s->count] = gateway_load(s->instructions);
}

static int
grow(struct gateway_set *s, size_t more)
{
    const size_t room = s->count + more;
    struct event *events = realloc(s->events, room * sizeof(*events));

    if (events != NULL)
        s->events = events;
    uint64_t *ids = realloc(s->ids, (room + 1) * sizeof(*ids));
    if (ids != NULL)
        s->ids = ids;
    uint64_t *now = realloc(s->now, (room + 1) * sizeof(*now));
    if (now != NULL)
        s->now = now;
    if (events == NULL || ids == NULL || now == NULL)
        return tally_fail(&s->options.log, TALLY_ENOMEM,
                          "no memory for %zu events", more);
    return 0;
}

static void
take_event(struct gateway_set *s, const struct gateway_event *row)
{
    struct event *e = &s->events[s->count];

    memset(e, 0, sizeof(*e));
    e->summands = row->summands;
    for (uint64_t i = 0; i < row->summands; i++)
        e->live[i] = &s->live->value[row->slots[i]];
    memcpy(e->name, row->name, sizeof(e->name));
    s->ids[s->count++] = row->id;
    s->paged = s->paged && row->summands != 0;
}

static int
start_watch(struct gateway_set *s)
{
    if (s->options.period == 0 || s->watch.period != 0)
        return 0;
    s->watch.period = s->options.period;
    s->watch.signal = gateway_host_signal(s->options.signal);
    gateway_ring(GATEWAY_WATCH, &s->watch);
    if (s->watch.busy == 0) {
        gateway_await(s->page, s->watch.epoch);
        return 0;
    }
    s->watch.period = 0;
    return tally_fail(&s->options.log, TALLY_ERULE,
                      "a thread has one handle with a period at a time");
}

static void
stop_watch(struct gateway_set *s)
{
    if (s->watch.period == 0)
        return;
    s->watch.period = 0;
    gateway_ring(GATEWAY_WATCH, &s->watch);
}

/* The first event of a set with a period. */
static int
check_watch(struct gateway_set *s, const struct gateway_event *row)
{
    if (s->options.period == 0 || s->count > 0)
        return 0;
    if (row->summands == 0)
        return tally_fail(&s->options.log, TALLY_EIDLE,
                          "%s has no overflows on an emulated machine: only "
                          "what instructions raise has",
                          row->name);
    s->watch.summands = row->summands;
    memcpy(s->watch.slots, row->slots, sizeof(s->watch.slots));
    return 0;
}

int
gateway_set_overflows(struct gateway_set *s,
                      void (*take)(void *user, uint64_t ip, uint64_t time_ns,
                                   uint64_t lost),
                      void *user)
{
    if (!ours(s))
        return refuse(s);
    if (s->options.period == 0)
        return tally_fail(&s->options.log, TALLY_ERULE,
                          "no event has a period");
    const uint64_t head = gateway_load(&s->ring->head);
    uint64_t lost = head - s->taken > GATEWAY_OVERFLOWS
                        ? head - s->taken - GATEWAY_OVERFLOWS
                        : 0;
    for (s->taken += lost; s->taken < head; s->taken++, lost = 0) {
        const struct gateway_overflow *row =
            &s->ring->rows[s->taken % GATEWAY_OVERFLOWS];
        take(user, gateway_load(&row->ip), gateway_load(&row->time_ns), lost);
    }
    return 0;
}

int
gateway_set_add(struct gateway_set *s, const char *text)
{
    struct gateway_event rows[GATEWAY_LIST];
    struct gateway_events request = {
        .text = (uintptr_t)text,
        .room = GATEWAY_LIST,
        .rows = (uintptr_t)rows,
    };

    if (!ours(s))
        return refuse(s);
    if (s->started)
        return tally_fail(&s->options.log, TALLY_ERULE,
                          "events are added while the counters are stopped");
    gateway_ring(GATEWAY_EVENTS, &request);
    if (request.error != 0)
        return tally_fail(&s->options.log,
                          (enum tally_error)(int64_t)request.error, "%s",
                          request.message);
    int error = check_watch(s, &rows[0]);
    if (error == 0)
        error = grow(s, request.count);
    if (error != 0)
        return error;
    for (uint64_t i = 0; i < request.count; i++)
        take_event(s, &rows[i]);
    s->ids[s->count] = GATEWAY_INSTRUCTIONS;
    gateway_await(s->page, request.epoch);
    s->request.count = s->count + 1;
    s->request.ids = (uintptr_t)s->ids;
    s->request.values = (uintptr_t)s->now;
    if (s->request.since == 0) {
        ring_values(s);
        s->request.since = s->request.threads;
    }
    return 0;
}

static int
set_start(void *user)
{
    struct gateway_set *s = user;

    if (!ours(s))
        return refuse(s);
    if (s->started || s->count == 0)
        return 0;
    const int error = start_watch(s);
    if (error != 0)
        return error;
    get_values(s);
    for (size_t i = 0; i < s->count; i++)
        s->events[i].base = s->now[i] - s->events[i].value;
    s->time_base = s->now[s->count] - s->time_counted;
    s->started = true;
    return 0;
}

static int
set_stop(void *user)
{
    struct gateway_set *s = user;

    if (!ours(s))
        return refuse(s);
    if (!s->started)
        return 0;
    get_values(s);
    for (size_t i = 0; i < s->count; i++)
        s->events[i].value = s->now[i] - s->events[i].base;
    s->time_counted = s->now[s->count] - s->time_base;
    s->started = false;
    stop_watch(s);
    return 0;
}

static int
set_reset(void *user)
{
    struct gateway_set *s = user;

    if (!ours(s))
        return refuse(s);
    s->time_counted = 0;
    for (size_t i = 0; i < s->count; i++)
        s->events[i].value = 0;
    if (s->started) {
        s->started = false;
        set_start(s);
    }
    return 0;
}

/* Returns the time of the machine's clock in ns, at a cycle an instruction. */
static uint64_t
time_of(const struct gateway_set *s, uint64_t instructions)
{
    return instructions * s->rate >> 20;
}

static __attribute__((noinline)) void
read_stopped(const struct gateway_set *s, struct counter_reading *readings)
{
    const uint64_t time = time_of(s, s->time_counted);

    for (size_t i = 0; i < s->count; i++)
        readings[i] = (struct counter_reading){s->events[i].value, time, time};
}

static int
set_read(void *user, struct counter_reading *readings)
{
    struct gateway_set *s = user;

    if (__builtin_expect(!ours(s), 0))
        return refuse(s);
    if (!s->started) {
        read_stopped(s, readings);
        return 0;
    }
    if (!s->paged)
        ring_values(s);
    const uint64_t instructions =
        s->paged ? gateway_load(s->instructions) : s->now[s->count];
    const uint64_t time = time_of(s, instructions - s->time_base);
    for (size_t i = 0; i < s->count; i++) {
        const struct event *e = &s->events[i];
        const uint64_t now = s->paged ? load_event(e) : s->now[i];
        readings[i] = (struct counter_reading){now - e->base, time, time};
    }
    return 0;
}

bool
gateway_set_live(const struct gateway_set *s, size_t index, const uint64_t **at,
                 uint64_t *base)
{
    if (index >= s->count || !s->started || !ours(s) ||
        s->options.scope != GATEWAY_THREAD || s->events[index].summands != 1)
        return false;
    *at = s->events[index].live[0];
    *base = s->events[index].base;
    return true;
}

struct gateway_read *
gateway_set_request(struct gateway_set *s, const uint64_t **values)
{
    *values = s->now;
    return &s->request;
}

static void
set_close(void *user)
{
    struct gateway_set *s = user;

    if (s == NULL)
        return;
    if (ours(s))
        stop_watch(s);
    free(s->events);
    free(s->ids);
    free(s->now);
    free(s);
}

const struct counter_ops gateway_set_ops = {
    .start = set_start,
    .stop = set_stop,
    .read = set_read,
    .reset = set_reset,
    .close = set_close,
};
