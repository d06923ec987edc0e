/* SPDX-License-Identifier: MIT */
#include "host/probe.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/ring.h"
#include "host/sysfs.h"

#define ROOM 256                    /* events of a group, the probes included */
#define RING_MOST ((size_t)8 << 20) /* bytes: some 80,000 hits */

/* What PERF_FORMAT_GROUP makes of a group, in a record as in a read(2). */
struct values {
    uint64_t count, enabled, running;
    struct {
        uint64_t value, id;
    } of[ROOM];
};

/* A record of SAMPLE. */
struct hit {
    struct perf_event_header header;
    uint64_t id;
    uint32_t pid, tid;
    struct values values;
};

#define SAMPLE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_READ)
#define FORMAT                                                             \
    (PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | \
     PERF_FORMAT_TOTAL_TIME_RUNNING)

struct probed {
    uint64_t id; /* 0: not in the group */
    struct counter_reading base, sum;
};

struct probe_group {
    struct host_probes probes;
    int fd[PROBE_ENDS], leader;
    uint64_t id[PROBE_ENDS], hits[PROBE_ENDS];
    pid_t pid;
    struct perf_event_mmap_page *page;
    size_t page_size, ring_size, count, members;
    bool counting;
    struct host_reason reason; /* why there is no count at all */
    struct hit hit;            /* where the ring's records are put together */
    struct probed of[];
};

__attribute__((format(printf, 4, 5))) static void
set_reason(struct host_reason *r, enum host_why why, const char *mend,
           const char *format, ...)
{
    va_list args;

    *r = (struct host_reason){.why = why};
    snprintf(r->mend, sizeof(r->mend), "%s", mend);
    va_start(args, format);
    vsnprintf(r->text, sizeof(r->text), format, args);
    va_end(args);
}

static const char *
option(enum probe_end end)
{
    return end == PROBE_FROM ? "--from" : "--to";
}

static int
open_at(struct probe_group *g, enum probe_end end, uint32_t type,
        bool exclusive, struct host_reason *reason)
{
    const bool leads = g->leader < 0;
    struct host_facts facts;
    const struct perf_event_attr attr = {
        .type = type,
        .size = sizeof(attr),
        .config1 = (uintptr_t)g->probes.path,
        .config2 = g->probes.at[end].offset,
        .sample_period = 1,
        .sample_type = SAMPLE,
        .read_format = FORMAT,
        .disabled = leads,
        .enable_on_exec = leads,
        /* Where the group has to wait for its turn, hits go past it. */
        .pinned = leads,
        .exclusive = leads && exclusive,
    };
    const int fd = host_open(&attr, g->pid, -1, g->leader, 0, NULL);

    if (fd < 0) {
        const int error = errno;
        host_facts_find(NULL, -1, &facts);
        host_explain_probe_facts(&facts, error, &attr, reason);
    }
    return fd;
}

/* The largest ring that the limit of locked memory allows. */
static bool
map_ring(struct probe_group *g)
{
    for (g->ring_size = RING_MOST; g->ring_size >= g->page_size;
         g->ring_size /= 2) {
        void *page = mmap(NULL, g->page_size + g->ring_size,
                          PROT_READ | PROT_WRITE, MAP_SHARED, g->leader, 0);
        if (page == MAP_FAILED)
            continue;
        g->page = page;
        return true;
    }
    return false;
}

/* To the ring that the first probe made; a call of the kernel that fails
 * leaves its errno. */
static bool
join_ring(struct probe_group *g, enum probe_end end)
{
    if (ioctl(g->fd[end], PERF_EVENT_IOC_ID, &g->id[end]) != 0)
        return false;
    return g->fd[end] == g->leader
               ? map_ring(g)
               : ioctl(g->fd[end], PERF_EVENT_IOC_SET_OUTPUT, g->leader) == 0;
}

/* False with the end that failed and why. */
static bool
open_ends(struct probe_group *g, bool exclusive, enum probe_end *end,
          struct host_reason *reason)
{
    struct host_pmu pmu;

