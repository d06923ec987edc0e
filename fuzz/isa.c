/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as one instruction of each instruction set; the first byte chooses
 * the set, the eight bytes after it are the address. An instruction follows
 * from its own bytes alone, and a branch moves with its address.
 */
#include "isa/isa.h"

#include <stdbool.h>
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "source/prefetch.h"
#include "table/table.h"
#include "timing/ooo_block.h"
#include "timing/t4_class.h"

#define HEAD 9
#define X86_MOST 15
/* Targets of MIPS' jumps keep the address's upper bits from here on. */
#define SEGMENT (UINT64_C(1) << 28)

static bool
is_direct(const struct insn *i)
{
    return i->branch == BRANCH_CONDITIONAL || i->branch == BRANCH_NEVER ||
           i->branch == BRANCH_JUMP || i->branch == BRANCH_CALL;
}

/* Checks what the header promises of the fields. */
static void
check_fields(const struct insn *i)
{
    const bool one = i->access != ACCESS_NONE && i->access != ACCESS_MIXED &&
                     i->access != ACCESS_REPEATED;
    const bool counted =
        i->access != ACCESS_NONE && i->access != ACCESS_REPEATED;

    fuzz_check(i->class < CLASS_COUNT && t4_class(i) < T4_CLASS_COUNT);
    fuzz_check(i->access <= ACCESS_REPEATED && i->branch <= BRANCH_RETURN);
    fuzz_check(i->prefetch <= PREFETCH_FAR);
    fuzz_check(is_direct(i) || i->target == 0);
    fuzz_check(i->branch == BRANCH_NONE || i->class == CLASS_BRANCH);
    fuzz_check((i->loads + i->stores > 0) == counted);
    fuzz_check(!one || i->access_size > 0);
    fuzz_check((i->addr_scale == 0) == (i->addr_index == INSN_NO_REG));
    fuzz_check(i->addr_known ||
               (i->addr_base == INSN_NO_REG && i->addr_index == INSN_NO_REG));
    fuzz_check((i->flags & INSN_ILLEGAL) == 0 || i->class == CLASS_OTHER);
    fuzz_check(i->step_reg == INSN_NO_REG ||
               (i->step_reg >= 0 && i->step_reg < 64 &&
                (i->reg_writes >> i->step_reg & 1) != 0));
    fuzz_check(i->addr_base < 64 && i->addr_index < 64);
}

static bool
is_same(const struct insn *a, const struct insn *b)
{
    return a->target == b->target && a->reg_writes == b->reg_writes &&
           a->step == b->step && a->addr_disp == b->addr_disp &&
           a->size == b->size && a->class == b->class &&
           a->access == b->access && a->access_size == b->access_size &&
           a->loads == b->loads && a->stores == b->stores &&
           a->branch == b->branch && a->prefetch == b->prefetch &&
           a->addr_scale == b->addr_scale && a->step_reg == b->step_reg &&
           a->addr_base == b->addr_base && a->addr_index == b->addr_index &&
           a->addr_known == b->addr_known && a->sparc_word == b->sparc_word &&
           a->serializes == b->serializes && a->flags == b->flags;
}

/* Decodes the instruction from its own bytes alone, and one byte less. */
static void
check_bytes(const struct isa *isa, const uint8_t *bytes, uint64_t pc,
            const struct insn *insn)
{
    uint8_t *const alone = malloc(insn->size);
    struct insn again;

    fuzz_check(alone != NULL);
    memcpy(alone, bytes, insn->size);
    if ((insn->flags & INSN_ILLEGAL) == 0) {
        fuzz_check(insn_decode(isa, alone, insn->size, pc, &again));
        fuzz_check(is_same(insn, &again));
        fuzz_check(!insn_decode(isa, alone, insn->size - 1u, pc, &again));
        fuzz_check(again.size == 0);
        fuzz_check(insn_bad_size(isa, alone, insn->size) == insn->size);
    }
    free(alone);
}

/* Checks that a branch moves with its address, and all else stays. */
static void
check_address(const struct isa *isa, const uint8_t *bytes, size_t size,
              uint64_t pc, const struct insn *insn)
{
    struct insn moved;

    fuzz_check(insn_decode(isa, bytes, size, pc + SEGMENT, &moved));
    if (is_direct(insn) && insn->target != 0 && moved.target != 0)
        fuzz_check(moved.target == insn->target + SEGMENT);
    moved.target = insn->target;
    if ((isa == &isa_rows[ISA_X86_64] || isa == &isa_rows[ISA_AARCH64]) &&
        insn->addr_base == INSN_NO_REG)
        moved.addr_disp = insn->addr_disp; /* relative to the address */
    fuzz_check(is_same(insn, &moved));
}

