/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counters of a guest's PMU that belong to no strand but to a memory
 * controller or a hub. They count what all threads do, one unit at a time: the
 * model's count of a unit is the event with `:at=` and the unit's name. Events
 * of the JBus, and those of one port of a SPARC T4's controller, never count.
 *
 * All functions run under the plugin's lock.
 */
#ifndef TALLY_PLUGIN_GUEST_PMU_SHARED_H
#define TALLY_PLUGIN_GUEST_PMU_SHARED_H

#include <stdbool.h>
#include <stddef.h>

#include "table/table.h"
#include "tally/pmu.h"

struct guest_pmu_shared_line;

struct guest_pmu_shared {
    struct guest_pmu_shared_line *lines; /* owned */
    size_t count, heard;                 /* lines; those a counter has chosen */
};

/* Finds the events that such counters count. False: out of memory. */
bool guest_pmu_shared_start(struct guest_pmu_shared *shared,
                            const struct tally_pmu *pmu,
                            const struct machine_row *machine);

/* Frees what guest_pmu_shared_start() made, if anything. */
void guest_pmu_shared_finish(struct guest_pmu_shared *shared);

/* Brings the counters of `pmu` up to date with the model. */
void
guest_pmu_shared_sync(struct guest_pmu_shared *shared, struct tally_pmu *pmu);

/* Looks again which events counters have chosen, after a register was written:
 * events chosen now count from here on. */
void guest_pmu_shared_choose(struct guest_pmu_shared *shared,
                             const struct tally_pmu *pmu);

#endif
