/* SPDX-License-Identifier: MIT */
/*
 * Counts of programs, tasks and processors: what is opened for whom, what is
 * summed, and when a sum is none. Runs with test/mock preloaded, on the machine
 * of test/mock/count.script, where an event ages by 1 ms when it is read or
 * disabled, and by no more than 1 ms once its task has ended; linked with
 * --wrap=host_open, to see what is asked for.
 */
#include "host/count.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "host/child.h"
#include "host_opened.h"

enum { CORE = 4, UNIT = 9 };

int
__wrap_host_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
                 int group, unsigned long flags, struct host_reason *reason)
{
    const int fd = note_opened(attr, pid, cpu, group, flags, reason);
    struct rlimit files;

    /* Each event takes a descriptor: as many as may be are allowed. */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    assert_true(files.rlim_cur == files.rlim_max);
    return fd;
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

/* Returns the processors of a mask. */
static cpu_set_t
cpus_of(unsigned mask)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (size_t cpu = 0; cpu < 4; cpu++)
        if (mask >> cpu & 1)
            CPU_SET(cpu, &set);
    return set;
}

/* Counts, and sees that nothing is left open and the limits are as before.
 * Returns host_count()'s result. */
static int
count(struct host_count_options options, const struct host_event *events,
      size_t event_count, struct host_count_result *result, struct heard *heard)
{
    struct child_signals signals;
    struct rlimit before, after, few;
    const int files = open_files();
    const struct tally_log log = listen(heard);

    opened_count = 0;
    options.events = events;
    options.event_count = event_count;
    options.signals = &signals;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = before.rlim_max < 256 ? before.rlim_max : 256;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    child_signals_hold(&signals);
    const int error = host_count(&options, &log, result);
    child_signals_free(&signals);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &after), 0);
    assert_memory_equal(&few, &after, sizeof(few));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(open_files(), files);
    return error;
}

/* Counts well. */
static void
must_count(struct host_count_options options, const struct host_event *events,
           size_t event_count, struct host_count_result *result)
{
    struct heard heard;

    assert_int_equal(count(options, events, event_count, result, &heard), 0);
    assert_int_equal(heard.lines, 0);
    assert_int_equal(result->counts.event_count, event_count);
}

static void
is(const struct host_value *v, uint64_t value, uint64_t enabled)
{
    assert_int_equal(v->reason.why, HOST_OK);
    assert_true(v->counted);
    assert_int_equal(v->reading.value, value);
    assert_int_equal(v->reading.enabled, enabled);
}

static char *const true_words[] = {(char[]){"true"}, NULL};
static char *const sleep_words[] = {(char[]){"sleep"}, (char[]){"600"}, NULL};

/* What the kernel is asked for: an own program's events begin at its exec. */
static void
test_attributes(void **state)
{
    static const struct {
        int line;
        bool no_inherit;
        double delay_s;
        unsigned cpus;
        bool inherits, on_exec;
    } rows[] = {
        {__LINE__, false, 0, 0, true, true},
        {__LINE__, true, 0, 0, false, true},
        {__LINE__, false, -1, 0, true, false},
        {__LINE__, false, 0, 1, false, false},
        {__LINE__, true, 0, 1, false, false},
    };
    struct host_event events[3] = {event(CORE, 1), event(CORE, 2),
                                   event(CORE, 3)};

    (void)state;
    events[0].group = events[1].group = 0;
    events[0].attr.pinned = 1;
    events[1].attr.exclude_kernel = 1;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct host_count_result result;
        const cpu_set_t cpus = cpus_of(rows[i].cpus);
        must_count(
            (struct host_count_options){
                .argv = true_words,
                .no_inherit = rows[i].no_inherit,
                .delay_s = rows[i].delay_s,
                .cpus = rows[i].cpus != 0 ? &cpus : NULL,
            },
            events, 3, &result);
        same_number(rows[i].line, result.status, 0);
        same_number(rows[i].line, (long long)opened_count, 3);
        for (size_t k = 0; k < 3; k++) {
            const struct perf_event_attr *const a = &opened[k].attr;
            const bool leads = k != 1;
            same_number(rows[i].line, opened[k].group,
                        leads ? -1 : opened[0].fd);
            same_number(rows[i].line, opened[k].cpu, rows[i].cpus ? 0 : -1);
            same_number(rows[i].line, opened[k].pid > 0, rows[i].cpus == 0);
            same_number(rows[i].line, a->inherit, rows[i].inherits);
            same_number(rows[i].line, a->disabled, leads);
            same_number(rows[i].line, a->enable_on_exec,
                        leads && rows[i].on_exec);
            same_number(rows[i].line, a->pinned, k == 0);
            same_number(rows[i].line, a->exclude_kernel, k == 1);
            same_number(rows[i].line, a->exclude_user, 0);
            same_number(rows[i].line, (long long)a->read_format, TIMES);
            same_number(rows[i].line, (long long)a->sample_type,
                        PERF_SAMPLE_IDENTIFIER);
        }
        host_count_result_finish(&result);
    }
}

