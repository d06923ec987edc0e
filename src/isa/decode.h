/* SPDX-License-Identifier: MIT */
/* What the decoders share, one a guest instruction set. */
#ifndef TALLY_ISA_DECODE_H
#define TALLY_ISA_DECODE_H

#include "isa/isa.h"

/* What the text functions write for bytes that are no whole instruction. */
#define INSN_BAD_TEXT "(bad)"

/* Of the decoders whose instructions are words. */
static inline uint32_t
insn_bits(uint32_t word, unsigned low, unsigned count)
{
    return word >> low & ((1u << count) - 1);
}

/* The instruction at 4 bytes, the lowest first. */
static inline uint32_t
insn_little_word(const uint8_t *b)
{
    return (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 |
           b[0];
}

/* Of x86_operands.c, and its registers that are flags. */
#define X86_FLAGS (UINT64_C(1) << 16)
bool
x86_operands(const uint8_t *bytes, size_t size, struct insn_operands *operands);

/* Of aarch64_operands.c, and its registers that are flags. */
#define AARCH64_FLAGS (UINT64_C(1) << 31)
bool aarch64_operands(const uint8_t *bytes, size_t size,
                      struct insn_operands *operands);

/* Of riscv_operands.c. */
bool riscv_operands(const uint8_t *bytes, size_t size,
                    struct insn_operands *operands);

/* What a word is that is no instruction. */
void insn_illegal(struct insn *insn);

#endif
