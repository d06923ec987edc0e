/* SPDX-License-Identifier: MIT */
/*
 * Sends an instruction to the decoder of its instruction set.
 */
#include "isa/decode.h"

/* That of another processor's instruction, by what the T4 does with its like:
 * prefetches and atomics are others, memory barriers stores. */
static enum t4_class
foreign_t4_class(const struct insn *insn)
{
    static const uint8_t map[CLASS_COUNT] = {
        [CLASS_BRANCH] = T4_BRANCH, [CLASS_FGU] = T4_FGU_CRYPTO,
        [CLASS_LOAD] = T4_LOAD,     [CLASS_STORE] = T4_STORE,
        [CLASS_SETHI] = T4_OTHER,   [CLASS_OTHER] = T4_OTHER,
        [CLASS_ATOMIC] = T4_OTHER,
    };

    if (insn->flags & INSN_MEMBAR)
        return T4_STORE;
    if (insn->flags & INSN_PREFETCH)
        return T4_OTHER;
    return (enum t4_class)map[insn->class];
}

void
insn_illegal(struct insn *insn)
{
    *insn = (struct insn){
        .size = 4,
        .class = CLASS_OTHER,
        .flags = INSN_ILLEGAL,
        .addr_base = INSN_NO_REG,
        .addr_index = INSN_NO_REG,
        .step_reg = INSN_NO_REG,
    };
}

bool
insn_decode(const struct isa *isa, const uint8_t *bytes, size_t size,
            uint64_t pc, struct insn *insn)
{
    *insn = (struct insn){.addr_base = INSN_NO_REG,
                          .addr_index = INSN_NO_REG,
                          .step_reg = INSN_NO_REG};
    if (!isa->decoder->decode(isa, bytes, size, pc, insn))
        return false;
    if (isa != &isa_rows[ISA_SPARC64])
        insn->t4_class = (uint8_t)foreign_t4_class(insn);
    return true;
}

const char *
insn_set(const struct isa *isa, const uint8_t *bytes, size_t size)
{
    return isa->decoder->set != NULL ? isa->decoder->set(bytes, size) : NULL;
}

size_t
insn_bad_size(const struct isa *isa, const uint8_t *bytes, size_t size)
{
    return isa->decoder->bad_size != NULL ? isa->decoder->bad_size(bytes, size)
                                          : size;
}

void
insn_text(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
          char *text, size_t text_size)
{
    isa->decoder->text(isa, bytes, size, pc, text, text_size);
}