/* A program's count; three events on two counters run two thirds of the time,
 * and the count is not scaled. */
static void
test_program(void **state)
{
    struct host_event events[3] = {event(CORE, 1), event(CORE, 1),
                                   event(CORE, 1)};
    struct host_count_result result;

    (void)state;
    must_count((struct host_count_options){.argv = true_words}, events, 2,
               &result);
    is(&result.counts.values[0], 1000, MS);
    is(&result.counts.values[1], 1000, MS);
    is(&result.counts.of_target[1], 1000, MS);
    assert_int_equal(result.counts.target_count, 1);
    assert_int_equal(result.counts.targets[0].cpu, -1);
    assert_string_equal(result.counts.targets[0].name, "");
    assert_int_equal(result.counts.values[0].reading.running, MS);
    assert_true(result.wall_s > 0 && result.counts.at_s > 0);
    assert_true(result.counts.length_s == result.counts.at_s);
    assert_false(result.interrupted);
    assert_int_equal(result.exec_error, 0);
    assert_int_equal(result.from_hits + result.to_hits, 0);
    host_count_result_finish(&result);
    must_count((struct host_count_options){.argv = true_words}, events, 3,
               &result);
    for (size_t i = 0; i < 3; i++) {
        is(&result.counts.values[i], 666, MS);
        assert_int_equal(result.counts.values[i].reading.running, 666666);
    }
    host_count_result_finish(&result);
    /* Interrupted calls of the kernel are made again. */
    for (uint64_t config = 0x104; config < 0x106; config++) {
        const cpu_set_t cpus = cpus_of(1);
        events[0].attr.config = config;
        must_count(
            (struct host_count_options){.argv = true_words, .cpus = &cpus},
            events, 1, &result);
        assert_true(result.counts.values[0].counted);
        assert_int_equal(result.counts.values[0].reading.enabled, MS);
        host_count_result_finish(&result);
    }
}

/* Processors: each by itself, and the sum; processor 2 counts 2 % more. An
 * event of a unit is on the unit's processors, whatever is counted. */
static void
test_cpus(void **state)
{
    struct host_event events[3] = {event(CORE, 1), event(UNIT, 1),
                                   event(CORE, 1)};
    const cpu_set_t cpus = cpus_of(1 | 4);
    struct host_count_result result;

    (void)state;
    events[1].uncore = true;
    events[1].cpus = cpus_of(1 | 2);
    events[2].cpus = cpus_of(2 | 4); /* of one kind of cores */
    must_count((struct host_count_options){.argv = true_words, .cpus = &cpus},
               events, 3, &result);
    const struct host_counts *const c = &result.counts;
    assert_int_equal(c->target_count, 2);
    assert_int_equal(c->targets[0].cpu, 0);
    assert_int_equal(c->targets[1].cpu, 2);
    assert_int_equal(c->targets[1].tid, -1);
    /* The step is that of the disable: then the event stands still. */
    is(&c->values[0], 1000 + 1020, 2 * MS);
    is(&c->of_target[0], 1000, MS);
    is(&c->of_target[3], 1020, MS);
    is(&c->values[1], 100 + 101, 2 * MS);
    assert_false(c->of_target[1].counted || c->of_target[4].counted);
    is(&c->values[2], 1020, MS);
    assert_false(c->of_target[2].counted);
    is(&c->of_target[5], 1020, MS);
    assert_int_equal(opened_count, 5);
    host_count_result_finish(&result);
    /* Beside a program too. */
    must_count((struct host_count_options){.argv = true_words}, events, 2,
               &result);
    is(&result.counts.values[0], 1000, MS);
    assert_true(result.counts.values[1].reading.enabled == 2 * MS);
    host_count_result_finish(&result);
}

