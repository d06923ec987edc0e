/* SPDX-License-Identifier: MIT */
/*
 * The classes that the SPARC T4 counts instructions by (PCR sl 3): six, each
 * instruction in exactly one, and block loads and stores (sl 4) besides.
 *
 * Its lists, footnotes 6 to 9 of TABLE 10-2, are samples, and that of the FGU
 * is lost: what they do not name goes with its family of opcodes (rules T4-R43
 * to T4-R49). VIS 3, fused multiply-add, compare-and-branch and cryptographic
 * instructions, which sparc.c calls illegal, have their class here. An access
 * through %asi is to memory, for all that can be said at translation.
 *
 * Document: SPARC T4 Supplement to Oracle SPARC Architecture 2011, chapter 10.
 */
#include "timing/t4_class.h"

#include "isa/decode.h"

#define ASR_PC 5
#define ASR_MEMBAR 15
#define ASR_CFR 26

/* MEMBAR with no other bit set than these is in the class of all others. */
#define MEMBAR_LOADSTORE 0x04u
#define MEMBAR_LOOKASIDE 0x10u

static bool
immediate(uint32_t word)
{
    return insn_bits(word, 13, 1);
}

/* op = 0: SETHI and ILLTRAP are the two that are no branches. */
static enum t4_class
format_2(uint32_t word)
{
    const uint32_t op2 = insn_bits(word, 22, 3);

    return op2 == 0 || op2 == 4 || op2 == 7 ? T4_OTHER : T4_BRANCH;
}

/* RDASR, and as its register 15 STBAR and MEMBAR. */
static enum t4_class
read_state(uint32_t word)
{
    const uint32_t number = insn_bits(word, 14, 5),
                   bits = insn_bits(word, 0, 7);

    if (number == ASR_PC || number == ASR_CFR)
        return T4_OTHER;
    if (number != ASR_MEMBAR)
        return T4_LOAD;
    return immediate(word) && bits != 0 &&
                   (bits & ~(MEMBAR_LOADSTORE | MEMBAR_LOOKASIDE)) == 0
               ? T4_OTHER
               : T4_STORE;
}

/* WRASR; as its register 15 SIR. */
static enum t4_class
write_state(uint32_t word)
{
    const uint32_t number = insn_bits(word, 25, 5);

    return number == ASR_MEMBAR || number == ASR_CFR ? T4_OTHER : T4_SPR_RING;
}

/* What IMPDEP1 has for integers: footnote 9, and its family. */
static enum t4_class
graphics(uint32_t word)
{
    switch (insn_bits(word, 5, 9)) {
    case 0x011: /* ADDXC */
    case 0x013: /* ADDXCcc */
    case 0x081: /* SIAM */
    case 0x110: /* MOVdTOx */
    case 0x111: /* MOVsTOuw */
    case 0x113: /* MOVsTOsw */
    case 0x118: /* MOVxTOd */
    case 0x119: /* MOVwTOs */
        return T4_OTHER;
    default:
        return T4_FGU_CRYPTO;
    }
}

static enum t4_class
format_3(uint32_t word)
{
    switch (insn_bits(word, 19, 6)) {
    case 0x19: /* AES and others of four registers */
    case 0x34: /* FPop1 */
    case 0x35: /* FPop2 */
    case 0x37: /* fused multiply-add */
        return T4_FGU_CRYPTO;
    case 0x36:
        return graphics(word);
    case 0x28:
        return read_state(word);
    case 0x29: /* RDHPR */
    case 0x2a: /* RDPR */
        return T4_LOAD;
    case 0x30:
        return write_state(word);
    case 0x32: /* WRPR */
    case 0x33: /* WRHPR */
        return T4_SPR_RING;
    case 0x38: /* JMPL */
    case 0x39: /* RETURN */
        return T4_BRANCH;
    case 0x3b: /* FLUSH */
        return T4_STORE;
    default:
        return T4_OTHER;
    }
}

