/* SPDX-License-Identifier: MIT */
/*
 * Sets of the host's counters: what they ask the kernel for, which events they
 * put into groups, and what they make of its answers. Runs with test/mock
 * preloaded, on the machine of test/mock/set.script, where an event ages by
 * 1 ms when it is read or disabled; linked with --wrap=host_open, to see what
 * is asked for.
 */
#include "host/set.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "host_opened.h"

enum { CORE = 4, UNIT = 9, SOFT = PERF_TYPE_SOFTWARE };

int
__wrap_host_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
                 int group, unsigned long flags, struct host_reason *reason)
{
    assert_int_equal(flags, 0);
    return note_opened(attr, pid, cpu, group, flags, reason);
}

static struct host_event
event(uint32_t type, uint64_t config)
{
    return (struct host_event){
        .attr = {.size = sizeof(struct perf_event_attr),
                 .type = type,
                 .config = config},
        .name = "the event",
        .scale = 1,
        .group = -1,
    };
}

/* Returns an event of a unit outside the cores, which processors 0 and 2 have.
 */
static struct host_event
unit(uint64_t config)
{
    struct host_event e = event(UNIT, config);

    snprintf(e.pmu, sizeof(e.pmu), "io");
    e.uncore = true;
    CPU_SET(0, &e.cpus);
    CPU_SET(2, &e.cpus);
    return e;
}

static struct host_event
in_braces(struct host_event e, int group)
{
    e.group = group;
    return e;
}

static struct host_set *
create(struct host_set_options options)
{
    struct host_set *set;

    opened_count = 0;
    assert_int_equal(host_set_create(&options, &set), 0);
    return set;
}

static struct host_set *
create_with(struct host_set_options options, const struct host_event *events,
            size_t count)
{
    struct host_set *const set = create(options);

    assert_int_equal(host_set_add(set, events, count), 0);
    return set;
}

static void
reads(struct host_set *set, size_t event, size_t count, uint64_t value,
      uint64_t enabled, uint64_t running)
{
    struct counter_reading r[8];

    memset(r, 0xee, sizeof(r));
    assert_in_range(count, 1, COUNT(r));
    assert_int_equal(host_set_ops.read(set, r), 0);
    assert_int_equal(r[event].value, value);
    assert_int_equal(r[event].enabled, enabled);
    assert_int_equal(r[event].running, running);
}

