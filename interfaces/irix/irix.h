/* SPDX-License-Identifier: MIT */
/*
 * What stands behind open, ioctl and syssgi: r10k_evcntrs(5) for processes by
 * their numbers. Three systems can: this computer (irix_counter.c); the
 * emulated machine that a program runs on (irix_guest.h); and virtual counters
 * over emulated monitors, whose processes and time a test makes up
 * (irix_virtual.h).
 *
 * Calls return what the page says, or a negative errno.
 */
#ifndef TALLY_IRIX_H
#define TALLY_IRIX_H

#include <sys/types.h>

#include "counter/virtual.h"
#include "sys/hwperftypes.h"

struct irix_ops {
    /* 0, or why /proc/NNNNN cannot be opened. */
    int (*open)(void *system, pid_t target);
    int (*start)(void *system, pid_t target,
                 const struct virtual_request *request);
    int (*read)(void *system, pid_t target,
                struct counter_reading readings[VIRTUAL_EVENTS]);
    int (*usage)(void *system, pid_t target, hwperf_prusage_t *usage);
    int (*control)(void *system, pid_t target, uint16_t spec[VIRTUAL_EVENTS]);
    int (*change)(void *system, pid_t target,
                  const struct virtual_request *request);
    int (*release)(void *system, pid_t target);
    int (*save)(void *system, pid_t target);
    /* syssgi; `range` is of the one range there is. */
    int (*profile)(void *system, const struct virtual_request *request,
                   const struct virtual_range *ranges, uint32_t count);
    int (*system_start)(void *system, const struct virtual_request *request);
    int (*system_read)(void *system,
                       struct counter_reading readings[VIRTUAL_EVENTS]);
    int (*system_read_cpu)(void *system, unsigned cpu,
                           struct counter_reading readings[VIRTUAL_EVENTS]);
    int (*system_control)(void *system, uint16_t spec[VIRTUAL_EVENTS]);
    int (*system_change)(void *system, const struct virtual_request *request);
    int (*system_release)(void *system);
};

/* Those of tally/counter.h; there is one system of them. */
extern const struct irix_ops irix_counter_ops;

/* These, or those of the machine that emulates us. */
const struct irix_ops *irix_default(void);

/* Which processor's events numbers mean: 10000 or 12000. In a program that is
 * emulated on one the machine's; otherwise R10000 unless irix_processor_set()
 * says another. */
int irix_processor(void);
void irix_processor_set(int processor);

/* Who answers from now on; NULL: irix_default(). */
void irix_system_set(const struct irix_ops *ops, void *system);
const struct irix_ops *irix_system(void **system);

/* An ioctl on /proc/NNNNN: as the page has it, or -1 with errno. For libraries,
 * before which the C library's open() may stand. */
int irix_process_call(pid_t target, unsigned long command, void *argument);

/* The same on a file that is open. */
int irix_file_call(pid_t target, unsigned long command, void *argument);

/* Beside the counts: what this host knows of a process. 0 or -errno. */
int irix_usage(pid_t target, hwperf_prusage_t *usage);
/* Takes what /proc/PID/stat says; 0 or -EIO. */
int irix_usage_stat(const char *text, hwperf_prusage_t *usage);
/* Takes what a line of /proc/PID/status or io says, if anything. */
void irix_usage_line(const char *line, hwperf_prusage_t *usage);

#endif
