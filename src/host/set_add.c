/* SPDX-License-Identifier: MIT */
/* How a set takes events: into groups, and each group to what it counts. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/open.h"
#include "host/page.h"
#include "host/set_state.h"
#include "host/task.h"

struct target {
    pid_t pid;
    int cpu;
};

/* One call of host_set_add(). */
struct adding {
    struct host_set *set;
    const struct host_event *events;
    size_t count;
    size_t *group_of; /* each event's, counted from the set's first */
    bool apart;       /* weak groups are taken apart */
    pid_t *tasks;     /* of a process; else NULL */
    size_t task_count;
    struct host_reason reason; /* of the last open that failed */
};

static bool
is_software(const struct host_event *e)
{
    return e->attr.type == PERF_TYPE_SOFTWARE ||
           e->attr.type == PERF_TYPE_TRACEPOINT;
}

static bool
stands_alone(const struct adding *a, const struct host_event *e)
{
    if (e->weak && a->apart)
        return true;
    if (e->group >= 0)
        return false;
    return !is_software(e) || e->attr.pinned || e->attr.exclusive;
}

/* The kernel keeps one unit's events in a group, and any software events. */
static bool
go_together(const struct adding *a, const struct host_event *e,
            const struct host_event *f)
{
    if (stands_alone(a, e) || stands_alone(a, f))
        return false;
    return e->group == f->group && e->uncore == f->uncore &&
           (is_software(e) || is_software(f) || strcmp(e->pmu, f->pmu) == 0);
}

static size_t
group_for(const struct adding *a, size_t event, size_t groups)
{
    for (size_t g = 0; g < groups; g++) {
        size_t members = 0;
        bool fits = true;
        for (size_t i = 0; i < event && fits; i++) {
            if (a->group_of[i] != g)
                continue;
            members++;
            fits = go_together(a, &a->events[event], &a->events[i]);
        }
        if (fits && members < HOST_GROUP_MAX)
            return g;
    }
    return groups;
}

/* Returns how many groups there are. */
static size_t
make_groups(struct adding *a)
{
    size_t groups = 0;

    for (size_t i = 0; i < a->count; i++) {
        a->group_of[i] = group_for(a, i, groups);
        if (a->group_of[i] == groups)
            groups++;
    }
    return groups;
}

static bool
grow(void *array, size_t count, size_t size)
{
    void **p = array;
    void *grown = realloc(*p, count * size);

    if (grown == NULL)
        return false;
    *p = grown;
    return true;
}

static bool
make_room(struct host_set *s, size_t events, size_t groups)
{
    const size_t n = s->event_count + events;

    return grow(&s->order, n, sizeof(*s->order)) &&
           grow(&s->pages, n, sizeof(*s->pages)) &&
           grow(&s->base, n, sizeof(*s->base)) &&
           grow(&s->spare, n, sizeof(*s->spare)) &&
           grow(&s->groups, s->group_count + groups, sizeof(*s->groups));
}

static int
no_memory(const struct host_set *s)
{
    return tally_fail(&s->options.log, TALLY_ENOMEM, "no memory for events");
}

static enum tally_error
error_of(enum host_why why)
{
    switch (why) {
    case HOST_NO_PMU:
    case HOST_UNSUPPORTED:
    case HOST_BUSY:
    case HOST_DEAD:
        return TALLY_EIDLE;
    case HOST_PARANOID:
    case HOST_SECCOMP:
    case HOST_PERMISSION:
        return TALLY_EPERMISSION;
    case HOST_NO_TASK:
    case HOST_NO_CPU:
        return TALLY_EUNKNOWN;
    default:
        return TALLY_ESYSTEM;
    }
}

static int
open_failed(const struct adding *a, const struct host_event *e)
{
    const struct host_set_options *o = &a->set->options;
    const struct host_reason *r = &a->reason;
    const char *const mend = r->why == HOST_NO_PMU && o->without_pmu != NULL
                                 ? o->without_pmu
                                 : r->mend;

    return tally_fail(&o->log, error_of(r->why), "%s: %s%s%s", e->name, r->text,
                      mend[0] != '\0' ? ": " : "", mend);
}

static bool
samples(const struct adding *a, size_t event)
{
    return a->set->options.period != 0 && a->set->event_count + event == 0;
}

static struct perf_event_attr
event_attr(const struct adding *a, size_t event, bool leads, bool alone)
{
    const struct host_set_options *o = &a->set->options;
    struct perf_event_attr attr = a->events[event].attr;

    attr.read_format =
        PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    if (!alone)
        attr.read_format |= PERF_FORMAT_GROUP;
    attr.disabled = leads;
    if (!leads)
        attr.pinned = attr.exclusive = 0; /* the leader's business */
    if (!a->events[event].uncore && o->scope != HOST_CPU) {
        attr.inherit = o->inherit || o->scope == HOST_PROCESS;
        attr.inherit_thread = o->scope == HOST_PROCESS && !o->inherit;
    }
    if (samples(a, event)) {
        attr.sample_period = o->period;
        attr.sample_type = RING_SAMPLE;
        attr.wakeup_events = 1;
    }
    return attr;
}

