/* SPDX-License-Identifier: MIT */
/*
 * Probes on functions: what they ask the kernel for, and the counts that follow
 * from the records of hits. The kernel is played here: this file is linked with
 * --wrap of each function by which src/host/probe.c reaches the kernel.
 */
#include "host/probe.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "host/ring.h"
#include "host/sysfs.h"
#include "open_files.h"

#define EVENTS 3
#define OPENED_MOST 512
#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define RING ((size_t)8 << 20)

enum { UPROBE = 7, PID = 4711 };

/* What the kernel writes of a group, in a record and in a read(2). */
struct group {
    uint64_t count, enabled, running, pairs[2 * 8];
};

struct record {
    struct perf_event_header header;
    uint64_t id;
    uint32_t pid, tid;
    struct group group;
};

/* The kernel that is played. The events' ids are 100, 101, ... in the order of
 * opening. */
static struct {
    bool no_uprobes;
    int open_error, failing; /* the error of the open of this number */
    bool only_in_group;      /* the failing event opens alone */
    int id_error, output_error;
    unsigned maps_that_fail;
    struct record records[16]; /* not yet taken */
    size_t record_count;

    struct opened {
        struct perf_event_attr attr;
        pid_t pid;
        int cpu, group, fd;
    } opened[OPENED_MOST];
    int opened_count, output_fd;
    unsigned maps, unmaps;
    size_t mapped, unmapped, walked;
} played;

int
__wrap_host_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
                 int group, unsigned long flags, struct host_reason *reason);
bool __wrap_host_pmu_read(const struct host_root *root, const char *name,
                          struct host_pmu *pmu);
void __wrap_host_ring_walk(struct perf_event_mmap_page *page, size_t page_size,
                           size_t size, struct perf_event_header *record,
                           size_t room,
                           void (*take)(void *user,
                                        const struct perf_event_header *record),
                           void *user);
int __wrap_ioctl(int fd, unsigned long request, ...);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd,
                  off_t offset);
void *__wrap_mmap64(void *address, size_t size, int protection, int flags,
                    int fd, off_t offset);
int __wrap_munmap(void *address, size_t size);

/* Opens a file, whose end it stands at; an event that is alone is no member. */
int
__wrap_host_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
                 int group, unsigned long flags, struct host_reason *reason)
{
    const int number = played.opened_count++;
    const bool alone = group < 0 && number > played.failing;

    assert_in_range(number, 0, OPENED_MOST - 1);
    assert_int_equal(flags, 0);
    if (played.open_error != 0 &&
        (number == played.failing || (alone && !played.only_in_group))) {
        played.opened[number] = (struct opened){*attr, pid, cpu, group, -1};
        errno = played.open_error;
        if (reason != NULL)
            *reason = (struct host_reason){.why = HOST_OTHER,
                                           .error = played.open_error,
                                           .text = "as the kernel says"};
        return -1;
    }
    const int fd = memfd_create("event", MFD_CLOEXEC);
    assert_true(fd >= 0);
    played.opened[number] = (struct opened){*attr, pid, cpu, group, fd};
    return fd;
}

bool
__wrap_host_pmu_read(const struct host_root *root, const char *name,
                     struct host_pmu *pmu)
{
    (void)root;
    assert_string_equal(name, "uprobe");
    memset(pmu, 0, sizeof(*pmu));
    pmu->type = UPROBE;
    return !played.no_uprobes;
}

void
__wrap_host_ring_walk(struct perf_event_mmap_page *page, size_t page_size,
                      size_t size, struct perf_event_header *record,
                      size_t room,
                      void (*take)(void *user,
                                   const struct perf_event_header *record),
                      void *user)
{
    assert_non_null(page);
    assert_int_equal(page_size, sysconf(_SC_PAGESIZE));
    played.walked = size;
    for (size_t i = 0; i < played.record_count; i++) {
        assert_in_range(sizeof(played.records[i]), 0, room);
        memcpy(record, &played.records[i], sizeof(played.records[i]));
        take(user, record);
    }
    played.record_count = 0;
}

