/* SPDX-License-Identifier: MIT */
/*
 * Why an event does not open. The rules are those of perf_event_open(2) and of
 * kernel/events/core.c; level 3 and above is Debian's, Ubuntu's and Android's.
 */
#include "host/open.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CAP_BITS(n) (UINT64_C(1) << (n))
#define CAP_PTRACE 19
#define CAP_ADMIN 21
#define CAP_PERFMON_BIT 38 /* Linux 5.8 */
#define SECCOMP_FILTER 2

/* The greatest perf_event_paranoid that lets a user do so. */
enum { LEVEL_CPU = 0, LEVEL_KERNEL = 1, LEVEL_USER = 2 };

/* Commands that work as written, but for PROGRAM. */
#define SOFTWARE_MEND \
    "software events: tally count -e task-clock,page-faults PROGRAM"
#ifdef __x86_64__
#define MODEL_MEND "on a model: tally count -m host-model PROGRAM"
#else /* no model runs programs of this processor */
#define MODEL_MEND ""
#endif

__attribute__((format(printf, 3, 4))) static void
say(struct host_reason *r, enum host_why why, const char *format, ...)
{
    va_list args;

    r->why = why;
    va_start(args, format);
    vsnprintf(r->text, sizeof(r->text), format, args);
    va_end(args);
}

__attribute__((format(printf, 2, 3))) static void
mend(struct host_reason *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(r->mend, sizeof(r->mend), format, args);
    va_end(args);
}

#define OTHERS_MEND "end other profilers: pgrep -a 'perf|vtune|pcm' finds them"

/* Writes the commands that work without counters, after the text `first` if
 * `first` is not empty. */
static void
mend_otherwise(struct host_reason *r, const char *first)
{
    const bool both = first[0] != '\0' && MODEL_MEND[0] != '\0';

    mend(r, "%s%s%s", first, both ? "; " : "", MODEL_MEND);
}

const char *
host_why_name(enum host_why why)
{
    static const char *const names[] = {
        "ok",          "no-pmu",     "paranoid", "seccomp", "busy",
        "unsupported", "permission", "no-task",  "no-cpu",  "descriptors",
        "dead",        "not-begun",  "lost",     "other",
    };

    return (size_t)why < sizeof(names) / sizeof(names[0]) ? names[why]
                                                          : "other";
}

/* Counted by the processor, or by something beside it, not by the kernel. */
static bool
is_hardware(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_HARDWARE ||
           attr->type == PERF_TYPE_HW_CACHE || attr->type == PERF_TYPE_RAW;
}

static void
explain_seccomp(const struct host_facts *facts, int error,
                struct host_reason *r)
{
    say(r, HOST_SECCOMP,
        "a seccomp filter of this container or sandbox forbids "
        "perf_event_open (%s)",
        error == ENOSYS ? "ENOSYS" : "EPERM");
    mend(r,
         facts->has_paranoid && facts->paranoid > LEVEL_USER
             ? "docker run --cap-add PERFMON --security-opt seccomp=FILE, with "
               "a profile that allows perf_event_open"
             : "docker run --cap-add PERFMON, or --security-opt seccomp=FILE "
               "with a profile that allows perf_event_open");
}

bool
host_has_user_level(const struct perf_event_attr *attr)
{
    const uint64_t n = attr->config;

    return attr->type != PERF_TYPE_TRACEPOINT &&
           !(attr->type == PERF_TYPE_SOFTWARE &&
             (n == PERF_COUNT_SW_CONTEXT_SWITCHES ||
              n == PERF_COUNT_SW_CPU_MIGRATIONS ||
              n == PERF_COUNT_SW_CGROUP_SWITCHES ||
              n == PERF_COUNT_SW_BPF_OUTPUT));
}

static void
explain_paranoid(const struct host_facts *facts,
                 const struct perf_event_attr *attr, pid_t pid,
                 struct host_reason *r)
{
    const bool kernel = !attr->exclude_kernel;
    int needed = LEVEL_USER;
    const char *what = "a program's own counts";

    if (kernel) {
        needed = LEVEL_KERNEL;
        what = "counts at kernel level";
    }
    if (pid == -1) {
        needed = LEVEL_CPU;
        what = "counts of a whole cpu";
    }
    say(r, HOST_PARANOID,
        "perf_event_paranoid is %ld; %s need %d or less, or CAP_PERFMON",
        facts->paranoid, what, needed);
    if (pid != -1 && kernel && facts->paranoid == LEVEL_USER &&
        host_has_user_level(attr))
        mend(r, "count at user level (EVENT:u), or sudo sysctl "
                "kernel.perf_event_paranoid=1");
    else
        mend(r, "sudo sysctl kernel.perf_event_paranoid=%d", needed);
}