    if (!host_pmu_read(NULL, "uprobe", &pmu)) {
        *end = g->probes.at[PROBE_FROM].function ? PROBE_FROM : PROBE_TO;
        set_reason(reason, HOST_UNSUPPORTED,
                   "count on a model: tally count -m host-model",
                   "this kernel has no uprobes: it is older than 4.17, or "
                   "built without CONFIG_UPROBE_EVENTS");
        return false;
    }
    for (*end = PROBE_FROM; *end < PROBE_ENDS; (*end)++) {
        if (g->probes.at[*end].function == NULL)
            continue;
        g->fd[*end] = open_at(g, *end, pmu.type, exclusive, reason);
        if (g->fd[*end] < 0)
            return false;
        if (g->leader < 0)
            g->leader = g->fd[*end];
        if (!join_ring(g, *end)) {
            set_reason(reason, HOST_OTHER, "",
                       "the kernel gives the probe no ring of records: %s",
                       strerror(errno));
            return false;
        }
        g->members++;
    }
    return true;
}

int
probe_open(const struct host_probes *probes, const struct host_event *events,
           size_t count, pid_t pid, const struct tally_log *log,
           struct probe_group **group)
{
    struct probe_group *g = calloc(1, sizeof(*g) + count * sizeof(g->of[0]));
    struct host_reason why;
    enum probe_end end;
    bool exclusive = false;

    if (g == NULL)
        return TALLY_ENOMEM;
    g->probes = *probes;
    g->fd[PROBE_FROM] = g->fd[PROBE_TO] = g->leader = -1;
    g->pid = pid;
    g->count = count;
    g->page_size = (size_t)sysconf(_SC_PAGESIZE);
    g->counting = probes->at[PROBE_FROM].function == NULL;
    for (size_t i = 0; i < count; i++)
        exclusive = exclusive || events[i].attr.exclusive;
    if (!open_ends(g, exclusive, &end, &why)) {
        const char *function = probes->at[end].function;
        probe_close(g);
        return tally_fail(log, TALLY_ESYSTEM, "%s %s: %s%s%s", option(end),
                          function, why.text, *why.mend ? "; " : "", why.mend);
    }
    *group = g;
    return 0;
}

