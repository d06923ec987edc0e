/* SPDX-License-Identifier: MIT */
/*
 * What tests of the host's counters share that are linked with
 * --wrap=host_open: what was asked for, and the files that are open.
 */
#ifndef TALLY_TEST_HOST_OPENED_H
#define TALLY_TEST_HOST_OPENED_H

#include <linux/perf_event.h>

#include "check.h"
#include "host/open.h"
#include "open_files.h"

#define OPENED_MOST 256
#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define MS 1000000u

/* What host_open() was asked for. */
static struct opened {
    struct perf_event_attr attr;
    pid_t pid;
    int cpu, group, fd;
} opened[OPENED_MOST];
static size_t opened_count;

int
__real_host_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
                 int group, unsigned long flags, struct host_reason *reason);
int
__wrap_host_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
                 int group, unsigned long flags, struct host_reason *reason);

/* Opens an event, and notes what was asked for. Returns the descriptor. */
static inline int
note_opened(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
            unsigned long flags, struct host_reason *reason)
{
    const int fd = __real_host_open(attr, pid, cpu, group, flags, reason);

    assert_in_range(opened_count, 0, OPENED_MOST - 1);
    opened[opened_count++] = (struct opened){*attr, pid, cpu, group, fd};
    return fd;
}

#endif
