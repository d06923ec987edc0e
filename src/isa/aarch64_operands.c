/* SPDX-License-Identifier: MIT */
/*
 * What instructions of AArch64 need and make, by rows of masked bits, as in
 * aarch64.c: a word is what the first row of its group says that fits. General
 * registers are 0 to 30, the flags 31. Number 31 of a field is the register of
 * zeros or the stack pointer, and nothing waits for either: the stack pointer
 * is taken as always there.
 *
 * Words are known of Armv8.2 with what the Neoverse N1 has, and most of what
 * later versions add. SVE is not known, nor the moves and tags of memory beyond
 * their registers. An exclusive store and what reads and writes memory at once
 * are atomic; a load exclusive, and loads that acquire and stores that release,
 * are plain ones.
 *
 * As in aarch64.c, an unallocated word between the forms of one instruction
 * counts as that instruction.
 *
 * Comparisons and tests are not told apart, nor are conditions of branches.
 *
 * All instructions are one micro-operation, pairs and those that write their
 * base back too, but for loads and stores of several vectors, one a vector, and
 * atomic and slow ones, 8 as on x86-64.
 *
 * Documents: Arm Architecture Reference Manual for A-profile (DDI 0487),
 * chapter C4; LLVM AArch64SchedNeoverseN1.td, for the kinds of units.
 */
#include "isa/decode.h"
#include "isa/operands.h"

#define FLAGS AARCH64_FLAGS
#define LINK (UINT64_C(1) << 30)

/* What an instruction does with the registers of its four fields: D is bits
 * 4:0, N 9:5, A 14:10 and M 20:16. */
enum {
    /* It reads general ones, */
    RD = 1 << 0,
    RN = 1 << 1,
    RA = 1 << 2,
    RM = 1 << 3,
    /* and vectors; */
    VD = 1 << 4,
    VN = 1 << 5,
    VA = 1 << 6,
    VM = 1 << 7,
    /* changes general ones, */
    WD = 1 << 8,
    WA = 1 << 10,
    WM = 1 << 11,
    /* and vectors; */
    XD = 1 << 12,
    XA = 1 << 14,
    /* and has its address from general ones. */
    PD = 1 << 16,
    PN = 1 << 17,
    PM = 1 << 19,
    /* It reads the flags, and changes them; */
    F = 1 << 20,
    WF = 1 << 21,
    LOAD = 1 << 22,
    STORE = 1 << 23,
    BACK = 1 << 24,    /* writes its base back; */
    CALLS = 1 << 25,   /* changes the link register; */
    ELEMENT = 1 << 26, /* reads an element of a vector of field M; */
    PAIR = 1 << 27,    /* of registers of 64 bits or more */
};

#define LOADS (PN | LOAD)
#define STORES (PN | STORE)
/* Both: the vector of field D is a source, too. */
#define ADDS (VD | VN | VM | XD)
#define TWO (VN | VM | XD)
#define ONE (VN | XD)
#define INTO (VD | VN | XD)

struct row {
    uint32_t mask, bits;
    uint32_t uses;
    enum operation operation;
    /* What the fields do not say; may be NULL. */
    void (*more)(uint32_t word, struct insn_operands *o);
};

/* --- Data processing with immediates and registers ----------------------- */

static const struct row immediates[] = {
    {0x1f000000, 0x10000000, WD, OPERATION_ALU, NULL},           /* ADR ADRP */
    {0x3f800000, 0x31000000, RN | WD | WF, OPERATION_ALU, NULL}, /* ADDS SUBS */
    {0x1f800000, 0x11000000, RN | WD, OPERATION_ALU, NULL},      /* ADD SUB */
    {0x1f800000, 0x11800000, RN | WD, OPERATION_ALU, NULL},      /* ADDG MIN */
    {0x7f800000, 0x72000000, RN | WD | WF, OPERATION_ALU, NULL}, /* ANDS */
    {0x1f800000, 0x12000000, RN | WD, OPERATION_ALU, NULL},      /* AND ... */
    {0x7f800000, 0x72800000, RD | WD, OPERATION_ALU, NULL},      /* MOVK */
    {0x1f800000, 0x12800000, WD, OPERATION_ALU, NULL},           /* MOVZ MOVN */
    {0x7f800000, 0x33000000, RD | RN | WD, OPERATION_BITS, NULL}, /* BFM */
    {0x3f800000, 0x13000000, RN | WD, OPERATION_ALU, NULL},      /* SBFM UBFM */
    {0x7f800000, 0x13800000, RN | RM | WD, OPERATION_ALU, NULL}, /* EXTR */
};

#define RRR (RN | RM | WD)