/* Refused beside the others, though it opens alone? */
static bool
opens_alone(const struct probe_group *g, const struct perf_event_attr *attr)
{
    const int fd = host_open(attr, g->pid, -1, -1, 0, NULL);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void
no_room(struct host_reason *reason)
{
    set_reason(reason, HOST_BUSY, "ask for fewer events, or for one kind",
               "it does not fit into the one group with the events before it "
               "that --from and --to need");
}

int
probe_add(struct probe_group *g, const struct host_event *event, size_t index,
          struct host_reason *reason)
{
    struct perf_event_attr attr = event->attr;

    if (host_event_lacks(event) != NULL) {
        host_reason_lacking(host_event_lacks(event), reason);
        return -1;
    }
    if (event->uncore) {
        set_reason(reason, HOST_UNSUPPORTED, "leave --from and --to out",
                   "it counts whole cpus, and --from and --to one program");
        return -1;
    }
    if (g->members == ROOM) {
        no_room(reason);
        return -1;
    }
    attr.size = sizeof(attr);
    attr.read_format =
        PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.pinned = attr.exclusive = 0; /* the leader is */
    const int fd = host_open(&attr, g->pid, -1, g->leader, 0, reason);
    if (fd < 0 && reason->error == EINVAL && opens_alone(g, &attr))
        no_room(reason);
    if (fd < 0)
        return -1;
    /* Cannot fail: of an event that is open. */
    ioctl(fd, PERF_EVENT_IOC_ID, &g->of[index].id);
    g->members++;
    return fd;
}

/* Zero if the kernel has not told it. */
static uint64_t
value_of(const struct values *values, uint64_t id)
{
    for (uint64_t i = 0; i < values->count && i < ROOM; i++)
        if (values->of[i].id == id)
            return values->of[i].value;
    return 0;
}

static void
begin(struct probe_group *g, const struct values *now)
{
    for (size_t i = 0; i < g->count; i++)
        g->of[i].base = (struct counter_reading){value_of(now, g->of[i].id),
                                                 now->enabled, now->running};
    g->counting = true;
}

static void
end_window(struct probe_group *g, const struct values *now)
{
    for (size_t i = 0; i < g->count; i++) {
        struct probed *p = &g->of[i];
        p->sum.value += value_of(now, p->id) - p->base.value;
        p->sum.enabled += now->enabled - p->base.enabled;
        p->sum.running += now->running - p->base.running;
    }
    g->counting = false;
}

static void
take(void *user, const struct perf_event_header *header)
{
    struct probe_group *g = user;
    const struct hit *hit = (const struct hit *)header;

    if (header->type != PERF_RECORD_SAMPLE || header->size > sizeof(*hit))
        return; /* what is lost shows in the number of hits */
    const enum probe_end end =
        g->fd[PROBE_FROM] >= 0 && hit->id == g->id[PROBE_FROM] ? PROBE_FROM
                                                               : PROBE_TO;
    g->hits[end]++;
    if (end == PROBE_FROM && !g->counting)
        begin(g, &hit->values);
    else if (end == PROBE_TO && g->counting)
        end_window(g, &hit->values);
}

void
probe_drain(struct probe_group *g)
{
    if (g != NULL)
        host_ring_walk(g->page, g->page_size, g->ring_size, &g->hit.header,
                       sizeof(g->hit), take, g);
}

static bool
read_group(const struct probe_group *g, struct values *values)
{
    const size_t size =
        offsetof(struct values, of) + g->members * sizeof(values->of[0]);
    ssize_t got;

    do
        got = read(g->leader, values, sizeof(*values));
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size;
}

/* Why the hits that were seen cannot be all. */
static void
judge(struct probe_group *g, const struct values *last)
{
    uint64_t met = 0, seen = 0;

    for (enum probe_end end = PROBE_FROM; end < PROBE_ENDS; end++) {
        if (g->fd[end] >= 0)
            met += value_of(last, g->id[end]);
        seen += g->hits[end];
    }
    if (met != seen)
        set_reason(&g->reason, HOST_LOST,
                   "name functions that are entered less often",
                   "%llu of %llu entries of --from and --to were lost: they "
                   "came faster than they could be read",
                   (unsigned long long)(met - seen), (unsigned long long)met);
    else if (g->fd[PROBE_FROM] >= 0 && g->hits[PROBE_FROM] == 0)
        set_reason(&g->reason, HOST_NOT_BEGUN,
                   "where the compiler has inlined it, name its caller",
                   "--from: '%s' was never entered by the program's first "
                   "thread",
                   g->probes.at[PROBE_FROM].function);
}

void
probe_end(struct probe_group *g)
{
    struct values *last = g != NULL ? &g->hit.values : NULL;

    probe_drain(g);
    if (g == NULL)
        return;
    if (!read_group(g, last) || last->running != last->enabled) {
        set_reason(&g->reason, HOST_BUSY,
                   "end other profilers, or keep the program on one kind "
                   "with taskset",
                   "the counters stood still for a while, when entries of "
                   "--from and --to went by unseen: others held them, or the "
                   "program was on another kind of core");
        return;
    }
    judge(g, last);
    if (g->counting)
        end_window(g, last);
}

struct counter_reading
probe_reading(const struct probe_group *g, size_t index,
              struct host_reason *reason)
{
    if (g->reason.why != HOST_OK)
        *reason = g->reason;
    return g->of[index].sum;
}

uint64_t
probe_hits(const struct probe_group *g, enum probe_end end)
{
    return g != NULL ? g->hits[end] : 0;
}

void
probe_close(struct probe_group *g)
{
    if (g == NULL)
        return;
    if (g->page != NULL)
        munmap(g->page, g->page_size + g->ring_size);
    for (enum probe_end end = PROBE_FROM; end < PROBE_ENDS; end++)
        if (g->fd[end] >= 0)
            close(g->fd[end]);
    free(g);
}