/* Who is counted: the task or processor, and who inherits the event. */
static void
test_targets(void **state)
{
    const pid_t tid = (pid_t)syscall(SYS_gettid), parent = getppid();
    const struct {
        int line;
        enum host_scope scope;
        int id;
        bool inherit, uncore;
        pid_t pid;
        int cpu;
        bool inherits, threads;
    } rows[] = {
        {__LINE__, HOST_THREAD, 0, false, false, tid, -1, false, false},
        {__LINE__, HOST_THREAD, 0, true, false, tid, -1, true, false},
        {__LINE__, HOST_THREAD, parent, false, false, parent, -1, false, false},
        {__LINE__, HOST_PROCESS, 0, false, false, getpid(), -1, true, true},
        {__LINE__, HOST_PROCESS, 0, true, false, getpid(), -1, true, false},
        {__LINE__, HOST_CPU, 0, false, false, -1, 0, false, false},
        {__LINE__, HOST_CPU, 2, true, false, -1, 2, false, false},
        {__LINE__, HOST_PROCESS, 0, true, true, -1, 0, false, false},
        {__LINE__, HOST_THREAD, 0, true, true, -1, 0, false, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct host_event one = rows[i].uncore ? unit(1) : event(CORE, 1);
        struct host_set *const set =
            create_with((struct host_set_options){.scope = rows[i].scope,
                                                  .id = rows[i].id,
                                                  .inherit = rows[i].inherit},
                        &one, 1);
        same_number(rows[i].line, (long long)opened_count,
                    rows[i].uncore ? 2 : 1);
        same_number(rows[i].line, opened[0].pid, rows[i].pid);
        same_number(rows[i].line, opened[0].cpu, rows[i].cpu);
        same_number(rows[i].line, opened[0].attr.inherit, rows[i].inherits);
        same_number(rows[i].line, opened[0].attr.inherit_thread,
                    rows[i].threads);
        if (rows[i].uncore)
            same_number(rows[i].line, opened[1].cpu, 2);
        host_set_ops.close(set);
    }
}

/* Event `i` is of a kind; its code is 1 + i, so that a group can be spelt. */
enum kind { HARD, OTHER, SOFTWARE, TRACEPOINT, OUTSIDE };
enum mark { PINNED = 1, EXCLUSIVE = 2, WEAK = 4 };
struct given {
    enum kind kind;
    int group; /* 0: in no braces */
    unsigned marks;
};

static struct host_event
given_event(const struct given *g, size_t i)
{
    static const uint32_t types[] = {CORE, CORE, SOFT, PERF_TYPE_TRACEPOINT,
                                     UNIT};
    struct host_event e =
        g->kind == OUTSIDE ? unit(1 + i) : event(types[g->kind], 1 + i);

    e.group = g->group - 1;
    e.attr.pinned = (g->marks & PINNED) != 0;
    e.attr.exclusive = (g->marks & EXCLUSIVE) != 0;
    e.weak = (g->marks & WEAK) != 0;
    if (g->kind == OTHER)
        snprintf(e.pmu, sizeof(e.pmu), "other");
    if (g->kind == OUTSIDE)
        CPU_CLR(2, &e.cpus);
    return e;
}

/* Spells what is open: "ab,c" where the first two events are a group. */
static void
spell(size_t from, char *text)
{
    for (size_t i = from; i < opened_count; i++) {
        if (opened[i].group < 0 && i > from)
            *text++ = ',';
        *text++ = (char)('a' + (int)opened[i].attr.config - 1);
    }
    *text = '\0';
}

/* Which events are in a group. */
static void
test_groups(void **state)
{
    static const struct {
        int line;
        struct given events[6];
        size_t count;
        const char *groups;
    } rows[] = {
        {__LINE__, {{HARD, 0, 0}, {HARD, 0, 0}}, 2, "a,b"},
        {__LINE__, {{HARD, 1, 0}, {HARD, 1, 0}}, 2, "ab"},
        {__LINE__, {{HARD, 1, 0}, {HARD, 2, 0}}, 2, "a,b"},
        {__LINE__, {{HARD, 1, 0}, {HARD, 0, 0}}, 2, "a,b"},
        {__LINE__, {{HARD, 1, 0}, {OTHER, 1, 0}}, 2, "a,b"},
        {__LINE__, {{HARD, 1, 0}, {SOFTWARE, 1, 0}}, 2, "ab"},
        {__LINE__, {{SOFTWARE, 1, 0}, {HARD, 1, 0}}, 2, "ab"},
        {__LINE__, {{SOFTWARE, 1, 0}, {SOFTWARE, 0, 0}}, 2, "a,b"},
        {__LINE__,
         {{SOFTWARE, 0, 0}, {HARD, 0, 0}, {SOFTWARE, 0, 0}, {HARD, 0, 0}},
         4,
         "ac,b,d"},
        {__LINE__, {{SOFTWARE, 0, 0}, {TRACEPOINT, 0, 0}}, 2, "ab"},
        {__LINE__, {{SOFTWARE, 0, PINNED}, {SOFTWARE, 0, 0}}, 2, "a,b"},
        {__LINE__, {{SOFTWARE, 0, 0}, {SOFTWARE, 0, EXCLUSIVE}}, 2, "a,b"},
        {__LINE__, {{HARD, 1, PINNED}, {HARD, 1, PINNED}}, 2, "ab"},
        {__LINE__, {{OUTSIDE, 1, 0}, {OUTSIDE, 1, 0}}, 2, "ab"},
        {__LINE__, {{SOFTWARE, 1, 0}, {OUTSIDE, 1, 0}}, 2, "a,b"},
        {__LINE__, {{HARD, 1, WEAK}, {HARD, 1, WEAK}}, 2, "ab"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct host_event events[6];
        char text[32];
        for (size_t k = 0; k < rows[i].count; k++)
            events[k] = given_event(&rows[i].events[k], k);
        struct host_set *const set =
            create_with((struct host_set_options){.scope = HOST_THREAD}, events,
                        rows[i].count);
        spell(0, text);
        same_text(rows[i].line, text, rows[i].groups);
        host_set_ops.close(set);
    }
}

/* A weak group that does not fit is taken apart, quietly; another is refused.
 * The machine has two counters. */
static void
test_weak(void **state)
{
    struct host_event events[3];
    struct heard heard;
    char text[32];

    (void)state;
    for (unsigned weak = 0; weak < 2; weak++) {
        for (size_t i = 0; i < 3; i++)
            events[i] = given_event(
                &(struct given){HARD, 1, weak && i == 2 ? WEAK : 0u}, i);
        const int before = open_files();
        struct host_set *const set =
            create((struct host_set_options){.log = listen(&heard)});
        if (weak) {
            assert_int_equal(host_set_add(set, events, 3), 0);
            assert_int_equal(heard.lines, 0);
            spell(3, text);
            assert_string_equal(text, "ab,c");
        } else {
            assert_int_equal(host_set_add(set, events, 3), TALLY_EIDLE);
            assert_int_equal(heard.lines, 1);
            assert_int_equal(open_files(), before);
        }
        host_set_ops.close(set);
        assert_int_equal(open_files(), before);
    }
    /* Apart, an event may still be refused: that is said once. */
    events[1] = given_event(&(struct given){HARD, 1, WEAK}, 1);
    events[1].attr.config = 0x100;
    struct host_set *const set =
        create((struct host_set_options){.log = listen(&heard)});
    assert_int_equal(host_set_add(set, events, 3), TALLY_EIDLE);
    assert_int_equal(heard.lines, 1);
    host_set_ops.close(set);
}

/* What leads a group and what follows. */
static void
test_attributes(void **state)
{
    struct host_event events[3] = {event(CORE, 1), event(CORE, 2),
                                   event(CORE, 3)};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        events[i].attr.pinned = events[i].attr.exclusive = 1;
        events[i].attr.exclude_kernel = i == 1;
        events[i].attr.exclude_hv = 1;
        events[i].attr.precise_ip = 0;
    }
    events[0].group = events[1].group = 0;
    struct host_set *const set =
        create_with((struct host_set_options){.inherit = true}, events, 3);
    assert_int_equal(opened_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct perf_event_attr *const a = &opened[i].attr;
        const bool leads = i != 1;
        assert_int_equal(opened[i].group, leads ? -1 : opened[0].fd);
        assert_int_equal(a->read_format,
                         i == 2 ? TIMES : TIMES | PERF_FORMAT_GROUP);
        assert_int_equal(a->disabled, leads);
        assert_int_equal(a->pinned, leads);
        assert_int_equal(a->exclusive, leads);
        assert_int_equal(a->exclude_kernel, i == 1);
        assert_int_equal(a->exclude_user, 0);
        assert_int_equal(a->exclude_hv, 1);
        assert_int_equal(a->inherit, 1);
        assert_int_equal(a->sample_period, 0);
        assert_int_equal(a->sample_type, 0);
        assert_int_equal(a->wakeup_events, 0);
    }
    host_set_ops.close(set);
}

/* Counting begins with start, ends with stop and begins anew with reset. */
static void
test_counts(void **state)
{
    const struct host_event one = event(CORE, 1);
    struct host_set *const set =
        create_with((struct host_set_options){0}, &one, 1);

    (void)state;
    reads(set, 0, 1, 0, 0, 0);
    assert_int_equal(host_set_ops.start(set), 0);
    reads(set, 0, 1, 1000, MS, MS);
    reads(set, 0, 1, 2000, 2 * MS, 2 * MS);
    assert_int_equal(host_set_ops.reset(set), 0); /* reads, too */
    reads(set, 0, 1, 1000, MS, MS);
    assert_int_equal(host_set_ops.stop(set), 0); /* a step, too */
    reads(set, 0, 1, 2000, 2 * MS, 2 * MS);
    assert_int_equal(host_set_ops.reset(set), 0);
    reads(set, 0, 1, 0, 0, 0);
    assert_int_equal(host_set_ops.reset(set), 0);
    reads(set, 0, 1, 0, 0, 0);
    host_set_ops.close(set);
}

/* Of several events each has its own count, in the caller's order. */
static void
test_order(void **state)
{
    const struct host_event events[] = {
        in_braces(event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES), 0),
        event(SOFT, PERF_COUNT_SW_PAGE_FAULTS),
        in_braces(event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS), 0),
        event(SOFT, PERF_COUNT_SW_CONTEXT_SWITCHES),
    };
    static const uint64_t wanted[] = {2000000, 50, 3000000, 20};

    (void)state;
    for (size_t i = 0; i < COUNT(events); i++) {
        struct host_set *const set =
            create_with((struct host_set_options){0}, events, COUNT(events));
        assert_int_equal(host_set_ops.start(set), 0);
        reads(set, i, COUNT(events), wanted[i], MS, MS);
        assert_int_equal(host_set_ops.reset(set), 0);
        reads(set, i, COUNT(events), wanted[i], MS, MS);
        host_set_ops.close(set);
    }
}