int
__wrap_ioctl(int fd, unsigned long request, ...)
{
    va_list list;
    int error = 0;

    va_start(list, request);
    if (request == PERF_EVENT_IOC_ID) {
        uint64_t *const id = va_arg(list, uint64_t *);
        error = played.id_error;
        for (int i = 0; i < played.opened_count; i++)
            if (played.opened[i].fd == fd)
                *id = 100 + (uint64_t)i;
    } else {
        assert_int_equal(request, PERF_EVENT_IOC_SET_OUTPUT);
        assert_int_equal(fd, played.opened[1].fd);
        played.output_fd = va_arg(list, int);
        error = played.output_error;
    }
    va_end(list);
    errno = error;
    return error != 0 ? -1 : 0;
}

void *
__wrap_mmap(void *address, size_t size, int protection, int flags, int fd,
            off_t offset)
{
    assert_null(address);
    assert_int_equal(protection, PROT_READ | PROT_WRITE);
    assert_int_equal(flags, MAP_SHARED);
    assert_int_equal(fd, played.opened[0].fd);
    assert_int_equal(offset, 0);
    if (played.maps++ < played.maps_that_fail) {
        errno = EPERM;
        return MAP_FAILED;
    }
    played.mapped = size;
    return &played; /* is not looked at */
}

void *
__wrap_mmap64(void *address, size_t size, int protection, int flags, int fd,
              off_t offset)
{
    return __wrap_mmap(address, size, protection, flags, fd, offset);
}

int
__wrap_munmap(void *address, size_t size)
{
    assert_ptr_equal(address, &played);
    played.unmaps++;
    played.unmapped = size;
    return 0;
}

static struct host_event
event(uint64_t config)
{
    return (struct host_event){
        .attr = {.type = PERF_TYPE_RAW, .config = config},
        .name = "the event",
        .scale = 1,
        .group = -1,
    };
}

/* Returns probes with these ends, at 0x10 and 0x20. */
static struct host_probes
probes_of(bool from, bool to)
{
    return (struct host_probes){
        .path = "/a/program",
        .at = {{from ? "first" : NULL, 0x10}, {to ? "second" : NULL, 0x20}},
    };
}

/* What is counted, with the descriptors that the caller owns. */
struct counted {
    struct probe_group *group;
    int fds[EVENTS];
    uint64_t first; /* id of the first event */
};

/* Opens probes and EVENTS events. */
static struct counted
open_probes(bool from, bool to)
{
    const struct host_probes probes = probes_of(from, to);
    struct host_event events[EVENTS];
    struct counted c = {.first = 100u + from + to};

    memset(&played, 0, sizeof(played));
    for (size_t i = 0; i < EVENTS; i++)
        events[i] = event(i);
    assert_int_equal(probe_open(&probes, events, EVENTS, PID, NULL, &c.group),
                     0);
    for (size_t i = 0; i < EVENTS; i++) {
        struct host_reason reason;
        c.fds[i] = probe_add(c.group, &events[i], i, &reason);
        assert_true(c.fds[i] >= 0);
    }
    return c;
}

static void
close_probes(struct counted *c)
{
    probe_close(c->group);
    for (size_t i = 0; i < EVENTS; i++)
        close(c->fds[i]);
    assert_int_equal(played.unmaps, 1);
    assert_int_equal(played.unmapped, played.mapped);
}

/* Returns a group's values: the probes' hits, and `n`, 10 n and 100 n of the
 * events; 1000 n enabled, and as much running. */
static struct group
values(const struct counted *c, uint64_t first_hits, uint64_t second_hits,
       uint64_t n)
{
    const uint64_t probes = c->first - 100;
    struct group g = {
        .count = probes + EVENTS, .enabled = 1000 * n, .running = 1000 * n};
    uint64_t *at = g.pairs;

    for (uint64_t i = 0; i < probes; i++) {
        *at++ = i == 0 ? first_hits : second_hits;
        *at++ = 100 + i;
    }
    for (uint64_t i = 0, factor = 1; i < EVENTS; i++, factor *= 10) {
        *at++ = factor * n;
        *at++ = c->first + i;
    }
    return g;
}