/* Opens a group's events for one target. */
static bool
open_for(struct adding *a, const struct set_group *g, const struct target *to)
{
    struct host_set *s = a->set;
    const size_t leader = s->fd_count;

    for (size_t i = 0; i < g->count; i++) {
        const size_t event = s->order[g->first + i] - s->event_count;
        const struct perf_event_attr attr =
            event_attr(a, event, i == 0, g->count == 1);
        const int fd = host_open(&attr, to->pid, to->cpu,
                                 i == 0 ? -1 : s->fds[leader], 0, &a->reason);
        if (fd < 0)
            return false;
        s->fds[s->fd_count++] = fd;
    }
    return true;
}

/* Target `index` of an event; false after the last. */
static bool
find_target(const struct adding *a, const struct host_event *e, size_t index,
            struct target *to)
{
    const struct host_set_options *o = &a->set->options;

    if (e->uncore) {
        for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (CPU_ISSET(cpu, &e->cpus) && index-- == 0) {
                *to = (struct target){-1, (int)cpu};
                return true;
            }
        }
        return false;
    }
    if (o->scope == HOST_PROCESS) {
        if (index >= a->task_count)
            return false;
        *to = (struct target){a->tasks[index], -1};
        return true;
    }
    *to = o->scope == HOST_CPU ? (struct target){-1, o->id}
                               : (struct target){o->id, -1};
    return index == 0;
}

static void
close_from(struct host_set *s, size_t from)
{
    while (s->fd_count > from)
        close(s->fds[--s->fd_count]);
}

/* A thread that ended since it was listed has nothing more to count. */
static int
open_group(struct adding *a, struct set_group *g)
{
    struct host_set *s = a->set;
    const struct host_event *e =
        &a->events[s->order[g->first] - s->event_count];
    struct target to;

    g->fd = s->fd_count;
    for (size_t i = 0; find_target(a, e, i, &to); i++) {
        const size_t before = s->fd_count;
        if (!grow(&s->fds, before + g->count, sizeof(*s->fds)))
            return no_memory(s);
        if (open_for(a, g, &to)) {
            g->targets++;
            continue;
        }
        const size_t failed =
            s->order[g->first + s->fd_count - before] - s->event_count;
        close_from(s, before);
        if (s->options.scope != HOST_PROCESS || a->reason.why != HOST_NO_TASK)
            return open_failed(a, &a->events[failed]);
    }
    if (g->targets > 0)
        return 0;
    if (a->reason.why != HOST_OK)
        return open_failed(a, e);
    return tally_fail(&s->options.log, TALLY_EIDLE,
                      "%s: its unit names no cpu to be opened on", e->name);
}

static void
unmap(const struct set_page *p)
{
    if (p->page != NULL)
        munmap(p->page, p->size);
}

static struct set_page
map(const struct host_set *s, int fd, size_t ring_pages)
{
    struct set_page p = {.size = (1 + ring_pages) * s->page_size};
    const int access = ring_pages != 0 ? PROT_READ | PROT_WRITE : PROT_READ;
    void *page = mmap(NULL, p.size, access, MAP_SHARED, fd, 0);

    p.page = page != MAP_FAILED ? page : NULL;
    return p;
}

/* Pages help on the counted thread and where the kernel opens the counters. */
static void
map_group(struct adding *a, struct set_group *g)
{
    struct host_set *s = a->set;
    const struct host_set_options *o = &s->options;
    const bool own = PAGE_READS && o->scope == HOST_THREAD && !o->inherit &&
                     o->id == s->tid && pthread_equal(s->self, pthread_self());

    g->paged = own && g->targets == 1;
    for (size_t i = 0; i < g->count; i++) {
        const size_t event = s->order[g->first + i];
        struct set_page *p = &s->pages[event];
        if (p->page == NULL && g->paged)
            *p = map(s, s->fds[g->fd + i], 0);
        g->paged = g->paged && p->page != NULL && page_usable(p->page);
        if (!g->paged && p->size == s->page_size) {
            unmap(p);
            *p = (struct set_page){0};
        }
    }
}

static int
signal_overflows(const struct host_set *s, int fd)
{
    const struct f_owner_ex owner = {F_OWNER_TID, s->tid};

    if (s->options.signal == 0)
        return 0;
    if (fcntl(fd, F_SETSIG, s->options.signal) == 0 &&
        fcntl(fd, F_SETOWN_EX, &owner) == 0 &&
        fcntl(fd, F_SETFL, O_RDWR | O_ASYNC | O_NONBLOCK) == 0)
        return 0;
    return tally_fail(&s->options.log, TALLY_ESYSTEM,
                      "overflows cannot raise signal %d: %s", s->options.signal,
                      strerror(errno));
}