static const struct row registers[] = {
    {0x7f000000, 0x6a000000, RRR | WF, OPERATION_ALU, NULL},     /* ANDS BICS */
    {0x1f000000, 0x0a000000, RRR, OPERATION_ALU, NULL},          /* AND ... */
    {0x3f000000, 0x2b000000, RRR | WF, OPERATION_ALU, NULL},     /* ADDS SUBS */
    {0x1f000000, 0x0b000000, RRR, OPERATION_ALU, NULL},          /* ADD SUB */
    {0x3fe0fc00, 0x3a000000, RRR | F | WF, OPERATION_ALU, NULL}, /* ADCS */
    {0x3fe0fc00, 0x1a000000, RRR | F, OPERATION_ALU, NULL},      /* ADC SBC */
    {0xffe07c10, 0xba000400, RN | F | WF, OPERATION_ALU, NULL},  /* RMIF */
    {0xffffbc1f, 0x3a00080d, RN | F | WF, OPERATION_ALU, NULL},  /* SETF8 */
    {0x3fe00c10, 0x3a400000, RN | RM | F | WF, OPERATION_ALU, NULL}, /* CCMP */
    {0x3fe00c10, 0x3a400800, RN | F | WF, OPERATION_ALU, NULL}, /* immediate */
    {0x3fe00800, 0x1a800000, RRR | F, OPERATION_ALU, NULL},     /* CSEL ... */
    {0xffe0f800, 0x1ac00800, RRR, OPERATION_DIV, NULL},         /* UDIV SDIV */
    {0xffe0f800, 0x9ac00800, RRR, OPERATION_DIV64, NULL},
    {0x7fe0e000, 0x1ac04000, RRR, OPERATION_BITS, NULL},         /* CRC32 */
    {0xffe0fc00, 0xbac00000, RRR | WF, OPERATION_ALU, NULL},     /* SUBPS */
    {0x7fe00000, 0x1ac00000, RRR, OPERATION_ALU, NULL},          /* LSLV ... */
    {0x7ffff800, 0x5ac01800, RN | WD, OPERATION_BITS, NULL},     /* CTZ CNT */
    {0x7fff0000, 0x5ac00000, RN | WD, OPERATION_ALU, NULL},      /* RBIT ... */
    {0xffff0000, 0xdac10000, RD | RN | WD, OPERATION_ALU, NULL}, /* PACIA */
    {0x7f000000, 0x1b000000, RRR | RA, OPERATION_MUL, NULL},     /* MADD ... */
};

/* --- Branches, exceptions, system ----------------------------------------- */

/* Returns, and signatures of return addresses: the link register, whatever the
 * word's fields say. */
static void
from_link(uint32_t word, struct insn_operands *o)
{
    (void)word;
    o->reads |= LINK;
}

/* Signs or checks x17 by x16. */
static void
authenticate_17(uint32_t word, struct insn_operands *o)
{
    (void)word;
    o->reads |= UINT64_C(1) << 16 | UINT64_C(1) << 17;
    o->changes |= UINT64_C(1) << 17;
}

static const struct row branches[] = {
    {0xfc000000, 0x14000000, 0, OPERATION_BRANCH, NULL},     /* B */
    {0xfc000000, 0x94000000, CALLS, OPERATION_BRANCH, NULL}, /* BL */
    {0xff00000e, 0x5400000e, 0, OPERATION_BRANCH, NULL},     /* B.AL */
    {0xff000000, 0x54000000, F, OPERATION_BRANCH, NULL},     /* B.cond */
    {0x7c000000, 0x34000000, RD, OPERATION_BRANCH, NULL},    /* CBZ TBZ */
    {0xfffff800, 0xd73f0800, RN | RD | CALLS, OPERATION_BRANCH,
     NULL},                                                    /* BLRAA BLRAB */
    {0xfffff800, 0xd71f0800, RN | RD, OPERATION_BRANCH, NULL}, /* BRAA BRAB */
    {0xfffffbff, 0xd65f0bff, 0, OPERATION_BRANCH, from_link},  /* RETAA */
    {0xfefff000, 0xd63f0000, RN | CALLS, OPERATION_BRANCH, NULL}, /* BLR */
    {0xfe000000, 0xd6000000, RN, OPERATION_BRANCH, NULL},         /* BR RET */
    {0xff000000, 0xd4000000, 0, OPERATION_SLOW, NULL},            /* SVC ... */
    {0xffffffdf, 0xd503205f, 0, OPERATION_SLOW, NULL},            /* WFE */
    {0xffffff1f, 0xd503231f, CALLS, OPERATION_ALU, from_link},    /* PACIASP */
    {0xffffffff, 0xd50320ff, CALLS, OPERATION_ALU, from_link},    /* XPACLRI */
    {0xffffff3f, 0xd503211f, 0, OPERATION_ALU, authenticate_17}, /* PACIA1716 */
    {0xfffff01f, 0xd503201f, 0, OPERATION_NONE, NULL},           /* hints */
    {0xfffff0ff, 0xd503305f, 0, OPERATION_NONE, NULL},           /* CLREX */
    {0xfffff000, 0xd5033000, 0, OPERATION_SLOW, NULL},           /* barriers */
    {0xffffff1f, 0xd500401f, F | WF, OPERATION_ALU, NULL},       /* CFINV */
    {0xffffffe0, 0xd50b7420, PD | STORE, OPERATION_NONE, NULL},  /* DC ZVA */
    {0xfff80000, 0xd5080000, RD, OPERATION_SLOW, NULL},          /* DC IC */
    {0xffffffe0, 0xd53b4200, F | WD, OPERATION_ALU, NULL},       /* MRS NZCV */
    {0xffffffe0, 0xd51b4200, RD | WF, OPERATION_SLOW, NULL},     /* MSR NZCV */
    {0xfffff000, 0xd53be000, WD, OPERATION_SLOW, NULL},          /* a clock */
    {0xfff00000, 0xd5300000, WD, OPERATION_ALU, NULL},           /* MRS */
    {0xffffffe0, 0xd51bd040, RD, OPERATION_ALU, NULL},           /* TPIDR_EL0 */
    {0xffe00000, 0xd5000000, RD, OPERATION_SLOW, NULL},          /* MSR */
};

