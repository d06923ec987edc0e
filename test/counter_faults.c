/* SPDX-License-Identifier: MIT */
/*
 * What can go wrong with this host's counters: bad wishes, fork(), a lack of
 * descriptors or memory, interrupted calls, many threads.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "counter_help.h"

#ifndef SANITIZED
/* The library's allocations go through these: number `fail_at` fails. */
static _Atomic long allocations, fail_at = -1;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static bool
refused(void)
{
    if (allocations++ != fail_at)
        return false;
    errno = ENOMEM;
    return true;
}

__attribute__((visibility("default"))) void *
malloc(size_t size)
{
    return refused() ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *
calloc(size_t count, size_t size)
{
    return refused() ? NULL : __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *
realloc(void *memory, size_t size)
{
    return refused() ? NULL : __libc_realloc(memory, size);
}
#endif

/* And its ioctl() through this, of which `interrupts` are interrupted. */
static _Atomic int interrupts;

__attribute__((visibility("default"))) int
ioctl(int fd, unsigned long request, ...)
{
    va_list args;

    if (interrupts > 0) {
        interrupts--;
        errno = EINTR;
        return -1;
    }
    va_start(args, request);
    void *argument = va_arg(args, void *);
    va_end(args);
    return (int)syscall(SYS_ioctl, fd, request, argument);
}

/* madvise() is refused, as by kernels before 4.14. */
static _Atomic bool no_wipe;

__attribute__((visibility("default"))) int
madvise(void *memory, size_t size, int advice)
{
    if (no_wipe) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, memory, size, advice);
}

/* Members of groups are refused, as where the processor has one counter. */
static _Atomic bool no_members;

__attribute__((visibility("default"))) long
syscall(long number, ...)
{
    static long (*real)(long number, ...);
    va_list args;
    long a[6];

    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_perf_event_open && no_members && (int)a[3] >= 0) {
        errno = EINVAL;
        return -1;
    }
    if (real == NULL)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void
says_what_is_wrong(void **state)
{
    const struct {
        int line;
        struct tally_counter_options options;
        const char *events;
        int error;
        const char *text;
    } rows[] = {
        {__LINE__, {.id = -1}, "task-clock", TALLY_ERANGE, "-1"},
        {__LINE__, {.scope = 9}, "task-clock", TALLY_ERANGE, "9"},
        {__LINE__, {.signal = SIGUSR1}, "task-clock", TALLY_ERULE, "period"},
        {__LINE__, {.signal = 999}, "task-clock", TALLY_ERANGE, "999"},
        {__LINE__,
         {.scope = TALLY_COUNTER_CPU, .inherit = true},
         "task-clock",
         TALLY_ERULE,
         "cpu"},
        {__LINE__,
         {.period = 1, .inherit = true},
         "task-clock",
         TALLY_ERULE,
         "overflows"},
        {__LINE__,
         {.period = UINT64_MAX},
         "task-clock",
         TALLY_ERANGE,
         "period"},
        {__LINE__, {0}, "no-such-event", TALLY_EUNKNOWN, "no-such-event"},
        {__LINE__, {.id = 1 << 30}, "task-clock:u", TALLY_EUNKNOWN, "task"},
        {__LINE__,
         {.scope = TALLY_COUNTER_PROCESS, .id = 1 << 30},
         "task-clock:u",
         TALLY_EUNKNOWN,
         "process 1073741824"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tally_counter_options options = rows[i].options;
        struct tally_counter *c = NULL;
        struct line line = {""};
        options.size = sizeof(options);
        options.log = (struct tally_log){keep_line, &line};
        int error = tally_counter_open(&options, &c);
        if (error == 0)
            error = tally_counter_add(c, rows[i].events);
        if (error != rows[i].error || strstr(line.text, rows[i].text) == NULL)
            fail_msg("row of line %d: error %d, text '%s'", rows[i].line, error,
                     line.text);
        if (c != NULL)
            assert_int_equal(tally_counter_count(c), 0);
        tally_counter_close(c);
    }
    tally_counter_close(NULL);
}

/* A caller compiled before the last options were added, and after. */
static void
knows_sizes(void **state)
{
    struct {
        struct tally_counter_options options;
        uint64_t newer;
    } wide;
    struct tally_counter *c = NULL;

    (void)state;
    tally_counter_options_init(&wide.options, sizeof(wide));
    assert_int_equal(tally_counter_open(&wide.options, &c), 0);
    tally_counter_close(c);
    c = NULL;
    wide.newer = 1;
    assert_int_equal(tally_counter_open(&wide.options, &c), TALLY_ERANGE);
    assert_null(c);
    wide.options.size = 0;
    assert_int_equal(tally_counter_open(&wide.options, &c), TALLY_ERANGE);
    wide.options.period = 7; /* beyond what this caller knows of */
    wide.options.size = offsetof(struct tally_counter_options, period);
    assert_int_equal(tally_counter_open(&wide.options, &c), 0);
    assert_int_equal(tally_counter_overflow_fd(c), -1);
    tally_counter_close(c);
}

static int
child_sees_refusals(struct tally_counter *c, struct line *line)
{
    struct tally_reading r[4];
    const int refusals[] = {
        tally_counter_read(c, r, 4),
        tally_counter_start(c),
        tally_counter_stop(c),
        tally_counter_reset(c),
        tally_counter_add(c, "task-clock"),
        tally_counter_overflows(c, NULL, NULL),
    };

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (refusals[i] != TALLY_ERULE)
            return 1;
    }
    if (strstr(line->text, "fork()") == NULL)
        return 2;
    const int before = open_files();
    tally_counter_close(c);
    if (open_files() >= before)
        return 3;
    c = NULL;
    if (tally_counter_open(NULL, &c) != 0 ||
        tally_counter_add(c, "page-faults:u") != 0 ||
        tally_counter_start(c) != 0)
        return 4;
    touch_more();
    if (tally_counter_read(c, r, 4) != 0 || r[0].value < PAGES)
        return 5;
    tally_counter_close(c);
    return 0;
}

static void
refuses_in_child(void)
{
    struct line line = {""};
    struct tally_counter_options options = defaults();
    int status;

    options.log = (struct tally_log){keep_line, &line};
    options.period = 1; /* with a mapping, which the child has not */
    struct tally_counter *c =
        open_with(&options, "page-faults:u,minor-faults:u");
    assert_int_equal(tally_counter_start(c), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(child_sees_refusals(c, &line));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    touch_more();
    assert_true(first_value(c) >= PAGES); /* the parent's counts on */
    tally_counter_close(c);
}

static void
refuses_after_fork(void **state)
{
    (void)state;
    refuses_in_child();
    no_wipe = true;
    refuses_in_child();
    no_wipe = false;
}

static void
takes_weak_groups_apart(void **state)
{
    struct tally_counter *c = NULL;
    struct tally_reading r[2];
    const int before = open_files();

    (void)state;
    tally_counter_close(open_with(NULL, "page-faults:u"));
    no_members = true;
    assert_int_equal(tally_counter_open(NULL, &c), 0);
    const int strong = tally_counter_add(c, "{page-faults:u,minor-faults:u}");
    const int after = open_files();
    const int weak = tally_counter_add(c, "{page-faults,minor-faults}:uW");
    no_members = false;
    assert_true(strong < 0);
    assert_int_equal(after, before);
    assert_int_equal(weak, 0);
    assert_int_equal(tally_counter_start(c), 0);
    touch_pages(PAGES);
    assert_int_equal(tally_counter_read(c, r, 2), 0);
    assert_true(r[0].value >= PAGES && r[1].value >= PAGES);
    tally_counter_close(c);
}

static void *
count_apart(void *user)
{
    uintptr_t wrong = 0;

    (void)user;
    for (int i = 0; i < 20; i++) {
        struct tally_counter *c = NULL;
        struct tally_reading r[2];
        if (tally_counter_open(NULL, &c) != 0 ||
            tally_counter_add(c, "{page-faults:u,task-clock:u}") != 0 ||
            tally_counter_start(c) != 0) {
            wrong++;
        } else {
            touch_pages(50);
            if (tally_counter_read(c, r, 2) != 0 || r[0].value < 50 ||
                r[0].value > MOST(150) || tally_counter_stop(c) != 0)
                wrong++;
        }
        tally_counter_close(c);
    }
    return (void *)wrong;
}

static void
serves_threads(void **state)
{
    pthread_t threads[THREADS];
    const int before = open_files();

    (void)state;
    tally_counter_close(open_with(NULL, "page-faults:u"));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_apart, NULL),
                         0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(open_files(), before);
}

static void
leaks_nothing(void **state)
{
    struct tally_counter_options options = defaults();
    const int before = open_files();

    (void)state;
    for (int i = 0; i < 50; i++) {
        options.period = i % 2 ? 100 : 0;
        struct tally_counter *c =
            open_with(&options, "page-faults:u,task-clock:u");
        assert_int_equal(tally_counter_add(c, "task-clock:u,nonesuch"),
                         TALLY_EUNKNOWN);
        tally_counter_close(c);
    }
    assert_int_equal(open_files(), before);
}

/* Where the pages of counters with a period are mapped; 0: nowhere. */
static uintptr_t
counter_pages(size_t *size)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long first = 0, end;
    char text[512];

    assert_non_null(maps);
    while (first == 0 && fgets(text, sizeof(text), maps) != NULL) {
        if (strstr(text, "[perf_event]") != NULL &&
            sscanf(text, "%lx-%lx", &first, &end) == 2)
            *size = end - first;
    }
    fclose(maps);
    return first;
}

