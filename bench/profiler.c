/* SPDX-License-Identifier: MIT */
/*
 * Times a call of the profiler on this host: beside the clock and the same
 * counters read by the fastest means there is (the mapped page where the
 * processor's counters are, else one read(2)), beside the clock alone, and
 * beside PAPI's region calls where PAPI was found. A region is a start and an
 * update of the profiler, and a begin and an end of PAPI. The sides take turns
 * in short runs. Prints medians and the median of the ratios. There is no
 * verdict.
 */
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <tally/profiler.h>

#include "bench/clock.h"
#include "host/page.h"

#ifdef HAVE_PAPI
#include <papi.h>
#endif

#define PAIRS 401
#define CALLS 1000 /* a run */
#define MEMBERS 2

static struct bare {
    int fds[MEMBERS];
    struct perf_event_mmap_page *pages[MEMBERS];
    bool mapped; /* both counters can be read in their mapped page */
} bare;

/* Takes every reading, so that compilers leave none out. */
static volatile uint64_t sink;

static void
die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static void
open_bare(uint32_t type, const uint64_t *configs)
{
    bare.mapped = PAGE_READS;
    for (int i = 0; i < MEMBERS; i++) {
        struct perf_event_attr attr = {
            .type = type,
            .size = sizeof(attr),
            .config = configs[i],
            .exclude_kernel = type == PERF_TYPE_HARDWARE,
            .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                           PERF_FORMAT_TOTAL_TIME_RUNNING,
        };
        bare.fds[i] =
            (int)syscall(SYS_perf_event_open, &attr, 0, -1,
                         i > 0 ? bare.fds[0] : -1, PERF_FLAG_FD_CLOEXEC);
        if (bare.fds[i] < 0)
            die("perf_event_open failed");
        void *const page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ,
                                MAP_SHARED, bare.fds[i], 0);
        struct counter_reading reading;
        bare.pages[i] = page;
        bare.mapped &= page != MAP_FAILED && page_read(page, &reading);
    }
}

static uint64_t
clock_now(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_nsec;
#endif
}

static void
read_clock(void)
{
    sink = clock_now();
}

static void
read_bare(void)
{
    struct counter_reading reading = {0};
    uint64_t data[3 + MEMBERS];

    if (!bare.mapped &&
        read(bare.fds[0], data, sizeof(data)) != (ssize_t)sizeof(data))
        die("read failed");
    for (int i = 0; bare.mapped && i < MEMBERS; i++) {
        page_read(bare.pages[i], &reading);
        sink = reading.value;
    }
    sink = clock_now();
}

static void
update(void)
{
    tally_profiler_update(1, 1, 2);
}

static const char *events;

#ifdef HAVE_PAPI
static void
region(void)
{
    tally_profiler_start(1, events);
    tally_profiler_update(1, 1, 2);
}

static void
papi_region(void)
{
    PAPI_hl_region_begin("bench");
    PAPI_hl_region_end("bench");
}
#endif

static double
time_calls(void (*call)(void))
{
    const double start = clock_seconds(CLOCK_MONOTONIC);

    for (int i = 0; i < CALLS; i++)
        call();
    return 1e9 * (clock_seconds(CLOCK_MONOTONIC) - start) / CALLS;
}

static void
compare_sides(const char *title, void (*ours)(void), void (*theirs)(void))
{
    static double times[2][PAIRS], ratios[PAIRS];

    for (int i = 0; i < PAIRS; i++) {
        for (int k = 0; k < 2; k++) {
            const int side = (i + k) % 2;
            times[side][i] = time_calls(side ? theirs : ours);
        }
        ratios[i] = times[0][i] / times[1][i];
    }
    printf("%-52s %6.0f ns %6.0f ns %6.3f\n", title, median(times[0], PAIRS),
           median(times[1], PAIRS), median(ratios, PAIRS));
}

int
main(void)
{
    const uint64_t soft[] = {PERF_COUNT_SW_TASK_CLOCK,
                             PERF_COUNT_SW_PAGE_FAULTS};
    const uint64_t hard[] = {PERF_COUNT_HW_INSTRUCTIONS,
                             PERF_COUNT_HW_BRANCH_INSTRUCTIONS};

    printf("%-52s %9s %9s %6s\n", "what: beside what", "tally", "other",
           "ratio");
    tally_profiler_set_property("profiler_user_data_size", "2");
    events = "instructions:u,branches:u";
    const bool hardware = tally_profiler_start(1, events) == 0;
    if (!hardware) {
        events = "task-clock,page-faults";
        if (tally_profiler_start(1, events) != 0)
            die("no counters here");
    }
    open_bare(hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
              hardware ? hard : soft);
    printf("two %s events, read by %s\n", hardware ? "hardware" : "software",
           bare.mapped ? "rdpmc" : "read(2)");
    compare_sides("  update: clock + counters", update, read_bare);
#ifdef HAVE_PAPI
    setenv("PAPI_EVENTS",
           hardware ? "PAPI_TOT_INS,PAPI_BR_INS"
                    : "perf::TASK-CLOCK,perf::PAGE-FAULTS",
           1);
    setenv("PAPI_NO_WARNING", "1", 1);
    setenv("PAPI_OUTPUT_DIRECTORY", "/tmp", 1);
    if (PAPI_hl_region_begin("bench") == PAPI_OK &&
        PAPI_hl_region_end("bench") == PAPI_OK)
        compare_sides("  start + update: PAPI_hl_region_begin + _end", region,
                      papi_region);
#endif
    tally_profiler_start(1, "");
    events = "";
    compare_sides("no events, update: clock", update, read_clock);
    return 0;
}
