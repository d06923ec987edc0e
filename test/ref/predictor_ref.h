/* SPDX-License-Identifier: MIT */
/* A direction predictor of any kind, slow and obvious: the twin of what
 * machine/branch.h and machine/strand.h do with conditional branches. */
#ifndef TALLY_TEST_PREDICTOR_REF_H
#define TALLY_TEST_PREDICTOR_REF_H

#include "ref/perceptron_ref.h"
#include "ref/tage_ref.h"
#include "table/table.h"

struct predictor_ref {
    enum predictor_kind kind;
    uint64_t entries, history;
    uint64_t past;    /* directions, newest lowest */
    unsigned *counts; /* of two bits; NULL: not of two-bit counters */
    struct tage_ref tage;
    struct perceptron_ref perceptrons;
};

void predictor_ref_init(struct predictor_ref *p, uint64_t kind,
                        uint64_t entries, uint64_t history);
void predictor_ref_finish(struct predictor_ref *p);

/* Predicts a branch, and learns its direction. Returns whether the prediction
 * was wrong. */
bool predictor_ref_step(struct predictor_ref *p, uint64_t branch, bool taken);

#endif