/* Five events on two counters run for two fifths of their time: the count is
 * not scaled, and the times say so. */
static void
test_shared(void **state)
{
    struct host_event events[5];

    (void)state;
    for (size_t i = 0; i < COUNT(events); i++)
        events[i] = event(CORE, 1);
    struct host_set *const set =
        create_with((struct host_set_options){0}, events, COUNT(events));
    assert_int_equal(host_set_ops.start(set), 0);
    reads(set, 4, COUNT(events), 400, MS, 2 * MS / 5);
    reads(set, 0, COUNT(events), 800, 2 * MS, 4 * MS / 5);
    host_set_ops.close(set);
}

/* Values and times of several processors are summed: processor 2 counts 2 %
 * more. */
static void
test_sums(void **state)
{
    const struct host_event alone = unit(1);
    const struct host_event both[] = {in_braces(unit(1), 0),
                                      in_braces(unit(1), 0)};

    (void)state;
    struct host_set *set = create_with((struct host_set_options){0}, &alone, 1);
    assert_int_equal(host_set_ops.start(set), 0);
    reads(set, 0, 1, 202, 2 * MS, 2 * MS);
    host_set_ops.close(set);
    set = create_with((struct host_set_options){0}, both, 2);
    assert_int_equal(opened_count, 4);
    assert_int_equal(opened[1].group, opened[0].fd);
    assert_int_equal(opened[3].group, opened[2].fd);
    assert_int_equal(host_set_ops.start(set), 0);
    reads(set, 0, 2, 202, 2 * MS, 2 * MS);
    reads(set, 1, 2, 404, 4 * MS, 4 * MS);
    assert_int_equal(host_set_ops.stop(set), 0);
    reads(set, 1, 2, 606, 6 * MS, 6 * MS);
    reads(set, 1, 2, 606, 6 * MS, 6 * MS);
    host_set_ops.close(set);
}

