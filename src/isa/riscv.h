/* SPDX-License-Identifier: MIT */
/* What riscv.c, which has the rows of instructions, and its neighbours tell
 * each other. */
#ifndef TALLY_ISA_RISCV_H
#define TALLY_ISA_RISCV_H

#include "isa/insn.h"

struct riscv_insn {
    /* The instruction, or the one of 32 bits that a compressed one stands for.
     */
    uint32_t word;
    /*
     * The operands of its text, a letter each. Registers: d, s and t are the
     * general registers rd, rs1 and rs2; D, S, T and R the floating-point
     * registers rd, rs1, rs2 and rs3; a, l and q the general register rs1 in
     * brackets, behind an offset or none. Other letters are no registers.
     */
    const char *operands;
    struct insn insn; /* as at the address 0 */
};

/* Fills in *found for the instruction at `bytes`, at most `size` of them.
 * Returns false for bytes that are no whole instruction, or an illegal one. */
bool riscv_read(const uint8_t *bytes, size_t size, struct riscv_insn *found);

/* Of riscv_kind.c: the kind of a legal instruction of 32 bits. */
enum insn_riscv_kind riscv_kind(uint32_t word);

#endif