/* --- Loads and stores ------------------------------------------------------
 */

/* Returns the bits of `count` vectors from one on; behind 31 comes 0. */
static uint64_t
vectors_from(uint32_t first, unsigned count)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < count; i++)
        bits |= UINT64_C(1) << (OPERAND_VECTOR + (first + i) % 32);
    return bits;
}

/* Adds the second registers of CASP: what it compares, and what it stores. */
static void
pair_swap(uint32_t word, struct insn_operands *o)
{
    const uint32_t compared = insn_bits(word, 16, 5) | 1;
    const uint32_t stored = insn_bits(word, 0, 5) | 1;

    if (compared != 31) {
        o->reads |= UINT64_C(1) << compared;
        o->changes |= UINT64_C(1) << compared;
    }
    if (stored != 31)
        o->reads |= UINT64_C(1) << stored;
}

/* Adds `count` vectors from that of field D on, which an instruction loads
 * (bit 22) or stores, and the offset behind which the base is written back. */
static void
structures(uint32_t word, unsigned count, struct insn_operands *o)
{
    const uint32_t base = insn_bits(word, 5, 5), by = insn_bits(word, 16, 5);
    const uint64_t vectors = vectors_from(insn_bits(word, 0, 5), count);

    if (insn_bits(word, 22, 1)) {
        o->loads = (uint8_t)count;
        o->changes |= vectors;
    } else {
        o->stores = true;
        o->reads |= vectors;
    }
    o->micro_ops = (uint8_t)count;
    if (!insn_bits(word, 23, 1) || base == 31)
        return;
    o->steps = UINT64_C(1) << base;
    o->step_by = by == 31 ? 0 : UINT64_C(1) << by;
}

/* LD1 to LD4 of whole vectors. Those of elements in turn shuffle them. */
static void
whole_structures(uint32_t word, struct insn_operands *o)
{
    static const uint8_t counts[16] = {
        [0x0] = 4, [0x2] = 4, [0x4] = 3, [0x6] = 3,
        [0x7] = 1, [0x8] = 2, [0xa] = 2,
    };
    const uint32_t opcode = insn_bits(word, 12, 4);

    structures(word, counts[opcode], o);
    if ((opcode & 2) == 0)
        o->operation = OPERATION_SHUFFLE;
}

/* Of one element, whose vector keeps the others; or one for all (LD1R). */
static void
element_structures(uint32_t word, struct insn_operands *o)
{
    const unsigned count =
        1u + insn_bits(word, 21, 1) + 2u * insn_bits(word, 13, 1);
    const bool all = insn_bits(word, 14, 2) == 3;

    structures(word, count, o);
    if (o->loads && !all)
        o->reads |= o->changes;
}

