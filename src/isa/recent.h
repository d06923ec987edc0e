/* SPDX-License-Identifier: MIT */
/*
 * What instructions were decoded to lately, by their bytes: a program has far
 * fewer different instructions than instructions. Only for slow decoders: that
 * of x86-64 takes some 300 ns, the others a tenth.
 */
#ifndef TALLY_ISA_RECENT_H
#define TALLY_ISA_RECENT_H

#include "isa/insn.h"

#define INSN_RECENT 2048u

struct insn_recent {
    struct {
        uint64_t bytes[2]; /* the last byte is the size; 0: an empty row */
        uint64_t pc;
        struct insn insn;
    } row[INSN_RECENT];
};

/*
 * As insn_decode(), of bytes that are one instruction and no more: the same
 * result, remembered in *recent, which starts as zeros. For one thread at a
 * time.
 */
bool insn_recent_decode(struct insn_recent *recent, const struct isa *isa,
                        const uint8_t *bytes, size_t size, uint64_t pc,
                        struct insn *insn);

#endif
