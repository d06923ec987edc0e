/* SPDX-License-Identifier: MIT */
/*
 * Sends an instruction to the decoder of its instruction set.
 */
#include <assert.h>

#include "isa/decode.h"

bool
insn_decode(enum isa isa, const uint8_t *bytes, size_t size, uint64_t pc,
            struct insn *insn)
{
    *insn = (struct insn){.addr_base = INSN_NO_REG,
                          .addr_index = INSN_NO_REG,
                          .step_reg = INSN_NO_REG};
    switch (isa) {
    case ISA_SPARC64:
        return sparc_decode(bytes, size, pc, insn);
    case ISA_X86_64:
        return x86_decode(bytes, size, pc, insn);
    case ISA_COUNT:
        break;
    }
    assert(isa < ISA_COUNT);
    return false;
}

void
insn_text(enum isa isa, const uint8_t *bytes, size_t size, uint64_t pc,
          char *text, size_t text_size)
{
    if (isa == ISA_SPARC64)
        sparc_text(bytes, size, text, text_size);
    else
        x86_text(bytes, size, pc, text, text_size);
}