/* A probe was hit when the events' counts were those of `n`. */
static void
hit(const struct counted *c, uint64_t id, uint64_t n)
{
    struct record *const r = &played.records[played.record_count++];

    memset(r, 0, sizeof(*r));
    r->header.type = PERF_RECORD_SAMPLE;
    r->header.size = sizeof(*r);
    r->id = id;
    r->group = values(c, 0, 0, n);
}

/* The program ends. */
static void
end(const struct counted *c, const struct group *last)
{
    const size_t size = offsetof(struct group, pairs) + last->count * 16;

    assert_int_equal(pwrite(played.opened[0].fd, last, size, 0), size);
    probe_end(c->group);
}

/* The events' counts are those of `n`, without a reason against them. */
static void
counts(const struct counted *c, uint64_t n)
{
    for (uint64_t i = 0, factor = 1; i < EVENTS; i++, factor *= 10) {
        struct host_reason reason = {0};
        const struct counter_reading r = probe_reading(c->group, i, &reason);
        assert_int_equal(reason.why, HOST_OK);
        assert_int_equal(r.value, factor * n);
        assert_int_equal(r.enabled, 1000 * n);
        assert_int_equal(r.running, 1000 * n);
    }
}

static void
has_no_count(const struct counted *c, enum host_why why, const char *text)
{
    struct host_reason reason = {0};

    probe_reading(c->group, EVENTS - 1, &reason);
    assert_int_equal(reason.why, why);
    if (strstr(reason.text, text) == NULL)
        fail_msg("%s", reason.text);
    assert_true(reason.mend[0] != '\0');
}