/* What was told before the program ran. */
static struct told {
    unsigned calls;
    struct host_value values[4], of_target[4];
} told;

static void
tell(void *user, const struct host_counts *counts)
{
    struct told *const t = user;

    t->calls++;
    assert_in_range(counts->event_count * counts->target_count, 1, 4);
    memcpy(t->values, counts->values,
           counts->event_count * sizeof(t->values[0]));
    memcpy(t->of_target, counts->of_target,
           counts->event_count * counts->target_count *
               sizeof(t->of_target[0]));
}

/* A processor that has gone lacks nothing in the sum; of any other that is not
 * counted the sum would be too small. */
static void
test_lacking(void **state)
{
    static const struct {
        int line;
        uint64_t config;
        unsigned cpus;
        enum host_why opened, why;
        bool counted;
    } rows[] = {
        {__LINE__, 0x100, 1 | 2, HOST_NO_CPU, HOST_OK, true},
        {__LINE__, 0x100, 2, HOST_NO_CPU, HOST_NO_CPU, false},
        {__LINE__, 0x101, 1 | 2, HOST_BUSY, HOST_BUSY, false},
        {__LINE__, 0x101, 1 | 4, HOST_OK, HOST_OK, true},
        {__LINE__, 0x102, 1 | 4, HOST_BUSY, HOST_BUSY, false},
        {__LINE__, 0x103, 1, HOST_OK, HOST_BUSY, false},
        {__LINE__, 0x106, 1, HOST_OK, HOST_OTHER, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct host_event one = event(CORE, rows[i].config);
        const cpu_set_t cpus = cpus_of(rows[i].cpus);
        struct host_count_result result;
        told.calls = 0;
        must_count((struct host_count_options){.argv = true_words,
                                               .cpus = &cpus,
                                               .opened = tell,
                                               .user = &told},
                   &one, 1, &result);
        const struct host_value *const v = &result.counts.values[0];
        same_number(rows[i].line, v->reason.why, rows[i].why);
        same_number(rows[i].line, v->counted, rows[i].counted);
        same_number(rows[i].line, v->reason.text[0] != '\0',
                    rows[i].why != HOST_OK);
        same_number(rows[i].line, told.calls, 1);
        same_number(rows[i].line, told.values[0].reason.why, rows[i].opened);
        same_number(rows[i].line, told.values[0].counted,
                    rows[i].opened == HOST_OK);
        host_count_result_finish(&result);
    }
}

/* Processors that do not have the event's kind of cores say nothing of it. */
static void
test_other_cores(void **state)
{
    struct host_event one = event(CORE, 0x101); /* refused on processor 1 */
    const cpu_set_t cpus = cpus_of(1 | 2 | 4);
    struct host_count_result result;

    (void)state;
    one.cpus = cpus_of(2);
    must_count((struct host_count_options){.argv = true_words, .cpus = &cpus},
               &one, 1, &result);
    assert_int_equal(opened_count, 1);
    assert_int_equal(result.counts.values[0].reason.why, HOST_BUSY);
    assert_false(result.counts.values[0].counted);
    host_count_result_finish(&result);
}

/* Members of a group whose first event is refused say so; other events count.
 */
static void
test_group_lost(void **state)
{
    struct host_event events[4] = {event(CORE, 1), event(CORE, 0x102),
                                   event(CORE, 1), event(CORE, 1)};
    struct host_count_result result;

    (void)state;
    events[1].group = events[2].group = 3;
    told.calls = 0;
    must_count((struct host_count_options){.argv = true_words,
                                           .opened = tell,
                                           .user = &told},
               events, 4, &result);
    const struct host_value *const v = result.counts.values;
    is(&v[0], 1000, MS);
    assert_int_equal(v[1].reason.why, HOST_BUSY);
    assert_int_equal(v[2].reason.why, HOST_BUSY);
    assert_string_equal(v[2].reason.text,
                        "the first event of its group cannot be counted");
    assert_string_not_equal(v[1].reason.text, v[2].reason.text);
    assert_false(v[1].counted || v[2].counted);
    is(&v[3], 1000, MS);
    assert_int_equal(opened_count, 3);
    for (size_t i = 0; i < 4; i++) {
        const bool open = i == 0 || i == 3;
        assert_int_equal(told.values[i].counted, open);
        assert_int_equal(told.of_target[i].counted, open);
    }
    host_count_result_finish(&result);
}

/* A name that the kernel has nothing for is not asked for; the next event leads
 * the group. */
static void
test_no_name(void **state)
{
    struct host_event events[4] = {event(CORE, 1), event(CORE, 1),
                                   event(CORE, 1), event(CORE, 1)};
    struct host_event *lacking;
    struct host_count_result result;
    size_t number;

    (void)state;
    assert_int_equal(
        host_event_list_wanted("PAPI_BR_TKN", NULL, &lacking, &number), 0);
    assert_int_equal(number, 1);
    events[1] = *lacking;
    free(lacking);
    events[1].group = events[2].group = events[3].group = 0;
    must_count((struct host_count_options){.argv = true_words}, events, 4,
               &result);
    const struct host_value *const v = result.counts.values;
    assert_int_equal(opened_count, 3);
    assert_int_equal(opened[0].group, -1);
    assert_int_equal(opened[1].group, -1);
    assert_int_equal(opened[2].group, opened[1].fd);
    assert_int_equal(v[1].reason.why, HOST_UNSUPPORTED);
    assert_string_equal(v[1].reason.text, host_event_lacks(&events[1]));
    assert_false(v[1].counted);
    assert_true(v[0].counted && v[2].counted && v[3].counted);
    host_count_result_finish(&result);
}

/* A delay that the program does not outlive: nothing counts, and that is said.
 */
static void
test_not_begun(void **state)
{
    const struct host_event events[2] = {event(CORE, 1), event(CORE, 0x102)};
    struct host_count_result result;

    (void)state;
    must_count(
        (struct host_count_options){.argv = true_words, .delay_s = 3600.5},
        events, 2, &result);
    const struct host_value *const v = result.counts.values;
    assert_int_equal(v[0].reason.why, HOST_NOT_BEGUN);
    assert_string_equal(v[0].reason.text,
                        "counting had not begun: the delay is 3600500 ms");
    assert_string_equal(v[0].reason.mend, "give a shorter delay (-D)");
    assert_false(v[0].counted);
    assert_int_equal(v[1].reason.why, HOST_BUSY); /* said first */
    host_count_result_finish(&result);
}

/* The sums of the intervals. */
static struct intervals {
    unsigned calls;
    struct counter_reading sum;
    double length_s, at_s;
} intervals;

static void
add_interval(void *user, const struct host_counts *counts)
{
    struct intervals *const all = user;
    const struct host_value *const v = &counts->values[0];

    all->calls++;
    assert_true(counts->length_s >= 0 && counts->at_s >= all->at_s);
    all->length_s += counts->length_s;
    all->at_s = counts->at_s;
    all->sum.value += v->reading.value;
    all->sum.enabled += v->reading.enabled;
    all->sum.running += v->reading.running;
    assert_int_equal(counts->of_target[0].reading.value, v->reading.value);
}

/* Intervals add up to the whole, in counts and in time. */
static void
test_intervals(void **state)
{
    const struct host_event one = event(CORE, 1);
    struct host_count_result result;

    (void)state;
    for (uint64_t most = 1; most <= 3; most++) {
        intervals = (struct intervals){0};
        must_count((struct host_count_options){.argv = sleep_words,
                                               .interval_s = 0.001,
                                               .interval_count = most,
                                               .interval = add_interval,
                                               .user = &intervals},
                   &one, 1, &result);
        assert_int_equal(intervals.calls, most);
        /* Once more when the task has ended. */
        is(&result.counts.values[0], 1000 * (most + 1), (most + 1) * MS);
        assert_int_equal(intervals.sum.value, 1000 * most);
        assert_int_equal(intervals.sum.enabled, MS * most);
        assert_int_equal(intervals.sum.running, MS * most);
        const double gap = intervals.length_s - intervals.at_s;
        assert_true(gap > -1e-6 && gap < 1e-6);
        assert_true(WIFSIGNALED(result.status));
        assert_int_equal(WTERMSIG(result.status), SIGTERM);
        host_count_result_finish(&result);
    }
    /* The last interval ends with the program. */
    intervals = (struct intervals){0};
    must_count((struct host_count_options){.argv = true_words,
                                           .interval_s = 3600,
                                           .interval = add_interval,
                                           .user = &intervals},
               &one, 1, &result);
    assert_int_equal(intervals.calls, 1);
    is(&result.counts.values[0], 1000, MS);
    assert_int_equal(intervals.sum.value, 1000);
    host_count_result_finish(&result);
}

/* A time limit ends a program of ours, and lets others go on. */
static void
test_timeout(void **state)
{
    const struct host_event one = event(CORE, 1);
    struct host_count_result result;
    int gate[2], status;

    (void)state;
    must_count(
        (struct host_count_options){.argv = sleep_words, .timeout_s = 0.001},
        &one, 1, &result);
    assert_int_equal(WTERMSIG(result.status), SIGTERM);
    is(&result.counts.values[0], 1000, MS);
    host_count_result_finish(&result);

    assert_int_equal(pipe(gate), 0);
    const pid_t other = fork();
    assert_true(other >= 0);
    if (other == 0) {
        char byte;
        close(gate[1]);
        _exit(read(gate[0], &byte, 1) == 0 ? 42 : 1);
    }
    close(gate[0]);
    /* Named three times, it counts once. */
    const pid_t pids[] = {other, other};
    must_count((struct host_count_options){.pids = pids,
                                           .pid_count = 2,
                                           .tids = &other,
                                           .tid_count = 1,
                                           .timeout_s = 0.001},
               &one, 1, &result);
    assert_int_equal(result.counts.target_count, 1);
    assert_int_equal(result.counts.targets[0].tid, other);
    assert_string_equal(result.counts.targets[0].name, "test_host_count");
    assert_int_equal(opened[0].pid, other);
    assert_int_equal(opened[0].attr.inherit, 1);
    assert_int_equal(opened[0].attr.enable_on_exec, 0);
    /* The step of the disable, and no other. */
    is(&result.counts.values[0], 1000, MS);
    host_count_result_finish(&result);
    /* A program beside it: the program's end is the end. */
    must_count((struct host_count_options){.argv = true_words,
                                           .tids = &other,
                                           .tid_count = 1},
               &one, 1, &result);
    assert_int_equal(opened[0].attr.enable_on_exec, 0);
    is(&result.counts.values[0], 1000, MS);
    host_count_result_finish(&result);
    close(gate[1]);
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(WEXITSTATUS(status), 42);
}

/* Counting ends when all tasks have ended, though nobody has waited for them.
 */
static void
test_ended(void **state)
{
    const struct host_event one = event(CORE, 1);
    struct host_count_result result;
    siginfo_t info;

    (void)state;
    const pid_t other = fork();
    assert_true(other >= 0);
    if (other == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)other, &info, WEXITED | WNOWAIT), 0);
    for (int thread = 0; thread < 2; thread++) {
        must_count((struct host_count_options){.pids = &other,
                                               .pid_count = thread ? 0 : 1,
                                               .tids = &other,
                                               .tid_count = thread ? 1 : 0},
                   &one, 1, &result);
        assert_int_equal(result.counts.target_count, 1);
        host_count_result_finish(&result);
    }
    waitpid(other, NULL, 0);
}