static const struct row memory[] = {
    /* Exclusive and ordered. */
    {0x3fa00000, 0x08a00000, LOADS | STORE | RD | RM | WM, OPERATION_ATOMIC,
     NULL}, /* CAS */
    {0xbfa00000, 0x08200000, LOADS | STORE | RD | RM | WM, OPERATION_ATOMIC,
     pair_swap},
    {0x3fe00000, 0x08600000, LOADS | WD | WA, OPERATION_NONE, NULL}, /* LDXP */
    {0x3f600000, 0x08400000, LOADS | WD, OPERATION_NONE, NULL}, /* LDXR LDAR */
    {0x3fe00000, 0x08200000, STORES | RD | RA | WM, OPERATION_ATOMIC,
     NULL}, /* STXP */
    {0x3fe00000, 0x08000000, STORES | RD | WM, OPERATION_ATOMIC, NULL},
    {0x3fe00000, 0x08800000, STORES | RD, OPERATION_NONE, NULL}, /* STLR */
    {0xff200000, 0xd9200000, PN | RD, OPERATION_SLOW, NULL},     /* tags */
    {0x3fe00c00, 0x19000000, STORES | RD, OPERATION_NONE, NULL}, /* STLUR */
    {0x3f200c00, 0x19000000, LOADS | WD, OPERATION_NONE, NULL},  /* LDAPUR */
    /* Of an address relative to the instruction's own. */
    {0xff000000, 0xd8000000, 0, OPERATION_NONE, NULL}, /* PRFM */
    {0x3f000000, 0x18000000, LOAD | WD, OPERATION_NONE, NULL},
    {0x3f000000, 0x1c000000, LOAD | XD, OPERATION_NONE, NULL},
    /* Pairs; bit 23: the base is written back. */
    {0xbec00000, 0x28c00000, LOADS | WD | WA | BACK, OPERATION_NONE, NULL},
    {0xbe400000, 0x28400000, LOADS | WD | WA, OPERATION_NONE, NULL},
    {0x3ec00000, 0x28c00000, LOADS | WD | WA | BACK | PAIR, OPERATION_NONE,
     NULL},
    {0x3e400000, 0x28400000, LOADS | WD | WA | PAIR, OPERATION_NONE, NULL},
    {0x3ec00000, 0x28800000, STORES | RD | RA | BACK, OPERATION_NONE, NULL},
    {0x3e400000, 0x28000000, STORES | RD | RA, OPERATION_NONE, NULL},
    {0x3ec00000, 0x2cc00000, LOADS | XD | XA | BACK | PAIR, OPERATION_NONE,
     NULL},
    {0x3e400000, 0x2c400000, LOADS | XD | XA | PAIR, OPERATION_NONE, NULL},
    {0x3ec00000, 0x2c800000, STORES | VD | VA | BACK, OPERATION_NONE, NULL},
    {0x3e400000, 0x2c000000, STORES | VD | VA, OPERATION_NONE, NULL},
    /* One register, behind an offset. */
    {0xffc00000, 0xf9800000, PN, OPERATION_NONE, NULL}, /* PRFM */
    {0x3fc00000, 0x39000000, STORES | RD, OPERATION_NONE, NULL},
    {0x3f000000, 0x39000000, LOADS | WD, OPERATION_NONE, NULL},
    {0x3f400000, 0x3d000000, STORES | VD, OPERATION_NONE, NULL},
    {0x3f400000, 0x3d400000, LOADS | XD, OPERATION_NONE, NULL},
    /* Behind an offset that is not scaled; bit 10: the base is written back. */
    {0xffe00c00, 0xf8800000, PN, OPERATION_NONE, NULL}, /* PRFUM */
    {0x3fe00400, 0x38000400, STORES | RD | BACK, OPERATION_NONE, NULL},
    {0x3f200400, 0x38000400, LOADS | WD | BACK, OPERATION_NONE, NULL},
    {0x3fe00400, 0x38000000, STORES | RD, OPERATION_NONE, NULL},
    {0x3f200400, 0x38000000, LOADS | WD, OPERATION_NONE, NULL},
    {0x3f600400, 0x3c000400, STORES | VD | BACK, OPERATION_NONE, NULL},
    {0x3f600400, 0x3c400400, LOADS | XD | BACK, OPERATION_NONE, NULL},
    {0x3f600400, 0x3c000000, STORES | VD, OPERATION_NONE, NULL},
    {0x3f600400, 0x3c400000, LOADS | XD, OPERATION_NONE, NULL},
    /* With an index. */
    {0xffe00c00, 0xf8a00800, PN | PM, OPERATION_NONE, NULL}, /* PRFM */
    {0x3fe00c00, 0x38200800, STORES | PM | RD, OPERATION_NONE, NULL},
    {0x3f200c00, 0x38200800, LOADS | PM | WD, OPERATION_NONE, NULL},
    {0x3f600c00, 0x3c200800, STORES | PM | VD, OPERATION_NONE, NULL},
    {0x3f600c00, 0x3c600800, LOADS | PM | XD, OPERATION_NONE, NULL},
    {0x3ffffc00, 0x38bfc000, LOADS | WD, OPERATION_NONE, NULL}, /* LDAPR */
    {0x3f200c00, 0x38200000, LOADS | STORE | RM | WD, OPERATION_ATOMIC,
     NULL}, /* LDADD ... SWP */
    {0xff200c00, 0xf8200c00, LOADS | WD | BACK, OPERATION_NONE, NULL},
    {0xff200400, 0xf8200400, LOADS | WD, OPERATION_NONE, NULL}, /* LDRAA */
    /* Structures. */
    {0xbf000000, 0x0c000000, PN, OPERATION_NONE, whole_structures},
    {0xbf000000, 0x0d000000, PN, OPERATION_SHUFFLE, element_structures},
};

