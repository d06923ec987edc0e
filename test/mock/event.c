/* SPDX-License-Identifier: MIT */
/*
 * The descriptor of an event is a real one, of an empty file in memory: it
 * takes a number, is inherited, closed and counted against the limits as the
 * kernel's would be. The event's state lies far behind the pages that a
 * program may map.
 */
#include "event.h"

#include "check.h"
#include "share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define STATE_AT (1l << 30)

int
mock_fault(struct mock_machine *machine, enum mock_call call,
           const struct perf_event_attr *attr, int cpu)
{
    for (unsigned i = 0; i < machine->fault_count; i++) {
        struct mock_fault *fault = &machine->faults[i];
        if (fault->call != call ||
            (fault->type != -2 && fault->type != attr->type) ||
            (fault->config != -2 && fault->config != (int64_t)attr->config) ||
            (fault->cpu != -2 && fault->cpu != cpu))
            continue;
        fault->seen++;
        if (fault->seen > fault->after &&
            (!fault->times || fault->seen <= fault->after + fault->times))
            return fault->error;
    }
    return 0;
}

struct mock_event *
mock_event_find(struct mock_kernel *kernel, int fd)
{
    struct stat file;

    if (!kernel->events || fd < 0 || fstat(fd, &file))
        return NULL;
    for (struct mock_event *at = kernel->events; at; at = at->next)
        if (at->inode == file.st_ino && at->device == file.st_dev)
            return at;
    return NULL;
}

/* What is not in the script: known proportions, else any number, always the
 * same one. */
static uint64_t
usual_rate(const struct perf_event_attr *attr)
{
    static const uint64_t hardware[] = {2000000, 3000000, 40000,  8000,
                                        500000,  10000,   100000, 200000,
                                        400000,  2400000};
    static const uint64_t software[] = {1000000, 1000000, 50, 20, 0, 48, 2};
    const uint64_t id = attr->config & UINT32_MAX;

    if (attr->type == PERF_TYPE_HARDWARE &&
        id < sizeof(hardware) / sizeof(hardware[0]))
        return hardware[id];
    if (attr->type == PERF_TYPE_SOFTWARE)
        return id < sizeof(software) / sizeof(software[0]) ? software[id] : 0;
    return 1000 + (attr->type * 31 + id * 2654435761u) % 9000;
}

static uint64_t
rate_of(const struct mock_machine *machine, const struct perf_event_attr *attr)
{
    const bool generic =
        attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;

    for (unsigned i = 0; i < machine->rate_count; i++) {
        const struct mock_rate *rate = &machine->rates[i];
        if (rate->type == attr->type &&
            (rate->config == attr->config ||
             (generic && rate->config == (attr->config & UINT32_MAX))))
            return rate->per_ms;
    }
    return usual_rate(attr);
}

/* A quarter of everything is the kernel's; cpu N counts N % more. */
static uint64_t
counted(const struct mock_machine *machine, const struct mock_state *state,
        uint64_t running)
{
    const struct perf_event_attr *attr = &state->attr;
    const unsigned quarters =
        (attr->exclude_user ? 0u : 3u) + (attr->exclude_kernel ? 0u : 1u);
    const bool clock = attr->type == PERF_TYPE_SOFTWARE && attr->config <= 1;
    const uint64_t more = state->cpu > 0 && !clock ? (uint64_t)state->cpu : 0;
    const unsigned __int128 all =
        (unsigned __int128)running * rate_of(machine, attr);

    if (clock)
        return running;
    return (uint64_t)(all * quarters * (100 + more) / 400000000u);
}

static uint64_t
now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void
publish(const struct mock_event *event)
{
    struct perf_event_mmap_page *page = event->page;
    const struct mock_state *state = event->state;

    __atomic_add_fetch(&page->lock, 1, __ATOMIC_SEQ_CST);
    page->index = 0; /* no rdpmc */
    page->offset = (int64_t)state->value;
    page->time_enabled = state->enabled;
    page->time_running = state->running;
    __atomic_add_fetch(&page->lock, 1, __ATOMIC_SEQ_CST);
}

