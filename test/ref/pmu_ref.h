/* SPDX-License-Identifier: MIT */
/*
 * Slow, obvious twins of the register models in src/pmu, one a family: one
 * increment at a time, registers bit by bit, written from the documents and
 * not from the models. test/pmu_ref.c draws random steps from a twin and
 * does them on it and on the model; whatever either answers must agree.
 */
#ifndef TALLY_PMU_REF_H
#define TALLY_PMU_REF_H

#include <stdbool.h>

#include "random.h"
#include "tally/pmu.h"

enum pmu_step_kind {
    PMU_STEP_WRITE,  /* reg, level, value */
    PMU_STEP_READ,   /* reg, level */
    PMU_STEP_SIGNAL, /* signal, n, context */
    PMU_STEP_STATE,  /* state, value */
    PMU_STEP_TAKE,   /* trap */
};

struct pmu_step {
    enum pmu_step_kind kind;
    unsigned strand;
    unsigned reg; /* index in the twin's `registers` */
    enum tally_pmu_level level;
    enum tally_pmu_state state;
    enum tally_pmu_trap trap;
    uint32_t signal;
    uint64_t value, n;
    struct tally_pmu_context context; /* cycles is at least 1 */
};

/*
 * A twin lives in `size` bytes that its driver owns and copies: a flat struct
 * without pointers into itself. It makes its signals with TALLY_PMU_SIGNAL().
 */
struct pmu_ref {
    const char *const *machines;  /* names, NULL-terminated */
    const char *const *registers; /* names, NULL-terminated: all are compared */
    size_t size;
    unsigned strands; /* to be simulated; few, so that all are busy */
    /* As after reset; the memory is zeroed. */
    void (*create)(void *ref, const char *machine, unsigned strands);
    /* 0, or the trap, with *value untouched. */
    int (*read)(const void *ref, unsigned strand, unsigned reg,
                enum tally_pmu_level level, uint64_t *value);
    int (*write)(void *ref, unsigned strand, unsigned reg,
                 enum tally_pmu_level level, uint64_t value);
    int (*set_state)(void *ref, unsigned strand, enum tally_pmu_state state,
                     uint64_t value);
    void (*signal)(void *ref, unsigned strand, uint32_t signal, uint64_t n,
                   const struct tally_pmu_context *context);
    uint32_t (*pending)(const void *ref, unsigned strand);
    /* NULL: the family's steps take no traps. */
    int (*take)(void *ref, unsigned strand, enum tally_pmu_trap trap,
                struct tally_pmu_taken *taken);
    /*
     * Draws the next step; all members are zero and context.cycles is 1. It
     * sees the twin so that it can choose what is likely to matter: signals
     * that are listened to, counts close to their wrap. n * cycles stays below
     * a few hundred, for the twin counts one by one.
     */
    void (*draw)(const void *ref, uint64_t *random, struct pmu_step *step);
};

extern const struct pmu_ref pmu_ref_niagara, pmu_ref_r10000, pmu_ref_t4,
    pmu_ref_montecito;

#endif
