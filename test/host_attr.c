/* SPDX-License-Identifier: MIT */
/*
 * host_attr [--sys FOLDER] EVENTS: what tally passes to perf_event_open for an
 * event list, in the words of `perf stat -vv`; what perf does not print stands
 * behind a '#'. For test/perf_attr.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/event.h"

static void
say(void *user, enum tally_level level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "host_attr: %s\n", text);
}

static void
hex(const char *name, unsigned long long value)
{
    if (value != 0)
        printf("  %-32s 0x%llx\n", name, value);
}

static void
number(const char *name, unsigned long long value)
{
    if (value != 0)
        printf("  %-32s %llu\n", name, value);
}

static void
show(const struct host_event *event)
{
    const struct perf_event_attr *a = &event->attr;

    printf("perf_event_attr:\n");
    number("type", a->type);
    number("size", a->size);
    hex("config", a->config);
    number("pinned", a->pinned);
    number("exclusive", a->exclusive);
    number("exclude_user", a->exclude_user);
    number("exclude_kernel", a->exclude_kernel);
    number("exclude_hv", a->exclude_hv);
    number("exclude_idle", a->exclude_idle);
    number("precise_ip", a->precise_ip);
    number("exclude_host", a->exclude_host);
    number("exclude_guest", a->exclude_guest);
    number("bp_type", a->bp_type);
    hex("{ bp_addr, config1 }", a->config1);
    hex("{ bp_len, config2 }", a->config2);
    printf("# name %s\n# group %d\n", event->name, event->group);
    printf("# pmu '%s' unit '%s' scale %g cpus %d uncore %d row %s\n",
           event->pmu, event->unit, event->scale, CPU_COUNT(&event->cpus),
           event->uncore, event->row ? event->row->name : "none");
}

int
main(int argc, char **argv)
{
    const struct tally_log log = {.write = say};
    struct host_root root = {0};
    struct host_event *events;
    size_t count;

    if (argc > 2 && strcmp(argv[1], "--sys") == 0) {
        root.sys = argv[2];
        argv += 2;
        argc -= 2;
    }
    if (argc != 2) {
        fprintf(stderr, "usage: host_attr [--sys FOLDER] EVENTS\n");
        return 2;
    }
    if (host_event_list_parse_at(&root, argv[1], &log, &events, &count) != 0)
        return 1;
    for (size_t i = 0; i < count; i++)
        show(&events[i]);
    free(events);
    return 0;
}