static bool
may_all(const struct host_facts *facts)
{
    return (facts->capabilities &
            (CAP_BITS(CAP_ADMIN) | CAP_BITS(CAP_PERFMON_BIT))) != 0;
}

/* Returns whether perf_event_paranoid alone forbids the event. */
static bool
level_forbids(const struct host_facts *facts,
              const struct perf_event_attr *attr, pid_t pid)
{
    const long level = facts->paranoid;

    if (!facts->has_paranoid || may_all(facts))
        return false;
    return level > LEVEL_USER || (level > LEVEL_CPU && pid == -1) ||
           (level > LEVEL_KERNEL && !attr->exclude_kernel);
}

/* EACCES and EPERM. */
static void
explain_denied(const struct host_facts *facts, int error,
               const struct perf_event_attr *attr, pid_t pid,
               struct host_reason *r)
{
    if (error == EPERM && facts->seccomp == SECCOMP_FILTER &&
        !facts->software_opens) {
        explain_seccomp(facts, error, r);
    } else if (level_forbids(facts, attr, pid)) {
        explain_paranoid(facts, attr, pid, r);
    } else if (pid > 0) {
        say(r, HOST_PERMISSION,
            "process %d is another user's, or protected: counting it needs "
            "what ptrace needs",
            (int)pid);
        mend(r, "run as its user or with sudo%s",
             facts->capabilities & CAP_BITS(CAP_PTRACE)
                 ? ""
                 : ", or give CAP_PERFMON and CAP_SYS_PTRACE");
    } else if (attr->type == PERF_TYPE_TRACEPOINT) {
        say(r, HOST_PERMISSION,
            "the kernel keeps this tracepoint for root (perf_event_paranoid "
            "%ld)",
            facts->paranoid);
        mend(r, "run with sudo, or sudo sysctl kernel.perf_event_paranoid=-1");
    } else {
        say(r, HOST_PERMISSION,
            "the kernel refuses although perf_event_paranoid (%ld) allows it: "
            "a security module (SELinux, AppArmor, lockdown) decides so",
            facts->paranoid);
        mend(r, "see what it logged: sudo dmesg | grep -i denied");
    }
}

static void
explain_no_pmu(struct host_reason *r)
{
    say(r, HOST_NO_PMU,
        "this system shows no hardware counters: a virtual machine without "
        "a PMU, as a rule");
    mend_otherwise(r, SOFTWARE_MEND);
}

void
host_reason_lacking(const char *text, struct host_reason *reason)
{
    *reason = (struct host_reason){0};
    say(reason, HOST_UNSUPPORTED, "%s", text);
}

static void
explain_absent(const struct host_facts *facts, int error,
               const struct perf_event_attr *attr, int cpu,
               struct host_reason *r)
{
    if (!facts->cpu_online || (error == ENODEV && cpu >= 0)) {
        say(r, HOST_NO_CPU, "cpu %d is not online, or has gone", cpu);
        mend(r, "cat /sys/devices/system/cpu/online");
    } else if (is_hardware(attr) && !facts->hardware_opens &&
               facts->software_opens) {
        explain_no_pmu(r);
    } else if (error == EOPNOTSUPP) {
        say(r, HOST_UNSUPPORTED, "%s",
            attr->precise_ip > 0
                ? "this processor cannot count the event precisely (:p)"
            : attr->sample_period > 0
                ? "this counter raises no interrupts, so it cannot be sampled"
                : "the kernel's driver of these counters cannot do this");
        mend(r, "%s", attr->precise_ip > 0 ? "leave :p out" : "");
    } else {
        say(r, HOST_UNSUPPORTED,
            "this processor or kernel has no such event (type %u, config "
            "0x%llx)",
            attr->type, (unsigned long long)attr->config);
        mend(r, "tally list -m host");
    }
}

static void
explain_invalid(const struct host_facts *facts,
                const struct perf_event_attr *attr, pid_t pid, int cpu,
                struct host_reason *r)
{
    if (!facts->cpu_online) {
        say(r, HOST_NO_CPU, "there is no cpu %d, or it is not online", cpu);
        mend(r, "cat /sys/devices/system/cpu/online");
    } else if (is_hardware(attr) && !facts->hardware_opens &&
               facts->software_opens) {
        explain_no_pmu(r);
    } else if (attr->type >= PERF_TYPE_MAX && pid >= 0) {
        say(r, HOST_UNSUPPORTED,
            "these counters refuse the event: they count a whole cpu and no "
            "program, or no such code");
        mend(r, "count whole cpus, with -a");
    } else {
        say(r, HOST_UNSUPPORTED,
            "the counters refuse this combination of code and modifiers (type "
            "%u, config 0x%llx)",
            attr->type, (unsigned long long)attr->config);
        mend(r, "try it without modifiers and outside of braces");
    }
}

