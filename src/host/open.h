/* SPDX-License-Identifier: MIT */
/*
 * perf_event_open(2), and why it failed: in one sentence, with what helps.
 *
 * Causes are found out and not guessed: from the error, from what /proc tells,
 * and from whether any other event opens.
 */
#ifndef TALLY_HOST_OPEN_H
#define TALLY_HOST_OPEN_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/root.h"

enum host_why {
    HOST_OK,
    HOST_NO_PMU,      /* no hardware event opens: a virtual machine */
    HOST_PARANOID,    /* perf_event_paranoid forbids it */
    HOST_SECCOMP,     /* a filter of system calls forbids it */
    HOST_BUSY,        /* the counters are taken */
    HOST_UNSUPPORTED, /* this kernel or processor has no such event */
    HOST_PERMISSION,  /* the task is another user's, or a module says no */
    HOST_NO_TASK,
    HOST_NO_CPU,
    HOST_DESCRIPTORS,
    HOST_DEAD,      /* it opens and reads 0 while code runs */
    HOST_NOT_BEGUN, /* it was to be counted later than this */
    HOST_LOST,      /* entries of --from or --to were not told */
    HOST_OTHER,
};

struct host_reason {
    enum host_why why;
    int error;      /* errno */
    char text[224]; /* one sentence: what is wrong */
    char mend[224]; /* the command or step that helps, or "" */
};

/*
 * A descriptor, closed on exec; or -1 with the reason, which may be NULL.
 * Tries again after EINTR and EAGAIN; drops exclude_guest and the flag for
 * closing on exec as perf does where the kernel is too old to know them.
 */
int host_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
              unsigned long flags, struct host_reason *reason);

/* "no-pmu", "paranoid", ...: the reason code of JSON. */
const char *host_why_name(enum host_why why);

/*
 * Whether the event means something at user level. Those of the scheduler
 * happen in the kernel alone: there they would be 0 for ever.
 */
bool host_has_user_level(const struct perf_event_attr *attr);

/* The reason for `error` of an open with these arguments. */
void host_explain(int error, const struct perf_event_attr *attr, pid_t pid,
                  int cpu, struct host_reason *reason);

/* What an explanation rests on. */
struct host_facts {
    bool has_paranoid; /* else the kernel has no perf_event */
    long paranoid;
    long nmi_watchdog;          /* 1: it holds a counter; -1: not known */
    long seccomp;               /* of /proc/self/status; 2: a filter */
    uint64_t capabilities;      /* effective */
    bool cpu_online;            /* that the event is for */
    bool software_opens;        /* the least that can be asked for */
    bool hardware_opens;        /* any event of the processor's counters */
    uint64_t files, files_most; /* RLIMIT_NOFILE: soft and hard */
};

/* Reads /proc, and opens and closes two events. */
void host_facts_find(const struct host_root *root, int cpu,
                     struct host_facts *facts);

/* host_explain() on given facts: a pure function. */
void host_explain_facts(const struct host_facts *facts, int error,
                        const struct perf_event_attr *attr, pid_t pid, int cpu,
                        struct host_reason *reason);

/* Writes the reason of an event that was never opened: the kernel has nothing
 * for its name, as the text says. */
void host_reason_lacking(const char *text, struct host_reason *reason);

/* Writes the reason for `error` of an open of a uprobe on a host of these
 * facts. */
void host_explain_probe_facts(const struct host_facts *facts, int error,
                              const struct perf_event_attr *attr,
                              struct host_reason *reason);

/*
 * The reason for a counter that read 0 while code ran; `never`: the kernel
 * never put it on the processor.
 */
void host_reason_dead(bool never, const struct host_facts *facts,
                      struct host_reason *reason);

/*
 * Whether the processor's counters work for this process at user level:
 * HOST_OK, or the reason, HOST_DEAD among them. Runs for some microseconds.
 */
enum host_why host_check(struct host_reason *reason);

#endif
