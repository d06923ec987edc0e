/* SPDX-License-Identifier: MIT */
/*
 * A direction predictor of perceptrons (Jiménez and Lin, "Dynamic branch
 * prediction with perceptrons", 2001): a branch has a row of weights of 8 bits,
 * one for itself and one for each of the last conditional branches. The weights
 * of those that were taken, less the weights of the others, add up to the
 * prediction: taken if the sum is not negative. The weights learn while the sum
 * is small or wrong.
 *
 * test/ref/perceptron_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_PERCEPTRON_H
#define TALLY_MACHINE_PERCEPTRON_H

#include <stdbool.h>
#include <stdint.h>

#define PERCEPTRON_HISTORY_MOST 255u

struct perceptrons;

/* Creates a predictor of at most as many bits as `counters` two-bit counters,
 * with a power of two of rows, and one row at least. `history`: branches
 * before, at most PERCEPTRON_HISTORY_MOST. NULL: no memory. For one thread at a
 * time. */
struct perceptrons *perceptrons_create(uint64_t counters, unsigned history);
void perceptrons_destroy(struct perceptrons *p); /* accepts NULL */

/* Forgets all. */
void perceptrons_reset(struct perceptrons *p);

/* What predicts a branch. */
struct perceptrons_view {
    uint64_t row;
    int sum;       /* taken if it is not negative */
    int threshold; /* beyond which a right sum changes no weight */
};

/* Finds what the next branch of a number is predicted by, without any change.
 */
void perceptrons_look(const struct perceptrons *p, uint64_t branch,
                      struct perceptrons_view *view);

/* Predicts the branch of a number, which follows from its address, and learns
 * its direction. Returns whether the prediction was wrong. */
bool perceptrons_step(struct perceptrons *p, uint64_t branch, bool taken);

#endif
