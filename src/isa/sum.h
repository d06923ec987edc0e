/* SPDX-License-Identifier: MIT */
/*
 * Instructions that make an address: moves of a register, sums, and addresses
 * that the instruction itself has. Those that follow pointers through a
 * function ask for them; what is not known here gives one answer less.
 */
#ifndef TALLY_ISA_SUM_H
#define TALLY_ISA_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct isa;

/* to = base + a multiple of index + add; registers by their numbers in struct
 * insn, or INSN_NO_REG. */
struct insn_sum {
    int8_t to, base, index;
    bool scaled; /* the multiple is not the index itself */
    int64_t add;
};

/* Fills in *sum for the instruction at `bytes` and address `pc`, which is
 * whole. Returns false where the instruction is no such one. Pure; safe from
 * any thread. */
bool insn_sum(const struct isa *isa, const uint8_t *bytes, size_t size,
              uint64_t pc, struct insn_sum *sum);

#endif