/* Checks that both orders of bytes hold the same MIPS instruction. */
static void
check_order(const uint8_t *bytes, uint64_t pc, const struct insn *insn)
{
    const uint8_t turned[] = {bytes[3], bytes[2], bytes[1], bytes[0]};
    struct insn other;

    fuzz_check(insn_decode(&isa_rows[ISA_MIPS64EL], turned, sizeof(turned), pc,
                           &other));
    fuzz_check(is_same(insn, &other));
}

static void
check_text(const struct isa *isa, const uint8_t *bytes, size_t size,
           uint64_t pc)
{
    char text[256], cut[8];

    insn_text(isa, bytes, size, pc, text, sizeof(text));
    fuzz_hear(NULL, TALLY_LOG_INFO, text);
    insn_text(isa, bytes, size, pc, cut, sizeof(cut));
    fuzz_check(memchr(cut, '\0', sizeof(cut)) != NULL);
}

/* Checks that the bytes before the one that shows it begin an instruction. */
static void
check_bad(const uint8_t *bytes, size_t size, const struct insn *insn)
{
    const size_t bad = insn_bad_size(&isa_rows[ISA_X86_64], bytes, size);

    fuzz_check(bad <= size);
    /* UD2 is an instruction, which exists to trap. */
    fuzz_check(insn_set(&isa_rows[ISA_X86_64], bytes, size) != NULL ||
               (insn->flags & INSN_ILLEGAL) != 0);
    if ((insn->flags & INSN_ILLEGAL) != 0 && bad > 1)
        fuzz_check(insn_bad_size(&isa_rows[ISA_X86_64], bytes, bad - 1) ==
                   bad - 1);
}

/* Checks what a core that executes out of order makes of the instruction. */
static void
check_operands(const struct isa *isa, const uint8_t *bytes, uint64_t pc,
               const struct insn *insn)
{
    static _Alignas(struct ooo_block) uint8_t
        room[sizeof(struct ooo_block) + OOO_OPS_MOST * sizeof(struct ooo_op)];
    struct ooo_block *const made = (struct ooo_block *)room;
    const struct machine_row *const machine = machine_find("ci-1");
    struct insn_operands operands;
    uint64_t params[PARAM_COUNT];

    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = machine->params[i].value;
    const bool known = insn_operands(isa, bytes, insn->size, &operands);
    fuzz_check(operands.operation < OPERATION_COUNT);
    fuzz_check(known || (operands.reads | operands.changes) == 0);
    fuzz_check(ooo_block_size(OOO_OPS_MOST) <= sizeof(room));
    ooo_block_make(made, params, pc, insn, &operands, 1);
    fuzz_check(made->count <= OOO_OPS_MOST);
    fuzz_check(made->end == pc + insn->size);
    fuzz_check(made->time >= made->issue);
    for (uint32_t i = 0; i < made->count; i++) {
        const struct ooo_op *const op = &made->ops[i];
        fuzz_check(op->base <= OOO_THERE);
        for (unsigned k = 0; k < 2; k++)
            fuzz_check(op->reads[k] < OOO_REGISTERS &&
                       op->changes[k] < OOO_REGISTERS &&
                       op->address[k] < OOO_REGISTERS);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct insn insn[2];
    int64_t distance = 0;
    uint64_t pc;

    if (size < HEAD)
        return 0;
    const struct isa *isa = &isa_rows[data[0] % ISA_COUNT];
    memcpy(&pc, data + 1, sizeof(pc));
    data += HEAD;
    size = size - HEAD < X86_MOST ? size - HEAD : X86_MOST;
    if (!insn_decode(isa, data, size, pc, &insn[0])) {
        fuzz_check(insn[0].size == 0);
        return 0;
    }
    fuzz_check(insn[0].size > 0 && insn[0].size <= size);
    check_fields(&insn[0]);
    check_bytes(isa, data, pc, &insn[0]);
    check_address(isa, data, size, pc, &insn[0]);
    check_text(isa, data, size, pc);
    check_operands(isa, data, pc, &insn[0]);
    if (isa == &isa_rows[ISA_MIPS64])
        check_order(data, pc, &insn[0]);
    if (isa == &isa_rows[ISA_X86_64])
        check_bad(data, size, &insn[0]);
    insn[1] = insn[0];
    if (prefetch_distance(insn, 0, 0, &distance))
        fuzz_check(distance == 0);
    fuzz_check(prefetch_teller(insn, 2, 0, &distance) <= 2);
    return 0;
}
