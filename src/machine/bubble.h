/* SPDX-License-Identifier: MIT */
/*
 * An Itanium 2's view of the modelled time: which stage of its pipeline has
 * nothing to do, and why. Each number is linear in the terms of the cycles
 * (machine/cycles.h), none of which overlap, so the sums of the manual hold
 * exactly: cycles are those that retire and the bubbles of the back end (rule
 * R471), and each cycle has six syllables (R470).
 *
 * Behind a mispredicted branch the wrong path disperses for time.resolve cycles
 * before the front end starts anew; the buffer between the two ends takes no
 * stall away.
 */
#ifndef TALLY_MACHINE_BUBBLE_H
#define TALLY_MACHINE_BUBBLE_H

#include <stdint.h>

/* From the terms of the cycles; `missed` branches were mispredicted. */
void bubble_derive(const uint64_t *params, uint64_t missed, uint64_t *signal);

#endif
