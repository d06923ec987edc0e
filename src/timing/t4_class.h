/* SPDX-License-Identifier: MIT */
/* What the timing model of the SPARC T4 asks of an instruction. An instruction
 * of another architecture is classed with its like. */
#ifndef TALLY_TIMING_T4_CLASS_H
#define TALLY_TIMING_T4_CLASS_H

#include "isa/insn.h"

/* The partition of PCR sl 3. */
enum t4_class {
    T4_BRANCH,
    T4_FGU_CRYPTO,
    T4_LOAD,
    T4_STORE,
    T4_SPR_RING, /* the ring of special registers */
    T4_OTHER,
    T4_CLASS_COUNT
};

/* Returns the class of the instruction, also of one that came with the T4 and
 * that the decoder takes for illegal. */
enum t4_class t4_class(const struct insn *insn);

/* Returns whether the instruction is a block load or store (sl 4). */
bool t4_block(const struct insn *insn);

/* Returns the number of micro-operations beyond the first. */
unsigned t4_more(const struct insn *insn);

#endif
