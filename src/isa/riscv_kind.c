/* SPDX-License-Identifier: MIT */
/*
 * What SiFive's cores count an instruction as, where the class and the flags of
 * the instruction do not tell. A name of an event leaves open what is of its
 * kind; then the kind is that of Rocket, the open core whose events have the
 * same bits: LR and SC are atomic, no-ops and prefetches are arithmetic, and
 * fences and operations on caches are of no kind.
 *
 * Documents: Linux tools/perf/pmu-events/arch/riscv/sifive/u74; rocket-chip,
 * RocketCore.scala, the event sets.
 */
#include "isa/decode.h"
#include "isa/riscv.h"

/* Of OP and OP-32: funct7 is 1 where the word is of the extension M. */
static enum insn_riscv_kind
integer_kind(uint32_t word)
{
    if (word >> 25 != 1)
        return RISCV_ARITHMETIC;
    return insn_bits(word, 14, 1) ? RISCV_DIVISION : RISCV_NO_KIND;
}

/* Of OP-FP, by bits 31:27. */
static enum insn_riscv_kind
float_kind(uint32_t word)
{
    switch (word >> 27) {
    case 0x00: /* FADD FSUB */
    case 0x01:
        return RISCV_FLOAT_SUM;
    case 0x02:
        return RISCV_FLOAT_PRODUCT;
    case 0x03: /* FDIV FSQRT */
    case 0x0b:
        return RISCV_FLOAT_QUOTIENT;
    default:
        return RISCV_NO_KIND;
    }
}

enum insn_riscv_kind
riscv_kind(uint32_t word)
{
    switch (insn_bits(word, 2, 5)) {
    case 0x04: /* OP-IMM AUIPC OP-IMM-32 LUI */
    case 0x05:
    case 0x06:
    case 0x0d:
        return RISCV_ARITHMETIC;
    case 0x09: /* STORE-FP */
        return RISCV_FLOAT_STORE;
    case 0x0b: /* AMO */
        return RISCV_ATOMIC;
    case 0x0c: /* OP OP-32 */
    case 0x0e:
        return integer_kind(word);
    case 0x10: /* MADD MSUB NMSUB NMADD */
    case 0x11:
    case 0x12:
    case 0x13:
        return RISCV_FLOAT_FUSED;
    case 0x14:
        return float_kind(word);
    case 0x1b:
        return RISCV_JAL;
    case 0x1c:
        return RISCV_SYSTEM;
    default:
        return RISCV_NO_KIND;
    }
}
