/* SPDX-License-Identifier: MIT */
/*
 * What instructions of RISC-V need and make. Which registers an instruction
 * has, and what for, follows from the letters of its row in riscv.c; the kind
 * of unit is told here. General registers are 0 to 31. Register 0 is always 0:
 * nothing reads or changes it. The stack pointer is a register like others.
 *
 * The words that riscv.c knows are known here. LR is a load; SC and the AMOs
 * are atomic, as exclusive stores and atomics of aarch64 are. Fences, accesses
 * to control registers and operations on caches wait for what is before them;
 * only reading fcsr, the register of rounding modes and exceptions of floating
 * point, is a computation. fcsr itself is no operand: an instruction that
 * rounds by fcsr does not wait for a change of fcsr.
 *
 * A computation of integers into register 0 is a hint, which needs nothing. LI,
 * LUI and AUIPC read nothing. A copy needs a unit, as the addition that it is
 * encoded as.
 *
 * All instructions are one micro-operation, but for atomic and slow ones, 8 as
 * on x86-64.
 *
 * Document: The RISC-V Instruction Set Manual, Volume I: Unprivileged ISA,
 * version 20191213.
 */
#include "isa/decode.h"
#include "isa/operands.h"
#include "isa/riscv.h"

/* Returns the bit of a general register; 0: it is the one that is always 0. */
static uint64_t
general(uint32_t number)
{
    return number == 0 ? 0 : UINT64_C(1) << number;
}

static uint64_t
floating(uint32_t number)
{
    return UINT64_C(1) << (OPERAND_VECTOR + number);
}

/* Adds the register of one letter of the row. */
static void
add_register(char letter, const struct riscv_insn *found,
             struct insn_operands *o)
{
    const uint32_t word = found->word;
    const uint32_t rd = insn_bits(word, 7, 5), rs1 = insn_bits(word, 15, 5);
    const uint32_t rs2 = insn_bits(word, 20, 5), rs3 = word >> 27;

    switch (letter) {
    case 'd':
        o->changes |= general(rd);
        break;
    case 's':
        o->reads |= general(rs1);
        break;
    case 't':
        o->reads |= general(rs2);
        break;
    case 'D':
        o->changes |= floating(rd);
        break;
    case 'S':
        o->reads |= floating(rs1);
        break;
    case 'T':
        o->reads |= floating(rs2);
        break;
    case 'R':
        o->reads |= floating(rs3);
        break;
    case 'a':
    case 'l':
    case 'q':
        /* A jump goes to where its register says, and accesses nothing. */
        if (found->insn.branch != BRANCH_NONE)
            o->reads |= general(rs1);
        else
            o->address |= general(rs1);
        break;
    default:
        break;
    }
}

/* Returns what computes an instruction of OP (bits 6:2 are 0x0c), OP-32 (0x0e)
 * or their immediate forms, by funct7 and funct3. */
static enum operation
integer_operation(uint32_t word)
{
    const uint32_t funct7 = word >> 25, funct3 = insn_bits(word, 12, 3);
    const uint32_t opcode = insn_bits(word, 2, 5);
    const bool immediate = opcode == 0x04 || opcode == 0x06;

    if (immediate)
        return funct7 == 0x30 && funct3 == 1 && insn_bits(word, 20, 5) <= 2
                   ? OPERATION_BITS /* CLZ CTZ CPOP */
                   : OPERATION_ALU;
    if (funct7 == 0x01 && funct3 >= 4)
        return opcode == 0x0e ? OPERATION_DIV : OPERATION_DIV64;
    if (funct7 == 0x01 || (funct7 == 0x05 && funct3 <= 3)) /* CLMUL ... */
        return OPERATION_MUL;
    return OPERATION_ALU;
}

/* Of OP-FP, by bits 31:27. */
static enum operation
float_operation(uint32_t word)
{
    const uint32_t moves = insn_bits(word, 12, 3) == 0;

    switch (word >> 27) {
    case 0x02:
        return OPERATION_FMUL;
    case 0x03:
        return OPERATION_FDIV;
    case 0x04: /* FSGNJ FSGNJN FSGNJX */
        return OPERATION_VECTOR;
    case 0x08: /* FCVT: between precisions, to and from integers */
    case 0x18:
    case 0x1a:
        return OPERATION_CONVERT;
    case 0x0b:
        return OPERATION_FSQRT;
    case 0x1c: /* FMV.X.D; FCLASS, which compares */
        return moves ? OPERATION_TRANSFER : OPERATION_FADD;
    case 0x1e: /* FMV.D.X */
        return OPERATION_TRANSFER;
    default: /* FADD FSUB FMIN FMAX FEQ FLT FLE */
        return OPERATION_FADD;
    }
}

/* Of SYSTEM: all wait for what is before them, but for CSRRS and CSRRC, and
 * their immediate forms, that read fflags (1), frm (2) or fcsr (3) and write
 * nothing. */
static enum operation
system_operation(uint32_t word)
{
    const uint32_t number = word >> 20;
    const bool reads =
        insn_bits(word, 12, 2) >= 2 && insn_bits(word, 15, 5) == 0;

    return reads && number >= 1 && number <= 3 ? OPERATION_ALU : OPERATION_SLOW;
}

static enum operation
operation_of(const struct riscv_insn *found)
{
    if ((found->insn.flags & INSN_PREFETCH) != 0)
        return OPERATION_NONE;
    switch (insn_bits(found->word, 2, 5)) {
    case 0x00: /* LOAD LOAD-FP STORE STORE-FP */
    case 0x01:
    case 0x08:
    case 0x09:
        return OPERATION_NONE;
    case 0x03: /* MISC-MEM */
        return (found->insn.flags & INSN_PAUSE) != 0 ? OPERATION_NONE
                                                     : OPERATION_SLOW;
    case 0x04: /* OP-IMM OP-IMM-32 OP OP-32 */
    case 0x06:
    case 0x0c:
    case 0x0e:
        return integer_operation(found->word);
    case 0x0b: /* AMO */
        return found->insn.stores != 0 ? OPERATION_ATOMIC : OPERATION_NONE;
    case 0x10: /* MADD MSUB NMSUB NMADD */
    case 0x11:
    case 0x12:
    case 0x13:
        return OPERATION_FMA;
    case 0x14:
        return float_operation(found->word);
    case 0x18: /* BRANCH JALR JAL */
    case 0x19:
    case 0x1b:
        return OPERATION_BRANCH;
    case 0x1c:
        return system_operation(found->word);
    default: /* AUIPC LUI */
        return OPERATION_ALU;
    }
}

bool
riscv_operands(const uint8_t *bytes, size_t size, struct insn_operands *o)
{
    struct riscv_insn found;

    if (!riscv_read(bytes, size, &found))
        return false;
    for (const char *letter = found.operands; *letter != '\0'; letter++)
        add_register(*letter, &found, o);
    o->loads = found.insn.loads;
    o->stores = found.insn.stores != 0;
    o->operation = (uint8_t)operation_of(&found);
    if (o->operation == OPERATION_ALU && o->changes == 0) {
        o->reads = 0;
        o->operation = OPERATION_NONE;
    }
    o->micro_ops =
        o->operation == OPERATION_ATOMIC || o->operation == OPERATION_SLOW ? 8
                                                                           : 1;
    o->vector = o->changes >> OPERAND_VECTOR != 0;
    return true;
}