static void
age_by(const struct mock_kernel *kernel, struct mock_event *event, uint64_t ns)
{
    const struct mock_share share = mock_share(kernel, event);
    struct mock_state *state = event->state;
    const uint64_t running =
        (uint64_t)((unsigned __int128)ns * share.part / share.whole);

    state->enabled += ns;
    state->running += running;
    state->value += counted(&kernel->machine, state, running);
    publish(event);
}

/* Called before anything that changes whether the event counts, and (`tick`)
 * where a step of time passes. */
static void
age(const struct mock_kernel *kernel, struct mock_event *event, bool tick)
{
    struct mock_state *state = event->state;
    const uint64_t time = now();
    const uint64_t step = kernel->machine.step;
    const uint64_t passed = step ? (tick ? step : 0) : time - state->aged;

    state->aged = time;
    if (!mock_event_on(event) || state->stopped || state->gone || !passed)
        return;
    state->gone = mock_event_task_gone(event);
    age_by(kernel, event, passed);
}

bool
mock_event_task_gone(const struct mock_event *event)
{
    char path[64], text[512];

    if (event->state->pid <= 0)
        return false;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)event->state->pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    const ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length <= 0)
        return true;
    text[length] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && (name_end[2] == 'Z' || name_end[2] == 'X');
}

static int
create_file(bool cloexec, struct mock_event *event)
{
    struct stat file;
    const int fd = memfd_create("perf_event", (cloexec ? MFD_CLOEXEC : 0u) |
                                                  MFD_ALLOW_SEALING);

    if (fd < 0)
        return -errno;
    /* A bare system call, which goes past us, reads nothing at the end. */
    if (ftruncate(fd, STATE_AT + (long)sizeof(struct mock_state)) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) || lseek(fd, 0, SEEK_END) < 0 ||
        fstat(fd, &file)) {
        const int error = -errno;
        close(fd);
        return error;
    }
    event->state = mmap(NULL, sizeof(*event->state), PROT_READ | PROT_WRITE,
                        MAP_SHARED, fd, STATE_AT);
    event->page = mmap(NULL, sizeof(*event->page), PROT_READ | PROT_WRITE,
                       MAP_SHARED, fd, 0);
    if (event->state == MAP_FAILED || event->page == MAP_FAILED) {
        close(fd);
        return -ENOMEM;
    }
    event->device = file.st_dev;
    event->inode = file.st_ino;
    event->descriptors = 1;
    return fd;
}

/* Whether the event may join the group that `leader` leads. */
static int
check_group(const struct mock_kernel *kernel, const struct mock_event *leader,
            const struct mock_event *joining,
            const struct perf_event_attr *attr, pid_t pid, int cpu)
{
    if (!leader)
        return 0;
    if (leader->leader != leader || leader->state->pid != pid ||
        leader->state->cpu != cpu || attr->pinned || attr->exclusive ||
        attr->inherit != leader->state->attr.inherit)
        return -EINVAL;
    for (const struct mock_event *at = kernel->events; at; at = at->next)
        if (at->leader == leader && at->pmu && joining->pmu &&
            at->pmu != joining->pmu)
            return -EINVAL;
    return mock_group_fits(kernel, leader, joining) ? 0 : -EINVAL;
}

static void
append(struct mock_kernel *kernel, struct mock_event *event)
{
    struct mock_event **last = &kernel->events;

    while (*last)
        last = &(*last)->next;
    *last = event;
}

