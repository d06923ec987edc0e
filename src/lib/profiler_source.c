/* SPDX-License-Identifier: MIT */
#include "lib/profiler_source.h"

#include <stdio.h>
#include <string.h>

#include "profile/dump.h"
#include "tally/counter.h"
#include "tally/event.h"

/* Returns the row of this host's event without its modifiers, or NULL. */
static const struct tally_event *
host_event(const char *name)
{
    char plain[160];

    snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, ":"), name);
    return tally_event_find(tally_machine_find("host"), plain);
}

/* Returns the unit's number and the code of an event of this host; an event
 * that is no row of the machine `host` has a number made of its name. */
static uint64_t
host_code(const char *name)
{
    static const char *const units[] = {"hardware", "software", "cache",
                                        "topdown"};
    const struct tally_event *event = host_event(name);

    for (uint64_t i = 0; event != NULL && i < 4; i++)
        if (strcmp(tally_event_unit(event), units[i]) == 0)
            return (i + 1) << 32 | (uint32_t)tally_event_code(event);
    return dump_name_code(name);
}

/* Returns the unit's number and the manual's code or number of a machine's
 * event; an event without either, a part of an event, and an event that shares
 * the code with one before it have a number made of the name. */
static uint64_t
machine_code(const char *machine, const char *name)
{
    const struct tally_machine *const m = tally_machine_find(machine);
    const struct tally_event *const event = tally_event_find(m, name);
    char text[96];

    if (event == NULL)
        return dump_name_code(name);
    const int32_t code = tally_event_code(event);
    const int32_t number = code >= 0 ? code : tally_event_number(event);
    if (code >= 0)
        snprintf(text, sizeof(text), "%s/0x%x", tally_event_unit(event),
                 (unsigned)code);
    else
        snprintf(text, sizeof(text), "%d", (int)number);
    if (number < 0 || tally_event_find(m, text) != event)
        return dump_name_code(tally_event_name(event));
    return (DUMP_UNIT + tally_event_unit_number(m, event)) << 32 |
           (uint32_t)number;
}

static uint64_t
code_of(const char *machine, const char *name)
{
    return strcmp(machine, "host") == 0 ? host_code(name)
                                        : machine_code(machine, name);
}

static int
check_count(size_t count, const struct tally_log *log)
{
    if (count >= 1 && count <= 2)
        return 0;
    return tally_fail(log, TALLY_ERULE,
                      "the profiler counts one event or two at a time, not %zu",
                      count);
}

static int
take_codes(const struct tally_counter *counter, const struct tally_log *log,
           struct profiler_set *set)
{
    struct tally_counted counted;
    const size_t count = tally_counter_count(counter);
    const int error = check_count(count, log);

    if (error != 0)
        return error;
    tally_counter_event(counter, 0, &counted);
    set->hi = set->lo = code_of("host", counted.name);
    set->events = (unsigned)count;
    if (tally_counter_event(counter, 1, &counted) == 0)
        set->lo = code_of("host", counted.name);
    return 0;
}

/* Finds where the set's numbers are: all are loaded from live values, or the
 * machine is asked for all. */
static void
find_places(const struct gateway_hello *hello, struct profiler_set *set)
{
    static const uint64_t none;
    const uint64_t *now;
    struct gateway_read *const request =
        gateway_set_request(set->machine, &now);
    bool live = !set->cycles;
    uint64_t base;

    set->live = (struct gateway_live *)(uintptr_t)hello->live;
    set->at[0] = set->at[1] = &none;
    set->at[2] = &set->live->value[hello->slot];
    for (size_t i = 0; live && i < set->events; i++)
        live = gateway_set_live(set->machine, i, &set->at[i], &base);
    for (size_t i = 0; !live && i < set->events; i++)
        set->at[i] = &now[i];
    if (!live) {
        /* The clock stands behind the events: the cycles where those were
         * added, else the instructions, which a request always has last. */
        set->at[2] = &now[set->events];
        set->request = request;
    }
    if (set->events == 1)
        set->at[1] = set->at[0];
}

/* Opens events of an emulated machine. They need no braces, and the clock is
 * the machine's. */