/* By op3; atomics, prefetches and gaps are in the class of all others. */
static const uint8_t memory[64] = {
    [0x00 ... 0x03] = T4_LOAD,  [0x04 ... 0x07] = T4_STORE,
    [0x08 ... 0x0b] = T4_LOAD,  [0x0c ... 0x0d] = T4_OTHER,
    [0x0e] = T4_STORE,          [0x0f] = T4_OTHER,
    [0x10 ... 0x13] = T4_LOAD,  [0x14 ... 0x17] = T4_STORE,
    [0x18 ... 0x1b] = T4_LOAD,  [0x1c ... 0x1d] = T4_OTHER,
    [0x1e] = T4_STORE,          [0x1f] = T4_OTHER,
    [0x20 ... 0x23] = T4_LOAD,  [0x24 ... 0x27] = T4_STORE,
    [0x28 ... 0x2f] = T4_OTHER, [0x30] = T4_LOAD,
    [0x31] = T4_OTHER,          [0x32 ... 0x33] = T4_LOAD,
    [0x34] = T4_STORE,          [0x35] = T4_OTHER,
    [0x36 ... 0x37] = T4_STORE, [0x38 ... 0x3f] = T4_OTHER,
};

#define OP3_LDDA 0x13
#define OP3_LDXA 0x1b
#define OP3_STXA 0x1e
#define OP3_LDDFA 0x33
#define OP3_STDFA 0x37

/* Footnote 8 has some with LDXA alone and some with STXA alone; here each is
 * with both. */
static bool
on_ring(uint32_t asi)
{
    switch (asi) {
    case 0x20: /* scratchpad */
    case 0x21: /* MMU contexts */
    case 0x25: /* queues */
    case 0x42:
    case 0x45:
    case 0x48:
    case 0x49:
    case 0x4c:
    case 0x4e:
    case 0x4f:
    case 0x50:
    case 0x52:
    case 0x54:
    case 0x57:
    case 0x58:
    case 0x5c:
    case 0x5f:
    case 0x64: /* PCR */
    case 0x72:
    case 0x74:
    case 0xb0: /* PIC */
        return true;
    default:
        return false;
    }
}

static enum t4_class
class_of_word(uint32_t word)
{
    const uint32_t op3 = insn_bits(word, 19, 6);

    switch (word >> 30) {
    case 0:
        return format_2(word);
    case 1:
        return T4_BRANCH;
    case 2:
        return format_3(word);
    default:
        if ((op3 == OP3_LDXA || op3 == OP3_STXA) && !immediate(word) &&
            on_ring(insn_bits(word, 5, 8)))
            return T4_SPR_RING;
        return (enum t4_class)memory[op3];
    }
}

/* Returns the class of another architecture's instruction, by what the T4 does
 * with its like: prefetches and atomics are others, memory barriers stores. */
static enum t4_class
foreign_class(const struct insn *insn)
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

enum t4_class
t4_class(const struct insn *insn)
{
    return insn->sparc_word != 0 ? class_of_word(insn->sparc_word)
                                 : foreign_class(insn);
}

bool
t4_block(const struct insn *insn)
{
    const uint32_t word = insn->sparc_word;
    const uint32_t op3 = insn_bits(word, 19, 6);

    if (word >> 30 != 3 || immediate(word) ||
        (op3 != OP3_LDDFA && op3 != OP3_STDFA))
        return false;
    switch (insn_bits(word, 5, 8)) {
    case 0x16:
    case 0x17:
    case 0x1e:
    case 0x1f:
    case 0xf0:
    case 0xf1:
    case 0xf8:
    case 0xf9:
        return true;
    case 0xe0: /* that commit */
    case 0xe1:
        return op3 == OP3_STDFA;
    default:
        return false;
    }
}

/* A twin load is two micro-operations, a block load or store eight (rule
 * T4-R65). The bits of `twin` are address spaces 0x20 to 0x2f, or 0xe0 to 0xef.
 */
unsigned
t4_more(const struct insn *insn)
{
    const uint32_t word = insn->sparc_word;
    const uint32_t asi = insn_bits(word, 5, 8);
    const uint32_t twin = asi >> 4 == 0x2   ? 0xcccc
                          : asi >> 4 == 0xe ? 0x0c0c
                                            : 0;

    if (t4_block(insn))
        return 7;
    return word >> 30 == 3 && insn_bits(word, 19, 6) == OP3_LDDA &&
           !immediate(word) && (twin >> (asi & 15) & 1) != 0;
}
