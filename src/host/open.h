/* SPDX-License-Identifier: MIT */
/*
 * Opens events with perf_event_open(2); says in one sentence why one failed to
 * open, and in another how to mend that.
 *
 * The cause follows from the error, from files of /proc, and from trying
 * whether any other event opens.
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
    HOST_DEAD,      /* the event opens, but reads 0 while code runs */
    HOST_NOT_BEGUN, /* counting never began */
    HOST_LOST,      /* the kernel lost records of --from or --to */
    HOST_OTHER,
};

struct host_reason {
    enum host_why why;
    int error;      /* errno */
    char text[224]; /* one sentence: what is wrong */
    char mend[224]; /* the command or step that mends it, or "" */
};

/*
 * Opens an event. Returns a descriptor, closed on exec; or -1 and the reason,
 * which may be NULL. Tries again after EINTR and EAGAIN; without exclude_guest
 * and without the flag for closing on exec if the kernel is too old for them.
 */
int host_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
              unsigned long flags, struct host_reason *reason);

/* Returns the reason's code in JSON: "no-pmu", "paranoid", ... */
const char *host_why_name(enum host_why why);

/*
 * Returns whether the event can happen at user level. Events of the scheduler
 * happen in the kernel only: at user level they would read 0 for ever.
 */
bool host_has_user_level(const struct perf_event_attr *attr);

/* Finds the reason for the `error` of an open with these arguments. */
void host_explain(int error, const struct perf_event_attr *attr, pid_t pid,
                  int cpu, struct host_reason *reason);

/* The facts that a reason is found from. */
struct host_facts {
    bool has_paranoid; /* false: the kernel has no perf_event */
    long paranoid;
    long nmi_watchdog;          /* 1: it holds a counter; -1: not known */
    long seccomp;               /* of /proc/self/status; 2: a filter */
    uint64_t capabilities;      /* effective */
    bool cpu_online;            /* that the event is for */
    bool software_opens;        /* a software event opens */
    bool hardware_opens;        /* an event of the processor's counters opens */
    uint64_t files, files_most; /* RLIMIT_NOFILE: soft and hard */
};

/* Reads /proc, and opens and closes two events. */
void host_facts_find(const struct host_root *root, int cpu,
                     struct host_facts *facts);

/* Finds the reason from given facts, as host_explain() does; a pure function.
 */
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
 * Writes the reason for a counter that read 0 while code ran; `never`: the
 * kernel never put the event on the processor.
 */
void host_reason_dead(bool never, const struct host_facts *facts,
                      struct host_reason *reason);

/*
 * Tries whether the processor's counters work for this process at user level.
 * Returns HOST_OK or the reason, for instance HOST_DEAD. Takes some
 * microseconds.
 */
enum host_why host_check(struct host_reason *reason);

#endif
