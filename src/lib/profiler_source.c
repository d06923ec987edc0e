/* SPDX-License-Identifier: MIT */
#include "lib/profiler_source.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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
 * The unit of the machine `host`, from 1, above the code there; what is no row
 * has a number of its name's under unit 255.
 */
static uint64_t
code_of(const char *name)
{
    static const char *const units[] = {"hardware", "software", "cache",
                                        "topdown"};
    char plain[160];

    snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, ":"), name);
    const struct tally_event *event =
        tally_event_find(tally_machine_find("host"), plain);
    for (uint64_t i = 0; event != NULL && i < 4; i++)
        if (strcmp(tally_event_unit(event), units[i]) == 0)
            return (i + 1) << 32 | (uint32_t)tally_event_code(event);
    uint32_t hash = 2166136261;
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619;
    return UINT64_C(255) << 32 | hash;
}

static int
take_codes(const struct tally_counter *counter, const struct tally_log *log,
           struct profiler_set *set)
{
    struct tally_counted counted;
    const size_t count = tally_counter_count(counter);

    if (count < 1 || count > 2)
        return tally_fail(log, TALLY_ERULE,
                          "the profiler counts one event or two at a time, "
                          "not %zu",
                          count);
    tally_counter_event(counter, 0, &counted);
    set->hi = set->lo = code_of(counted.name);
    set->two = count == 2;
    if (tally_counter_event(counter, 1, &counted) == 0)
        set->lo = code_of(counted.name);
    return 0;
}

static int
open_set(const char *events, const struct tally_log *log,
         struct profiler_set *to)
{
    struct profiler_set set = {0};
    struct tally_counter_options options;
    struct tally_counter *counter;
    char group[PROFILER_EVENTS + 2];

    if (*events == '\0') {
        *to = set;
        return 0;
    }
    tally_counter_options_init(&options, sizeof(options));
    if (log != NULL)
        options.log = *log;
    int error = tally_counter_open(&options, &counter);
    if (error != 0)
        return error;
    /* Braces make it one read; what has some of its own keeps them. */
    snprintf(group, sizeof(group), strchr(events, '{') ? "%s" : "{%s}", events);
    error = tally_counter_add(counter, group);
    if (error == 0)
        error = take_codes(counter, log, &set);
    if (error != 0) {
        tally_counter_close(counter);
        return error;
    }
    set.counters = counter;
    *to = set;
    return 0;
}

static int
start_set(const struct profiler_set *set)
{
    return set->counters != NULL ? tally_counter_start(set->counters) : 0;
}

static int
stop_set(const struct profiler_set *set)
{
    return set->counters != NULL ? tally_counter_stop(set->counters) : 0;
}

static int
read_set(const struct profiler_set *set, struct profiler_reading *reading)
{
    struct tally_reading now[2];
    int error = 0;

    reading->hi = reading->lo = 0;
    if (set->counters != NULL) {
        error = tally_counter_read(set->counters, now, 2);
        if (error == 0) {
            reading->hi = now[0].value;
            reading->lo = now[set->two].value;
        }
    }
    reading->cycles = clock_now();
    return error;
}

static void
close_set(struct profiler_set *set)
{
    tally_counter_close(set->counters);
    set->counters = NULL;
}

const struct profiler_source profiler_counters = {
    .width = 64,
    .open = open_set,
    .start = start_set,
    .stop = stop_set,
    .read = read_set,
    .close = close_set,
};
