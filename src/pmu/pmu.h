/* SPDX-License-Identifier: MIT */
/*
 * A monitor as its families see it: what all have, first in each family's own
 * struct, and the operations that differ.
 *
 * Freestanding: memcpy, memmove and memset are all that may be called.
 */
#ifndef TALLY_PMU_PMU_H
#define TALLY_PMU_PMU_H

#include <stdbool.h>

#include "pmu/table.h"
#include "tally/pmu.h"

#define PMU_STRANDS 256 /* of four nodes of UltraSPARC T2 Plus */
#define PMU_SHARED 96   /* registers that are not a strand's */

struct pmu_ops {
    uint32_t strands;    /* where the options say nothing */
    size_t base, strand; /* bytes of the family's struct: fixed, a strand */
    void (*reset)(struct tally_pmu *pmu);
    int (*read)(struct tally_pmu *pmu, unsigned strand, unsigned id,
                enum tally_pmu_level level, uint64_t *value);
    int (*write)(struct tally_pmu *pmu, unsigned strand, unsigned id,
                 enum tally_pmu_level level, uint64_t value);
    int (*set_state)(struct tally_pmu *pmu, unsigned strand,
                     enum tally_pmu_state state, uint64_t value);
    int (*state)(const struct tally_pmu *pmu, unsigned strand,
                 enum tally_pmu_state state, uint64_t *value);
    /* Called for signals of the strand's counters that pmu_heard(). */
    void (*signal)(struct tally_pmu *pmu, unsigned strand, uint32_t signal,
                   uint64_t n, const struct tally_pmu_context *context);
    /* pmu_batch() of that. */
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

/* What the hypervisor of sun4v keeps. */
struct pmu_sun4v {
    uint32_t major, minor; /* of its group, as agreed; 0.0: none */
    uint32_t busy;         /* accesses that still find the Zambezi busy */
    uint32_t disabled;     /* bits: memory controllers that are off */
    uint64_t buffer[PMU_T1_STRANDS]; /* addresses, for MMU statistics */
};

struct tally_pmu {
    const struct pmu_ops *ops;
    const struct pmu_machine *machine;
    size_t size; /* of the whole monitor */
    uint32_t strands, nodes, flags;
    /* Groups that some counter of a strand takes in its present mode: what is
     * not here is dropped at the door. Families keep it up to date. */
    uint64_t heard[PMU_STRANDS][4];
    uint64_t shared[PMU_SHARED]; /* values of registers that no strand owns */
    bool shared_written[PMU_SHARED]; /* by software, since the reset */
    struct pmu_sun4v sun4v;
};

extern const struct pmu_ops pmu_niagara1_ops, pmu_niagara2_ops, pmu_t4_ops,
    pmu_r10000_ops, pmu_montecito_ops;

/* Nothing is known of an occurrence. */
extern const struct tally_pmu_context pmu_no_context;

static inline bool
pmu_heard(const struct tally_pmu *pmu, unsigned strand, uint32_t signal)
{
    const unsigned group = signal >> 8 & 0xff;

    return pmu->heard[strand][group >> 6] >> (group & 63) & 1;
}

static inline void
pmu_hear(struct tally_pmu *pmu, unsigned strand, unsigned group)
{
    pmu->heard[strand][group >> 6] |= UINT64_C(1) << (group & 63);
}

/* A register as the table describes it, after `value` was written over `old`;
 * bits that are only written (wo) are not kept. */
static inline uint64_t
pmu_merge(const struct pmu_register *row, uint64_t old, uint64_t value)
{
    return (old & ~(row->rw | row->rw0)) | (value & row->rw) |
           (value & old & row->rw0);
}

/* The row of a group of a strand's counters, or NULL. */
const struct pmu_group *
pmu_group(const struct pmu_machine *machine, unsigned sl);

/*
 * Counters that are not a strand's (shared.c): memory controllers, buses and
 * hubs. All are selected and read the same way: a select field, and a counter
 * of 31 bits below a sticky bit, or of 64 bits. Their registers' values are in
 * tally_pmu.shared by id, and nowhere else.
 */
void pmu_shared_reset(struct tally_pmu *pmu);

/* Whether this system has the register: memory controllers of its nodes, and
 * Zambezi hubs where it has four. */
bool pmu_shared_present(const struct tally_pmu *pmu, unsigned id);

/* A load or store at its address, which is hyperprivileged: 0, or
 * TALLY_PMU_DATA_ACCESS_EXCEPTION, also of a register that is not there. */
int pmu_shared_read(const struct tally_pmu *pmu, unsigned id,
                    enum tally_pmu_level level, uint64_t *value);
int pmu_shared_write(struct tally_pmu *pmu, unsigned id,
                     enum tally_pmu_level level, uint64_t value);
/* Whether a counter has chosen it, by a select field that was written. */
bool pmu_shared_heard(const struct tally_pmu *pmu, uint32_t signal);
void pmu_shared_signal(struct tally_pmu *pmu, uint32_t signal, uint64_t n,
                       const struct tally_pmu_context *context);

/* The hypervisor of sun4v (sun4v.c): no version is agreed, nothing is busy. */
void pmu_sun4v_reset(struct tally_pmu *pmu);

/* The totals in order, each to the family's `signal` or to what is shared. Part
 * of each family, so that `signal` is no call through a pointer: with every
 * counter armed a batch on T4 takes 84 ns, and 107 through one; on T2 59, and
 * 68. */
static inline __attribute__((always_inline)) void
pmu_batch(struct tally_pmu *pmu, unsigned strand,
          const struct tally_pmu_total *totals, size_t count,
          const struct tally_pmu_context *context,
          void (*signal)(struct tally_pmu *pmu, unsigned strand,
                         uint32_t signal, uint64_t n,
                         const struct tally_pmu_context *context))
{
    struct tally_pmu_context each = *context;

    /* Most totals are of what no counter has chosen: those first. */
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

/* Names (name.c); ASCII, whatever the case. */
bool pmu_same_name(const char *a, const char *b);
/* The index in `names` of `text`, or -1. */
int pmu_name_find(const struct pmu_name *names, size_t count, const char *text);

#endif
