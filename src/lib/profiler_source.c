/* SPDX-License-Identifier: MIT */
#include "lib/profiler_source.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gateway/doorbell.h"
#include "gateway/set.h"
#include "tally/counter.h"
#include "tally/event.h"

static inline uint64_t
clock_now(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t now;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
#else
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

/*
 * The code that dumps have. Of the machine `host`: the unit, from 1, above the
 * code there. What is no row has a number of its name's under unit 255.
 */
static uint64_t
code_of(const char *machine, const char *name)
{
    static const char *const units[] = {"hardware", "software", "cache",
                                        "topdown"};
    char plain[160];

    snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, ":"), name);
    const struct tally_event *event =
        tally_event_find(tally_machine_find(machine), plain);
    if (event != NULL && strcmp(machine, "host") != 0)
        return (uint32_t)(tally_event_code(event) >= 0
                              ? tally_event_code(event)
                              : tally_event_number(event));
    for (uint64_t i = 0; event != NULL && i < 4; i++)
        if (strcmp(tally_event_unit(event), units[i]) == 0)
            return (i + 1) << 32 | (uint32_t)tally_event_code(event);
    uint32_t hash = 2166136261;
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619;
    return UINT64_C(255) << 32 | hash;
}

static int
take_codes(const struct tally_counter *counter, const char *machine,
           const struct tally_log *log, struct profiler_set *set)
{
    struct tally_counted counted;
    const size_t count = tally_counter_count(counter);

    if (count < 1 || count > 2)
        return tally_fail(log, TALLY_ERULE,
                          "the profiler counts one event or two at a time, "
                          "not %zu",
                          count);
    tally_counter_event(counter, 0, &counted);
    set->hi = set->lo = code_of(machine, counted.name);
    set->events = (unsigned)count;
    if (tally_counter_event(counter, 1, &counted) == 0)
        set->lo = code_of(machine, counted.name);
    return 0;
}

/* Where each event can be loaded from, if all can. */
static void
find_live(const char *events, const struct gateway_hello *hello,
          struct profiler_set *to)
{
    const struct gateway_set_options options = {.scope = GATEWAY_THREAD};
    struct gateway_set *set;
    const uint64_t *live[2];
    uint64_t base;

    if (gateway_set_create(&options, hello, &set) != 0)
        return;
    bool found = gateway_set_add(set, events) == 0 &&
                 gateway_set_count(set) == to->events &&
                 gateway_set_ops.start(set) == 0;
    for (size_t i = 0; found && i < to->events; i++)
        found = gateway_set_live(set, i, &live[i], &base);
    for (size_t i = 0; found && i < 2; i++)
        to->live[i] = live[i < to->events ? i : to->events - 1];
    gateway_set_ops.close(set);
}

/* On an emulated machine events need no braces, and the clock is its own. */
static int
add_emulated(struct tally_counter *counter, const char *events, bool cycles,
             const struct gateway_hello *hello, const struct tally_log *log,
             struct profiler_set *set)
{
    int error = 0;

    if (*events != '\0') {
        error = tally_counter_add(counter, events);
        if (error == 0)
            error = take_codes(counter, hello->machine, log, set);
    }
    if (error == 0 && cycles)
        set->cycles = tally_counter_add(counter, "cycles") == 0;
    if (!set->cycles) {
        set->instructions =
            &((const struct gateway_live *)(uintptr_t)hello->live)
                 ->value[hello->slot];
        if (error == 0 && set->events > 0)
            find_live(events, hello, set);
    }
    return error;
}

static int
add_host(struct tally_counter *counter, const char *events,
         const struct tally_log *log, struct profiler_set *set)
{
    char group[PROFILER_EVENTS + 2];

    /* Braces make it one read; what has some of its own keeps them. */
    snprintf(group, sizeof(group), strchr(events, '{') ? "%s" : "{%s}", events);
    const int error = tally_counter_add(counter, group);
    return error == 0 ? take_codes(counter, "host", log, set) : error;
}

static int
open_set(const char *events, bool cycles, const struct tally_log *log,
         struct profiler_set *to)
{
    struct profiler_set set = {0};
    struct tally_counter_options options;
    struct tally_counter *counter;
    struct gateway_hello hello;
    const bool emulated = gateway_hello(&hello);

    if (*events == '\0' && !emulated) {
        *to = set;
        return 0;
    }
    tally_counter_options_init(&options, sizeof(options));
    if (log != NULL)
        options.log = *log;
    int error = tally_counter_open(&options, &counter);
    if (error != 0)
        return error;
    error = emulated ? add_emulated(counter, events, cycles, &hello, log, &set)
                     : add_host(counter, events, log, &set);
    if (error != 0) {
        tally_counter_close(counter);
        return error;
    }
    set.counters = counter;
    *to = set;
    return 0;
}

/* Second half of a word of which the first is who made the thread. */
static bool
strand_here(uint64_t *strand, uint64_t *strands)
{
    struct gateway_hello hello;

    if (!gateway_hello(&hello))
        return false;
    const struct gateway_live *const live =
        (const struct gateway_live *)(uintptr_t)hello.live;
    *strand = gateway_load((const void *)&live->maker) >> 32;
    *strands = hello.strands;
    return true;
}

static int
read_set(const struct profiler_set *set, struct profiler_reading *reading)
{
    struct tally_reading now[3];

    if (set->live[0] != NULL) {
        reading->hi = gateway_load(set->live[0]);
        reading->lo = gateway_load(set->live[1]);
        reading->cycles = gateway_load(set->instructions);
        return 0;
    }
    reading->hi = reading->lo = 0;
    if (set->counters != NULL) {
        const int error = tally_counter_read(set->counters, now, 3);
        if (error != 0)
            return error;
        if (set->events > 0) {
            reading->hi = now[0].value;
            reading->lo = now[set->events - 1].value;
        }
    }
    reading->cycles = set->cycles ? now[set->events].value + set->offset
                      : set->instructions != NULL
                          ? gateway_load(set->instructions)
                          : clock_now();
    return 0;
}

static int
start_set(struct profiler_set *set, const struct profiler_set *clock)
{
    struct profiler_reading own, thread;
    int error = set->counters != NULL ? tally_counter_start(set->counters) : 0;

    if (error != 0 || !set->cycles || !clock->cycles || clock == set)
        return error;
    error = read_set(set, &own);
    if (error == 0)
        error = read_set(clock, &thread);
    if (error == 0)
        set->offset += thread.cycles - own.cycles;
    return error;
}

static int
stop_set(const struct profiler_set *set)
{
    return set->counters != NULL ? tally_counter_stop(set->counters) : 0;
}

static void
close_set(struct profiler_set *set)
{
    tally_counter_close(set->counters);
    set->counters = NULL;
}

const struct profiler_source profiler_counters = {
    .width = 64,
    .strand = strand_here,
    .open = open_set,
    .start = start_set,
    .stop = stop_set,
    .read = read_set,
    .close = close_set,
};