static void
explain_busy(const struct host_facts *facts, struct host_reason *r)
{
    if (facts->nmi_watchdog == 1) {
        say(r, HOST_BUSY,
            "the counters are taken; the NMI watchdog holds one of them");
        mend(r, "sudo sysctl kernel.nmi_watchdog=0");
    } else {
        say(r, HOST_BUSY,
            "the counters are taken by another profiler or by the hypervisor");
        mend(r, OTHERS_MEND);
    }
}

static void
explain_descriptors(const struct host_facts *facts, int error,
                    struct host_reason *r)
{
    if (error == ENFILE) {
        say(r, HOST_DESCRIPTORS, "the system has no descriptors left");
        mend(r, "sudo sysctl fs.file-max=VALUE, above what /proc/sys/fs/"
                "file-nr shows");
        return;
    }
    say(r, HOST_DESCRIPTORS,
        "all %llu descriptors of this process are in use: an event takes one "
        "for each cpu or thread",
        (unsigned long long)facts->files);
    if (facts->files_most > facts->files)
        mend(r, "ulimit -n %llu", (unsigned long long)facts->files_most);
    else
        mend(r, "count fewer events, cpus or threads at once, or raise the "
                "hard limit in /etc/security/limits.conf");
}

static void
explain_no_call(const struct host_facts *facts, struct host_reason *r)
{
    if (facts->seccomp == SECCOMP_FILTER && facts->has_paranoid) {
        explain_seccomp(facts, ENOSYS, r);
        return;
    }
    say(r, HOST_NO_PMU,
        "this kernel has no perf_event_open: it was built without "
        "CONFIG_PERF_EVENTS, or does not run on Linux proper");
    mend_otherwise(r, "");
}

void
host_explain_facts(const struct host_facts *facts, int error,
                   const struct perf_event_attr *attr, pid_t pid, int cpu,
                   struct host_reason *r)
{
    *r = (struct host_reason){.error = error};
    switch (error) {
    case EACCES:
    case EPERM:
        explain_denied(facts, error, attr, pid, r);
        break;
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
        explain_absent(facts, error, attr, cpu, r);
        break;
    case EINVAL:
        explain_invalid(facts, attr, pid, cpu, r);
        break;
    case EBUSY:
        explain_busy(facts, r);
        break;
    case EMFILE:
    case ENFILE:
        explain_descriptors(facts, error, r);
        break;
    case ENOSYS:
        explain_no_call(facts, r);
        break;
    case ESRCH:
        say(r, HOST_NO_TASK, "process or thread %d has ended, or never was",
            (int)pid);
        break;
    default:
        say(r, HOST_OTHER, "perf_event_open failed: %s",
            strerrordesc_np(error));
        mend(r, "%s", error == ENOMEM ? "free some memory" : "");
    }
}

void
host_explain_probe_facts(const struct host_facts *facts, int error,
                         const struct perf_event_attr *attr,
                         struct host_reason *r)
{
    *r = (struct host_reason){.error = error};
    /* Of a uprobe alone; EPERM is a filter's or a module's. */
    if (error == EACCES) {
        say(r, HOST_PERMISSION,
            "uprobes are for root alone (in a container: that of its host): "
            "the kernel wants CAP_PERFMON for them, whatever "
            "perf_event_paranoid is");
        mend_otherwise(r, "run with sudo");
    } else if (error == EINVAL || error == EIO || error == ENOTSUP ||
               error == ENOENT) {
        say(r, HOST_UNSUPPORTED,
            "the kernel cannot put a uprobe into this file (%s)",
            strerrordesc_np(error));
        mend_otherwise(r, "copy the program to a plain file system");
    } else {
        /* Not the process: it is our own child. */
        host_explain_facts(facts, error, attr, 0, -1, r);
    }
}

void
host_reason_dead(bool never, const struct host_facts *facts,
                 struct host_reason *r)
{
    *r = (struct host_reason){0};
    say(r, HOST_DEAD, "%s",
        never ? "the counter opens, but the kernel never gives it a place on "
                "the processor: all are held by others"
              : "the counter opens and reads 0 while code runs: this virtual "
                "machine only pretends to have counters");
    if (!never)
        mend_otherwise(r, SOFTWARE_MEND);
    else if (facts->nmi_watchdog == 1)
        mend(r, "sudo sysctl kernel.nmi_watchdog=0");
    else
        mend(r, OTHERS_MEND);
}