/* An event that the kernel refuses: the code, the text, and nothing is left. */
static void
test_refused(void **state)
{
    static const struct {
        int line;
        uint64_t config;
        int error;
        const char *text;
    } rows[] = {
        {__LINE__, 0x100, TALLY_EIDLE, "counters are taken"},
        {__LINE__, 0x101, TALLY_EIDLE, "no such event"},
        {__LINE__, 0x102, TALLY_EPERMISSION, ""},
        {__LINE__, 0x103, TALLY_EUNKNOWN, ""},
        {__LINE__, 0x104, TALLY_ESYSTEM, "descriptors"},
        {__LINE__, 0x105, TALLY_ESYSTEM, ""},
    };
    struct host_event events[3] = {event(CORE, 1), event(CORE, 2),
                                   event(CORE, 3)};
    struct heard heard;

    (void)state;
    snprintf(events[1].name, sizeof(events[1].name), "the second");
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        const size_t row = i / 2;
        const int before = open_files();
        struct host_set *const set =
            create((struct host_set_options){.log = listen(&heard)});
        events[1].attr.config = rows[row].config;
        events[0].group = events[1].group = i % 2 == 0 ? -1 : 0;
        same_number(rows[row].line, host_set_add(set, events, 3),
                    rows[row].error);
        same_number(rows[row].line, heard.lines, 1);
        if (strncmp(heard.text, "the second: ", 12) != 0 ||
            strstr(heard.text, rows[row].text) == NULL)
            fail_msg("row at line %d: %s", rows[row].line, heard.text);
        /* Nothing was added, and the set takes others. */
        same_number(rows[row].line, host_set_overflow_fd(set), -1);
        assert_int_equal(host_set_add(set, events, 1), 0);
        assert_int_equal(host_set_ops.start(set), 0);
        reads(set, 0, 1, 1000, MS, MS);
        host_set_ops.close(set);
        same_number(rows[row].line, open_files(), before);
    }
}

