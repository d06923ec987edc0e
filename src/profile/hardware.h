/* SPDX-License-Identifier: MIT */
/*
 * Counting through a machine's own counters (`tally count --hardware`): as many
 * events at once as the machine has counters, the others in turn (slices), each
 * counter as wide as the machine's, and software that reads the counters and
 * serves their overflow traps, as a kernel on the machine would.
 *
 * A slice is a number of instructions, so the same run gives the same counts.
 * While the program runs, the totals of each slice are kept apart
 * (source/process_counts.h). Afterwards they are fed to a monitor of src/pmu,
 * which is programmed for the slice.
 */
#ifndef TALLY_PROFILE_HARDWARE_H
#define TALLY_PROFILE_HARDWARE_H

#include "base/error.h"
#include "source/process_counts.h"
#include "table/table.h"

#define HARDWARE_SLICE 100000u /* instructions of a slice */
#define HARDWARE_COUNTERS 12

struct hardware_layout;

/* The registers of a counter. Its count is `bits` bits of `count`, from bit
 * `low` on. */
struct hardware_counter {
    const struct register_row *control, *count;
    unsigned low, bits;
};

/* The programming of the counters in one slice. */
struct hardware_slice {
    uint64_t control[HARDWARE_COUNTERS]; /* value of its control register */
    int32_t event[HARDWARE_COUNTERS];    /* by counter; -1: none */
};

/* The reading of an event: `value` was counted while `running` of the `enabled`
 * instructions ran. */
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
    /* The lines of groups that a slice raises, and their events; owned. */
    struct tally_pmu_total *totals;
    const struct event_row **lines;
    uint64_t *rises; /* [total_count] how often each line rises in a slice */
    size_t total_count;
    void *memory; /* of the monitor, owned */
    struct tally_pmu *pmu;
};

/*
 * Plans the slices of `events`, which must outlive `h`. 0; TALLY_ERULE, logged,
 * if no counter counts one of the events, or if there would be too many slices;
 * TALLY_ENOMEM, logged. hardware_finish() accepts a zeroed struct.
 */
int hardware_init(struct hardware *h, const struct machine_row *machine,
                  const struct event_row *const *events, size_t count,
                  const struct tally_log *log);
void hardware_finish(struct hardware *h);

/* Sets all readings to 0. */
void hardware_reset(struct hardware *h);

/* Adds the totals of a thread, one for each of the slice_count slices. 0; or
 * TALLY_ERANGE where a total is larger than any program comes to (2^48): the
 * readings are then not to be used. */
int hardware_add(struct hardware *h, const struct totals *slices);

/* Returns the name of the register that a counter is read from. */
const char *hardware_counter(const struct hardware *h, unsigned counter);

/* Returns the reading's value, scaled up if its event had not all slices. */
uint64_t hardware_scaled(const struct hardware_reading *reading);

#endif
