/* SPDX-License-Identifier: MIT */
/*
 * Sends an instruction to the decoder of its instruction set.
 */
#include "isa/decode.h"
#include "isa/operands.h"
#include "isa/sum.h"

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
    return isa_decoder(isa)->decode(isa, bytes, size, pc, insn);
}

const char *
insn_set(const struct isa *isa, const uint8_t *bytes, size_t size)
{
    return isa_decoder(isa)->set != NULL ? isa_decoder(isa)->set(bytes, size)
                                         : NULL;
}

size_t
insn_bad_size(const struct isa *isa, const uint8_t *bytes, size_t size)
{
    return isa_decoder(isa)->bad_size != NULL
               ? isa_decoder(isa)->bad_size(bytes, size)
               : size;
}

void
insn_text(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
          char *text, size_t text_size)
{
    isa_decoder(isa)->text(isa, bytes, size, pc, text, text_size);
}

bool
insn_operands(const struct isa *isa, const uint8_t *bytes, size_t size,
              struct insn_operands *operands)
{
    *operands = (struct insn_operands){0};
    return isa_decoder(isa)->operands != NULL &&
           isa_decoder(isa)->operands(bytes, size, operands);
}

bool
insn_sum(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
         struct insn_sum *sum)
{
    *sum = (struct insn_sum){
        .to = INSN_NO_REG, .base = INSN_NO_REG, .index = INSN_NO_REG};
    return isa_decoder(isa)->sum != NULL &&
           isa_decoder(isa)->sum(isa, bytes, size, pc, sum);
}