/* All but the descriptor is in `event`; gives it its file. */
static int
create(struct mock_kernel *kernel, struct mock_event *event,
       const struct mock_state *state, unsigned long flags)
{
    struct mock_event *made = malloc(sizeof(*made));

    if (!made)
        return -ENOMEM;
    *made = *event;
    const int fd = create_file(flags & PERF_FLAG_FD_CLOEXEC, made);
    if (fd < 0) {
        free(made);
        return fd;
    }
    *made->state = *state;
    made->state->id = ++kernel->last_id;
    made->state->aged = now();
    if (!made->leader)
        made->leader = made;
    append(kernel, made);
    publish(made);
    return fd;
}

int
mock_event_open(struct mock_kernel *kernel, const void *attr, pid_t pid,
                int cpu, int group, unsigned long flags)
{
    struct mock_state state = {.pid = pid ? pid : gettid(), .cpu = cpu};
    struct mock_event event = {0}, *leader = NULL;
    int error = mock_attr_copy(attr, &state.attr);

    if (!error)
        error = -mock_fault(&kernel->machine, MOCK_OPEN, &state.attr, cpu);
    if (!error)
        error = mock_check(&kernel->machine, &state.attr, pid, cpu, flags,
                           &event.pmu);
    if (!error && group != -1) {
        leader = mock_event_find(kernel, group);
        error = leader ? 0 : -EBADF;
    }
    /* A group of one has to fit as well. */
    struct mock_event alone = {.pmu = event.pmu, .state = &state};
    if (!error)
        error =
            check_group(kernel, leader, &alone, &state.attr, state.pid, cpu);
    if (error)
        return error;

    state.on = !state.attr.disabled;
    /* Exec enables a task's events only, and this one is not in the task. */
    state.armed = state.attr.enable_on_exec && pid > 0;
    event.leader = leader;
    return create(kernel, &event, &state, flags);
}

static void
after_exec(struct mock_event *event)
{
    if (event->state->armed)
        event->state->on = true;
    event->state->armed = false;
}

static void
freeze_if_told(struct mock_event *event, int *error)
{
    if (*error == MOCK_STOP) {
        event->state->stopped = true;
        *error = 0;
    }
}

static unsigned
put_times(uint64_t format, const struct mock_state *state, uint64_t *words)
{
    unsigned count = 0;

    if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
        words[count++] = state->enabled;
    if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
        words[count++] = state->running;
    return count;
}

static unsigned
put_id(uint64_t format, const struct mock_state *state, uint64_t *words)
{
    unsigned count = 0;

    if (format & PERF_FORMAT_ID)
        words[count++] = state->id;
    if (format & PERF_FORMAT_LOST)
        words[count++] = 0;
    return count;
}

enum { WORDS = 1024, WORDS_EACH = 3 };

static unsigned
put_one(const struct mock_kernel *kernel, struct mock_event *event,
        uint64_t *words)
{
    const uint64_t format = event->state->attr.read_format;
    unsigned count = 1;

    age(kernel, event, true);
    words[0] = event->state->value;
    count += put_times(format, event->state, words + count);
    count +=
        put_id(event->state->attr.read_format, event->state, words + count);
    return count;
}

static unsigned
put_group(const struct mock_kernel *kernel, const struct mock_event *event,
          uint64_t *words)
{
    const uint64_t format = event->state->attr.read_format;
    const struct mock_event *leader = event->leader;
    unsigned count;

    for (struct mock_event *at = kernel->events; at; at = at->next)
        if (at->leader == leader)
            age(kernel, at, true);
    words[0] = 0;
    count = 1 + put_times(format, leader->state, words + 1);
    for (struct mock_event *at = kernel->events; at; at = at->next) {
        if (at->leader != leader || count + WORDS_EACH > WORDS)
            continue;
        words[0]++;
        words[count++] = at->state->value;
        count += put_id(format, at->state, words + count);
    }
    return count;
}

