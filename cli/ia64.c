/* SPDX-License-Identifier: MIT */
#include "cli/ia64.h"

/* By template without its last bit, which is a stop at the end; the others'
 * stops are within. L is the first slot of an instruction of two. */
static const char templates[16][IA64_SLOTS + 1] = {
    "MII", "MII", "MLX", "",    "MMI", "MMI", "MFI", "MMF",
    "MIB", "MBB", "",    "BBB", "MMB", "",    "MFB", "",
};

static unsigned
field(uint64_t opcode, unsigned low, unsigned width)
{
    return (unsigned)(opcode >> low & ((UINT64_C(1) << width) - 1));
}

static unsigned
major(uint64_t opcode)
{
    return field(opcode, 37, 4);
}

unsigned
ia64_predicate(const struct ia64_insn *insn)
{
    return field(insn->opcode, 0, 6);
}

/* Returns IA64_LOAD or IA64_STORE by x6, which integers and floating point
 * share, or 0. */
static unsigned
access_of(unsigned x6)
{
    if (x6 < 0x18 || x6 == 0x1b)
        return IA64_LOAD;
    return (x6 >= 0x30 && x6 < 0x38) || x6 == 0x3b ? IA64_STORE : 0;
}

/* Returns the kinds of an instruction of major 4 with x = 1, by x6: semaphores,
 * ld16 and st16, getf. */
static unsigned
semaphore_of(unsigned x6)
{
    if (x6 < 0x0c || (x6 & ~5U) == 0x12)
        return IA64_LOAD | IA64_STORE;
    if (x6 == 0x28 || x6 == 0x2c)
        return IA64_LOAD;
    return x6 == 0x30 || x6 == 0x34 ? IA64_STORE : 0;
}

static unsigned
m_kinds(uint64_t opcode)
{
    const unsigned x6 = field(opcode, 30, 6), x3 = field(opcode, 33, 3);
    const bool x = field(opcode, 27, 1) != 0, m = field(opcode, 36, 1) != 0;

    switch (major(opcode)) {
    case 0: /* x2, x4 and y are those of nop.m; x3 of 4 to 7 is chk.a */
        return field(opcode, 26, 10) == 2 ? IA64_NOP : x3 >= 4 ? IA64_CHECK : 0;
    case 1:
        return x3 == 1 || x3 == 3 ? IA64_CHECK : 0;
    case 4:
        return !x ? access_of(x6) : m ? 0 : semaphore_of(x6);
    case 6: /* x = 1: load pairs, and setf */
        return !x ? access_of(x6) : x6 < 0x10 ? IA64_LOAD : 0;
    case 5:
    case 7:
        return access_of(x6);
    default:
        return 0;
    }
}

static unsigned
i_kinds(uint64_t opcode)
{
    if (major(opcode) != 0)
        return 0;
    return field(opcode, 26, 10) == 2  ? IA64_NOP
           : field(opcode, 33, 3) == 1 ? IA64_CHECK
                                       : 0;
}

static unsigned
f_kinds(uint64_t opcode)
{
    if (major(opcode) != 0 || field(opcode, 33, 1) != 0)
        return 0;
    return field(opcode, 26, 7) == 2   ? IA64_NOP
           : field(opcode, 27, 6) == 8 ? IA64_CHECK
                                       : 0;
}

static unsigned
b_kinds(uint64_t opcode)
{
    const unsigned x6 = field(opcode, 27, 6);

    switch (major(opcode)) {
    case 0:
        return x6 == 0x20   ? IA64_BRANCH | IA64_INDIRECT
               : x6 == 0x21 ? IA64_BRANCH | IA64_RETURN
               : x6 == 8    ? IA64_BRANCH | IA64_RFI
                            : 0;
    case 1:
        return IA64_BRANCH | IA64_INDIRECT;
    case 2:
        return x6 == 0 ? IA64_NOP : 0;
    case 4:
    case 5:
        return IA64_BRANCH;
    default:
        return 0;
    }
}

/* Finds the target of B1 to B3: bundles from the branch's own, 21 bits with the
 * sign. */
static void
take_offset(struct ia64_insn *insn)
{
    const int64_t low = field(insn->opcode, 13, 20);
    const int64_t sign = field(insn->opcode, 36, 1);

    insn->direct = true;
    insn->offset = (low - sign * (INT64_C(1) << 20)) * 16;
}

/* Finds the target of brl: 60 bits of bundles, of which the L slot has 39. */
static void
take_long_offset(struct ia64_insn *insn, uint64_t l)
{
    const uint64_t bundles = (uint64_t)field(insn->opcode, 36, 1) << 59 |
                             (l >> 2) << 20 | field(insn->opcode, 13, 20);

    insn->direct = true;
    insn->offset = (int64_t)(bundles << 4);
}

static struct ia64_insn
decoded(char unit, uint64_t opcode)
{
    struct ia64_insn insn = {.opcode = opcode, .type = unit};

    if ((unit == 'M' || unit == 'I') && major(opcode) >= 8)
        insn.type = 'A';
    else if (unit == 'M')
        insn.kinds = m_kinds(opcode);
    else if (unit == 'I')
        insn.kinds = i_kinds(opcode);
    else if (unit == 'F')
        insn.kinds = f_kinds(opcode);
    else
        insn.kinds = b_kinds(opcode);
    if (unit == 'B' && (major(opcode) == 4 || major(opcode) == 5))
        take_offset(&insn);
    return insn;
}

/* Decodes what the units I and B execute of template MLX: movl, nop.x and
 * others, and brl. */
static struct ia64_insn
decoded_long(uint64_t l, uint64_t opcode)
{
    struct ia64_insn insn = {.opcode = opcode, .type = 'I'};

    if (major(opcode) >= 0xc && major(opcode) <= 0xd) {
        insn.type = 'B';
        insn.kinds = IA64_BRANCH;
        take_long_offset(&insn, l);
    }
    return insn;
}

size_t
ia64_bundle(unsigned pattern, const uint64_t slots[IA64_SLOTS],
            struct ia64_insn insns[IA64_SLOTS])
{
    const char *const units = templates[pattern >> 1 & 15];
    size_t count = 0;

    for (uint8_t slot = 0; slot < IA64_SLOTS && units[slot] != '\0'; slot++) {
        if (units[slot] == 'L')
            continue;
        insns[count] = units[slot] == 'X' ? decoded_long(slots[1], slots[slot])
                                          : decoded(units[slot], slots[slot]);
        insns[count++].slot = slot;
    }
    return count;
}
