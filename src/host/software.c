/* SPDX-License-Identifier: MIT */
#include "host/software.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t
nanoseconds(const struct timeval *t)
{
    return ((uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_usec) * 1000;
}

/* Reads the event's number from what wait4() told; false: it has none. */
static bool
usage_value(const struct event_row *event, const struct rusage *u,
            uint64_t *value)
{
    switch (event->code) {
    case PERF_COUNT_SW_CPU_CLOCK:
    case PERF_COUNT_SW_TASK_CLOCK:
        *value = nanoseconds(&u->ru_utime) + nanoseconds(&u->ru_stime);
        return true;
    case PERF_COUNT_SW_PAGE_FAULTS:
        *value = (uint64_t)u->ru_minflt + (uint64_t)u->ru_majflt;
        return true;
    case PERF_COUNT_SW_PAGE_FAULTS_MIN:
        *value = (uint64_t)u->ru_minflt;
        return true;
    case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
        *value = (uint64_t)u->ru_majflt;
        return true;
    case PERF_COUNT_SW_CONTEXT_SWITCHES:
        *value = (uint64_t)u->ru_nvcsw + (uint64_t)u->ru_nivcsw;
        return true;
    default:
        return false;
    }
}

bool
host_software_waits(const struct event_row *event)
{
    const struct rusage nothing = {0};
    uint64_t value;

    return usage_value(event, &nothing, &value);
}

/* Opens an event on the process. What can happen at user level is counted
 * there: perf_event_paranoid lets users do that where it forbids the kernel's.
 */
static int
open_event(const struct event_row *event, pid_t pid, struct host_value *value)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .config = (unsigned)event->code,
    };

    host_attr_complete(&attr, true, true, true);
    attr.exclude_kernel = host_has_user_level(&attr) ? 1 : 0;
    attr.exclude_hv = attr.exclude_kernel;
    return host_open(&attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC, &value->reason);
}

int
host_software_open(struct host_software *s,
                   const struct event_row *const *events, size_t count,
                   pid_t pid)
{
    *s = (struct host_software){.events = events, .count = count};
    s->fds = calloc(count + 1, sizeof(*s->fds));
    s->values = calloc(count + 1, sizeof(*s->values));
    if (s->fds == NULL || s->values == NULL) {
        host_software_finish(s);
        return TALLY_ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        s->fds[i] = host_software_waits(events[i])
                        ? -1
                        : open_event(events[i], pid, &s->values[i]);
    return 0;
}

/* Reads an event that was opened, or keeps the reason why it was not. */
static void
read_event(int fd, struct host_value *value)
{
    struct counter_reading reading = {0};
    ssize_t n;

    if (fd < 0)
        return;
    do
        n = read(fd, &reading, sizeof(reading));
    while (n < 0 && errno == EINTR);
    value->reading = reading;
    value->counted = n == sizeof(reading);
    if (!value->counted)
        value->reason = (struct host_reason){
            .why = HOST_OTHER,
            .error = errno,
            .text = "the kernel did not tell the count",
        };
}

void
host_software_read(struct host_software *s, const struct rusage *usage)
{
    for (size_t i = 0; i < s->count; i++) {
        struct host_value *v = &s->values[i];
        if (usage_value(s->events[i], usage, &v->reading.value))
            v->counted = true;
        else
            read_event(s->fds[i], v);
    }
}

void
host_software_finish(struct host_software *s)
{
    for (size_t i = 0; s->fds != NULL && i < s->count; i++)
        if (s->fds[i] >= 0)
            close(s->fds[i]);
    free(s->fds);
    free(s->values);
    *s = (struct host_software){0};
}