#ifndef SANITIZED
/* Pages of this process's memory that are mapped. */
static unsigned long
mapped(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return pages;
}
#endif

static struct tally_counter *
open_mapped(void)
{
    struct tally_counter_options options = defaults();

    options.period = 1;
    return open_with(&options, "page-faults:u");
}

/* In the child other memory stands where the parent has the pages: 0 if it
 * stays when the child closes the parent's counters. */
static int
child_keeps_memory(struct tally_counter *c, uintptr_t at, size_t size)
{
    char *own = mmap((void *)at, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (own != (char *)at)
        return 1;
    tally_counter_close(c);
    return msync(own, size, MS_ASYNC) == 0 ? 0 : 2; /* ENOMEM: a hole */
}

/* Ten openings would leave ten pages mapped. */
static void
unmaps_its_own(void **state)
{
    struct tally_counter *c = open_mapped();
    size_t size = 0;
    int status;

    (void)state;
    const uintptr_t at = counter_pages(&size);
    assert_true(at != 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(child_keeps_memory(c, at, size));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    tally_counter_close(c);
    assert_int_equal(counter_pages(&size), 0);
#ifndef SANITIZED /* else freed memory stays mapped */
    const unsigned long before = mapped();
    for (int i = 0; i < 10; i++)
        tally_counter_close(open_mapped());
    assert_int_equal(mapped(), before);
#endif
}

/* Out of descriptors in the middle of a list: none of it is added. */
static void
takes_all_or_none(void **state)
{
    struct line line = {""};
    struct tally_counter_options options = defaults();
    struct rlimit limit, small;

    (void)state;
    options.log = (struct tally_log){keep_line, &line};
    struct tally_counter *c = open_with(&options, "page-faults:u");
    const int before = open_files();
    getrlimit(RLIMIT_NOFILE, &limit);
    const int next = dup(0);
    close(next);
    small = limit;
    small.rlim_cur = (rlim_t)next + 2;
    setrlimit(RLIMIT_NOFILE, &small);
    const int error = tally_counter_add(
        c, "{task-clock:u,minor-faults:u,cpu-clock:u,page-faults:u}");
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(error, TALLY_ESYSTEM);
    assert_true(line.text[0] != '\0');
    assert_int_equal(open_files(), before);
    assert_int_equal(tally_counter_count(c), 1);
    assert_int_equal(tally_counter_start(c), 0);
    touch_more();
    assert_true(first_value(c) >= PAGES);
    tally_counter_close(c);
}

static void
bears_interrupts(void **state)
{
    struct tally_counter *c = open_with(NULL, "page-faults:u");

    (void)state;
    interrupts = 3;
    assert_int_equal(tally_counter_start(c), 0);
    touch_more();
    interrupts = 3;
    assert_int_equal(tally_counter_stop(c), 0);
    assert_int_equal(interrupts, 0);
    assert_in_range(first_value(c), PAGES, MOST(PAGES + 20));
    tally_counter_close(c);
}

#ifndef SANITIZED
/* Returns 1 if allocation `nth` was asked for and the whole thing failed. */
static long
count_without(enum tally_counter_scope scope, long nth)
{
    struct tally_counter_options options = defaults();
    struct tally_counter *c = NULL;
    struct tally_reading r[3];

    options.scope = scope;
    allocations = 0;
    fail_at = nth;
    int error = tally_counter_open(&options, &c);
    if (error == 0)
        error = tally_counter_add(c, "{page-faults:u,task-clock:u}");
    if (error == 0)
        error = tally_counter_add(c, "minor-faults:u");
    fail_at = -1;
    if (error != 0 && error != TALLY_ENOMEM)
        fail_msg("allocation %ld: error %d", nth, error);
    if (c != NULL) { /* what there is works, and asks for no more */
        allocations = 0;
        assert_int_equal(tally_counter_start(c), 0);
        assert_int_equal(tally_counter_read(c, r, 3), 0);
        assert_int_equal(tally_counter_stop(c), 0);
        assert_int_equal(tally_counter_reset(c), 0);
        assert_int_equal(allocations, 0);
    }
    tally_counter_close(c);
    return error != 0;
}

static void
bears_no_memory(void **state)
{
    long refusals = 1;

    (void)state;
    tally_counter_close(open_with(NULL, "page-faults:u"));
    const int before = open_files();
    for (long nth = 0; refusals > 0; nth++) {
        refusals = count_without(TALLY_COUNTER_THREAD, nth) +
                   count_without(TALLY_COUNTER_PROCESS, nth);
        assert_true(nth < 10000);
    }
    assert_int_equal(open_files(), before);
}
#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(knows_sizes),
        cmocka_unit_test(refuses_after_fork),
        cmocka_unit_test(takes_weak_groups_apart),
        cmocka_unit_test(unmaps_its_own),
        cmocka_unit_test(serves_threads),
        cmocka_unit_test(leaks_nothing),
        cmocka_unit_test(takes_all_or_none),
        cmocka_unit_test(bears_interrupts),
#ifndef SANITIZED
        cmocka_unit_test(bears_no_memory),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
