/* SPDX-License-Identifier: MIT */
/* The slow, obvious twin of machine/perceptron.h. */
#ifndef TALLY_TEST_PERCEPTRON_REF_H
#define TALLY_TEST_PERCEPTRON_REF_H

#include "machine/perceptron.h"

struct perceptron_ref {
    uint64_t rows;
    unsigned history;
    int *weights; /* [rows][history + 1], the branch's own first */
    int *past;    /* [history] 1 and -1, the newest first */
};

void perceptron_ref_init(struct perceptron_ref *p, uint64_t counters,
                         unsigned history);
void perceptron_ref_finish(struct perceptron_ref *p);
bool perceptron_ref_step(struct perceptron_ref *p, uint64_t branch, bool taken);

#endif
