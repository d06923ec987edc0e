/* SPDX-License-Identifier: MIT */
/* PMUs as /sys/bus/event_source/devices describes them. */
#ifndef TALLY_HOST_SYSFS_H
#define TALLY_HOST_SYSFS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/event.h"

struct host_pmu {
    char name[HOST_PMU];
    uint32_t type;  /* attr.type */
    bool uncore;    /* has a cpumask: counts cpus, not tasks */
    bool hybrid;    /* one of several kinds of cores */
    cpu_set_t cpus; /* that it covers; empty: all */
};

#define HOST_HYBRID 4 /* kinds of cores in one machine */

/* Reads a PMU; false: there is none of this name. */
bool host_pmu_read(const struct host_root *root, const char *name,
                   struct host_pmu *pmu);

/* Returns whether the PMU's folder has the file, e.g. "events/cycles". */
bool host_pmu_has(const struct host_root *root, const char *pmu,
                  const char *folder, const char *name);

/* Reads FOLDER/NAME of the PMU; 0 or the negative errno. */
int
host_pmu_text(const struct host_root *root, const char *pmu, const char *folder,
              const char *name, char *text, size_t size);

/* Finds the core PMUs of a hybrid machine, up to HOST_HYBRID. Returns their
 * number; 0 on other machines. */
size_t host_hybrid_find(const struct host_root *root, struct host_pmu *pmus);

/*
 * Calls `take` with each name in the folder of devices, or in FOLDER of `pmu`,
 * in order (cpu2 before cpu10). Stops when `take` returns other than 0, and
 * returns its answer.
 */
int
host_pmu_each(const struct host_root *root, const char *pmu, const char *folder,
              int (*take)(void *user, const char *name), void *user);

/* Reads a list such as "0-3,8"; ignores the rest from the first fault on. */
void host_cpus_parse(const char *text, cpu_set_t *cpus);

#endif
