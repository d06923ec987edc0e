/* SPDX-License-Identifier: MIT */
/*
 * Which instructions of a block an Itanium 2 handles in one cycle: fixed
 * signals, since a block's are the same each time it runs.
 *
 * Programs of other processors are counted, so each instruction stands for one
 * syllable of its class, and syllables are put three to a bundle in the order
 * of the program (a delay slot before its branch), each into the first slot
 * that takes it; nops fill the slots that stay empty. A branch takes the last
 * slot, and a bundle has one. A stop stands before an instruction that writes a
 * register which its group has written, or that makes an address of one; what
 * else instructions read is not known.
 *
 * The two oldest bundles disperse each cycle, syllable by syllable, until a
 * stop, or a syllable whose ports are taken: two loads (M0, M1), two stores
 * (M2, M3), four M, two I, two F and three B; an ALU syllable takes any M or I
 * port (Tables 2-4 to 2-7). A group ends with its block or block part.
 */
#ifndef TALLY_TIMING_ITANIUM_BUNDLES_H
#define TALLY_TIMING_ITANIUM_BUNDLES_H

#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"

/* What an instruction or a nop asks of the ports. */
enum syllable {
    SYLLABLE_NONE, /* an empty slot */
    SYLLABLE_LOAD,
    SYLLABLE_STORE,
    SYLLABLE_M, /* of another kind */
    SYLLABLE_A, /* an ALU operation, of an M or an I slot */
    SYLLABLE_I,
    SYLLABLE_F,
    SYLLABLE_B,
    SYLLABLE_COUNT
};

enum syllable itanium_syllable(const struct insn *insn);

/* Adds to the fixed signals what these instructions make. */
void
itanium_bundles_add(const struct insn *insns, size_t count, int16_t *fixed);

#endif