/* Who is not there. */
static void
test_nobody(void **state)
{
    const struct host_event one = event(CORE, 1);
    const pid_t nobody = 0x7ffffff;
    struct host_count_result result = {.status = 77};
    struct heard heard;

    (void)state;
    for (int thread = 0; thread < 2; thread++) {
        assert_int_equal(
            count((struct host_count_options){.pids = &nobody,
                                              .pid_count = thread ? 0 : 1,
                                              .tids = &nobody,
                                              .tid_count = thread ? 1 : 0},
                  &one, 1, &result, &heard),
            TALLY_ESYSTEM);
        assert_string_equal(heard.text, thread
                                            ? "there is no thread 134217727"
                                            : "there is no process 134217727");
        assert_int_equal(heard.lines, 1);
        assert_int_equal(result.status, 77); /* untouched */
    }
    must_count(
        (struct host_count_options){
            .argv = (char *const[]){(char[]){"/nowhere/program"}, NULL}},
        &one, 1, &result);
    assert_int_equal(result.exec_error, ENOENT);
    host_count_result_finish(&result);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes), cmocka_unit_test(test_program),
        cmocka_unit_test(test_cpus),       cmocka_unit_test(test_lacking),
        cmocka_unit_test(test_group_lost), cmocka_unit_test(test_not_begun),
        cmocka_unit_test(test_intervals),  cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_ended),      cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_no_name),    cmocka_unit_test(test_other_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
