/* SPDX-License-Identifier: MIT */
/*
 * What the register models need of the catalogue: const tables made from data/
 * by scripts/gen_tables.py. Freestanding, as everything in this folder.
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

/* The bits of each kind of access; no kind: reads 0, writes are ignored. */
struct pmu_register {
    const char *name;
    uint64_t reset;
    uint64_t rw, rw0, wo, rsvd;
    int32_t number; /* the manual's; -1: none */
};

/* Lower-case names in order. */
struct pmu_name {
    const char *name;
    uint32_t value; /* register id, signal */
};

/*
 * A counter that is not a strand's. Registers by id, fields by lowest bit.
 * Those of a unit are in order of its instances, and of an instance in their
 * own.
 */
struct pmu_shared {
    uint8_t unit, instance;
    uint8_t select_low, select_width, value_low, bits;
    uint16_t select, value;
};

/* A unit's counters among those above. */
struct pmu_unit {
    uint16_t first;
    uint8_t instances, counters; /* counters of each instance */
};

#define PMU_UNITS 6 /* as enum tally_pmu_unit */

/* An sl of a SPARC's counters. */
struct pmu_group {
    uint8_t sl, lines;
    uint8_t whole, part; /* a mask with the line `whole` takes `part` too */
    uint8_t crossing;    /* lines that rise for all strands at once */
    bool precise, reserved;
};

#define PMU_UMASK_NOTHING 0xff

/* An event of Montecito. */
struct pmu_event {
    const char *name;
    uint8_t code;
    /* For each unit mask, the value its row is written with, or
     * PMU_UMASK_NOTHING. */
    uint8_t umask[16];
    int8_t l1d_set, l2d_set; /* -1: none */
    char type;               /* under threads: 'A', 'C', 'F', 'S', or 0 */
    uint16_t all;            /* unit mask values that can count both threads */
    uint16_t by_active;      /* those credited to the core's active thread */
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