/* What tally refuses by itself. */
static void
test_rules(void **state)
{
    struct host_event events[HOST_GROUP_MAX + 2];
    struct heard heard;
    struct host_set *set;

    (void)state;
    for (size_t i = 0; i < COUNT(events); i++)
        events[i] = event(SOFT, PERF_COUNT_SW_DUMMY);
    /* Outside braces a full group is followed by another. */
    set = create_with((struct host_set_options){0}, events, COUNT(events));
    assert_int_equal(opened[HOST_GROUP_MAX - 1].group, opened[0].fd);
    assert_int_equal(opened[HOST_GROUP_MAX].group, -1);
    assert_int_equal(opened[HOST_GROUP_MAX + 1].group,
                     opened[HOST_GROUP_MAX].fd);
    host_set_ops.close(set);
    for (size_t i = 0; i < COUNT(events); i++)
        events[i].group = i < HOST_GROUP_MAX + 1 ? 0 : 1;
    set = create((struct host_set_options){.log = listen(&heard)});
    assert_int_equal(host_set_add(set, events, HOST_GROUP_MAX + 1),
                     TALLY_ERANGE);
    assert_string_equal(heard.text, "more than 64 events in braces");
    assert_int_equal(host_set_add(set, events, 0), 0);
    assert_int_equal(opened_count, 0);
    events[HOST_GROUP_MAX].group = 1;
    assert_int_equal(host_set_add(set, events, COUNT(events)), 0);
    assert_int_equal(opened_count, COUNT(events));
    assert_int_equal(host_set_ops.start(set), 0);
    assert_int_equal(host_set_add(set, events, 1), TALLY_ERULE);
    assert_non_null(strstr(heard.text, "stop them first"));
    assert_int_equal(host_set_ops.stop(set), 0);
    assert_int_equal(host_set_add(set, events, 1), 0);
    assert_int_equal(host_set_overflows(set, NULL, NULL), TALLY_ERULE);
    assert_string_equal(heard.text, "no event has a period");
    host_set_ops.close(set);
    host_set_ops.close(NULL);

    /* A unit of no processor. */
    struct host_event none = unit(1);
    CPU_ZERO(&none.cpus);
    set = create((struct host_set_options){.log = listen(&heard)});
    assert_int_equal(host_set_add(set, &none, 1), TALLY_EIDLE);
    assert_string_equal(heard.text,
                        "the event: its unit names no cpu to be opened on");
    host_set_ops.close(set);

    set = create((struct host_set_options){
        .scope = HOST_PROCESS, .id = 0x7ffffff, .log = listen(&heard)});
    assert_int_equal(host_set_add(set, events, 1), TALLY_EUNKNOWN);
    assert_non_null(strstr(heard.text, "no process 134217727: "));
    host_set_ops.close(set);
}