/* --- Floating point and vectors ------------------------------------------- */

static const struct row scalars[] = {
    {0xff000000, 0x1f000000, TWO | VA, OPERATION_FMA, NULL}, /* FMADD ... */
    /* Between fixed point, or integers, and floating point. */
    {0x7f3e0000, 0x1e020000, RN | XD, OPERATION_CONVERT, NULL},
    {0x7f3e0000, 0x1e180000, VN | WD, OPERATION_CONVERT, NULL},
    {0x7f3efc00, 0x1e220000, RN | XD, OPERATION_CONVERT, NULL},
    {0xfffffc00, 0x1e7e0000, VN | WD | WF, OPERATION_CONVERT,
     NULL}, /* FJCVTZS */
    {0xfffffc00, 0x9eaf0000, RN | VD | XD, OPERATION_TRANSFER, NULL},
    {0x7f27fc00, 0x1e260000, VN | WD, OPERATION_TRANSFER, NULL}, /* FMOV */
    {0x7f27fc00, 0x1e270000, RN | XD, OPERATION_TRANSFER, NULL},
    {0x7f20fc00, 0x1e200000, VN | WD, OPERATION_CONVERT, NULL},
    /* Of one register. */
    {0xff3f7c00, 0x1e204000, ONE, OPERATION_VECTOR, NULL}, /* FMOV FABS */
    {0xff3ffc00, 0x1e214000, ONE, OPERATION_VECTOR, NULL}, /* FNEG */
    {0xff3ffc00, 0x1e21c000, ONE, OPERATION_FSQRT, NULL},
    {0xff3e7c00, 0x1e224000, ONE, OPERATION_CONVERT, NULL},  /* FCVT */
    {0xff207c00, 0x1e204000, ONE, OPERATION_FADD, NULL},     /* FRINT */
    {0xff20fc0f, 0x1e202008, VN | WF, OPERATION_FADD, NULL}, /* FCMP of 0 */
    {0xff20fc0f, 0x1e202000, VN | VM | WF, OPERATION_FADD, NULL},
    {0xff201fe0, 0x1e201000, XD, OPERATION_VECTOR, NULL}, /* FMOV */
    {0xff200c00, 0x1e200400, VN | VM | F | WF, OPERATION_FADD,
     NULL}, /* FCCMP */
    /* Of two. */
    {0xff207c00, 0x1e200800, TWO, OPERATION_FMUL, NULL},
    {0xff20fc00, 0x1e201800, TWO, OPERATION_FDIV, NULL},
    {0xff200c00, 0x1e200800, TWO, OPERATION_FADD, NULL},
    {0xff200c00, 0x1e200c00, TWO | F, OPERATION_VECTOR, NULL}, /* FCSEL */
};

/* Adds what TBL and TBX look up in: vectors from that of field N on. */
static void
table_lookup(uint32_t word, struct insn_operands *o)
{
    o->reads |= vectors_from(insn_bits(word, 5, 5), 1 + insn_bits(word, 13, 2));
}

/* The bits of opcodes alone: 28 tells scalars apart, 30 the length, 29 and
 * 23:22 often the kind of numbers. */
