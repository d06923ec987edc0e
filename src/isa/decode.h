/* SPDX-License-Identifier: MIT */
/*
 * The decoders behind insn_decode(), one a guest instruction set.
 *
 * Each is called with *insn zeroed but for addr_base and addr_index, which are
 * INSN_NO_REG. It returns false with *insn untouched if the bytes end before
 * the instruction does.
 */
#ifndef TALLY_ISA_DECODE_H
#define TALLY_ISA_DECODE_H

#include "isa/insn.h"

bool
sparc_decode(const uint8_t *bytes, size_t size, uint64_t pc, struct insn *insn);
bool
x86_decode(const uint8_t *bytes, size_t size, uint64_t pc, struct insn *insn);
bool mips_decode(const uint8_t *bytes, size_t size, uint64_t pc,
                 bool big_endian, struct insn *insn);

/* As insn_text(). */
void
sparc_text(const uint8_t *bytes, size_t size, char *text, size_t text_size);
void x86_text(const uint8_t *bytes, size_t size, uint64_t pc, char *text,
              size_t text_size);
void mips_text(const uint8_t *bytes, size_t size, bool big_endian, char *text,
               size_t text_size);

/* As insn_set(). */
const char *x86_set(const uint8_t *bytes, size_t size);

/* As insn_bad_size(). */
size_t x86_bad_size(const uint8_t *bytes, size_t size);

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
