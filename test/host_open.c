/* SPDX-License-Identifier: MIT */
/* Opening an event, and the reasons why one does not open. */
#include "host/open.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "open_files.h"

/* What is found out, and what follows. */
#define PERFMON (UINT64_C(1) << 38)
#define SYSTEM                                                        \
    .has_paranoid = true, .cpu_online = true, .software_opens = true, \
    .files = 1024, .files_most = 4096
static const struct reason_row {
    int line;
    struct host_facts facts;
    int error;
    struct perf_event_attr attr;
    pid_t pid;
    int cpu;
    enum host_why why;
    const char *text, *mend;
} reasons[] = {
    {__LINE__,
     {SYSTEM},
     ENOENT,
     {.type = 0},
     0,
     -1,
     HOST_NO_PMU,
     "no hardware counters",
     "host-model"},
    {__LINE__,
     {SYSTEM, .hardware_opens = true},
     ENOENT,
     {.type = 3},
     0,
     -1,
     HOST_UNSUPPORTED,
     "no such event",
     "tally list"},
    {__LINE__,
     {SYSTEM},
     ENOENT,
     {.type = 1},
     0,
     -1,
     HOST_UNSUPPORTED,
     "no such event",
     "tally list"},
    {__LINE__,
     {SYSTEM, .paranoid = 2},
     EACCES,
     {.type = 0},
     0,
     -1,
     HOST_PARANOID,
     "is 2; counts at kernel level need 1",
     ":u"},
    {__LINE__,
     {SYSTEM, .paranoid = 3},
     EACCES,
     {.exclude_kernel = 1},
     0,
     -1,
     HOST_PARANOID,
     "is 3; a program's own counts need 2",
     "paranoid=2"},
    {__LINE__,
     {SYSTEM, .paranoid = 4},
     EPERM,
     {.exclude_kernel = 1},
     0,
     -1,
     HOST_PARANOID,
     "is 4;",
     "paranoid=2"},
    {__LINE__,
     {SYSTEM, .paranoid = 1},
     EACCES,
     {.type = 1},
     -1,
     0,
     HOST_PARANOID,
     "a whole cpu need 0",
     "paranoid=0"},
    {__LINE__,
     {SYSTEM, .paranoid = 2, .capabilities = PERFMON},
     EACCES,
     {.type = 1},
     0,
     -1,
     HOST_PERMISSION,
     "a security module",
     "dmesg"},
    {__LINE__,
     {SYSTEM, .paranoid = 2},
     EACCES,
     {.exclude_kernel = 1},
     42,
     -1,
     HOST_PERMISSION,
     "process 42 is another user's",
     "CAP_SYS_PTRACE"},
    {__LINE__,
     {SYSTEM, .paranoid = 1},
     EACCES,
     {.type = 2},
     0,
     -1,
     HOST_PERMISSION,
     "tracepoint",
     "sudo"},
    {__LINE__,
     {.has_paranoid = true, .paranoid = 2, .seccomp = 2, .cpu_online = true},
     EPERM,
     {.type = 1},
     0,
     -1,
     HOST_SECCOMP,
     "seccomp",
     "docker"},
    {__LINE__,
     {.has_paranoid = true, .seccomp = 2, .cpu_online = true},
     ENOSYS,
     {.type = 1},
     0,
     -1,
     HOST_SECCOMP,
     "ENOSYS",
     "PERFMON"},
    {__LINE__,
     {.cpu_online = true},
     ENOSYS,
     {.type = 1},
     0,
     -1,
     HOST_NO_PMU,
     "no perf_event_open",
     "host-model"},
    {__LINE__,
     {SYSTEM, .nmi_watchdog = 1},
     EBUSY,
     {.type = 0},
     0,
     -1,
     HOST_BUSY,
     "NMI watchdog",
     "nmi_watchdog=0"},
    {__LINE__,
     {SYSTEM},
     EBUSY,
     {.type = 0},
     0,
     -1,
     HOST_BUSY,
     "another profiler",
     "end other profilers"},
    {__LINE__,
     {SYSTEM},
     EMFILE,
     {.type = 1},
     0,
     -1,
     HOST_DESCRIPTORS,
     "all 1024 descriptors",
     "ulimit -n 4096"},
    {__LINE__,
     {SYSTEM},
     ENFILE,
     {.type = 1},
     0,
     -1,
     HOST_DESCRIPTORS,
     "the system",
     "fs.file-max"},
    {__LINE__, {SYSTEM}, ESRCH, {.type = 1}, 42, -1, HOST_NO_TASK, "42", ""},
    {__LINE__,
     {SYSTEM, .hardware_opens = true},
     ENODEV,
     {.type = 0},
     -1,
     5,
     HOST_NO_CPU,
     "cpu 5 is not online, or has gone",
     "online"},
    {__LINE__,
     {.has_paranoid = true, .software_opens = true},
     ENODEV,
     {.type = 1},
     -1,
     5,
     HOST_NO_CPU,
     "cpu 5 is not online",
     "online"},
    {__LINE__,
     {.has_paranoid = true, .software_opens = true},
     EINVAL,
     {.type = 1},
     -1,
     99,
     HOST_NO_CPU,
     "cpu 99",
     "online"},
    {__LINE__,
     {SYSTEM, .hardware_opens = true},
     EOPNOTSUPP,
     {.precise_ip = 2},
     0,
     -1,
     HOST_UNSUPPORTED,
     "precisely",
     "leave :p out"},
    {__LINE__,
     {SYSTEM, .hardware_opens = true},
     EINVAL,
     {.type = 14},
     0,
     -1,
     HOST_UNSUPPORTED,
     "a whole cpu",
     "-a"},
    {__LINE__,
     {SYSTEM},
     ENOMEM,
     {.type = 1},
     0,
     -1,
     HOST_OTHER,
     "memory",
     "memory"},
};

