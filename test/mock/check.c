/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HARDWARE_EVENTS = 10, CACHES = 7, CACHE_OPS = 3, CACHE_RESULTS = 2 };

int
mock_attr_copy(const void *from, struct perf_event_attr *attr)
{
    static const size_t size_at = offsetof(struct perf_event_attr, size);
    uint32_t size;

    memcpy(&size, (const char *)from + size_at, sizeof(size));
    if (!size)
        size = PERF_ATTR_SIZE_VER0;
    if (size < PERF_ATTR_SIZE_VER0 || size > (uint32_t)getpagesize())
        return -E2BIG;
    for (size_t i = sizeof(*attr); i < size; i++)
        if (((const char *)from)[i])
            return -E2BIG;
    memset(attr, 0, sizeof(*attr));
    memcpy(attr, from, size < sizeof(*attr) ? size : sizeof(*attr));
    attr->size = size;
    return 0;
}

/* What an older kernel, or any kernel, does not know. */
static int
check_known(const struct mock_machine *machine,
            const struct perf_event_attr *attr, unsigned long flags)
{
    const unsigned long known =
        PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP |
        (machine->without_cloexec ? 0 : PERF_FLAG_FD_CLOEXEC);
    const uint64_t formats =
        machine->without_lost ? PERF_FORMAT_LOST : PERF_FORMAT_MAX;

    if (flags & ~known)
        return -EINVAL;
    if (attr->__reserved_1 || attr->__reserved_2 ||
        attr->sample_type >= PERF_SAMPLE_MAX || attr->read_format >= formats)
        return -EINVAL;
    if (attr->exclude_guest && machine->without_exclude_guest)
        return -EINVAL;
    if ((attr->inherit && attr->sample_type & PERF_SAMPLE_READ) ||
        (attr->sigtrap && !attr->remove_on_exec))
        return -EINVAL;
    return 0;
}

static int
check_permission(const struct mock_machine *machine,
                 const struct perf_event_attr *attr, pid_t pid)
{
    if (machine->capable)
        return 0;
    if (machine->paranoid > 2) /* Debian's and Android's addition */
        return -EACCES;
    if (!attr->exclude_kernel && machine->paranoid > 1)
        return -EACCES;
    if (pid == -1 && machine->paranoid > 0)
        return -EACCES;
    return 0;
}

static int
check_target(const struct mock_machine *machine, pid_t pid, int cpu)
{
    if (pid < -1)
        return -ESRCH;
    if (cpu < -1 || (pid == -1 && cpu == -1))
        return -EINVAL;
    if (pid > 0 && kill(pid, 0) && errno == ESRCH)
        return -ESRCH;
    if (cpu >= (int)machine->cpu_count)
        return -EINVAL;
    if (pid == -1 && !CPU_ISSET((size_t)cpu, &machine->online))
        return -ENODEV;
    return 0;
}

static int
check_generic(const struct perf_event_attr *attr)
{
    const uint64_t config = attr->config & UINT32_MAX;

    if (attr->type == PERF_TYPE_HARDWARE)
        return config < HARDWARE_EVENTS ? 0 : -EINVAL;
    if (attr->type == PERF_TYPE_HW_CACHE &&
        ((config & 0xff) >= CACHES || (config >> 8 & 0xff) >= CACHE_OPS ||
         config >> 16 >= CACHE_RESULTS))
        return -EINVAL;
    return 0;
}

/* The PMU that takes the event; ENOENT where none does. */
static int
find_pmu(const struct mock_machine *machine, const struct perf_event_attr *attr,
         int cpu, const struct mock_pmu **found)
{
    const bool generic =
        attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
    const uint32_t wanted =
        generic ? (uint32_t)(attr->config >> 32) : attr->type;
    const bool any = generic ? !wanted : wanted == PERF_TYPE_RAW;

    for (unsigned i = 0; i < machine->pmu_count; i++) {
        const struct mock_pmu *pmu = &machine->pmus[i];
        if (any ? !pmu->core : pmu->type != wanted)
            continue;
        if (!pmu->uncore && cpu >= 0 && !CPU_ISSET((size_t)cpu, &pmu->cpus))
            continue;
        *found = pmu;
        return 0;
    }
    return -ENOENT;
}

static int
check_pmu(const struct mock_pmu *pmu, const struct perf_event_attr *attr,
          pid_t pid, int cpu)
{
    if (pmu->uncore &&
        (cpu < 0 || pid != -1 || attr->sample_period || attr->exclude_user ||
         attr->exclude_kernel || attr->exclude_hv || attr->exclude_idle ||
         attr->exclude_host || attr->exclude_guest))
        return -EINVAL;
    if (attr->precise_ip > pmu->precise)
        return -EOPNOTSUPP;
    return 0;
}

static int
choose_pmu(const struct mock_machine *machine,
           const struct perf_event_attr *attr, pid_t pid, int cpu,
           const struct mock_pmu **pmu)
{
    *pmu = NULL;
    if (attr->type == PERF_TYPE_SOFTWARE)
        return attr->config < PERF_COUNT_SW_MAX ? 0 : -ENOENT;
    if (attr->type == PERF_TYPE_TRACEPOINT ||
        attr->type == PERF_TYPE_BREAKPOINT)
        return 0;

    int error = find_pmu(machine, attr, cpu, pmu);
    if (!error)
        error = check_generic(attr);
    if (!error)
        error = check_pmu(*pmu, attr, pid, cpu);
    if (!error && (*pmu)->software)
        *pmu = NULL;
    return error;
}

int
mock_check(const struct mock_machine *machine,
           const struct perf_event_attr *attr, pid_t pid, int cpu,
           unsigned long flags, const struct mock_pmu **pmu)
{
    int error = check_known(machine, attr, flags);

    if (!error)
        error = check_permission(machine, attr, pid);
    if (!error)
        error = check_target(machine, pid, cpu);
    if (!error)
        error = choose_pmu(machine, attr, pid, cpu, pmu);
    return error;
}
