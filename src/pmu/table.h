/* SPDX-License-Identifier: MIT */
/*
 * The tables of the register models, made from data/ by scripts/gen_tables.py.
 * Freestanding, like everything in this folder.
 */
#ifndef TALLY_PMU_TABLE_H
#define TALLY_PMU_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmu_tables.h" /* generated: enum pmu_machine_id, register ids */

enum pmu_family {
    PMU_NIAGARA1,
    PMU_NIAGARA2,
    PMU_SPARC_T4,
    PMU_R10000,
    PMU_MONTECITO,
    PMU_FAMILIES
};

/* A register, and its bits of each kind of access. A bit of no kind reads as 0;
 * writes of that bit are ignored. */
struct pmu_register {
    const char *name;
    uint64_t reset;
    uint64_t rw, rw0, wo, rsvd;
    int32_t number; /* as the manual numbers the register; -1: none */
};

/* A name in lower case; arrays of names are sorted. */
struct pmu_name {
    const char *name;
    uint32_t value; /* register id or signal */
};

/*
 * A counter of no strand: its registers by id, its fields by their lowest bit.
 * The counters of a unit are sorted by instance, then by number.
 */
struct pmu_shared {
    uint8_t unit, instance;
    uint8_t select_low, select_width, value_low, bits;
    uint16_t select, value;
};

/* Where the counters of a unit are in pmu_machine.shared. */
struct pmu_unit {
    uint16_t first;
    uint8_t instances, counters; /* counters of each instance */
};

#define PMU_UNITS 6 /* as enum tally_pmu_unit */

/* A group (sl) of a SPARC's counters. */
struct pmu_group {
    uint8_t sl, lines;
    uint8_t whole, part; /* a mask with line `whole` counts `part` too */
    uint8_t crossing;    /* lines that rise for all strands at once */
    bool precise, reserved;
};

#define PMU_UMASK_NOTHING 0xff

/* An event of Montecito. */
struct pmu_event {
    const char *name;
    uint8_t code;
    /* For each unit mask the value of the row that it selects, or
     * PMU_UMASK_NOTHING. */
    uint8_t umask[16];
    int8_t l1d_set, l2d_set; /* -1: none */
    char type;               /* under threads: 'A', 'C', 'F', 'S', or 0 */
    uint16_t all;            /* unit mask values that can count both threads */
    uint16_t by_active;      /* rows that count for the core's active thread */
    bool iar, dar, opc, mesi;
    bool umask_bits; /* each bit is one of the rows */
};

struct pmu_machine {
    const char *name;
    const char *const *aliases; /* NULL-terminated */
    const struct pmu_register *registers;
    const struct pmu_name *register_names;
    const struct pmu_name *signals;
    const struct pmu_shared *shared;
    const struct pmu_group *groups;
    const struct pmu_event *events; /* by code */
    struct pmu_unit units[PMU_UNITS];
    size_t registers_count, register_names_count, signals_count, shared_count,
        groups_count, events_count;
    enum pmu_family family;
};

extern const struct pmu_machine tally_pmu_machines[PMU_MACHINES];

#endif
