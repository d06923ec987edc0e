/* SPDX-License-Identifier: MIT */
/*
 * Times the reading of this host's counters through tally/counter.h, beside the
 * bare system calls on descriptors of the same kind, and beside PAPI where PAPI
 * was found. The sides of a pair take turns in short runs. Prints medians, and
 * the medians of the ratios of each pair. There is no verdict.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tally/counter.h>

#include "bench/clock.h"

#ifdef HAVE_PAPI
#include <papi.h>

#include "papi_side.h"
#endif

#define PAIRS 401
#define CALLS 1000 /* a run */
#define MEMBERS 4  /* of the group */

static const struct {
    const char *name;
    uint64_t config;
} members[MEMBERS] = {
    {"page-faults", PERF_COUNT_SW_PAGE_FAULTS},
    {"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS},
    {"minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN},
};

struct sides {
    struct tally_counter *counter;
    int fd;
    size_t size; /* bytes that read(2) returns */
    int papi;
};

static void
die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static void
write_line(void *user, enum tally_level level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "bench: %s\n", text);
}

static struct tally_counter *
open_counter(const char *events)
{
    struct tally_counter_options options;
    struct tally_counter *counter;

    tally_counter_options_init(&options, sizeof(options));
    options.log.write = write_line;
    if (tally_counter_open(&options, &counter) != 0 ||
        tally_counter_add(counter, events) != 0 ||
        tally_counter_start(counter) != 0)
        die("no counters here");
    return counter;
}

static int
open_bare(uint64_t config, int group, uint64_t format)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = config,
        .disabled = group < 0,
        .read_format = format | PERF_FORMAT_TOTAL_TIME_ENABLED |
                       PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, group,
                                PERF_FLAG_FD_CLOEXEC);

    if (fd < 0)
        die("perf_event_open failed");
    return fd;
}

static void
read_ours(struct sides *s)
{
    struct tally_reading readings[MEMBERS];

    if (tally_counter_read(s->counter, readings, MEMBERS) != 0)
        die("no reading");
}

static void
read_bare(struct sides *s)
{
    uint64_t data[3 + MEMBERS];

    if (read(s->fd, data, s->size) != (ssize_t)s->size)
        die("read failed");
}

static void
switch_ours(struct sides *s)
{
    if (tally_counter_stop(s->counter) != 0 ||
        tally_counter_start(s->counter) != 0)
        die("no start");
}

static void
switch_bare(struct sides *s)
{
    if (ioctl(s->fd, PERF_EVENT_IOC_DISABLE, 0) != 0 ||
        ioctl(s->fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
        die("ioctl failed");
}

#ifdef HAVE_PAPI
static void
read_papi(struct sides *s)
{
    long long value;

    if (PAPI_read(s->papi, &value) != PAPI_OK)
        die("PAPI_read failed");
}
#endif

static double
time_calls(void (*call)(struct sides *), struct sides *sides)
{
    const double start = clock_seconds(CLOCK_MONOTONIC);

    for (int i = 0; i < CALLS; i++)
        call(sides);
    return 1e9 * (clock_seconds(CLOCK_MONOTONIC) - start) / CALLS;
}

static void
compare_sides(const char *title, void (*ours)(struct sides *),
              void (*theirs)(struct sides *), struct sides *sides)
{
    static double times[2][PAIRS], ratios[PAIRS];

    for (int i = 0; i < PAIRS; i++) {
        /* The sides go first in turn: the second finds warmer caches. */
        for (int k = 0; k < 2; k++) {
            const int side = (i + k) % 2;
            times[side][i] = time_calls(side ? theirs : ours, sides);
        }
        ratios[i] = times[0][i] / times[1][i];
    }
    printf("%-46s %6.0f ns %6.0f ns %6.3f\n", title, median(times[0], PAIRS),
           median(times[1], PAIRS), median(ratios, PAIRS));
}

static void
bench_group(void)
{
    struct sides s = {.size = sizeof(uint64_t) * (3 + MEMBERS)};
    char events[256] = "{";

    s.fd = -1;
    for (int i = 0; i < MEMBERS; i++) {
        const int fd = open_bare(members[i].config, s.fd, PERF_FORMAT_GROUP);
        s.fd = s.fd < 0 ? fd : s.fd;
        strcat(strcat(events, members[i].name), i < MEMBERS - 1 ? "," : "}");
    }
    ioctl(s.fd, PERF_EVENT_IOC_ENABLE, 0);
    s.counter = open_counter(events);
    compare_sides("group of 4, read: read(2)", read_ours, read_bare, &s);
    compare_sides("group of 4, stop + start: two ioctl(2)", switch_ours,
                  switch_bare, &s);
    tally_counter_close(s.counter);
}

static void
bench_single(int member)
{
    struct sides s = {.size = sizeof(uint64_t) * 3};
    char title[80];

    s.fd = open_bare(members[member].config, -1, 0);
    ioctl(s.fd, PERF_EVENT_IOC_ENABLE, 0);
    s.counter = open_counter(members[member].name);
    snprintf(title, sizeof(title), "%s, read: read(2)", members[member].name);
    compare_sides(title, read_ours, read_bare, &s);
#ifdef HAVE_PAPI
    s.papi = papi_start(members[member].name);
    if (s.papi >= 0) {
        snprintf(title, sizeof(title), "%s, read: PAPI_read",
                 members[member].name);
        compare_sides(title, read_ours, read_papi, &s);
        /* No reading through the kernel is quicker than the bare call. */
        compare_sides("  read(2) alone: PAPI_read", read_bare, read_papi, &s);
    }
    papi_stop(s.papi);
#endif
    tally_counter_close(s.counter);
    close(s.fd);
}

int
main(void)
{
    printf("%-46s %9s %9s %6s\n", "what: beside what", "tally", "other",
           "ratio");
    bench_group();
    for (int i = 0; i < 2; i++)
        bench_single(i);
    return 0;
}
