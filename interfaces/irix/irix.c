/* SPDX-License-Identifier: MIT */
/* What the ioctls and syssgi() are, as r10k_evcntrs(5) has them. */
#include "irix.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "sys/procfs.h"
#include "sys/profil.h"
#include "sys/syssgi.h"

#define EXPORT __attribute__((visibility("default")))

static const struct irix_ops *chosen; /* NULL: the default */
static void *system_data;

void
irix_system_set(const struct irix_ops *ops, void *system)
{
    chosen = ops;
    system_data = system;
}

const struct irix_ops *
irix_system(void **system)
{
    *system = system_data;
    return chosen != NULL ? chosen : irix_default();
}

/* -1 and errno, as a system call fails. */
static int
answer(int result)
{
    if (result >= 0)
        return result;
    errno = -result;
    return -1;
}

/* The request as the core wants it. */
static void
take_request(const hwperf_profevctrarg_t *from, struct virtual_request *to)
{
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        to->spec[i] = (uint16_t)from->hwp_evctrargs.hwp_evctrl[i].hwperf_spec;
        to->threshold[i] = from->hwp_ovflw_freq[i];
    }
    to->signal = from->hwp_ovflw_sig;
}

static int
give_counts(int result, const struct counter_reading *readings,
            hwperf_cntr_t *to)
{
    for (unsigned i = 0; result > 0 && i < VIRTUAL_EVENTS; i++)
        to->hwp_evctr[i] = readings[i].value;
    return result;
}

static int
give_control(int result, const uint16_t *spec, hwperf_eventctrl_t *to)
{
    for (unsigned i = 0; result > 0 && i < VIRTUAL_EVENTS; i++)
        to->hwp_evctrl[i].hwperf_spec = (short)spec[i];
    return result;
}

static int
call_process(pid_t pid, unsigned long command, void *argument)
{
    struct counter_reading readings[VIRTUAL_EVENTS];
    struct virtual_request request;
    uint16_t spec[VIRTUAL_EVENTS];
    void *s;
    const struct irix_ops *const ops = irix_system(&s);

    if (argument == NULL && command != PIOCRELEVCTRS &&
        command != PIOCSAVECCNTRS)
        return -EFAULT;
    switch (command) {
    case PIOCENEVCTRS:
        take_request(argument, &request);
        return ops->start(s, pid, &request);
    case PIOCGETEVCTRS:
        return give_counts(ops->read(s, pid, readings), readings, argument);
    case PIOCGETPREVCTRS:
        return ops->usage(s, pid, argument);
    case PIOCGETEVCTRL:
        return give_control(ops->control(s, pid, spec), spec, argument);
    case PIOCSETEVCTRL:
        take_request(argument, &request);
        return ops->change(s, pid, &request);
    case PIOCRELEVCTRS:
        return ops->release(s, pid);
    case PIOCSAVECCNTRS:
        return ops->save(s, pid);
    default:
        return -EINVAL;
    }
}

int
irix_file_call(pid_t target, unsigned long command, void *argument)
{
    const bool none = command == PIOCRELEVCTRS || command == PIOCSAVECCNTRS;

    return answer(call_process(target, command, none ? NULL : argument));
}

EXPORT int
irix_process_call(pid_t target, unsigned long command, void *argument)
{
    void *s;
    const int error = irix_system(&s)->open(s, target);

    return answer(error < 0 ? error : call_process(target, command, argument));
}

#define RANGES_MAX 64

/* sprofil's buckets of 16 bits. */
static int
call_profile(const struct virtual_request *request, const struct prof *profs,
             int count)
{
    static struct virtual_range ranges[RANGES_MAX];
    void *s;
    const struct irix_ops *const ops = irix_system(&s);

    if (profs == NULL || count < 1 || count > RANGES_MAX)
        return -EINVAL;
    for (int i = 0; i < count; i++)
        ranges[i] = (struct virtual_range){
            .offset = (uintptr_t)profs[i].pr_off,
            .scale = profs[i].pr_scale,
            .count = profs[i].pr_size / 2,
            .buckets = profs[i].pr_base,
        };
    return ops->profile(s, request, ranges, (uint32_t)count);
}

static int
call_system(int command, void *first, void *second, int third)
{
    struct counter_reading readings[VIRTUAL_EVENTS];
    struct virtual_request request;
    uint16_t spec[VIRTUAL_EVENTS];
    void *s;
    const struct irix_ops *const ops = irix_system(&s);

    if (first == NULL && command != HWPERF_RELSYSCNTRS &&
        command != HWPERF_GET_CPUCNTRS)
        return -EFAULT;
    switch (command) {
    case HWPERF_PROFENABLE:
        take_request(first, &request);
        return call_profile(&request, second, third);
    case HWPERF_ENSYSCNTRS:
        take_request(first, &request);
        return ops->system_start(s, &request);
    case HWPERF_GET_SYSCNTRS:
        return give_counts(ops->system_read(s, readings), readings, first);
    case HWPERF_GET_CPUCNTRS:
        return second == NULL
                   ? -EFAULT
                   : give_counts(ops->system_read_cpu(
                                     s, (unsigned)(uintptr_t)first, readings),
                                 readings, second);
    case HWPERF_GET_SYSEVCTRL:
        return give_control(ops->system_control(s, spec), spec, first);
    case HWPERF_SET_SYSEVCTRL:
        take_request(first, &request);
        return ops->system_change(s, &request);
    case HWPERF_RELSYSCNTRS:
        return ops->system_release(s);
    default:
        return -EINVAL;
    }
}

/* Of the words behind the command as many are looked at as it has; a cpu's
 * number is an int where others have a pointer. */
EXPORT int
syssgi(int request, ...)
{
    void *first = NULL, *second = NULL;
    int third = 0;
    va_list list;

    if (request != SGI_EVENTCTR) {
        errno = EINVAL;
        return -1;
    }
    va_start(list, request);
    const int command = va_arg(list, int);
    if (command == HWPERF_GET_CPUCNTRS)
        first = (void *)(uintptr_t)va_arg(list, unsigned);
    else if (command != HWPERF_RELSYSCNTRS)
        first = va_arg(list, void *);
    if (command == HWPERF_GET_CPUCNTRS || command == HWPERF_PROFENABLE)
        second = va_arg(list, void *);
    if (command == HWPERF_PROFENABLE)
        third = va_arg(list, int);
    va_end(list);
    return answer(call_system(command, first, second, third));
}
