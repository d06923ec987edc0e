/* SPDX-License-Identifier: MIT */
/*
 * Prefetches whose address the block they stand in tells. QEMU translates a
 * prefetch to nothing and shows no access of it; but a load or store of the
 * same block, whose address QEMU does show, is at a distance known here where
 * both use the same registers and what lies between changes these by constants
 * only. The nearest such access tells, of two as near the one before; it must
 * be certain to be made, once. Other prefetches are unresolved.
 */
#ifndef TALLY_SOURCE_PREFETCH_H
#define TALLY_SOURCE_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"

/* Returns whether QEMU always shows one access of the instruction. */
bool prefetch_single(const struct insn *insn);

/*
 * Returns whether the address of insns[k] is that of insns[i], i <= k, and a
 * constant when both run: then *distance is by how much it is more, else
 * untouched.
 */
bool prefetch_distance(const struct insn *insns, size_t i, size_t k,
                       int64_t *distance);

/* Returns the access that tells the address of the prefetch insns[i] of `count`
 * instructions, and how far from it that is; `count`: it is unresolved. */
size_t prefetch_teller(const struct insn *insns, size_t count, size_t i,
                       int64_t *distance);

#endif
