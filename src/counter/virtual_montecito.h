/* SPDX-License-Identifier: MIT */
/*
 * The emulated monitor of Montecito (tally/pmu.h) below virtual counters: its
 * threads are the CPUs, each with PMD4 to PMD15 under PMC4 to PMC15. What the
 * indices stand for, a code and unit mask, and which counters can count it, the
 * caller says; a specifier's event is its index. Events of the L1D's sets are
 * in PMC5 alone, and those of the L2D's in PMC4 and PMC6: there each rules its
 * set itself, whatever has its turn elsewhere (rules R102, R108). User mode is
 * privilege level 3 and the kernel level 0; the monitors are privileged, so
 * PSR.pp lets them run.
 *
 * An overflow freezes all counters of its thread until it is served. What rises
 * meanwhile no counter of the real chip counts either.
 */
#ifndef TALLY_COUNTER_VIRTUAL_MONTECITO_H
#define TALLY_COUNTER_VIRTUAL_MONTECITO_H

#include "counter/virtual.h"
#include "tally/pmu.h"

#define VIRTUAL_MONTECITO_COUNTERS 12

struct virtual_montecito_event {
    bool known;
    bool l1d, l2d; /* of one of these caches' sets */
    uint8_t code, umask;
    uint16_t counters; /* bits, 0 is PMC4; 0: all */
};

struct virtual_montecito {
    struct tally_pmu *pmu;
    unsigned status; /* PMC0 */
    unsigned pmc[VIRTUAL_MONTECITO_COUNTERS];
    unsigned pmd[VIRTUAL_MONTECITO_COUNTERS];
    struct virtual_montecito_event event[VIRTUAL_EVENTS];
};

/* 0, or VIRTUAL_EINVAL: the monitor is of another processor. No index has an
 * event yet. */
int virtual_montecito_init(struct virtual_montecito *montecito,
                           struct tally_pmu *pmu);

/* Of a struct virtual_montecito. */
extern const struct virtual_monitor_ops virtual_montecito_ops;

#endif