static int
arm_overflows(struct adding *a)
{
    struct host_set *s = a->set;

    s->pages[0] = map(s, s->fds[0], SET_RING_PAGES);
    if (s->pages[0].page == NULL)
        return tally_fail(
            &s->options.log, errno == EPERM ? TALLY_EPERMISSION : TALLY_ESYSTEM,
            "no buffer for overflows: %s%s", strerror(errno),
            errno == EPERM ? ": sysctl -w kernel.perf_event_mlock_kb=4096"
                           : "");
    s->overflow_fd = s->fds[0];
    return signal_overflows(s, s->overflow_fd);
}

static int
list_tasks(struct adding *a)
{
    const struct host_set_options *o = &a->set->options;

    if (o->scope != HOST_PROCESS)
        return 0;
    const int error = host_task_list(o->id, &a->tasks, &a->task_count);
    if (error == 0)
        return 0;
    if (error == -ENOMEM)
        return no_memory(a->set);
    return tally_fail(&o->log, TALLY_EUNKNOWN, "no process %d: %s", o->id,
                      strerror(-error));
}

/* Orders the members of group `number`, the set's next. */
static struct set_group
take_group(struct adding *a, size_t number, size_t first)
{
    struct host_set *s = a->set;
    struct set_group g = {.first = first};

    for (size_t i = 0; i < a->count; i++) {
        if (a->group_of[i] == number)
            s->order[first + g.count++] = s->event_count + i;
    }
    return g;
}

static int
open_groups(struct adding *a)
{
    struct host_set *s = a->set;
    const size_t groups = make_groups(a), old = s->group_count;
    size_t first = s->event_count;
    int error = make_room(s, a->count, groups) ? 0 : no_memory(s);

    if (error != 0)
        return error;
    for (size_t i = 0; i < a->count; i++) {
        const size_t at = s->event_count + i;
        s->pages[at] = (struct set_page){0};
        s->base[at] = s->spare[at] = (struct counter_reading){0};
    }
    for (size_t g = 0; g < groups && error == 0; g++) {
        struct set_group *group = &s->groups[old + g];
        *group = take_group(a, g, first);
        first += group->count;
        error = open_group(a, group);
    }
    if (error == 0 && samples(a, 0))
        error = arm_overflows(a);
    for (size_t g = 0; g < groups && error == 0; g++)
        map_group(a, &s->groups[old + g]);
    if (error != 0)
        return error;
    s->group_count += groups;
    return 0;
}

/* All or nothing. */
static int
add_events(struct adding *a)
{
    struct host_set *s = a->set;
    const size_t fds = s->fd_count, events = s->event_count;
    const int error = open_groups(a);

    if (error == 0) {
        s->event_count += a->count;
        return 0;
    }
    if (s->overflow_fd >= 0 && events == 0) {
        unmap(&s->pages[0]);
        s->overflow_fd = -1;
    }
    close_from(s, fds);
    return error;
}

static bool
has_weak(const struct adding *a)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->events[i].weak)
            return true;
    }
    return false;
}

static int
check(const struct host_set *s, const struct host_event *events, size_t count)
{
    const struct host_set_options *o = &s->options;
    size_t members = 0;

    if (s->started)
        return tally_fail(&o->log, TALLY_ERULE,
                          "events cannot be added while others count: stop "
                          "them first");
    if (o->period != 0 && (o->inherit || o->scope == HOST_PROCESS))
        return tally_fail(&o->log, TALLY_ERULE,
                          "overflows are of one thread or one cpu: a period "
                          "does not go with a process or with inherit");
    for (size_t i = 0; i < count; i++) {
        const bool same = i > 0 && events[i].group >= 0 &&
                          events[i].group == events[i - 1].group;
        members = same ? members + 1 : 1;
        if (members > HOST_GROUP_MAX)
            return tally_fail(&o->log, TALLY_ERANGE,
                              "more than %d events in braces", HOST_GROUP_MAX);
    }
    return 0;
}

int
host_set_add(struct host_set *set, const struct host_event *events,
             size_t count)
{
    struct adding a = {.set = set, .events = events, .count = count};
    int error = host_set_check(set);

    if (error == 0)
        error = check(set, events, count);
    if (error != 0 || count == 0)
        return error;
    a.group_of = calloc(count, sizeof(*a.group_of));
    if (a.group_of == NULL)
        return no_memory(set);
    error = list_tasks(&a);
    if (error == 0 && has_weak(&a)) {
        /* Quietly at first: apart they may well open. */
        const struct tally_log log = set->options.log;
        set->options.log = (struct tally_log){0};
        error = add_events(&a);
        set->options.log = log;
        a.apart = error != 0;
        if (a.apart)
            error = add_events(&a);
    } else if (error == 0) {
        error = add_events(&a);
    }
    free(a.group_of);
    free(a.tasks);
    return error;
}
