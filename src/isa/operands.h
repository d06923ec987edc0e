/* SPDX-License-Identifier: MIT */
/*
 * What an instruction needs and makes: the registers that it reads and changes,
 * and the kind of unit that executes it. A model of cores that execute out of
 * order asks for it, once for each instruction that is translated.
 *
 * Registers have one numbering, a bit each: general ones from 0, vector ones
 * from OPERAND_VECTOR. The flags are one register. A stack pointer that a push,
 * pop, call or return moves is left out, as cores move it without a unit; on
 * aarch64 the stack pointer is left out altogether.
 */
#ifndef TALLY_ISA_OPERANDS_H
#define TALLY_ISA_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct isa;

#define OPERAND_REGISTERS 64u
#define OPERAND_VECTOR 32u /* the first vector register */

/* What executes an instruction, loads and stores apart. */
enum operation {
    OPERATION_NONE,     /* a no-op, an idiom for 0, a move of a register */
    OPERATION_ALU,      /* integers: sums, logic, shifts, selections */
    OPERATION_BITS,     /* counts bits, or moves them to where a mask says */
    OPERATION_MUL,      /* integer multiplication */
    OPERATION_DIV,      /* integer division of up to 32 bits */
    OPERATION_DIV64,    /* and of 64 bits */
    OPERATION_BRANCH,   /* a branch, call, jump or return */
    OPERATION_FADD,     /* floating point: sums, comparisons, rounding */
    OPERATION_FMUL,     /* products, and estimates of reciprocals */
    OPERATION_FMA,      /* sums of products */
    OPERATION_FDIV,     /* quotients */
    OPERATION_FSQRT,    /* square roots */
    OPERATION_CONVERT,  /* between integers and floating point */
    OPERATION_VECTOR,   /* vectors of integers, logic, selections */
    OPERATION_VMUL,     /* products of such vectors, and ciphers */
    OPERATION_SHUFFLE,  /* moves elements within vectors */
    OPERATION_TRANSFER, /* moves between general and vector registers */
    OPERATION_ATOMIC,   /* locks the bus */
    OPERATION_SLOW,     /* microcode, and what waits for all before it */
    OPERATION_COUNT
};

/* What an instruction that sets the flags does with them, as cores tell apart
 * that make one micro-operation of it and of the conditional branch behind. */
enum flag_setter {
    SETS_NONE, /* it is none that any core fuses */
    SETS_TEST, /* TEST, TST: a logical and, of which only the flags are kept */
    SETS_COMPARE, /* CMP, CMN */
    SETS_AND,
    SETS_SUM,  /* ADD, SUB */
    SETS_STEP, /* INC, DEC */
    SETS_OR    /* OR, XOR */
};

/* What a conditional branch that needs the flags alone asks of them. */
enum flag_condition {
    ASKS_NONE,     /* it is no such branch */
    ASKS_SIGNED,   /* equal, or less or greater of signed numbers */
    ASKS_UNSIGNED, /* less or greater of unsigned numbers */
    ASKS_OTHER     /* sign, parity, overflow */
};

struct insn_operands {
    uint64_t reads;   /* values that it computes with or stores */
    uint64_t address; /* of what it loads or stores */
    uint64_t changes;
    uint64_t steps;    /* of `address`: the base, which it writes back */
    uint64_t step_by;  /* what it adds to the base behind the access */
    uint8_t operation; /* enum operation */
    uint8_t micro_ops; /* that the core takes in, fused ones as one */
    uint8_t loads;     /* places of load units that it takes; 0: it loads not */
    bool stores;
    bool pair;    /* loads two registers of 64 bits or more */
    bool vector;  /* what it loads goes to a vector unit */
    bool wide;    /* has an immediate of 64 bits */
    uint8_t sets; /* enum flag_setter */
    uint8_t asks; /* enum flag_condition */
};

/*
 * Fills in *operands for the instruction at `bytes`, which is whole. Returns
 * false, with *operands as of an instruction that needs and makes nothing, for
 * bytes that are no instruction and where the ISA's decoder does not know.
 * Pure; safe from any thread.
 */
bool insn_operands(const struct isa *isa, const uint8_t *bytes, size_t size,
                   struct insn_operands *operands);

#endif