static void
test_reasons(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        const struct reason_row *row = &reasons[i];
        struct host_reason r;
        host_explain_facts(&row->facts, row->error, &row->attr, row->pid,
                           row->cpu, &r);
        if (r.why != row->why || strstr(r.text, row->text) == NULL ||
            strstr(r.mend, row->mend) == NULL || r.error != row->error)
            fail_msg("line %d: %s: %s; %s", row->line, host_why_name(r.why),
                     r.text, r.mend);
        /* Nothing was cut. */
        assert_in_range(strlen(r.text), 1, sizeof(r.text) - 2);
        assert_in_range(strlen(r.mend), 0, sizeof(r.mend) - 2);
    }
}

static void
write_file(const char *folder, const char *name, const char *text)
{
    char path[512];

    snprintf(path, sizeof(path), "%s%s", folder, name);
    for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0755);
        *p = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    assert_int_equal(fclose(file), 0);
}

static int
forget(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static void
test_facts(void **state)
{
    char folder[] = "/tmp/tally-host-XXXXXX";
    struct host_facts facts;

    (void)state;
    assert_non_null(mkdtemp(folder));
    const struct host_root root = {.sys = folder, .proc = folder};
    write_file(folder, "/sys/kernel/perf_event_paranoid", "2");
    write_file(folder, "/sys/kernel/nmi_watchdog", "1");
    write_file(folder, "/self/status",
               "Name:\tx\nCapEff:\t0000004000000000\nSeccomp:\t2");
    write_file(folder, "/devices/system/cpu/online", "0,2-3");
    host_facts_find(&root, 3, &facts);
    assert_true(facts.has_paranoid && facts.paranoid == 2);
    assert_int_equal(facts.nmi_watchdog, 1);
    assert_int_equal(facts.seccomp, 2);
    assert_true(facts.capabilities == PERFMON);
    assert_true(facts.cpu_online);
    host_facts_find(&root, 1, &facts);
    assert_false(facts.cpu_online);
    host_facts_find(&root, -1, &facts);
    assert_true(facts.cpu_online);
    nftw(folder, forget, 16, FTW_DEPTH | FTW_PHYS);
}

/* On this host, whatever it allows: nothing leaks, each failure has a reason.
 */
static void
test_open(void **state)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .exclude_kernel = 1,
    };
    struct host_reason reason;
    const int before = open_files();
    const int fd = host_open(&attr, 0, -1, -1, 0, &reason);

    (void)state;
    if (fd < 0) {
        assert_true(reason.why != HOST_OK && reason.text[0] != '\0');
        skip();
    }
    assert_int_equal(reason.why, HOST_OK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    assert_int_equal(host_open(&attr, 0, 100000, -1, 0, &reason), -1);
    assert_int_equal(reason.why, HOST_NO_CPU);
    assert_int_equal(host_open(&attr, 0x7ffffff, -1, -1, 0, &reason), -1);
    assert_int_equal(reason.why, HOST_NO_TASK);
    attr.config = 12345;
    assert_int_equal(host_open(&attr, 0, -1, -1, 0, &reason), -1);
    assert_int_equal(reason.why, HOST_UNSUPPORTED);
    if (host_check(&reason) != HOST_OK)
        assert_true(reason.text[0] != '\0');
    assert_int_equal(open_files(), before);
}

static void
test_descriptors(void **state)
{
    const struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_DUMMY,
        .exclude_kernel = 1,
    };
    struct rlimit old, few;
    struct host_reason reason;
    int fds[64], count = 0;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    few = old;
    few.rlim_cur = 24;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    do
        fds[count] = host_open(&attr, 0, -1, -1, 0, &reason);
    while (fds[count] >= 0 && ++count < 64);
    setrlimit(RLIMIT_NOFILE, &old);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    if (count == 0)
        skip();
    assert_int_equal(reason.why, HOST_DESCRIPTORS);
    assert_non_null(strstr(reason.mend, "ulimit -n"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_descriptors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