/* A thread of a process that has ended since is passed by; if none is left,
 * that is an error. */
static void
test_ended(void **state)
{
    struct heard heard;
    struct host_event one = event(CORE, 0x106); /* the first open fails */
    struct host_set *set = create((struct host_set_options){
        .scope = HOST_PROCESS, .log = listen(&heard)});

    (void)state;
    assert_int_equal(host_set_add(set, &one, 1), TALLY_EUNKNOWN);
    assert_int_equal(heard.lines, 1);
    assert_int_equal(host_set_add(set, &one, 1), 0);
    host_set_ops.close(set);
    one.attr.config = 0x105; /* another error is none of an ended thread */
    set = create((struct host_set_options){.scope = HOST_PROCESS});
    assert_int_equal(host_set_add(set, &one, 1), TALLY_ESYSTEM);
    host_set_ops.close(set);
}

/* Waits until the pipe's other end is closed. */
static void *
wait_for_end(void *gate)
{
    char byte;

    return read(*(int *)gate, &byte, 1) == 0 ? NULL : gate;
}

/* Of a thread that ends while a group is opened for it nothing is left: the
 * other thread's group is read. */
static void
test_ended_midway(void **state)
{
    const struct host_event events[] = {in_braces(event(CORE, 1), 0),
                                        in_braces(event(CORE, 0x10e), 0)};
    pthread_t other;
    int gate[2];

    (void)state;
    assert_int_equal(pipe(gate), 0);
    assert_int_equal(pthread_create(&other, NULL, wait_for_end, gate), 0);
    const int before = open_files();
    struct host_set *const set = create_with(
        (struct host_set_options){.scope = HOST_PROCESS}, events, 2);
    assert_int_equal(opened_count, 4);
    assert_int_equal(opened[1].fd, -1);
    assert_int_not_equal(opened[0].pid, opened[2].pid);
    assert_int_equal(open_files(), before + 2);
    assert_int_equal(host_set_ops.start(set), 0);
    reads(set, 0, 2, 1000, MS, MS);
    host_set_ops.close(set);
    close(gate[1]);
    assert_int_equal(pthread_join(other, NULL), 0);
    close(gate[0]);
}

/* The kernel may give an event the descriptor 0. */
static void
test_descriptor_0(void **state)
{
    const struct host_event one = event(CORE, 1);
    const int input = dup(0);

    (void)state;
    close(0);
    struct host_set *const set =
        create_with((struct host_set_options){0}, &one, 1);
    assert_int_equal(opened[0].fd, 0);
    assert_int_equal(host_set_ops.start(set), 0);
    reads(set, 0, 1, 1000, MS, MS);
    host_set_ops.close(set);
    if (input >= 0)
        assert_int_equal(dup2(input, 0), 0);
    close(input);
}

/* Calls of the kernel that fail once the events are open. */
static void
test_faults(void **state)
{
    struct counter_reading r;
    struct heard heard;
    struct host_set *set;

    (void)state;
    struct host_event one = event(CORE, 0x107);
    set =
        create_with((struct host_set_options){.log = listen(&heard)}, &one, 1);
    assert_int_equal(host_set_ops.start(set), 0);
    assert_int_equal(host_set_ops.read(set, &r), TALLY_EIDLE);
    assert_non_null(strstr(heard.text, "lost it to another user"));
    assert_int_equal(host_set_ops.reset(set), TALLY_EIDLE);
    host_set_ops.close(set);

    one.attr.config = 0x108; /* read is interrupted */
    set = create_with((struct host_set_options){0}, &one, 1);
    assert_int_equal(host_set_ops.start(set), 0);
    assert_int_equal(host_set_ops.read(set, &r), 0);
    assert_int_equal(r.enabled, MS);
    host_set_ops.close(set);

    one.attr.config = 0x109;
    set =
        create_with((struct host_set_options){.log = listen(&heard)}, &one, 1);
    assert_int_equal(host_set_ops.start(set), TALLY_ESYSTEM);
    assert_string_equal(heard.text,
                        "counters cannot be started: Input/output error");
    assert_int_equal(heard.lines, 1);
    assert_int_equal(host_set_add(set, &one, 1), 0); /* nothing counts */
    host_set_ops.close(set);

    one.attr.config = 0x10a; /* ioctl is interrupted */
    set = create_with((struct host_set_options){0}, &one, 1);
    assert_int_equal(host_set_ops.start(set), 0);
    assert_int_equal(host_set_ops.read(set, &r), 0);
    assert_int_equal(r.enabled, MS);
    host_set_ops.close(set);

    one.attr.config = 0x10b; /* the second ioctl fails */
    set =
        create_with((struct host_set_options){.log = listen(&heard)}, &one, 1);
    assert_int_equal(host_set_ops.start(set), 0);
    assert_int_equal(host_set_ops.stop(set), TALLY_ESYSTEM);
    assert_string_equal(heard.text,
                        "counters cannot be stopped: Input/output error");
    assert_int_equal(host_set_add(set, &one, 1), TALLY_ERULE); /* they count */
    host_set_ops.close(set);
}

