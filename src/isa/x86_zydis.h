/* SPDX-License-Identifier: MIT */
/* An instruction of x86-64 as Zydis decodes it, for x86.c and x86_operands.c.
 */
#ifndef TALLY_ISA_X86_ZYDIS_H
#define TALLY_ISA_X86_ZYDIS_H

#include <Zydis/Zydis.h>

#include <stddef.h>
#include <stdint.h>

struct decoded {
    ZydisDecodedInstruction info;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* Decodes the instruction at `bytes`, of at most `size` bytes. Returns Zydis'
 * status. Pure; safe from any thread. */
static inline ZyanStatus
x86_zydis(const uint8_t *bytes, size_t size, struct decoded *d)
{
    ZydisDecoder decoder;

    if (size == 0)
        return ZYDIS_STATUS_NO_MORE_DATA;
    /* Filling in a decoder costs next to nothing, and needs no global. */
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
                     ZYDIS_STACK_WIDTH_64);
    return ZydisDecoderDecodeFull(&decoder, bytes, size, &d->info, d->operands);
}

#endif
