/* SPDX-License-Identifier: MIT */
/*
 * Emulated monitors of R10000 and R12000 (tally/pmu.h) below virtual counters,
 * one of a CPU. Of R10000 the indices 0 to 15 are the events of counter 0, 16
 * to 31 those of counter 1 (I50, I54); of R12000 the index is the event, on
 * whichever counter has fewer.
 */
#ifndef TALLY_TEST_VIRTUAL_MIPS_H
#define TALLY_TEST_VIRTUAL_MIPS_H

#include "counter/virtual.h"
#include "tally/pmu.h"

struct virtual_mips {
    struct tally_pmu **monitors;   /* of each CPU */
    unsigned control[2], count[2]; /* registers */
};

/* 0, or VIRTUAL_EINVAL: the monitor is of another processor. */
int virtual_mips_init(struct virtual_mips *mips, struct tally_pmu **monitors);

/* Of a struct virtual_mips. */
extern const struct virtual_pmu_ops virtual_r10000_ops, virtual_r12000_ops;

#endif