static const struct row vectors[] = {
    /* Ciphers. */
    {0xffffec00, 0x4e284800, INTO, OPERATION_VMUL, NULL}, /* AESE AESD */
    {0xffffec00, 0x4e286800, ONE, OPERATION_VMUL, NULL},  /* AESMC AESIMC */
    {0xffe08c00, 0x5e000000, ADDS, OPERATION_VMUL, NULL}, /* SHA1C ... */
    {0xfffffc00, 0x5e280800, ONE, OPERATION_VMUL, NULL},  /* SHA1H */
    {0xffffcc00, 0x5e280800, INTO, OPERATION_VMUL, NULL}, /* SHA1SU1 ... */
    {0xff808000, 0xce000000, TWO | VA, OPERATION_VECTOR, NULL}, /* EOR3 BCAX */
    {0xff000000, 0xce000000, ADDS, OPERATION_VMUL, NULL},
    /* Copies and orders of elements. */
    {0xffe08400, 0x6e000400, INTO, OPERATION_SHUFFLE, NULL}, /* INS */
    {0xafe0fc00, 0x0e000400, ONE, OPERATION_SHUFFLE, NULL},  /* DUP */
    {0xbfe0fc00, 0x0e000c00, RN | XD, OPERATION_TRANSFER, NULL},
    {0xffe0fc00, 0x4e001c00, RN | VD | XD, OPERATION_TRANSFER, NULL}, /* INS */
    {0xbfe0ec00, 0x0e002c00, VN | WD, OPERATION_TRANSFER, NULL},      /* UMOV */
    {0xbfe09c00, 0x0e000000, VM | XD, OPERATION_SHUFFLE,
     table_lookup}, /* TBL */
    {0xbfe09c00, 0x0e001000, VD | VM | XD, OPERATION_SHUFFLE, table_lookup},
    {0xbf208c00, 0x0e000800, TWO, OPERATION_SHUFFLE, NULL}, /* UZP TRN ZIP */
    {0xbf208400, 0x2e000000, TWO, OPERATION_SHUFFLE, NULL}, /* EXT */
    /* Of different lengths. */
    {0x8f20cc00, 0x0e208000, ADDS, OPERATION_VMUL, NULL},   /* SMLAL ... */
    {0x8f20cc00, 0x0e20c000, TWO, OPERATION_VMUL, NULL},    /* SMULL ... */
    {0x8f20fc00, 0x0e205000, ADDS, OPERATION_VECTOR, NULL}, /* SABAL */
    {0xcf20dc00, 0x4e204000, ADDS, OPERATION_VECTOR, NULL}, /* ADDHN2 */
    {0x8f200c00, 0x0e200000, TWO, OPERATION_VECTOR, NULL},
    /* Of three vectors: floating point from opcode 0x18 on. */
    {0x8f20fc00, 0x0e20cc00, ADDS, OPERATION_FMA, NULL},    /* FMLA FMLS */
    {0xaf20fc00, 0x0e20ec00, ADDS, OPERATION_FMA, NULL},    /* FMLAL */
    {0x8f20fc00, 0x0e20dc00, TWO, OPERATION_FMUL, NULL},    /* FMUL FMULX */
    {0xaf20fc00, 0x2e20fc00, TWO, OPERATION_FDIV, NULL},    /* FDIV */
    {0xaf20fc00, 0x0e20fc00, TWO, OPERATION_FMA, NULL},     /* FRECPS */
    {0x8f20c400, 0x0e20c400, TWO, OPERATION_FADD, NULL},    /* FADD ... */
    {0xbfe0fc00, 0x2e201c00, TWO, OPERATION_VECTOR, NULL},  /* EOR */
    {0xbf20fc00, 0x2e201c00, ADDS, OPERATION_VECTOR, NULL}, /* BSL BIT BIF */
    {0x8f20fc00, 0x0e209400, ADDS, OPERATION_VMUL, NULL},   /* MLA MLS */
    {0x8f20fc00, 0x0e209c00, TWO, OPERATION_VMUL, NULL},    /* MUL PMUL */
    {0x8f20fc00, 0x0e20b400, TWO, OPERATION_VMUL, NULL},    /* SQDMULH */
    {0x8f20fc00, 0x0e207c00, ADDS, OPERATION_VECTOR, NULL}, /* SABA */
    {0x8f200400, 0x0e200400, TWO, OPERATION_VECTOR, NULL},
    /* The same of half precision. */
    {0x8f60fc00, 0x0e400c00, ADDS, OPERATION_FMA, NULL},
    {0x8f60fc00, 0x0e401c00, TWO, OPERATION_FMUL, NULL},
    {0xaf60fc00, 0x2e403c00, TWO, OPERATION_FDIV, NULL},
    {0xaf60fc00, 0x0e403c00, TWO, OPERATION_FMA, NULL},
    {0x8f60c400, 0x0e400400, TWO, OPERATION_FADD, NULL},
    /* Added in Armv8.1 and later. */
    {0xbf20ec00, 0x2e00e400, TWO, OPERATION_FADD, NULL},  /* FCADD */
    {0x8f20c400, 0x0e00c400, ADDS, OPERATION_FMA, NULL},  /* FCMLA BFDOT */
    {0x8f208400, 0x0e008400, ADDS, OPERATION_VMUL, NULL}, /* SDOT ... */
    /* Of one vector; the second halves of narrow results keep the first. */
    {0x8f3ffc00, 0x0e203800, INTO, OPERATION_VECTOR, NULL},  /* SUQADD */
    {0x8f3ffc00, 0x0e206800, INTO, OPERATION_VECTOR, NULL},  /* SADALP */
    {0xdf3ffc00, 0x4e212800, INTO, OPERATION_VECTOR, NULL},  /* XTN2 */
    {0xff3ffc00, 0x6e213800, ONE, OPERATION_VECTOR, NULL},   /* SHLL2 */
    {0xdf3ffc00, 0x4e214800, INTO, OPERATION_VECTOR, NULL},  /* SQXTN2 */
    {0xdf3ffc00, 0x4e216800, INTO, OPERATION_CONVERT, NULL}, /* FCVTN2 */
    {0x8f3fec00, 0x0e216800, ONE, OPERATION_CONVERT, NULL},  /* FCVTN FCVTL */
    {0x8f3ffc00, 0x0e20f800, ONE, OPERATION_VECTOR, NULL},   /* FABS FNEG */
    {0x8f3fcc00, 0x0e20c800, ONE, OPERATION_FADD, NULL},     /* FCMGT ... */
    {0x8f3fec00, 0x0e218800, ONE, OPERATION_FADD, NULL},     /* FRINTN ... */
    {0x8f3fec00, 0x0e21a800, ONE, OPERATION_CONVERT, NULL},  /* FCVTNS ... */
    {0x8fbfec00, 0x0e21c800, ONE, OPERATION_CONVERT, NULL},  /* SCVTF ... */
    {0x8fbfec00, 0x0ea1c800, ONE, OPERATION_FMUL, NULL},     /* FRECPE ... */
    {0xbfbffc00, 0x2ea1f800, ONE, OPERATION_FSQRT, NULL},
    {0xffbffc00, 0x5ea1f800, ONE, OPERATION_FMUL, NULL},   /* FRECPX */
    {0x8f3fec00, 0x0e21e800, ONE, OPERATION_FADD, NULL},   /* FRINT32Z ... */
    {0x8f3e0c00, 0x0e200800, ONE, OPERATION_VECTOR, NULL}, /* REV ... */
    {0x8f3fcc00, 0x0e30c800, ONE, OPERATION_FADD, NULL},   /* FMAXV ... */
    {0x8f3e0c00, 0x0e300800, ONE, OPERATION_VECTOR, NULL}, /* ADDV ... */
    {0xbffffc00, 0x2ef9f800, ONE, OPERATION_FSQRT, NULL},  /* of halves */
    {0x8f7fec00, 0x0e79a800, ONE, OPERATION_CONVERT, NULL},
    {0x8f7fec00, 0x0e79c800, ONE, OPERATION_CONVERT, NULL},
    {0x8f7e0c00, 0x0e780800, ONE, OPERATION_FADD, NULL},
    /* Immediates, and shifts by one. */
    {0x9ff89c00, 0x0f001400, VD | XD, OPERATION_VECTOR, NULL}, /* ORR BIC */
    {0x9ff8dc00, 0x0f009400, VD | XD, OPERATION_VECTOR, NULL},
    {0x9ff80400, 0x0f000400, XD, OPERATION_VECTOR, NULL},   /* MOVI ... */
    {0x8f80dc00, 0x0f001400, INTO, OPERATION_VECTOR, NULL}, /* SSRA SRSRA */
    {0xaf80ec00, 0x2f004400, INTO, OPERATION_VECTOR, NULL}, /* SRI SLI */
    {0xdf80e400, 0x4f008400, INTO, OPERATION_VECTOR, NULL}, /* SHRN2 ... */
    {0x8f80fc00, 0x0f00e400, ONE, OPERATION_CONVERT, NULL}, /* SCVTF */
    {0x8f80fc00, 0x0f00fc00, ONE, OPERATION_CONVERT, NULL}, /* FCVTZS */
    {0x8f800400, 0x0f000400, ONE, OPERATION_VECTOR, NULL},
    /* By element. */
    {0xaf00b400, 0x0f001000, INTO | ELEMENT, OPERATION_FMA, NULL}, /* FMLA */
    {0x8f00f400, 0x0f009000, ONE | ELEMENT, OPERATION_FMUL, NULL}, /* FMUL */
    {0xbfc0b400, 0x0f800000, INTO | ELEMENT, OPERATION_FMA, NULL}, /* FMLAL */
    {0xbfc0b400, 0x2f808000, INTO | ELEMENT, OPERATION_FMA, NULL},
    {0xbf009400, 0x2f001000, INTO | ELEMENT, OPERATION_FMA, NULL}, /* FCMLA */
    {0xaf00f400, 0x0f008000, ONE | ELEMENT, OPERATION_VMUL, NULL}, /* MUL */
    {0x8f00e400, 0x0f00a000, ONE | ELEMENT, OPERATION_VMUL, NULL}, /* SMULL */
    {0xaf00e400, 0x0f00c000, ONE | ELEMENT, OPERATION_VMUL, NULL}, /* SQDMULH */
    {0x8f000400, 0x0f000000, INTO | ELEMENT, OPERATION_VMUL, NULL}, /* MLA */
};

