/* SPDX-License-Identifier: MIT */
#include "host/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "counter/counter.h"
#include "host/count.h"
#include "host/sysfs.h"

struct host_watch {
    const struct host_root *root;
    struct host_event *events;
    struct host_watch_row *rows; /* no more than events */
    size_t row_count;
    struct host_watch_part *parts; /* of all rows, row by row */
    int *fds;                      /* of each part */
    size_t part_count, part_room;
    uint64_t *bases; /* of each row of /proc: its number at the beginning */
    unsigned cpu_count;
    double began_s;
};

/* What /proc has of an event: the sum of two lines, or their difference. */
struct proc_event {
    uint64_t config; /* PERF_COUNT_SW_... */
    const char *file, *line, *less;
};

static const struct proc_event proc_events[] = {
    {PERF_COUNT_SW_CONTEXT_SWITCHES, "stat", "ctxt", NULL},
    {PERF_COUNT_SW_PAGE_FAULTS, "vmstat", "pgfault", NULL},
    {PERF_COUNT_SW_PAGE_FAULTS_MAJ, "vmstat", "pgmajfault", NULL},
    {PERF_COUNT_SW_PAGE_FAULTS_MIN, "vmstat", "pgfault", "pgmajfault"},
    /* Runs on all cpus, as perf_event's does: no file has it. */
    {PERF_COUNT_SW_CPU_CLOCK, NULL, NULL, NULL},
};

static const struct proc_event *
find_proc_event(const struct host_event *e)
{
    if (e->attr.type != PERF_TYPE_SOFTWARE || e->attr.exclude_user ||
        e->attr.exclude_kernel)
        return NULL;
    for (size_t i = 0; i < sizeof(proc_events) / sizeof(proc_events[0]); i++)
        if (proc_events[i].config == e->attr.config)
            return &proc_events[i];
    return NULL;
}

/* Reads the number behind `name` at the begin of a line. False: there is none.
 */
static bool
read_line(const struct host_root *root, const char *file, const char *name,
          uint64_t *number)
{
    const size_t length = strlen(name);
    char path[HOST_PATH], *line = NULL;
    size_t room = 0;
    bool found = false;

    FILE *const in = host_proc_path(root, path, sizeof(path), file)
                         ? fopen(path, "re")
                         : NULL;
    while (in != NULL && !found && getline(&line, &room, in) > 0)
        found = strncmp(line, name, length) == 0 && line[length] == ' ' &&
                sscanf(line + length, "%" SCNu64, number) == 1;
    free(line);
    if (in != NULL)
        fclose(in);
    return found;
}

static bool
read_proc(const struct host_watch *w, const struct proc_event *p,
          uint64_t *number)
{
    uint64_t less = 0;
    struct timespec now;

    if (p->file == NULL) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        *number = ((uint64_t)now.tv_sec * UINT64_C(1000000000) +
                   (uint64_t)now.tv_nsec) *
                  w->cpu_count;
        return true;
    }
    if (!read_line(w->root, p->file, p->line, number) ||
        (p->less != NULL && !read_line(w->root, p->file, p->less, &less)))
        return false;
    *number -= less <= *number ? less : *number;
    return true;
}

/* Adds an open event of a cpu to the last row. 0 or TALLY_ENOMEM. */
static int
add_part(struct host_watch *w, int cpu, int fd)
{
    if (w->part_count == w->part_room) {
        const size_t room = w->part_room * 2 + 16;
        void *const parts = reallocarray(w->parts, room, sizeof(*w->parts));
        if (parts != NULL)
            w->parts = parts;
        void *const fds = reallocarray(w->fds, room, sizeof(*w->fds));
        if (fds != NULL)
            w->fds = fds;
        if (parts == NULL || fds == NULL)
            return TALLY_ENOMEM;
        w->part_room = room;
    }
    w->parts[w->part_count] = (struct host_watch_part){.cpu = cpu};
    w->fds[w->part_count++] = fd;
    w->rows[w->row_count - 1].part_count++;
    return 0;
}

/* Opens an event on the cpus. What does not open on one of them leaves the
 * reason in the row: a sum that lacks a cpu would be too small. */