static int
open_machine(const char *events, bool cycles, const struct gateway_hello *hello,
             const struct tally_log *log, struct profiler_set *set)
{
    struct gateway_set_options options = {.scope = GATEWAY_THREAD};

    if (log != NULL)
        options.log = *log;
    int error = gateway_set_create(&options, hello, &set->machine);
    if (error == 0 && *events != '\0') {
        error = gateway_set_add(set->machine, events);
        const size_t count = error == 0 ? gateway_set_count(set->machine) : 0;
        if (error == 0)
            error = check_count(count, log);
        for (size_t i = 0; error == 0 && i < 2; i++)
            *(i == 0 ? &set->hi : &set->lo) = code_of(
                hello->machine, gateway_set_name(set->machine, i % count));
        set->events = (unsigned)count;
    }
    if (error == 0 && cycles)
        set->cycles = gateway_set_add(set->machine, "cycles") == 0;
    if (error == 0)
        error = gateway_set_ops.start(set->machine);
    if (error == 0)
        find_places(hello, set);
    else
        gateway_set_ops.close(set->machine);
    return error;
}

static int
add_host(struct tally_counter *counter, const char *events,
         const struct tally_log *log, struct profiler_set *set)
{
    char group[PROFILER_EVENTS + 2];

    /* Braces make one read of both events; a list that has braces keeps its
     * own. */
    snprintf(group, sizeof(group), strchr(events, '{') ? "%s" : "{%s}", events);
    const int error = tally_counter_add(counter, group);
    return error == 0 ? take_codes(counter, log, set) : error;
}

static int
open_host(const char *events, const struct tally_log *log,
          struct profiler_set *set)
{
    struct tally_counter_options options;
    struct tally_counter *counter;

    tally_counter_options_init(&options, sizeof(options));
    if (log != NULL)
        options.log = *log;
    int error = tally_counter_open(&options, &counter);
    if (error != 0)
        return error;
    error = add_host(counter, events, log, set);
    if (error != 0)
        tally_counter_close(counter);
    else
        set->counters = counter;
    return error;
}

static int
open_set(const char *events, bool cycles, const struct tally_log *log,
         struct profiler_set *to)
{
    struct profiler_set set = {0};
    struct gateway_hello hello;
    int error = 0;

    if (gateway_hello(&hello))
        error = open_machine(events, cycles, &hello, log, &set);
    else if (*events != '\0')
        error = open_host(events, log, &set);
    if (error == 0)
        *to = set;
    return error;
}

/* Finds the strand of the calling thread: the upper half of a word whose lower
 * half says which thread made this one. */
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

static void
machine_here(char name[DUMP_NAME])
{
    struct gateway_hello hello;

    snprintf(name, DUMP_NAME, "%s",
             gateway_hello(&hello) ? hello.machine : "host");
}

/* Returns what the machine calls the event. On this host an alias, or a name
 * with modifiers, becomes the name of the event's row. */
static const char *
name_here(const struct profiler_set *set, unsigned index)
{
    struct tally_counted counted = {.name = ""};

    if (set->machine != NULL)
        return gateway_set_name(set->machine, index);
    tally_counter_event(set->counters, index, &counted);
    const struct tally_event *const event = host_event(counted.name);
    return event != NULL ? tally_event_name(event) : counted.name;
}

static int
read_set(const struct profiler_set *set, struct profiler_reading *reading)
{
    struct tally_reading now[2];

    if (profiler_is_quick(set)) {
        profiler_quick(set, reading);
        return 0;
    }
    const int error = tally_counter_read(set->counters, now, 2);
    if (error != 0)
        return error;
    reading->hi = now[0].value;
    reading->lo = now[set->events - 1].value;
    reading->cycles = profiler_clock();
    return 0;
}

/* Starts a set. The cycles of a machine count from where the thread's clock
 * began. */
static int
start_set(struct profiler_set *set, const struct profiler_set *clock)
{
    struct profiler_reading now;

    if (set->counters != NULL)
        return tally_counter_start(set->counters);
    if (set != clock)
        set->offset = clock->offset;
    else if (set->cycles && read_set(set, &now) == 0)
        set->offset = now.cycles;
    return 0;
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
    gateway_set_ops.close(set->machine);
    set->counters = NULL;
    set->machine = NULL;
}

const struct profiler_source profiler_counters = {
    .width = 64,
    .strand = strand_here,
    .machine = machine_here,
    .name = name_here,
    .open = open_set,
    .start = start_set,
    .stop = stop_set,
    .read = read_set,
    .close = close_set,
};
