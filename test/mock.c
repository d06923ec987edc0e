/* SPDX-License-Identifier: MIT */
/*
 * What the mock kernel (test/mock) answers to a program that counts itself.
 * Runs with it preloaded, on the machine of test/mock/unit.script, where an
 * event ages by 1 ms when it is read or disabled.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    CYCLES = PERF_COUNT_HW_CPU_CYCLES,
    STEP = 1000000,
    CYCLES_A_STEP = 2000000
};

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static struct perf_event_attr
event(uint32_t type, uint64_t config)
{
    return (struct perf_event_attr){.type = type,
                                    .size = sizeof(struct perf_event_attr),
                                    .config = config,
                                    .disabled = 1,
                                    .read_format = TIMES};
}

static int
try_open(struct perf_event_attr attr, pid_t pid, int cpu, int group)
{
    return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, group,
                        PERF_FLAG_FD_CLOEXEC);
}

static int
must_open(struct perf_event_attr attr, int group)
{
    const int fd = try_open(attr, 0, -1, group);

    assert_true(fd >= 0);
    return fd;
}

static void
refused(struct perf_event_attr attr, pid_t pid, int cpu, int group, int error)
{
    assert_int_equal(try_open(attr, pid, cpu, group), -1);
    assert_int_equal(errno, error);
}

static void
reads(int fd, uint64_t value, uint64_t enabled, uint64_t running)
{
    uint64_t words[3] = {0};

    assert_int_equal(read(fd, words, sizeof(words)), sizeof(words));
    assert_int_equal(words[0], value);
    assert_int_equal(words[1], enabled);
    assert_int_equal(words[2], running);
}

static void
starts_and_stops(void **state)
{
    const int fd = must_open(event(PERF_TYPE_HARDWARE, CYCLES), -1);

    (void)state;
    reads(fd, 0, 0, 0);
    assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
    assert_int_equal(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
    reads(fd, CYCLES_A_STEP, STEP, STEP);
    reads(fd, CYCLES_A_STEP, STEP, STEP);
    assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
    reads(fd, 2 * CYCLES_A_STEP, 2 * STEP, 2 * STEP);
    assert_int_equal(ioctl(fd, PERF_EVENT_IOC_RESET, 0), 0);
    reads(fd, CYCLES_A_STEP, 3 * STEP, 3 * STEP);
    close(fd);
}

static void
a_group_reads_as_one(void **state)
{
    struct perf_event_attr attr = event(PERF_TYPE_HARDWARE, CYCLES);
    uint64_t words[16] = {0};

    (void)state;
    attr.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
    const int leader = must_open(attr, -1);
    attr.config = PERF_COUNT_HW_INSTRUCTIONS;
    attr.disabled = 0;
    const int member = must_open(attr, leader);
    uint64_t id = 0;

    assert_int_equal(ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP),
                     0);
    assert_int_equal(read(leader, words, sizeof(words)), 7 * 8);
    assert_int_equal(words[0], 2);
    assert_int_equal(words[1], STEP);
    assert_int_equal(words[3], CYCLES_A_STEP);
    assert_int_equal(words[5], 3000000);
    assert_int_equal(ioctl(member, PERF_EVENT_IOC_ID, &id), 0);
    assert_int_equal(words[6], id);
    attr.read_format |= PERF_FORMAT_GROUP;
    const int third = must_open(attr, leader);
    assert_int_equal(read(third, words, sizeof(words)), 9 * 8);
    assert_int_equal(words[0], 3);
    close(third);
    assert_int_not_equal(words[4], id);
    assert_int_equal(read(leader, words, 6 * 8), -1);
    assert_int_equal(errno, ENOSPC);
    close(leader);
    close(member);
}

static void
readv_takes_the_parts(void **state)
{
    const int fd = must_open(event(PERF_TYPE_HARDWARE, CYCLES), -1);
    uint64_t value = 0, times[2] = {0};
    const struct iovec parts[] = {{&value, 8}, {times, 16}};

    (void)state;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    assert_int_equal(readv(fd, parts, 2), 24);
    assert_int_equal(value, CYCLES_A_STEP);
    assert_int_equal(times[1], STEP);
    close(fd);
}

static void
groups_share_the_counters(void **state)
{
    int fds[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        fds[i] = must_open(event(PERF_TYPE_RAW, i + 1), -1);
        ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0);
    }
    reads(fds[0], 666, STEP, 2 * STEP / 3);
    close(fds[2]);
    reads(fds[0], 1666, 2 * STEP, STEP + 2 * STEP / 3);
    close(fds[0]);
    close(fds[1]);
}

static void
copies_keep_an_event(void **state)
{
    const int fd = must_open(event(PERF_TYPE_HARDWARE, CYCLES), -1);
    const int copy = dup(fd), high = fcntl(fd, F_DUPFD_CLOEXEC, 100);

    (void)state;
    close(fd);
    ioctl(copy, PERF_EVENT_IOC_ENABLE, 0);
    close(copy);
    assert_true(high >= 100);
    reads(high, CYCLES_A_STEP, STEP, STEP);
    assert_int_equal(dup2(STDIN_FILENO, high), high);
    assert_int_equal(ioctl(high, PERF_EVENT_IOC_ENABLE, 0), -1);
    close(high);
}

static void
a_child_sees_the_same_counter(void **state)
{
    const int fd = must_open(event(PERF_TYPE_HARDWARE, CYCLES), -1);
    int status = -1;

    (void)state;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    const pid_t child = fork();
    if (!child) {
        uint64_t words[3];
        _exit(read(fd, words, sizeof(words)) != sizeof(words) ||
              words[0] != CYCLES_A_STEP);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    reads(fd, 2 * CYCLES_A_STEP, 2 * STEP, 2 * STEP);
    close(fd);
}

static void
an_ended_task_stands_still(void **state)
{
    struct perf_event_attr attr = event(PERF_TYPE_HARDWARE, CYCLES);
    int hold[2];

    (void)state;
    assert_int_equal(pipe(hold), 0);
    const pid_t child = fork();
    if (!child) {
        char byte;
        close(hold[1]);
        _exit(read(hold[0], &byte, 1) != 0);
    }
    attr.disabled = 0;
    const int fd = try_open(attr, child, -1, -1);
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&polled, 1, 0), 0);
    close(hold[0]);
    close(hold[1]);
    assert_int_equal(poll(&polled, 1, 0) >= 0, 1);
    waitpid(child, NULL, 0);
    assert_int_equal(poll(&polled, 1, 0), 1);
    assert_int_equal(polled.revents, POLLHUP);
    assert_int_equal(polled.fd, fd);
    reads(fd, CYCLES_A_STEP, STEP, STEP);
    reads(fd, CYCLES_A_STEP, STEP, STEP);
    close(fd);
    refused(attr, child, -1, -1, ESRCH);
}

static void
what_the_kernel_refuses(void **state)
{
    struct perf_event_attr attr = event(PERF_TYPE_HARDWARE, CYCLES);

    (void)state;
    refused(attr, -1, -1, -1, EINVAL);
    refused(attr, -1, 3, -1, ENODEV);
    refused(attr, -1, 4, -1, EINVAL);
    refused(attr, -2, -1, -1, ESRCH);
    refused(attr, 0, -1, STDIN_FILENO, EBADF);
    refused(event(PERF_TYPE_HARDWARE, 99), 0, -1, -1, EINVAL);
    refused(event(77, 0), 0, -1, -1, ENOENT);
    refused(event(9, 0), 0, -1, -1, EINVAL);
    attr.precise_ip = 2;
    refused(attr, 0, -1, -1, EOPNOTSUPP);
    attr.precise_ip = 0;
    attr.__reserved_1 = 1;
    refused(attr, 0, -1, -1, EINVAL);
    attr.__reserved_1 = 0;
    attr.size = 8;
    refused(attr, 0, -1, -1, E2BIG);
    const int outside = try_open(event(9, 0), -1, 0, -1);
    assert_true(outside >= 0);
    close(outside);
}

static void
a_group_must_fit(void **state)
{
    const int leader = must_open(event(PERF_TYPE_RAW, 1), -1);
    const int second = must_open(event(PERF_TYPE_RAW, 2), leader);

    (void)state;
    refused(event(PERF_TYPE_RAW, 3), 0, -1, leader, EINVAL);
    const int fixed = must_open(event(PERF_TYPE_HARDWARE, CYCLES), leader);
    const int soft =
        must_open(event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK), leader);
    close(soft);
    close(fixed);
    close(second);
    close(leader);
}

static void
faults_of_the_script(void **state)
{
    uint64_t words[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        refused(event(PERF_TYPE_RAW, 0x100), 0, -1, -1, EINTR);
    close(must_open(event(PERF_TYPE_RAW, 0x100), -1));
    for (unsigned i = 0; i < 2; i++)
        close(must_open(event(PERF_TYPE_RAW, 0x101), -1));
    refused(event(PERF_TYPE_RAW, 0x101), 0, -1, -1, EMFILE);
    refused(event(PERF_TYPE_RAW, 0x102), 0, -1, -1, EBUSY);

    int fd = must_open(event(PERF_TYPE_RAW, 0x103), -1);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(read(fd, words, sizeof(words)), -1);
        assert_int_equal(errno, EINTR);
    }
    reads(fd, 0, 0, 0);
    close(fd);
    fd = must_open(event(PERF_TYPE_RAW, 0x104), -1);
    assert_int_equal(read(fd, words, sizeof(words)), 0);
    close(fd);
    fd = must_open(event(PERF_TYPE_RAW, 0x106), -1);
    assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), -1);
    assert_int_equal(errno, EINTR);
    assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
    close(fd);
}

static void
a_stopped_counter(void **state)
{
    const int fd = must_open(event(PERF_TYPE_RAW, 0x105), -1);
    uint64_t first[3], then[3];

    (void)state;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    assert_int_equal(read(fd, first, sizeof(first)), sizeof(first));
    assert_int_equal(first[1], STEP);
    assert_int_equal(read(fd, then, sizeof(then)), sizeof(then));
    assert_memory_equal(first, then, sizeof(first));
    close(fd);
}

static void
the_mapped_page(void **state)
{
    const size_t size = (size_t)getpagesize();
    int fd = must_open(event(PERF_TYPE_HARDWARE, CYCLES), -1);
    struct perf_event_mmap_page *page =
        mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

    (void)state;
    assert_ptr_not_equal(page, MAP_FAILED);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    reads(fd, CYCLES_A_STEP, STEP, STEP);
    assert_int_equal(page->cap_user_rdpmc, 0);
    assert_int_equal(page->index, 0);
    assert_int_equal(page->lock % 2, 0);
    assert_int_equal(page->offset, CYCLES_A_STEP);
    assert_int_equal(page->time_running, STEP);
    munmap(page, size);
    assert_ptr_equal(mmap(NULL, 4 * size, PROT_READ, MAP_SHARED, fd, 0),
                     MAP_FAILED);
    close(fd);
    fd = must_open(event(PERF_TYPE_RAW, 0x107), -1);
    assert_ptr_equal(mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0),
                     MAP_FAILED);
    assert_int_equal(errno, EPERM);
    close(fd);
}

static void
files_of_the_tree(void **state)
{
    char root[] = "/tmp/tally-mock-XXXXXX", path[128], text[8] = "";

    (void)state;
    assert_non_null(mkdtemp(root));
    setenv("TALLY_MOCK_ROOT", root, 1);
    assert_int_equal(access("/sys/devices/system/cpu/online", R_OK), -1);
    assert_int_equal(access("/proc/self/status", R_OK), -1);
    assert_int_equal(access("/sys/kernel/tracing", R_OK), -1);
    snprintf(path, sizeof(path), "%s/proc", root);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("made\n", file);
    fclose(file);

    const int fd = open("//proc//cpuinfo", O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, text, sizeof(text)), 5);
    assert_string_equal(text, "made\n");
    close(fd);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    rmdir(root);
    unsetenv("TALLY_MOCK_ROOT");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_and_stops),
        cmocka_unit_test(a_group_reads_as_one),
        cmocka_unit_test(readv_takes_the_parts),
        cmocka_unit_test(groups_share_the_counters),
        cmocka_unit_test(copies_keep_an_event),
        cmocka_unit_test(a_child_sees_the_same_counter),
        cmocka_unit_test(an_ended_task_stands_still),
        cmocka_unit_test(what_the_kernel_refuses),
        cmocka_unit_test(a_group_must_fit),
        cmocka_unit_test(faults_of_the_script),
        cmocka_unit_test(a_stopped_counter),
        cmocka_unit_test(the_mapped_page),
        cmocka_unit_test(files_of_the_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
