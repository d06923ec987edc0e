/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PMU of the emulated machine, for a guest that reads and writes its
 * registers: src/pmu, brought up to date with the model's counts whenever the
 * guest looks. The counters of a strand belong to the guest thread that runs
 * there; those of memory controllers and hubs are in guest_pmu_shared.h.
 */
#ifndef TALLY_PLUGIN_GUEST_PMU_H
#define TALLY_PLUGIN_GUEST_PMU_H

#include "gateway/protocol.h"
#include "plugin/guest_pmu_shared.h"
#include "source/process_counts.h"

struct guest_pmu_line;

struct guest_pmu {
    struct tally_pmu *pmu;          /* in `memory`; NULL: no guest has looked */
    void *memory;                   /* owned */
    struct guest_pmu_line *lines;   /* events that can rise, owned */
    struct tally_pmu_total *totals; /* one for each line, owned */
    size_t count;                   /* of lines */
    /* Counts at the last sync, by vCPU and line; owned. */
    uint64_t *last[COUNTS_VCPUS];
    struct guest_pmu_shared shared;
    bool warned; /* that threads share registers */
};

/* Answers a request in place. Words are in the guest's byte order; the plugin's
 * lock is held. */
void guest_pmu_answer(unsigned vcpu, struct gateway_register *request);

/* Frees what is kept for a thread that ends. */
void guest_pmu_thread_ends(unsigned vcpu);

/* Frees the PMU, in a child of fork(), which begins without one. */
void guest_pmu_forget(void);

#endif