static int
open_cpus(struct host_watch *w, const struct host_event *event,
          const cpu_set_t *cpus)
{
    struct host_watch_row *const row = &w->rows[w->row_count - 1];
    struct perf_event_attr attr = event->attr;

    host_attr_complete(&attr, false, false, false);
    for (int cpu = 0; cpu < CPU_SETSIZE && row->reason.why == HOST_OK; cpu++) {
        if (!CPU_ISSET((size_t)cpu, cpus))
            continue;
        const int fd =
            host_open(&attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC, &row->reason);
        if (fd < 0 && row->reason.why == HOST_NO_CPU) {
            row->reason = (struct host_reason){0}; /* it went just now */
            continue;
        }
        if (fd >= 0 && add_part(w, cpu, fd) != 0) {
            close(fd);
            return TALLY_ENOMEM;
        }
    }
    return 0;
}

/* Closes what the last row has open. */
static void
close_last(struct host_watch *w)
{
    struct host_watch_row *const row = &w->rows[w->row_count - 1];

    while (row->part_count > 0) {
        close(w->fds[--w->part_count]);
        row->part_count--;
    }
}

/* Takes the event from /proc where it could not be opened. */
static void
take_proc(struct host_watch *w)
{
    struct host_watch_row *const row = &w->rows[w->row_count - 1];
    const struct proc_event *const p = find_proc_event(row->event);

    close_last(w);
    if (p == NULL || !read_proc(w, p, &w->bases[w->row_count - 1]))
        return;
    row->source = HOST_WATCH_PROC;
    row->reason = (struct host_reason){0};
}

/* Adds an event: a row of its own, or a further unit of an uncore event. */
static int
add_event(struct host_watch *w, const struct host_event *event,
          const cpu_set_t *online)
{
    struct host_watch_row *last =
        w->row_count > 0 ? &w->rows[w->row_count - 1] : NULL;
    const char *const lacks = host_event_lacks(event);
    cpu_set_t cpus = event->cpus;

    if (CPU_COUNT(&cpus) == 0)
        cpus = *online;
    else if (!event->uncore)
        CPU_AND(&cpus, &cpus, online);
    const bool unit = event->uncore && last != NULL &&
                      strcmp(last->event->name, event->name) == 0;
    for (size_t i = 0; i < w->row_count && !unit; i++)
        if (strcmp(w->rows[i].event->name, event->name) == 0 &&
            strcmp(w->rows[i].event->pmu, event->pmu) == 0)
            return 0;
    if (!unit) {
        last = &w->rows[w->row_count++];
        *last = (struct host_watch_row){.event = event};
    }
    if (lacks != NULL) {
        host_reason_lacking(lacks, &last->reason);
        return 0;
    }
    const int error = open_cpus(w, event, &cpus);
    if (error == 0 && last->reason.why != HOST_OK)
        take_proc(w);
    return error;
}

static int
online_cpus(const struct host_root *root, const struct tally_log *log,
            cpu_set_t *cpus)
{
    char path[HOST_PATH], text[4096];

    if (!host_sys_path(root, path, sizeof(path), "devices/system/cpu/online") ||
        host_read_text(path, text, sizeof(text)) != 0)
        return tally_fail(log, TALLY_ESYSTEM,
                          "the kernel does not tell its cpus "
                          "(/sys/devices/system/cpu/online)");
    host_cpus_parse(text, cpus);
    return 0;
}

/* Each event takes a descriptor for each cpu. */
static void
raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Parses the list into the watch, which holds the events from then on. */
static int
find_events(struct host_watch *w, const char *list, const struct tally_log *log,
            size_t *count)
{
    const int error = host_event_list_wanted(
        list != NULL ? list : HOST_WATCH_EVENTS, log, &w->events, count);

    if (error != 0)
        return error;
    for (size_t i = 0; i < *count; i++)
        if (w->events[i].group >= 0)
            return tally_fail(log, TALLY_ESYNTAX,
                              "events in braces are counted together by tally "
                              "count alone; list them without braces");
    return 0;
}