ssize_t
mock_event_read(struct mock_kernel *kernel, struct mock_event *event,
                void *buffer, size_t size)
{
    struct mock_state *state = event->state;
    uint64_t words[WORDS];
    int error =
        mock_fault(&kernel->machine, MOCK_READ, &state->attr, state->cpu);

    /* The task's other events wake as well: they compete for counters. */
    for (struct mock_event *at = kernel->events; at; at = at->next)
        if (at->state->pid == state->pid)
            after_exec(at);
    freeze_if_told(event, &error);
    if (error)
        return error == MOCK_END ? 0 : -error;
    if (mock_event_on(event) && mock_share(kernel, event).error)
        return 0;
    const bool group = state->attr.read_format & PERF_FORMAT_GROUP;
    const unsigned count =
        group ? put_group(kernel, event, words) : put_one(kernel, event, words);
    if (size < count * sizeof(words[0]))
        return -ENOSPC;
    memcpy(buffer, words, count * sizeof(words[0]));
    return (ssize_t)(count * sizeof(words[0]));
}

static void
switch_to(struct mock_kernel *kernel, struct mock_event *event, bool on)
{
    after_exec(event);
    /* The members' clocks hang on the leader's. */
    for (struct mock_event *at = kernel->events; at; at = at->next)
        if (at == event || at->leader == event)
            age(kernel, at, !on);
    event->state->on = on;
    event->state->armed = false;
}

static void
apply(struct mock_kernel *kernel, struct mock_event *event,
      unsigned long request)
{
    if (request == PERF_EVENT_IOC_RESET) {
        age(kernel, event, false);
        event->state->value = 0;
        publish(event);
    } else {
        switch_to(kernel, event, request == PERF_EVENT_IOC_ENABLE);
    }
}

static int
change(struct mock_kernel *kernel, struct mock_event *event,
       unsigned long request, bool group)
{
    if (!group) {
        apply(kernel, event, request);
        return 0;
    }
    struct mock_event *leader = event->leader;
    apply(kernel, leader, request);
    for (struct mock_event *at = kernel->events; at; at = at->next)
        if (at->leader == leader && at != leader)
            apply(kernel, at, request);
    return 0;
}

int
mock_event_ioctl(struct mock_kernel *kernel, struct mock_event *event,
                 unsigned long request, unsigned long argument)
{
    const struct mock_state *state = event->state;
    const int error =
        mock_fault(&kernel->machine, MOCK_IOCTL, &state->attr, state->cpu);

    if (error)
        return error > 0 ? -error : 0;
    switch (request) {
    case PERF_EVENT_IOC_ENABLE:
    case PERF_EVENT_IOC_DISABLE:
    case PERF_EVENT_IOC_RESET:
        return change(kernel, event, request, argument & PERF_IOC_FLAG_GROUP);
    case PERF_EVENT_IOC_ID:
        *(uint64_t *)argument = state->id;
        return 0;
    case PERF_EVENT_IOC_REFRESH:
    case PERF_EVENT_IOC_PERIOD:
        return state->attr.sample_period ? 0 : -EINVAL;
    case PERF_EVENT_IOC_SET_FILTER:
        return state->attr.type == PERF_TYPE_TRACEPOINT ? 0 : -EINVAL;
    case PERF_EVENT_IOC_SET_OUTPUT:
        return 0;
    case PERF_EVENT_IOC_PAUSE_OUTPUT:
    case PERF_EVENT_IOC_SET_BPF:
        return -EINVAL;
    default:
        return -ENOTTY;
    }
}

void
mock_event_dup(struct mock_event *event)
{
    event->descriptors++;
}

void
mock_event_close(struct mock_kernel *kernel, struct mock_event *event)
{
    struct mock_event **link = &kernel->events;

    if (--event->descriptors)
        return;
    while (*link != event)
        link = &(*link)->next;
    *link = event->next;
    /* Members go on alone. */
    for (struct mock_event *at = kernel->events; at; at = at->next)
        if (at->leader == event)
            at->leader = at;
    munmap(event->state, sizeof(*event->state));
    munmap(event->page, sizeof(*event->page));
    free(event);
}
