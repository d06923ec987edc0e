/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The monitor's counters that are not a strand's, of memory controllers and
 * hubs: they count what all threads do, of each unit by itself. What the model
 * counts of a unit is the event with `:at=` and the unit's name. Events of the
 * JBus, and those of one port of a SPARC T4's controller, raise nothing.
 *
 * All under the lock of the plugin.
 */
#ifndef TALLY_PLUGIN_MONITOR_SHARED_H
#define TALLY_PLUGIN_MONITOR_SHARED_H

#include <stdbool.h>

#include "table/table.h"
#include "tally/pmu.h"

/* False without memory; shared_forget() accepts that, and may be repeated. */
bool
shared_start(const struct tally_pmu *pmu, const struct machine_row *machine);
void shared_forget(void);

/* The counters become what they are now. */
void shared_sync(struct tally_pmu *pmu);

/* A register was written: what is newly chosen counts from here on. */
void shared_choose(const struct tally_pmu *pmu);

#endif
