/* SPDX-License-Identifier: MIT */
/*
 * A strand's branch prediction: directions of conditional branches from a
 * table of two-bit counters, found by address (bimodal) or by address and the
 * directions of the branches before (gshare). The part that every block runs
 * stands in machine/strand.h. Sizes are the parameters branch.*. Tables belong
 * to one strand, wrong paths are not followed.
 */
#ifndef TALLY_MACHINE_BRANCH_H
#define TALLY_MACHINE_BRANCH_H

#include <stdint.h>

/*
 * A counter is kept times 16, so that with 8 more where the branch is taken it
 * is the shift that finds its next state here, and in bit 0 whether it was
 * wrong: 0 0 1 2 when not taken, 1 2 3 3 when taken.
 */
#define COUNTER_NEXT UINT64_C(0x3021301121001100)
#define COUNTER_STATES 0x30u
#define COUNTER_START 0x10u /* weakly not taken */

/* Directions of branches, newest lowest, that a counter's number depends on. */
uint64_t branch_history_mask(const uint64_t *params);

#endif
