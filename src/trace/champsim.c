/* SPDX-License-Identifier: MIT */
#include "trace/champsim.h"

#include <string.h>

#include "isa/insn.h"
#include "isa/isa.h"
#include "isa/operands.h"
#include "record/bytes.h"

#define LINE UINT64_C(64) /* bytes of ChampSim's cache lines */

/* Adds a register to those of a record, once. Returns whether it is in. */
static bool
add_register(uint8_t *list, size_t room, uint8_t number)
{
    size_t i = 0;

    while (i < room && list[i] != 0 && list[i] != number)
        i++;
    if (i == room)
        return false;
    list[i] = number;
    return true;
}

static uint8_t
register_of(const struct isa *isa, unsigned number)
{
    if (isa->stack_pointer >= 0 && number == (unsigned)isa->stack_pointer)
        return CHAMPSIM_STACK_POINTER;
    if (number < OPERAND_REGISTERS &&
        (isa_decoder(isa)->flags >> number & 1) != 0)
        return CHAMPSIM_FLAGS;
    return (uint8_t)(CHAMPSIM_OTHERS + number);
}

/* Adds the registers of a set. Returns how many have no place. */
static uint32_t
add_registers(const struct isa *isa, uint64_t set, uint8_t *list, size_t room)
{
    uint32_t left = 0;

    for (; set != 0; set &= set - 1)
        left += !add_register(list, room,
                              register_of(isa, (unsigned)__builtin_ctzll(set)));
    return left;
}

/* Says what kind of branch it is, by the registers that ChampSim looks at. Of
 * `o`, a conditional branch and one through a register have what they read. */
static uint32_t
describe_branch(const struct isa *isa, enum insn_branch branch,
                const struct insn_operands *o, struct champsim_record *r)
{
    const bool calls = branch == BRANCH_CALL || branch == BRANCH_INDIRECT_CALL;
    const bool through =
        branch == BRANCH_INDIRECT || branch == BRANCH_INDIRECT_CALL;
    uint32_t left = 0;

    r->is_branch = true;
    r->branch_taken = branch != BRANCH_CONDITIONAL;
    add_register(r->changes, CHAMPSIM_CHANGES, CHAMPSIM_POINTER);
    if (branch != BRANCH_INDIRECT && branch != BRANCH_RETURN)
        add_register(r->reads, CHAMPSIM_READS, CHAMPSIM_POINTER);
    if (calls || branch == BRANCH_RETURN) {
        add_register(r->changes, CHAMPSIM_CHANGES, CHAMPSIM_STACK_POINTER);
        add_register(r->reads, CHAMPSIM_READS, CHAMPSIM_STACK_POINTER);
    }
    if (!through && branch != BRANCH_CONDITIONAL)
        return 0;
    /* A jump through memory at the stack pointer would look like a return, and
     * one that reads the flags like no branch of a known kind. */
    const uint64_t set =
        (o->reads | o->address) &
        ~(isa->stack_pointer >= 0 && through ? UINT64_C(1) << isa->stack_pointer
                                             : 0) &
        ~(through ? isa_decoder(isa)->flags : 0);
    left = add_registers(isa, set, r->reads, CHAMPSIM_READS);
    if (set == 0)
        add_register(r->reads, CHAMPSIM_READS, CHAMPSIM_UNKNOWN);
    return left;
}

bool
champsim_describe(const struct isa *isa, const uint8_t *code, size_t size,
                  uint64_t pc, struct champsim_record *record, uint32_t *left)
{
    struct insn insn;
    struct insn_operands o = {0};

    *record = (struct champsim_record){.pc = pc};
    *left = 0;
    if (isa == NULL || !insn_decode(isa, code, size, pc, &insn))
        return false;
    insn_operands(isa, code, size, &o);
    if (insn.branch != BRANCH_NONE && insn.branch != BRANCH_NEVER) {
        *left = describe_branch(isa, insn.branch, &o, record);
    } else {
        *left =
            add_registers(isa, o.changes, record->changes, CHAMPSIM_CHANGES);
        *left += add_registers(isa, o.reads | o.address, record->reads,
                               CHAMPSIM_READS);
    }
    return (insn.flags & INSN_DELAY_SLOT) != 0;
}

bool
champsim_access(struct champsim_record *r, uint64_t address, bool store)
{
    uint64_t *const list = store ? r->stores : r->loads;
    const size_t room = store ? CHAMPSIM_CHANGES : CHAMPSIM_READS;
    size_t i = 0;

    while (i < room && list[i] != 0 && (list[i] ^ address) >= LINE)
        i++;
    if (i == room)
        return false;
    if (list[i] == 0)
        list[i] = address;
    return true;
}

void
champsim_encode(const struct champsim_record *r, uint8_t *bytes)
{
    bytes_put_u64(bytes, r->pc);
    bytes[8] = r->is_branch;
    bytes[9] = r->branch_taken;
    memcpy(bytes + 10, r->changes, CHAMPSIM_CHANGES);
    memcpy(bytes + 12, r->reads, CHAMPSIM_READS);
    for (unsigned i = 0; i < CHAMPSIM_CHANGES; i++)
        bytes_put_u64(bytes + 16 + 8 * i, r->stores[i]);
    for (unsigned i = 0; i < CHAMPSIM_READS; i++)
        bytes_put_u64(bytes + 32 + 8 * i, r->loads[i]);
}

bool
champsim_decode(const uint8_t *bytes, struct champsim_record *r)
{
    *r = (struct champsim_record){
        .pc = bytes_get_u64(bytes),
        .is_branch = bytes[8] != 0,
        .branch_taken = bytes[9] != 0,
    };
    memcpy(r->changes, bytes + 10, CHAMPSIM_CHANGES);
    memcpy(r->reads, bytes + 12, CHAMPSIM_READS);
    for (unsigned i = 0; i < CHAMPSIM_CHANGES; i++)
        r->stores[i] = bytes_get_u64(bytes + 16 + 8 * i);
    for (unsigned i = 0; i < CHAMPSIM_READS; i++)
        r->loads[i] = bytes_get_u64(bytes + 32 + 8 * i);
    return bytes[8] <= 1 && bytes[9] <= 1;
}
