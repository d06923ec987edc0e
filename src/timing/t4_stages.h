/* SPDX-License-Identifier: MIT */
/*
 * Which micro-operations of a block a SPARC T4 handles in one cycle, stage by
 * stage: fixed signals, since a block's are the same each time it runs.
 *
 *   fetch   4 instructions (assumed)
 *   select  2 that follow one another, of them one store at most: the pick of a
 *           store's data is to find room in the cycle of its address
 *   pick    what is selected in a cycle, and a store's data besides
 *   commit  2 that follow one another; an atomic is done when it is the next to
 *           commit, and so alone
 *
 * A group ends with its block or block part. No operand is waited for: the chip
 * runs out of order. Document: SPARC T4 Supplement, TABLE 10-2, sl 1, 2, 8, 28,
 * footnote 12 (micro-operations) and 10.2 (next to commit).
 */
#ifndef TALLY_TIMING_T4_STAGES_H
#define TALLY_TIMING_T4_STAGES_H

#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"

/* Returns how many micro-operations a cycle selects at most where the machine
 * issues blocks in groups, else 0. */
unsigned t4_stages_width(const uint64_t *params);

/* Adds to the fixed signals what these instructions make in each stage; at
 * most `width` of them, 1 or 2, are selected and committed in a cycle. */
void t4_stages_add(const struct insn *insns, size_t count, unsigned width,
                   int16_t *fixed);

#endif
