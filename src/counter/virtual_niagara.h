/* SPDX-License-Identifier: MIT */
/*
 * The emulated monitor of UltraSPARC T2 or T2 Plus (tally/pmu.h) below virtual
 * counters: its strands are the CPUs. What the indices stand for, a group and
 * lines of it, the caller says; a specifier's event is its index. Both counters
 * take any.
 *
 * The modes are in the one control register of both counters: user mode and
 * kernel mode, where the kernel is privileged software, the same for all events
 * of a request. The trap comes before the wrap, which is why the limit is not
 * 2^32 (rule F2).
 */
#ifndef TALLY_COUNTER_VIRTUAL_NIAGARA_H
#define TALLY_COUNTER_VIRTUAL_NIAGARA_H

#include "counter/virtual.h"
#include "tally/pmu.h"

struct virtual_niagara {
    struct tally_pmu *pmu;
    unsigned pcr, pic;              /* registers */
    uint16_t event[VIRTUAL_EVENTS]; /* sl << 8 | mask; 0: none */
};

/* 0, or VIRTUAL_EINVAL: the monitor is of another processor. No index has an
 * event yet. */
int
virtual_niagara_init(struct virtual_niagara *niagara, struct tally_pmu *pmu);

/* Of a struct virtual_niagara. */
extern const struct virtual_monitor_ops virtual_niagara_ops;

#endif
