/* SPDX-License-Identifier: MIT */
/*
 * The emulated monitor of SPARC T4 (tally/pmu.h) below virtual counters: its
 * strands are the CPUs, and a strand's four counters have a control register
 * each, so events may differ in their modes. What the indices stand for, a
 * group and lines of it, the caller says; a specifier's event is its index, and
 * the kernel is privileged software. Any counter takes any event.
 */
#ifndef TALLY_COUNTER_VIRTUAL_T4_H
#define TALLY_COUNTER_VIRTUAL_T4_H

#include "counter/virtual.h"
#include "tally/pmu.h"

#define VIRTUAL_T4_COUNTERS 4

struct virtual_t4 {
    struct tally_pmu *pmu;
    unsigned pcr[VIRTUAL_T4_COUNTERS], pic[VIRTUAL_T4_COUNTERS];
    uint16_t event[VIRTUAL_EVENTS]; /* sl << 6 | mask; 0: none */
};

/* 0, or VIRTUAL_EINVAL: the monitor is of another processor. No index has an
 * event yet. */
int virtual_t4_init(struct virtual_t4 *t4, struct tally_pmu *pmu);

/* Of a struct virtual_t4. */
extern const struct virtual_monitor_ops virtual_t4_ops;

#endif
