/* SPDX-License-Identifier: MIT */
/*
 * Counts the kernel's software events of one process from its exec on, with
 * its threads and children.
 *
 * Times, page faults and context switches come from wait4(2), which any user
 * may call in any container, whatever perf_event_paranoid is. They are of all
 * privilege levels and leave out children that the process did not wait for.
 * Events that wait4() lacks are counted through perf_event, if the kernel
 * allows that.
 */
#ifndef TALLY_HOST_SOFTWARE_H
#define TALLY_HOST_SOFTWARE_H

#include <sys/resource.h>

#include "host/count.h"

struct host_software {
    const struct event_row *const *events; /* of machine `host` */
    size_t count;
    int *fds; /* -1: wait4() has the number, or the event did not open */
    struct host_value *values; /* owned until it is handed over */
};

/* Returns whether wait4(2) has the number of the event. */
bool host_software_waits(const struct event_row *event);

/*
 * Opens the events of a process that has yet to exec. 0 or TALLY_ENOMEM; an
 * event that does not open has its reason in `values`.
 */
int host_software_open(struct host_software *software,
                       const struct event_row *const *events, size_t count,
                       pid_t pid);

/* Fills `values`, once the process has ended; `usage` is wait4()'s. */
void
host_software_read(struct host_software *software, const struct rusage *usage);

/* Closes and frees all; accepts a zeroed struct. */
void host_software_finish(struct host_software *software);

#endif