/* A start that fails midway stops what it has started. */
static void
test_half_started(void **state)
{
    const struct host_event events[] = {event(CORE, 1), event(CORE, 0x109)};
    struct host_set *const set =
        create_with((struct host_set_options){0}, events, 2);

    (void)state;
    assert_int_equal(host_set_ops.start(set), TALLY_ESYSTEM);
    reads(set, 0, 2, 1000, MS, MS); /* the step of the stop */
    reads(set, 0, 2, 1000, MS, MS);
    host_set_ops.close(set);
}

/* The first event of a set alone overflows. */
static void
test_period(void **state)
{
    static const struct {
        int line;
        uint64_t config;
        int error;
        const char *text;
    } rows[] = {
        {__LINE__, 0x10c, TALLY_EPERMISSION,
         "no buffer for overflows: Operation not permitted: sysctl -w "
         "kernel.perf_event_mlock_kb=4096"},
        {__LINE__, 0x10d, TALLY_ESYSTEM,
         "no buffer for overflows: Invalid argument"},
    };
    const struct host_event events[] = {event(CORE, 1), event(CORE, 2)};
    struct heard heard;
    struct host_set *set = create_with(
        (struct host_set_options){.scope = HOST_CPU, .period = 5000}, events,
        2);

    (void)state;
    assert_int_equal(host_set_add(set, events, 1), 0);
    for (size_t i = 0; i < 3; i++) {
        const struct perf_event_attr *const a = &opened[i].attr;
        assert_int_equal(a->sample_period, i == 0 ? 5000 : 0);
        assert_int_equal(a->sample_type, i == 0 ? RING_SAMPLE : 0);
        assert_int_equal(a->wakeup_events, i == 0);
    }
    assert_int_equal(host_set_overflow_fd(set), opened[0].fd);
    assert_int_equal(host_set_overflows(set, NULL, NULL), 0); /* none so far */
    host_set_ops.close(set);

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct host_event one = event(CORE, rows[i].config);
        set = create(
            (struct host_set_options){.period = 1, .log = listen(&heard)});
        same_number(rows[i].line, host_set_add(set, &one, 1), rows[i].error);
        same_text(rows[i].line, heard.text, rows[i].text);
        same_number(rows[i].line, host_set_overflow_fd(set), -1);
        host_set_ops.close(set);
    }
    for (size_t i = 0; i < 2; i++) {
        set = create((struct host_set_options){.scope = i == 0 ? HOST_PROCESS
                                                               : HOST_THREAD,
                                               .inherit = i == 1,
                                               .period = 1,
                                               .log = listen(&heard)});
        assert_int_equal(host_set_add(set, events, 1), TALLY_ERULE);
        assert_non_null(strstr(heard.text, "does not go with a process"));
        host_set_ops.close(set);
    }
}

static struct host_overflow last_overflow;
static unsigned overflows;