/* ------------------------------------------------------------------------- */

/* Returns the registers of the fields D, N, A and M whose bits 0 to 3 are set
 * in `uses`; number 31 of general ones is none. */
static uint64_t
fields(uint32_t word, uint32_t uses, bool vector)
{
    static const uint8_t lows[] = {0, 5, 10, 16};
    uint64_t bits = 0;

    for (unsigned i = 0; i < 4; i++) {
        const uint32_t number = insn_bits(word, lows[i], 5);
        if ((uses >> i & 1) == 0)
            continue;
        if (vector)
            bits |= UINT64_C(1) << (OPERAND_VECTOR + number);
        else if (number != 31)
            bits |= UINT64_C(1) << number;
    }
    return bits;
}

/* Returns the vector that an element is taken from: of elements of 16 bits,
 * and of products that are twice as long, one of the first 16. */
static uint64_t
element(uint32_t word, enum operation operation)
{
    const uint32_t size = insn_bits(word, 22, 2);
    const bool dot = insn_bits(word, 13, 3) == 7;
    const bool longer =
        operation == OPERATION_FMA && size == 2 && insn_bits(word, 12, 1) == 0;
    const bool few = (size < 2 && !dot) || longer;

    return vectors_from(insn_bits(word, 16, few ? 4 : 5), 1);
}

