/* SPDX-License-Identifier: MIT */
#include "irix_virtual.h"

#include <errno.h>
#include <string.h>

struct virtual_owner *
irix_virtual_find(struct irix_virtual *irix, pid_t pid)
{
    for (unsigned i = 0; i < IRIX_PROCESSES; i++)
        if (pid != 0 && irix->processes[i].pid == pid)
            return &irix->processes[i].owner;
    return NULL;
}

struct virtual_owner *
irix_virtual_add(struct irix_virtual *irix, pid_t pid, uint32_t group,
                 bool root)
{
    for (unsigned i = 0; i < IRIX_PROCESSES; i++) {
        struct irix_process *p = &irix->processes[i];
        if (p->pid != 0)
            continue;
        p->pid = pid;
        virtual_owner_init(&p->owner, group, root);
        return &p->owner;
    }
    return NULL;
}

void
irix_virtual_exit(struct irix_virtual *irix, pid_t pid, pid_t parent,
                  bool waiting)
{
    for (unsigned i = 0; i < IRIX_PROCESSES; i++) {
        struct irix_process *p = &irix->processes[i];
        if (p->pid != pid)
            continue;
        virtual_exit(irix->system, &p->owner, irix_virtual_find(irix, parent),
                     waiting);
        p->pid = 0;
    }
}

/* Both who calls and whom it is about, or ESRCH. */
#define FIND(caller, target, pid)                                      \
    struct irix_virtual *const irix = system;                          \
    struct virtual_owner *const caller =                               \
        irix_virtual_find(irix, irix->caller);                         \
    struct virtual_owner *const target = irix_virtual_find(irix, pid); \
    if (caller == NULL || target == NULL)                              \
    return -ESRCH

static int
virtual_ops_open(void *system, pid_t pid)
{
    return irix_virtual_find(system, pid) != NULL ? 0 : -ENOENT;
}

static int
virtual_ops_start(void *system, pid_t pid, const struct virtual_request *r)
{
    FIND(caller, target, pid);
    return virtual_start(irix->system, caller, target, r);
}

static int
virtual_ops_read(void *system, pid_t pid,
                 struct counter_reading readings[VIRTUAL_EVENTS])
{
    FIND(caller, target, pid);
    return virtual_read(irix->system, caller, target, readings);
}

static int
virtual_ops_usage(void *system, pid_t pid, hwperf_prusage_t *usage)
{
    struct counter_reading readings[VIRTUAL_EVENTS];

    FIND(caller, target, pid);
    memset(usage, 0, sizeof(*usage));
    return virtual_read_usage(irix->system, caller, target, readings, usage);
}

static int
virtual_ops_control(void *system, pid_t pid, uint16_t spec[VIRTUAL_EVENTS])
{
    FIND(caller, target, pid);
    return virtual_control(irix->system, caller, target, spec);
}

static int
virtual_ops_change(void *system, pid_t pid, const struct virtual_request *r)
{
    FIND(caller, target, pid);
    return virtual_change(irix->system, caller, target, r);
}

static int
virtual_ops_release(void *system, pid_t pid)
{
    FIND(caller, target, pid);
    return virtual_release(irix->system, caller, target);
}

static int
virtual_ops_save(void *system, pid_t pid)
{
    FIND(caller, target, pid);
    return virtual_save(irix->system, caller, target);
}

static int
virtual_ops_profile(void *system, const struct virtual_request *r,
                    const struct virtual_range *ranges, uint32_t count)
{
    struct irix_virtual *const irix = system;
    struct virtual_owner *const caller = irix_virtual_find(irix, irix->caller);

    return caller == NULL
               ? -ESRCH
               : virtual_profile(irix->system, caller, r, ranges, count);
}

static int
virtual_ops_system_start(void *system, const struct virtual_request *r)
{
    struct irix_virtual *const irix = system;
    struct virtual_owner *const caller = irix_virtual_find(irix, irix->caller);

    return caller == NULL ? -ESRCH
                          : virtual_system_start(irix->system, caller, r);
}

static int
virtual_ops_system_read(void *system,
                        struct counter_reading readings[VIRTUAL_EVENTS])
{
    return virtual_system_read(((struct irix_virtual *)system)->system,
                               readings);
}

static int
virtual_ops_system_read_cpu(void *system, unsigned cpu,
                            struct counter_reading readings[VIRTUAL_EVENTS])
{
    return virtual_system_read_cpu(((struct irix_virtual *)system)->system, cpu,
                                   readings);
}

static int
virtual_ops_system_control(void *system, uint16_t spec[VIRTUAL_EVENTS])
{
    return virtual_system_control(((struct irix_virtual *)system)->system,
                                  spec);
}

static int
virtual_ops_system_change(void *system, const struct virtual_request *r)
{
    struct irix_virtual *const irix = system;
    struct virtual_owner *const caller = irix_virtual_find(irix, irix->caller);

    return caller == NULL ? -ESRCH
                          : virtual_system_change(irix->system, caller, r);
}

static int
virtual_ops_system_release(void *system)
{
    struct irix_virtual *const irix = system;
    struct virtual_owner *const caller = irix_virtual_find(irix, irix->caller);

    return caller == NULL ? -ESRCH
                          : virtual_system_release(irix->system, caller);
}

const struct irix_ops irix_virtual_ops = {
    .open = virtual_ops_open,
    .start = virtual_ops_start,
    .read = virtual_ops_read,
    .usage = virtual_ops_usage,
    .control = virtual_ops_control,
    .change = virtual_ops_change,
    .release = virtual_ops_release,
    .save = virtual_ops_save,
    .profile = virtual_ops_profile,
    .system_start = virtual_ops_system_start,
    .system_read = virtual_ops_system_read,
    .system_read_cpu = virtual_ops_system_read_cpu,
    .system_control = virtual_ops_system_control,
    .system_change = virtual_ops_system_change,
    .system_release = virtual_ops_system_release,
};
