/* SPDX-License-Identifier: MIT */
/*
 * Counting through a machine's own counters (`tally count --hardware`): as many
 * events at once as it has counters for, the others in turn, each counter as
 * wide as it is, and software that reads it and serves its overflow trap, as a
 * kernel on the machine would.
 *
 * Slices are runs of instructions, so the same run gives the same counts. What
 * the slices counted is kept apart while the program runs
 * (source/process_counts.h) and afterwards fed to a monitor of src/pmu,
 * programmed for the slice.
 */
#ifndef TALLY_PROFILE_HARDWARE_H
#define TALLY_PROFILE_HARDWARE_H

#include "base/error.h"
#include "source/process_counts.h"
#include "table/table.h"

#define HARDWARE_SLICE 100000u /* instructions of a slice */
#define HARDWARE_COUNTERS 12

struct hardware_layout;

/* The registers of a counter; `low` and `bits` are its place in `count`. */
struct hardware_counter {
    const struct register_row *control, *count;
    unsigned low, bits;
};

/* What counts in one slice. */
struct hardware_slice {
    uint64_t control[HARDWARE_COUNTERS]; /* of each's control register */
    int32_t event[HARDWARE_COUNTERS];    /* by counter; -1: none */
};

/* A reading: its value is of the instructions it ran, out of those enabled. */
struct hardware_reading {
    uint64_t value, enabled, running;
};

struct hardware {
    const struct machine_row *machine;
    const struct hardware_layout *layout;  /* of the machine's family */
    const struct event_row *const *events; /* the caller's */
    size_t event_count, slice_count;
    unsigned counter_count; /* of a strand */
    struct hardware_counter counters[HARDWARE_COUNTERS];
    struct hardware_slice slices[COUNTS_SLICES];
    uint64_t overflows;                /* traps served */
    struct hardware_reading *readings; /* by event, owned */
    /* What a slice raises: lines of groups, and their events; owned. */
    struct tally_pmu_total *totals;
    const struct event_row **lines;
    size_t total_count;
    void *memory; /* of the monitor, owned */
    struct tally_pmu *pmu;
};

/*
 * Plans the slices of `events`, which must outlive the result. TALLY_ERULE,
 * logged, where no counter has an event or the slices are too many;
 * TALLY_ENOMEM. hardware_finish() accepts a zeroed struct.
 */
int hardware_init(struct hardware *h, const struct machine_row *machine,
                  const struct event_row *const *events, size_t count,
                  const struct tally_log *log);
void hardware_finish(struct hardware *h);

/* From here all readings start at 0. */
void hardware_reset(struct hardware *h);

/* Adds what a thread counted in each slice: slice_count totals. */
void hardware_add(struct hardware *h, const struct totals *slices);

/* The register that a counter's count is read from. */
const char *hardware_counter(const struct hardware *h, unsigned counter);

/* The whole number a reading stands for where its event had not all slices. */
uint64_t hardware_scaled(const struct hardware_reading *reading);

#endif
