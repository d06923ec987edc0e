/* SPDX-License-Identifier: MIT */
/*
 * What stands for an instruction of an imported trace, which has addresses and
 * no machine code: sixteen bytes, whatever the size of the instruction. The
 * decoder of the row "imported" reads them.
 */
#ifndef TALLY_ISA_IMPORTED_H
#define TALLY_ISA_IMPORTED_H

#include <stdint.h>

#define IMPORTED_SIZE 16u

struct imported_insn {
    uint8_t size;   /* of the instruction */
    uint8_t branch; /* enum insn_branch */
    uint8_t loads, stores;
    uint64_t target; /* of a conditional branch; 0: not known */
};

/* Writes the IMPORTED_SIZE bytes of an instruction. */
void imported_encode(const struct imported_insn *insn, uint8_t *bytes);

#endif
