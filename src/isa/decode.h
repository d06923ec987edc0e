/* SPDX-License-Identifier: MIT */
/* What the decoders share, one a guest instruction set. */
#ifndef TALLY_ISA_DECODE_H
#define TALLY_ISA_DECODE_H

#include "isa/isa.h"

extern const struct isa_decoder sparc_decoder, x86_decoder, mips_decoder;

/* What the text functions write for bytes that are no whole instruction. */
#define INSN_BAD_TEXT "(bad)"

/* Of the decoders whose instructions are words. */
static inline uint32_t
insn_bits(uint32_t word, unsigned low, unsigned count)
{
    return word >> low & ((1u << count) - 1);
}

/* What a word is that is no instruction. */
void insn_illegal(struct insn *insn);

/* The class of a SPARC instruction by itself, also of one that sparc_decode()
 * finds illegal because it came with the T4; whether it is a block load or
 * store; and its micro-operations beyond the first. */
enum t4_class sparc_t4_class(uint32_t word);
bool sparc_t4_block(uint32_t word);
uint8_t sparc_t4_more(uint32_t word);

#endif