/* Makes room for the events, and opens them. */
static int
open_events(struct host_watch *w, size_t count, const struct tally_log *log)
{
    cpu_set_t online;
    int error = online_cpus(w->root, log, &online);

    w->rows = calloc(count + 1, sizeof(*w->rows));
    w->bases = calloc(count + 1, sizeof(*w->bases));
    if (error == 0 && (w->rows == NULL || w->bases == NULL))
        return TALLY_ENOMEM;
    w->cpu_count = error == 0 ? (unsigned)CPU_COUNT(&online) : 0;
    raise_descriptors();
    for (size_t i = 0; i < count && error == 0; i++)
        error = add_event(w, &w->events[i], &online);
    size_t first = 0;
    for (size_t i = 0; i < w->row_count; i++) {
        w->rows[i].parts = w->parts + first;
        first += w->rows[i].part_count;
    }
    return error;
}

int
host_watch_create(const char *events, const struct host_root *root,
                  const struct tally_log *log, struct host_watch **watch)
{
    struct host_watch *const w = calloc(1, sizeof(*w));
    struct timespec now;
    size_t count = 0;

    if (w == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for the events");
    w->root = root;
    clock_gettime(CLOCK_REALTIME, &now);
    w->began_s = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    int error = find_events(w, events, log, &count);
    if (error == 0) {
        error = open_events(w, count, log);
        if (error == TALLY_ENOMEM)
            tally_fail(log, error, "no memory for the events");
    }
    if (error != 0) {
        host_watch_destroy(w);
        return error;
    }
    host_watch_read(w);
    *watch = w;
    return 0;
}

/* Reads the event on one cpu. False: its reason is in the row. */
static bool
read_part(struct host_watch_row *row, struct host_watch_part *part, int fd)
{
    struct counter_reading reading = {0};
    uint64_t total = 0;
    ssize_t n;

    do
        n = read(fd, &reading, sizeof(reading));
    while (n < 0 && errno == EINTR);
    if (n != sizeof(reading)) {
        host_explain(n < 0 ? errno : EBUSY, &row->event->attr, -1, part->cpu,
                     &row->reason);
        return false;
    }
    if (!counter_scaled(&reading, &total) && reading.enabled != 0) {
        row->reason.why = HOST_BUSY;
        snprintf(row->reason.text, sizeof(row->reason.text),
                 "it was never on a counter: others hold them all");
        return false;
    }
    row->estimated = row->estimated || reading.running < reading.enabled;
    if (total > part->total)
        part->total = total;
    return true;
}

/* Reads an event that /proc has. */
static bool
read_proc_row(const struct host_watch *w, struct host_watch_row *row)
{
    const struct proc_event *const p = find_proc_event(row->event);
    const uint64_t base = w->bases[row - w->rows];
    uint64_t number;

    if (!read_proc(w, p, &number)) {
        row->reason.why = HOST_OTHER;
        snprintf(row->reason.text, sizeof(row->reason.text),
                 "/proc/%s cannot be read", p->file);
        return false;
    }
    if (number > base && number - base > row->total)
        row->total = number - base;
    return true;
}

void
host_watch_read(struct host_watch *w)
{
    size_t part = 0;

    for (size_t i = 0; i < w->row_count; i++) {
        struct host_watch_row *const row = &w->rows[i];
        uint64_t sum = 0;
        if (row->source == HOST_WATCH_PROC) {
            row->reason = (struct host_reason){0};
            row->counted = read_proc_row(w, row);
            continue;
        }
        if (row->part_count == 0)
            continue; /* it never opened, and keeps its reason */
        row->reason = (struct host_reason){0};
        row->counted = true;
        for (size_t k = 0; k < row->part_count; k++, part++) {
            row->counted =
                read_part(row, &w->parts[part], w->fds[part]) && row->counted;
            sum += w->parts[part].total;
        }
        row->total = sum;
    }
}

const struct host_watch_row *
host_watch_rows(const struct host_watch *watch, size_t *count)
{
    *count = watch->row_count;
    return watch->rows;
}

double
host_watch_began(const struct host_watch *watch)
{
    return watch->began_s;
}

void
host_watch_destroy(struct host_watch *w)
{
    if (w == NULL)
        return;
    for (size_t i = 0; i < w->part_count; i++)
        close(w->fds[i]);
    free(w->fds);
    free(w->parts);
    free(w->rows);
    free(w->bases);
    free(w->events);
    free(w);
}

const char *
host_watch_source_name(enum host_watch_source source)
{
    return source == HOST_WATCH_PERF ? "perf" : "proc";
}
