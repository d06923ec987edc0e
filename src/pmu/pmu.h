/* SPDX-License-Identifier: MIT */
/*
 * A PMU as its families see it: struct tally_pmu, which all families have at
 * the start of their own struct, and the operations that differ.
 *
 * Freestanding: only memcpy, memmove and memset may be called.
 */
#ifndef TALLY_PMU_PMU_H
#define TALLY_PMU_PMU_H

#include <stdbool.h>

#include "pmu/table.h"
#include "tally/pmu.h"

#define PMU_STRANDS 256 /* of four nodes of UltraSPARC T2 Plus */
#define PMU_SHARED 96   /* registers that belong to no strand */

struct pmu_ops {
    uint32_t strands;    /* of a node, unless the options say otherwise */
    size_t base, strand; /* bytes of the family's struct: fixed, each strand */
    void (*reset)(struct tally_pmu *pmu);
    int (*read)(struct tally_pmu *pmu, unsigned strand, unsigned id,
                enum tally_pmu_level level, uint64_t *value);
    int (*write)(struct tally_pmu *pmu, unsigned strand, unsigned id,
                 enum tally_pmu_level level, uint64_t value);
    int (*set_state)(struct tally_pmu *pmu, unsigned strand,
                     enum tally_pmu_state state, uint64_t value);
    int (*state)(const struct tally_pmu *pmu, unsigned strand,
                 enum tally_pmu_state state, uint64_t *value);
    /* Counts a signal for which pmu_heard() is true. */
    void (*signal)(struct tally_pmu *pmu, unsigned strand, uint32_t signal,
                   uint64_t n, const struct tally_pmu_context *context);
    /* Calls pmu_batch() with `signal`. */
    void (*batch)(struct tally_pmu *pmu, unsigned strand,
                  const struct tally_pmu_total *totals, size_t count,
                  const struct tally_pmu_context *context);
    void (*retire)(struct tally_pmu *pmu, unsigned strand, uint64_t n,
                   const struct tally_pmu_context *context);
    uint32_t (*pending)(const struct tally_pmu *pmu, unsigned strand);
    int (*take)(struct tally_pmu *pmu, unsigned strand,
                enum tally_pmu_trap trap, struct tally_pmu_taken *taken);
};

#define PMU_T1_STRANDS 32

/* The state of the sun4v hypervisor. */
struct pmu_sun4v {
    uint32_t major, minor; /* agreed version of the API group; 0.0: none */
    uint32_t busy;         /* accesses that still find the Zambezi busy */
    uint32_t disabled;     /* bits: memory controllers that are off */
    uint64_t buffer[PMU_T1_STRANDS]; /* addresses for MMU statistics */
};

struct tally_pmu {
    const struct pmu_ops *ops;
    const struct pmu_machine *machine;
    size_t size; /* of the family's whole struct */
    uint32_t strands, nodes, flags;
    /* Groups that some counter of a strand counts in its present mode, as bits;
     * signals of other groups are dropped at once. Families keep the bits up to
     * date. */
    uint64_t heard[PMU_STRANDS][4];
    uint64_t shared[PMU_SHARED];     /* values of registers of no strand */
    bool shared_written[PMU_SHARED]; /* by software, since the reset */
    struct pmu_sun4v sun4v;
};

extern const struct pmu_ops pmu_niagara1_ops, pmu_niagara2_ops, pmu_t4_ops,
    pmu_r10000_ops, pmu_montecito_ops;

/* The context of an occurrence of which nothing is known. */
extern const struct tally_pmu_context pmu_no_context;

/* Returns whether some counter of the strand counts the signal's group. */
static inline bool
pmu_heard(const struct tally_pmu *pmu, unsigned strand, uint32_t signal)
{
    const unsigned group = signal >> 8 & 0xff;

    return pmu->heard[strand][group >> 6] >> (group & 63) & 1;
}

/* Lets signals of the group through to the strand's counters. */
static inline void
pmu_hear(struct tally_pmu *pmu, unsigned strand, unsigned group)
{
    pmu->heard[strand][group >> 6] |= UINT64_C(1) << (group & 63);
}

/* Returns a register's value after `value` is written over `old`. Bits that can
 * only be written (wo) are not kept. */
static inline uint64_t
pmu_merge(const struct pmu_register *row, uint64_t old, uint64_t value)
{
    return (old & ~(row->rw | row->rw0)) | (value & row->rw) |
           (value & old & row->rw0);
}

/* Returns the row of a group of a strand's counters, or NULL. */
const struct pmu_group *
pmu_group(const struct pmu_machine *machine, unsigned sl);

/*
 * Counters of no strand (shared.c): those of memory controllers, buses and
 * hubs. Each has a select field, and a count of 31 bits below a sticky bit, or
 * of 64 bits. The values of their registers are in tally_pmu.shared, by id.
 */
void pmu_shared_reset(struct tally_pmu *pmu);

/* Returns whether this system has the register: each node has memory
 * controllers, and a system of four nodes has Zambezi hubs. */
bool pmu_shared_present(const struct tally_pmu *pmu, unsigned id);

/* Does a load or store at the register's address. Returns 0, or
 * TALLY_PMU_DATA_ACCESS_EXCEPTION where `level` is not hyperprivileged or the
 * system lacks the register. */
int pmu_shared_read(const struct tally_pmu *pmu, unsigned id,
                    enum tally_pmu_level level, uint64_t *value);
int pmu_shared_write(struct tally_pmu *pmu, unsigned id,
                     enum tally_pmu_level level, uint64_t value);

/* Returns whether a counter selects the signal, by a select field that software
 * has written. */
bool pmu_shared_heard(const struct tally_pmu *pmu, uint32_t signal);

/* Counts a signal in the counters that select it. */
void pmu_shared_signal(struct tally_pmu *pmu, uint32_t signal, uint64_t n,
                       const struct tally_pmu_context *context);

/* Resets the sun4v hypervisor (sun4v.c): no version is agreed, nothing is busy.
 */
void pmu_sun4v_reset(struct tally_pmu *pmu);

/* Counts the totals in order, each by the family's `signal` or in the counters
 * of no strand. Inlined into each family, so that `signal` is no call through a
 * pointer: with every counter armed a batch takes 84 ns instead of 107 on T4,
 * and 59 instead of 68 on T2. */
static inline __attribute__((always_inline)) void
pmu_batch(struct tally_pmu *pmu, unsigned strand,
          const struct tally_pmu_total *totals, size_t count,
          const struct tally_pmu_context *context,
          void (*signal)(struct tally_pmu *pmu, unsigned strand,
                         uint32_t signal, uint64_t n,
                         const struct tally_pmu_context *context))
{
    struct tally_pmu_context each = *context;

    for (const struct tally_pmu_total *t = totals; t < totals + count; t++) {
        if (t->signal >> 24 != TALLY_PMU_CPU) {
            each.cycles = t->cycles == 0 ? 1 : t->cycles;
            pmu_shared_signal(pmu, t->signal, t->n, &each);
        } else if (pmu_heard(pmu, strand, t->signal)) {
            each.cycles = t->cycles == 0 ? 1 : t->cycles;
            signal(pmu, strand, t->signal, t->n, &each);
        }
    }
}

/* Compares names (name.c): ASCII, in upper or lower case. */
bool pmu_same_name(const char *a, const char *b);
/* Returns the index of `text` in `names`, or -1. */
int pmu_name_find(const struct pmu_name *names, size_t count, const char *text);

#endif
