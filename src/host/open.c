/* SPDX-License-Identifier: MIT */
#include "host/open.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/sysfs.h"

#define TRIES 64          /* of EAGAIN: somebody else is at it */
#define SPINS 20000       /* instructions that a live counter must see */
#define STATUS_SIZE 16384 /* of /proc/self/status */

static int
call(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
     unsigned long flags)
{
    int fd = -1;

    for (int tries = 0; tries < TRIES; tries++) {
        do
            fd =
                (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
        while (fd < 0 && errno == EINTR);
        if (fd >= 0 || errno != EAGAIN)
            break;
        sched_yield();
    }
    return fd;
}

/* Drops the next thing that perf would drop. Returns whether the event had it.
 */
static bool
drop(struct perf_event_attr *attr, unsigned long *flags)
{
    if (*flags & PERF_FLAG_FD_CLOEXEC) { /* Linux 3.14 */
        *flags &= ~PERF_FLAG_FD_CLOEXEC;
        return true;
    }
    if (attr->exclude_guest || attr->exclude_host) { /* Linux 3.2 */
        attr->exclude_guest = attr->exclude_host = 0;
        return true;
    }
    return false;
}

int
host_open(const struct perf_event_attr *wanted, pid_t pid, int cpu, int group,
          unsigned long flags, struct host_reason *reason)
{
    struct perf_event_attr attr = *wanted;
    int fd;

    flags |= PERF_FLAG_FD_CLOEXEC;
    do
        fd = call(&attr, pid, cpu, group, flags);
    while (fd < 0 && errno == EINVAL && drop(&attr, &flags));
    if (fd >= 0 && !(flags & PERF_FLAG_FD_CLOEXEC))
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (reason == NULL)
        return fd;
    if (fd >= 0)
        *reason = (struct host_reason){.why = HOST_OK};
    else
        host_explain(errno, wanted, pid, cpu, reason);
    return fd;
}

static bool
opens(uint32_t type, uint64_t config)
{
    const struct perf_event_attr attr = {
        .type = type,
        .size = sizeof(attr),
        .config = config,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    const int fd = host_open(&attr, 0, -1, -1, 0, NULL);

    if (fd < 0)
        return errno == EBUSY; /* there is one, in other hands */
    close(fd);
    return true;
}

/* Returns the value behind "Name:" of /proc/self/status. */
static uint64_t
status_number(const char *status, const char *name, int base)
{
    const char *line = strstr(status, name);

    return line == NULL ? 0 : strtoull(line + strlen(name), NULL, base);
}

static bool
cpu_online(const struct host_root *root, int cpu)
{
    char path[HOST_PATH], text[1024];

    if (cpu < 0 ||
        !host_sys_path(root, path, sizeof(path), "devices/system/cpu/online") ||
        host_read_text(path, text, sizeof(text)) != 0)
        return true;
    for (const char *p = text; *p != '\0';) {
        char *end;
        const long low = strtol(p, &end, 10);
        long high = low;
        if (end == p)
            break;
        if (*end == '-')
            high = strtol(end + 1, &end, 10);
        if (cpu >= low && cpu <= high)
            return true;
        p = end + (*end == ',');
    }
    return false;
}

void
host_facts_find(const struct host_root *root, int cpu, struct host_facts *facts)
{
    char path[HOST_PATH], status[STATUS_SIZE];
    struct rlimit files = {0};

    *facts = (struct host_facts){.nmi_watchdog = -1};
    facts->has_paranoid = host_read_proc_number(
        root, "sys/kernel/perf_event_paranoid", &facts->paranoid);
    host_read_proc_number(root, "sys/kernel/nmi_watchdog",
                          &facts->nmi_watchdog);
    if (host_proc_path(root, path, sizeof(path), "self/status") &&
        host_read_text(path, status, sizeof(status)) == 0) {
        facts->seccomp = (long)status_number(status, "\nSeccomp:", 10);
        facts->capabilities = status_number(status, "\nCapEff:", 16);
    }
    facts->cpu_online = cpu_online(root, cpu);
    facts->software_opens = opens(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY) ||
                            opens(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
    facts->hardware_opens =
        opens(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) ||
        opens(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        facts->files = files.rlim_cur;
        facts->files_most = files.rlim_max;
    }
}

void
host_explain(int error, const struct perf_event_attr *attr, pid_t pid, int cpu,
             struct host_reason *reason)
{
    struct host_facts facts;

    host_facts_find(NULL, cpu, &facts);
    host_explain_facts(&facts, error, attr, pid, cpu, reason);
}

static void
spin(void)
{
    for (int i = 0; i < SPINS; i++)
        atomic_signal_fence(memory_order_seq_cst);
}

/* Instructions of this thread, on the cores whose PMU has this type. */
static enum host_why
check_pmu(uint32_t pmu_type, struct host_reason *reason)
{
    const struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_HW_INSTRUCTIONS | (uint64_t)pmu_type << 32,
        .read_format =
            PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    uint64_t reading[3] = {0};
    struct host_facts facts;
    const int fd = host_open(&attr, 0, -1, -1, 0, reason);

    if (fd < 0)
        return reason->why;
    spin();
    const ssize_t got = read(fd, reading, sizeof(reading));
    close(fd);
    if (got != (ssize_t)sizeof(reading) || reading[0] == 0) {
        host_facts_find(NULL, -1, &facts);
        host_reason_dead(reading[2] == 0, &facts, reason);
    }
    return reason->why;
}

enum host_why
host_check(struct host_reason *reason)
{
    struct host_pmu pmus[HOST_HYBRID];
    const size_t count = host_hybrid_find(NULL, pmus);
    enum host_why why = HOST_DEAD;

    if (count == 0)
        return check_pmu(0, reason);
    /* The thread runs on one kind of core; the others count nothing. */
    for (size_t i = 0; i < count && why != HOST_OK; i++)
        why = check_pmu(pmus[i].type, reason);
    return why;
}
