/* SPDX-License-Identifier: MIT */
#include "ref/perceptron_ref.h"

#include <stdlib.h>
#include <string.h>

void
perceptron_ref_init(struct perceptron_ref *p, uint64_t counters,
                    unsigned history)
{
    *p = (struct perceptron_ref){.rows = 1, .history = history};
    while (p->rows * 2 * (history + 1) * 8 <= counters * 2)
        p->rows *= 2;
    p->weights = calloc(p->rows * (history + 1), sizeof(*p->weights));
    p->past = malloc((history + 1) * sizeof(*p->past));
    for (unsigned i = 0; i < history; i++)
        p->past[i] = -1;
}

void
perceptron_ref_finish(struct perceptron_ref *p)
{
    free(p->weights);
    free(p->past);
}

bool
perceptron_ref_step(struct perceptron_ref *p, uint64_t branch, bool taken)
{
    const uint64_t row = (branch ^ branch / p->rows) % p->rows;
    int *const weights = &p->weights[row * (p->history + 1)];
    const int direction = taken ? 1 : -1;
    int sum = weights[0];

    for (unsigned i = 0; i < p->history; i++)
        sum += weights[i + 1] * p->past[i];
    const bool wrong = (sum >= 0) != taken;
    if (wrong || abs(sum) <= (int)(1.93 * p->history + 14 + 1e-9)) {
        for (unsigned i = 0; i <= p->history; i++) {
            const int with = i == 0 ? 1 : p->past[i - 1];
            int *const weight = &weights[i];
            *weight += direction * with;
            if (*weight > 127)
                *weight = 127;
            if (*weight < -127)
                *weight = -127;
        }
    }
    if (p->history > 0) {
        memmove(p->past + 1, p->past, (p->history - 1) * sizeof(*p->past));
        p->past[0] = direction;
    }
    return wrong;
}