static void
fill(const struct row *row, uint32_t word, struct insn_operands *o)
{
    const uint32_t uses = row->uses;

    o->reads = fields(word, uses, false) | fields(word, uses >> 4, true) |
               (uses & F ? FLAGS : 0) |
               (uses & ELEMENT ? element(word, row->operation) : 0);
    o->changes = fields(word, uses >> 8, false) |
                 fields(word, uses >> 12, true) | (uses & WF ? FLAGS : 0) |
                 (uses & CALLS ? LINK : 0);
    o->address = fields(word, uses >> 16, false);
    o->steps = uses & BACK ? fields(word, RN, false) : 0;
    o->loads = (uses & LOAD) != 0;
    o->pair = (uses & PAIR) != 0;
    o->stores = (uses & STORE) != 0;
    o->operation = (uint8_t)row->operation;
    o->micro_ops =
        row->operation == OPERATION_ATOMIC || row->operation == OPERATION_SLOW
            ? 8
            : 1;
    if (row->more != NULL)
        row->more(word, o);
    o->vector = o->changes >> OPERAND_VECTOR != 0;
    if (o->operation == OPERATION_ALU && o->changes == FLAGS &&
        (o->reads & FLAGS) == 0)
        o->sets = SETS_COMPARE;
    if (o->operation == OPERATION_BRANCH && o->reads == FLAGS)
        o->asks = ASKS_SIGNED;
}

struct group {
    const struct row *rows;
    size_t count;
};

#define GROUP(rows)                          \
    (struct group)                           \
    {                                        \
        rows, sizeof(rows) / sizeof(*(rows)) \
    }

/* Returns the rows of a word's group, by bits 28:25. */
static struct group
group_of(uint32_t word)
{
    switch (insn_bits(word, 25, 4)) {
    case 0x8:
    case 0x9:
        return GROUP(immediates);
    case 0xa:
    case 0xb:
        return GROUP(branches);
    case 0x4:
    case 0x6:
    case 0xc:
    case 0xe:
        return GROUP(memory);
    case 0x5:
    case 0xd:
        return GROUP(registers);
    case 0x7:
    case 0xf:
        if ((word & 0x5e000000) == 0x1e000000)
            return GROUP(scalars);
        return GROUP(vectors);
    default:
        return (struct group){NULL, 0};
    }
}

bool
aarch64_operands(const uint8_t *bytes, size_t size, struct insn_operands *o)
{
    if (size < 4)
        return false;
    const uint32_t word = insn_little_word(bytes);
    const struct group group = group_of(word);

    for (size_t i = 0; i < group.count; i++) {
        if ((word & group.rows[i].mask) == group.rows[i].bits) {
            fill(&group.rows[i], word, o);
            return true;
        }
    }
    return false;
}