/* The probes lead one group, which the exec starts. */
static void
test_attributes(void **state)
{
    static const struct {
        int line;
        bool from, to, exclusive;
    } rows[] = {
        {__LINE__, true, true, false},
        {__LINE__, true, false, true},
        {__LINE__, false, true, false},
        {__LINE__, true, true, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct host_probes probes = probes_of(rows[i].from, rows[i].to);
        struct host_event events[2] = {event(1), event(2)};
        struct probe_group *group;
        struct host_reason reason;
        const int ends = rows[i].from + rows[i].to;
        memset(&played, 0, sizeof(played));
        events[1].attr.exclusive = rows[i].exclusive;
        events[1].attr.pinned = 1;
        events[1].attr.exclude_kernel = 1;
        assert_int_equal(probe_open(&probes, events, 2, PID, NULL, &group), 0);
        same_number(rows[i].line, played.opened_count, ends);
        for (int k = 0; k < ends; k++) {
            const struct opened *const o = &played.opened[k];
            const bool first = rows[i].from && k == 0;
            same_number(rows[i].line, o->pid, PID);
            same_number(rows[i].line, o->cpu, -1);
            same_number(rows[i].line, o->group,
                        k == 0 ? -1 : played.opened[0].fd);
            same_number(rows[i].line, o->attr.type, UPROBE);
            same_number(rows[i].line, o->attr.size, sizeof(o->attr));
            same_text(rows[i].line, (const char *)(uintptr_t)o->attr.config1,
                      "/a/program");
            same_number(rows[i].line, (long long)o->attr.config2,
                        first ? 0x10 : 0x20);
            same_number(rows[i].line, (long long)o->attr.sample_period, 1);
            same_number(rows[i].line, (long long)o->attr.sample_type,
                        PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
                            PERF_SAMPLE_READ);
            same_number(rows[i].line, (long long)o->attr.read_format,
                        TIMES | PERF_FORMAT_GROUP | PERF_FORMAT_ID);
            same_number(rows[i].line, o->attr.disabled, k == 0);
            same_number(rows[i].line, o->attr.enable_on_exec, k == 0);
            same_number(rows[i].line, o->attr.pinned, k == 0);
            same_number(rows[i].line, o->attr.exclusive,
                        k == 0 && rows[i].exclusive);
            same_number(rows[i].line, o->attr.inherit, 0);
        }
        const int fd = probe_add(group, &events[1], 1, &reason);
        const struct opened *const o = &played.opened[ends];
        same_number(rows[i].line, o->fd, fd);
        same_number(rows[i].line, o->pid, PID);
        same_number(rows[i].line, o->cpu, -1);
        same_number(rows[i].line, o->group, played.opened[0].fd);
        same_number(rows[i].line, o->attr.size, sizeof(o->attr));
        same_number(rows[i].line, (long long)o->attr.read_format, TIMES);
        same_number(rows[i].line, o->attr.pinned | o->attr.exclusive, 0);
        same_number(rows[i].line, o->attr.exclude_kernel, 1);
        same_number(rows[i].line, (long long)o->attr.config, 2);
        same_number(rows[i].line, (long long)played.mapped,
                    (long long)(RING + (size_t)sysconf(_SC_PAGESIZE)));
        same_number(rows[i].line, played.output_fd,
                    ends == 2 ? played.opened[0].fd : 0);
        close(fd);
        probe_close(group);
    }
}

/* Counts between the two functions, in pieces. */
static void
test_windows(void **state)
{
    struct counted c = open_probes(true, true);

    (void)state;
    probe_drain(c.group); /* no record */
    hit(&c, 101, 3);      /* the end before the beginning */
    hit(&c, 100, 10);
    hit(&c, 100, 15); /* goes on */
    probe_drain(c.group);
    assert_int_equal(played.walked, RING);
    hit(&c, 101, 30);
    hit(&c, 101, 35);
    hit(&c, 100, 50);
    hit(&c, 101, 54);
    struct group last = values(&c, 3, 4, 100);
    end(&c, &last);
    counts(&c, 20 + 4);
    assert_int_equal(probe_hits(c.group, PROBE_FROM), 3);
    assert_int_equal(probe_hits(c.group, PROBE_TO), 4);
    close_probes(&c);

    c = open_probes(true, true); /* to the program's end */
    hit(&c, 100, 10);
    hit(&c, 101, 20);
    hit(&c, 100, 40);
    last = values(&c, 2, 1, 100);
    end(&c, &last);
    counts(&c, 10 + 60);
    close_probes(&c);
}

/* One end alone: from the program's start, or to its end. */
static void
test_one_end(void **state)
{
    struct counted c = open_probes(true, false);
    struct group last;

    (void)state;
    hit(&c, 100, 10);
    hit(&c, 100, 20);
    last = values(&c, 2, 0, 70);
    end(&c, &last);
    counts(&c, 60);
    assert_int_equal(probe_hits(c.group, PROBE_FROM), 2);
    assert_int_equal(probe_hits(c.group, PROBE_TO), 0);
    close_probes(&c);

    c = open_probes(false, true);
    hit(&c, 100, 10);
    hit(&c, 100, 20);
    last = values(&c, 2, 0, 70);
    end(&c, &last);
    counts(&c, 10);
    assert_int_equal(probe_hits(c.group, PROBE_TO), 2);
    close_probes(&c);

    c = open_probes(false, true); /* never met: all of the program */
    last = values(&c, 0, 0, 70);
    end(&c, &last);
    counts(&c, 70);
    close_probes(&c);
}

/* Why there is no count. */
static void
test_no_count(void **state)
{
    struct counted c = open_probes(true, true);
    struct group last;

    (void)state;
    hit(&c, 100, 10);
    hit(&c, 101, 20);
    last = values(&c, 4, 2, 70);
    end(&c, &last);
    has_no_count(&c, HOST_LOST, "4 of 6 entries");
    close_probes(&c);

    c = open_probes(true, true);
    hit(&c, 101, 20);
    last = values(&c, 0, 1, 70);
    end(&c, &last);
    has_no_count(&c, HOST_NOT_BEGUN, "'first' was never entered");
    close_probes(&c);

    c = open_probes(true, true); /* the counters stood still */
    hit(&c, 100, 10);
    last = values(&c, 1, 0, 70);
    last.running--;
    end(&c, &last);
    has_no_count(&c, HOST_BUSY, "stood still");
    close_probes(&c);

    c = open_probes(true, true); /* the group is in error: nothing to read */
    hit(&c, 100, 10);
    probe_end(c.group);
    has_no_count(&c, HOST_BUSY, "stood still");
    close_probes(&c);
}

/* Records of another kind, or larger than any, are none of a hit. */
static void
test_other_records(void **state)
{
    struct counted c = open_probes(true, false);
    struct group last;

    (void)state;
    hit(&c, 100, 10);
    hit(&c, 100, 20);
    hit(&c, 100, 30);
    played.records[0].header.type = PERF_RECORD_LOST;
    played.records[1].header.size = UINT16_MAX;
    last = values(&c, 1, 0, 70);
    end(&c, &last);
    counts(&c, 40);
    close_probes(&c);
}

/* An event that the group does not take. */
static void
test_refused_events(void **state)
{
    static const struct {
        int line;
        int error;
        bool alone; /* it opens alone */
        enum host_why why;
        const char *text;
    } rows[] = {
        {__LINE__, EINVAL, true, HOST_BUSY, "does not fit into the one group"},
        {__LINE__, EINVAL, false, HOST_OTHER, "as the kernel says"},
        {__LINE__, ENOENT, true, HOST_OTHER, "as the kernel says"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct counted c = open_probes(true, true);
        const struct host_event one = event(9);
        struct host_reason reason = {0};
        const int before = open_files();
        played.open_error = rows[i].error;
        played.failing = played.opened_count;
        played.only_in_group = rows[i].alone;
        same_number(rows[i].line, probe_add(c.group, &one, 0, &reason), -1);
        same_number(rows[i].line, reason.why, rows[i].why);
        if (strstr(reason.text, rows[i].text) == NULL)
            fail_msg("row at line %d: %s", rows[i].line, reason.text);
        same_number(rows[i].line, open_files(), before);
        close_probes(&c);
    }
    /* What is never asked of the kernel. */
    struct counted c = open_probes(true, true);
    struct host_event one = event(9);
    struct host_reason reason = {0};
    const int opened = played.opened_count;
    one.uncore = true;
    assert_int_equal(probe_add(c.group, &one, 0, &reason), -1);
    assert_int_equal(reason.why, HOST_UNSUPPORTED);
    assert_non_null(strstr(reason.text, "counts whole cpus"));
    assert_string_equal(reason.mend, "leave --from and --to out");
    assert_int_equal(played.opened_count, opened);

    struct host_event *lacking;
    size_t count;
    assert_int_equal(
        host_event_list_wanted("PAPI_BR_TKN", NULL, &lacking, &count), 0);
    assert_int_equal(count, 1);
    reason = (struct host_reason){0};
    assert_int_equal(probe_add(c.group, lacking, 0, &reason), -1);
    assert_int_equal(reason.why, HOST_UNSUPPORTED);
    assert_string_equal(reason.text, host_event_lacks(lacking));
    assert_int_equal(played.opened_count, opened);
    free(lacking);
    close_probes(&c);
}

/* A descriptor of a probe may be 0. */
static void
test_descriptor_0(void **state)
{
    const int input = dup(0);

    (void)state;
    close(0);
    struct counted c = open_probes(true, true);
    assert_int_equal(played.opened[0].fd, 0);
    assert_int_equal(played.opened[1].group, 0);
    assert_int_equal(played.opened[1].attr.disabled, 0);
    hit(&c, 100, 10);
    hit(&c, 101, 20);
    const struct group last = values(&c, 1, 1, 100);
    end(&c, &last);
    counts(&c, 10);
    close_probes(&c);
    assert_true(input < 0 || dup2(input, 0) == 0);
    if (input >= 0)
        close(input);
}

/* A group has room for 256 events, the two probes included. */
static void
test_room(void **state)
{
    struct counted c = open_probes(true, true);
    const struct host_event one = event(9);
    struct host_reason reason = {0};
    int fds[256], count = 0;

    (void)state;
    while (count < 256 &&
           (fds[count] = probe_add(c.group, &one, 0, &reason)) >= 0)
        count++;
    assert_int_equal(count, 256 - 2 - EVENTS);
    assert_int_equal(reason.why, HOST_BUSY);
    assert_string_equal(reason.mend, "ask for fewer events, or for one kind");
    while (count > 0)
        close(fds[--count]);
    close_probes(&c);
}

/* Probes that the kernel refuses: one line that names the end, and nothing is
 * left. */
static void
test_refused_probes(void **state)
{
    static const struct {
        int line;
        bool no_uprobes, from;
        int open_error, failing, id_error, output_error;
        unsigned maps_that_fail;
        const char *begin, *text;
    } rows[] = {
        {__LINE__, true, true, 0, 0, 0, 0, 0, "--from first: ", "no uprobes"},
        {__LINE__, true, false, 0, 0, 0, 0, 0, "--to second: ", "no uprobes"},
        {__LINE__, false, true, EINVAL, 0, 0, 0, 0, "--from first: ",
         "cannot put a uprobe into this file (Invalid argument); copy the"},
        {__LINE__, false, true, EINVAL, 1, 0, 0, 0, "--to second: ",
         "cannot put a uprobe into this file (Invalid argument); copy the"},
        {__LINE__, false, true, EACCES, 1, 0, 0, 0,
         "--to second: ", "uprobes are for root alone"},
        {__LINE__, false, true, 0, 0, EIO, 0, 0,
         "--from first: ", "no ring of records: Input/output error"},
        {__LINE__, false, true, 0, 0, 0, EIO, 0,
         "--to second: ", "no ring of records: Input/output error"},
        {__LINE__, false, true, 0, 0, 0, 0, 99,
         "--from first: ", "no ring of records: Operation not permitted"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct host_probes probes = probes_of(rows[i].from, true);
        const struct host_event one = event(1);
        const int before = open_files();
        struct probe_group *group = NULL;
        struct heard heard;
        const struct tally_log log = listen(&heard);
        memset(&played, 0, sizeof(played));
        played.no_uprobes = rows[i].no_uprobes;
        played.open_error = rows[i].open_error;
        played.failing = rows[i].failing;
        played.only_in_group = true;
        played.id_error = rows[i].id_error;
        played.output_error = rows[i].output_error;
        played.maps_that_fail = rows[i].maps_that_fail;
        same_number(rows[i].line,
                    probe_open(&probes, &one, 1, PID, &log, &group),
                    TALLY_ESYSTEM);
        assert_null(group);
        same_number(rows[i].line, heard.lines, 1);
        if (strncmp(heard.text, rows[i].begin, strlen(rows[i].begin)) != 0 ||
            strstr(heard.text, rows[i].text) == NULL)
            fail_msg("row at line %d: %s", rows[i].line, heard.text);
        same_number(rows[i].line, open_files(), before);
    }
}

/* A limit of locked memory makes the ring smaller, down to a page. */
static void
test_small_ring(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const struct host_probes probes = probes_of(true, false);
    const struct host_event one = event(1);
    unsigned fail = 0;

    (void)state;
    for (size_t ring = RING; ring >= page; ring /= 2, fail++) {
        struct probe_group *group;
        memset(&played, 0, sizeof(played));
        played.maps_that_fail = fail;
        assert_int_equal(probe_open(&probes, &one, 1, PID, NULL, &group), 0);
        assert_int_equal(played.mapped, page + ring);
        probe_drain(group);
        assert_int_equal(played.walked, ring);
        probe_close(group);
        assert_int_equal(played.unmapped, page + ring);
    }
}

/* No group is a group without probes. */
static void
test_none(void **state)
{
    (void)state;
    probe_drain(NULL);
    probe_end(NULL);
    probe_close(NULL);
    assert_int_equal(probe_hits(NULL, PROBE_FROM), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_one_end),
        cmocka_unit_test(test_no_count),
        cmocka_unit_test(test_other_records),
        cmocka_unit_test(test_refused_events),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_refused_probes),
        cmocka_unit_test(test_small_ring),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_descriptor_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