static void
take_overflow(void *user, const struct host_overflow *overflow)
{
    assert_ptr_equal(user, &overflows);
    last_overflow = *overflow;
    overflows++;
}

/* What the kernel writes behind the event's page is handed over once. */
static void
test_overflows(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const struct host_event one = event(CORE, 1);
    struct host_set *const set =
        create_with((struct host_set_options){.period = 5000}, &one, 1);
    const struct {
        struct perf_event_header header;
        uint64_t ip;
        uint32_t pid, tid;
        uint64_t time;
    } record = {{PERF_RECORD_SAMPLE, 0, sizeof(record)}, 0x4711, 12, 34, 56};

    (void)state;
    char *const kernel = mmap(NULL, 9 * page, PROT_READ | PROT_WRITE,
                              MAP_SHARED, opened[0].fd, 0);
    assert_true(kernel != MAP_FAILED);
    memcpy(kernel + page, &record, sizeof(record));
    ((struct perf_event_mmap_page *)(void *)kernel)->data_head = sizeof(record);
    overflows = 0;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(host_set_overflows(set, take_overflow, &overflows), 0);
        assert_int_equal(overflows, 1);
    }
    assert_int_equal(last_overflow.ip, 0x4711);
    assert_int_equal(last_overflow.pid, 12);
    assert_int_equal(last_overflow.tid, 34);
    assert_int_equal(last_overflow.time, 56);
    munmap(kernel, 9 * page);
    host_set_ops.close(set);
}

/* A signal goes to the thread that made the set. */
static void
test_signal(void **state)
{
    const struct host_event one = event(CORE, 1);
    struct f_owner_ex owner = {0};
    struct heard heard;

    (void)state;
    struct host_set *set = create_with(
        (struct host_set_options){.period = 1, .signal = SIGUSR2}, &one, 1);
    const int fd = host_set_overflow_fd(set);
    assert_int_equal(fcntl(fd, F_GETSIG), SIGUSR2);
    assert_int_equal(fcntl(fd, F_GETOWN_EX, &owner), 0);
    assert_int_equal(owner.type, F_OWNER_TID);
    assert_int_equal(owner.pid, syscall(SYS_gettid));
    assert_true((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
    host_set_ops.close(set);
    const int before = open_files();
    set = create((struct host_set_options){
        .period = 1, .signal = 999, .log = listen(&heard)});
    assert_int_equal(host_set_add(set, &one, 1), TALLY_ESYSTEM);
    assert_string_equal(heard.text,
                        "overflows cannot raise signal 999: Invalid argument");
    assert_int_equal(host_set_overflow_fd(set), -1);
    assert_int_equal(open_files(), before);
    host_set_ops.close(set);
}

/* In a child the parent's set is refused but for its end. */
static void
test_child(void **state)
{
    const struct host_event one = event(CORE, 1);
    struct counter_reading r;
    struct heard heard;
    int status;
    struct host_set *const set =
        create_with((struct host_set_options){.log = listen(&heard)}, &one, 1);

    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const bool refused =
            host_set_check(set) == TALLY_ERULE &&
            host_set_ops.start(set) == TALLY_ERULE &&
            host_set_ops.stop(set) == TALLY_ERULE &&
            host_set_ops.read(set, &r) == TALLY_ERULE &&
            host_set_ops.reset(set) == TALLY_ERULE &&
            host_set_add(set, &one, 1) == TALLY_ERULE &&
            host_set_overflows(set, NULL, NULL) == TALLY_ERULE &&
            heard.lines == 7 && strstr(heard.text, "fork()") != NULL;
        host_set_ops.close(set);
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(host_set_check(set), 0);
    assert_int_equal(host_set_ops.start(set), 0);
    reads(set, 0, 1, 1000, MS, MS);
    host_set_ops.close(set);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_weak),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_ended),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_half_started),
        cmocka_unit_test(test_period),
        cmocka_unit_test(test_child),
        cmocka_unit_test(test_ended_midway),
        cmocka_unit_test(test_descriptor_0),
        cmocka_unit_test(test_overflows),
        cmocka_unit_test(test_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
