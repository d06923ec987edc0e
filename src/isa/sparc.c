/* SPDX-License-Identifier: MIT */
/*
 * SPARC V9 with VIS 1 and 2 as the UltraSPARC T2 executes it: one table row an
 * opcode, and an opcode without a row is illegal. VIS 3, the fused multiply-add
 * and what else came with later processors is illegal too.
 *
 * Fields that only select a variant (condition codes, numbers of state
 * registers) are checked; other reserved bits are not, because neither the
 * chip nor QEMU looks at all of them. Targets assume 64-bit addresses.
 *
 * Documents: The SPARC Architecture Manual, Version 9, appendices A and E;
 * UltraSPARC Architecture 2007, chapters 7 and 10; OpenSPARC T2 Core
 * Microarchitecture Specification for what runs in the FGU.
 */
#include <stdio.h>

#include "isa/decode.h"

#define ANY UINT32_MAX
#define EVEN 0x55555555u
#define ALL_REGISTERS 0xfffffffeu

#define REG_O7 15
#define REG_I7 31

/* sethi %hi(0xfc000), %g0 */
#define SOFTWARE_COUNT 0x010003f0u

enum writes { WRITES_NONE, WRITES_RD, WRITES_PAIR, WRITES_ALL };

struct row {
    uint8_t class;
    uint8_t access;
    uint8_t access_size;
    uint8_t writes; /* enum writes */
    uint16_t flags;
    /* The five bits from `shift` on must hold one of the values in `valid`. */
    uint16_t shift;
    uint32_t valid;
    /* What the row cannot say; may find the instruction illegal. */
    void (*more)(uint32_t word, struct insn *insn);
};

/* How an opf code of FPop1, FPop2 or IMPDEP1 is executed; 0: not at all. */
enum fp {
    FP_NONE,
    /* Add, multiply, divide, compare, convert: TABLE 3-2, footnote 3, of the
       Netra DPS profiler (rule P62), which the cores of a T1 share. */
    FP_SHARED,
    FP_COMPUTE,    /* of that kind, but roots and quads: the T1 lacks them */
    FP_MOVE,       /* FGU too: copies, sign bits, logic, pixels */
    FP_TO_INTEGER, /* FGU, with its result in an integer register */
    FP_INTEGER,    /* a VIS instruction of the integer unit */
    FP_NOTHING,    /* SHUTDOWN */
};

/* Returns the low `count` bits of `value` as a signed number. */
static int64_t
sign_extend(uint32_t value, unsigned count)
{
    return (int32_t)(value << (32 - count)) >> (32 - count);
}

static bool
immediate(uint32_t word)
{
    return word >> 13 & 1;
}

/*
 * Sets the target relative to the branch; decode_word() adds its address.
 *
 * An unconditional branch with the annul bit never executes its delay slot; a
 * conditional one does if it is taken.
 */
static void
branch(uint32_t word, int64_t displacement, enum insn_branch kind,
       struct insn *insn)
{
    const bool annul = insn_bits(word, 29, 1);

    insn->branch = (uint8_t)kind;
    insn->target = (uint64_t)displacement * 4;
    if (annul)
        insn->flags |= INSN_ANNUL;
    if (!annul || kind == BRANCH_CONDITIONAL)
        insn->flags |= INSN_DELAY_SLOT;
}

static enum insn_branch
branch_kind(uint32_t word)
{
    switch (insn_bits(word, 25, 4)) {
    case 0:
        return BRANCH_NEVER;
    case 8:
        return BRANCH_JUMP;
    default:
        return BRANCH_CONDITIONAL;
    }
}

static void
branch_22(uint32_t word, struct insn *insn)
{
    branch(word, sign_extend(word, 22), branch_kind(word), insn);
}

static void
branch_19(uint32_t word, struct insn *insn)
{
    branch(word, sign_extend(word, 19), branch_kind(word), insn);
}

static void
branch_register(uint32_t word, struct insn *insn)
{
    const uint32_t displacement =
        insn_bits(word, 20, 2) << 14 | insn_bits(word, 0, 14);

    branch(word, sign_extend(displacement, 16), BRANCH_CONDITIONAL, insn);
}

static void
call(uint32_t word, struct insn *insn)
{
    insn->branch = BRANCH_CALL;
    insn->target = (uint64_t)sign_extend(word, 30) * 4;
    insn->reg_writes = 1u << REG_O7;
}

static void
sethi(uint32_t word, struct insn *insn)
{
    if (word == SOFTWARE_COUNT)
        insn->class = CLASS_SETHI;
}

/* A return is `jmpl %i7+8, %g0`, or from a leaf function `jmpl %o7+8, %g0`. */
static void
jump(uint32_t word, struct insn *insn)
{
    const uint32_t rd = insn_bits(word, 25, 5), rs1 = insn_bits(word, 14, 5);
    const bool past_call = immediate(word) && insn_bits(word, 0, 13) == 8;

    if (rd == REG_O7)
        insn->branch = BRANCH_INDIRECT_CALL;
    else if (rd == 0 && past_call && (rs1 == REG_O7 || rs1 == REG_I7))
        insn->branch = BRANCH_RETURN;
    else
        insn->branch = BRANCH_INDIRECT;
}

static void
return_jump(uint32_t word, struct insn *insn)
{
    (void)word;
    insn->branch = BRANCH_RETURN;
}

/* cc2:cc1:cc0 101 and 111 name no condition codes. */
static void
move_condition(uint32_t word, struct insn *insn)
{
    if (insn_bits(word, 18, 1) && insn_bits(word, 11, 1))
        insn_illegal(insn);
}

#define READ_CCR_AWAY 0x81408000u /* rd %ccr, %g0: the no-op of spin loops */

/* RDASR of register 15 is MEMBAR or STBAR, with no destination. */
static void
read_state(uint32_t word, struct insn *insn)
{
    if (word == READ_CCR_AWAY)
        insn->flags |= INSN_PAUSE;
    if (insn_bits(word, 14, 5) != 15)
        return;
    if (insn_bits(word, 25, 5) != 0)
        insn_illegal(insn);
    else
        insn->flags |= INSN_MEMBAR;
}

/* The opcode maps of V9 appendix E and of UA2007, by opf. */
static const uint8_t fpop1[512] = {
    [0x001 ... 0x003] = FP_MOVE,    /* FMOV s d q */
    [0x005 ... 0x007] = FP_MOVE,    /* FNEG */
    [0x009 ... 0x00b] = FP_MOVE,    /* FABS */
    [0x029 ... 0x02b] = FP_COMPUTE, /* FSQRT */
    [0x041 ... 0x042] = FP_SHARED,  /* FADD */
    [0x043] = FP_COMPUTE,           /* its quad form */
    [0x045 ... 0x046] = FP_SHARED,  /* FSUB */
    [0x047] = FP_COMPUTE,           /* its quad form */
    [0x049 ... 0x04a] = FP_SHARED,  /* FMUL */
    [0x04b] = FP_COMPUTE,           /* its quad form */
    [0x04d ... 0x04e] = FP_SHARED,  /* FDIV */
    [0x04f] = FP_COMPUTE,           /* its quad form */
    [0x069] = FP_SHARED,            /* FsMULd */
    [0x06e] = FP_COMPUTE,           /* FdMULq */
    [0x081 ... 0x082] = FP_SHARED,  /* F s d TOx */
    [0x083] = FP_COMPUTE,           /* FqTOx */
    [0x084] = FP_SHARED,            /* FxTOs */
    [0x088] = FP_SHARED,            /* FxTOd */
    [0x08c] = FP_COMPUTE,           /* FxTOq */
    [0x0c4] = FP_SHARED,            /* FiTOs */
    [0x0c6] = FP_SHARED,            /* FdTOs */
    [0x0c7] = FP_COMPUTE,           /* FqTOs */
    [0x0c8] = FP_SHARED,            /* FiTOd */
    [0x0c9] = FP_SHARED,            /* FsTOd */
    [0x0cb] = FP_COMPUTE,           /* FqTOd */
    [0x0cc] = FP_COMPUTE,           /* FiTOq */
    [0x0cd] = FP_COMPUTE,           /* FsTOq */
    [0x0ce] = FP_COMPUTE,           /* FdTOq */
    [0x0d1 ... 0x0d2] = FP_SHARED,  /* F s d TOi */
    [0x0d3] = FP_COMPUTE,           /* FqTOi */
};

static const uint8_t fpop2[512] = {
    [0x001 ... 0x003] = FP_MOVE,   /* FMOVcc on fcc0 */
    [0x041 ... 0x043] = FP_MOVE,   /* on fcc1 */
    [0x081 ... 0x083] = FP_MOVE,   /* on fcc2 */
    [0x0c1 ... 0x0c3] = FP_MOVE,   /* on fcc3 */
    [0x101 ... 0x103] = FP_MOVE,   /* on icc */
    [0x181 ... 0x183] = FP_MOVE,   /* on xcc */
    [0x025 ... 0x027] = FP_MOVE,   /* FMOVr Z */
    [0x045 ... 0x047] = FP_MOVE,   /* LEZ */
    [0x065 ... 0x067] = FP_MOVE,   /* LZ */
    [0x0a5 ... 0x0a7] = FP_MOVE,   /* NZ */
    [0x0c5 ... 0x0c7] = FP_MOVE,   /* GZ */
    [0x0e5 ... 0x0e7] = FP_MOVE,   /* GEZ */
    [0x051 ... 0x052] = FP_SHARED, /* FCMP s d */
    [0x053] = FP_COMPUTE,          /* FCMPq */
    [0x055 ... 0x056] = FP_SHARED, /* FCMPE s d */
    [0x057] = FP_COMPUTE,          /* FCMPEq */
};

static const uint8_t impdep1[512] = {
    [0x000 ... 0x00b] = FP_INTEGER, /* EDGE8 16 32, N L LN */
    [0x010] = FP_INTEGER,           /* ARRAY8 */
    [0x012] = FP_INTEGER,           /* ARRAY16 */
    [0x014] = FP_INTEGER,           /* ARRAY32 */
    [0x018 ... 0x01a] = FP_INTEGER, /* ALIGNADDR, BMASK, ALIGNADDRL */
    [0x020] = FP_TO_INTEGER,        /* FCMPLE16 */
    [0x022] = FP_TO_INTEGER,        /* FCMPNE16 */
    [0x024] = FP_TO_INTEGER,        /* FCMPLE32 */
    [0x026] = FP_TO_INTEGER,        /* FCMPNE32 */
    [0x028] = FP_TO_INTEGER,        /* FCMPGT16 */
    [0x02a] = FP_TO_INTEGER,        /* FCMPEQ16 */
    [0x02c] = FP_TO_INTEGER,        /* FCMPGT32 */
    [0x02e] = FP_TO_INTEGER,        /* FCMPEQ32 */
    [0x031] = FP_MOVE,              /* FMUL8x16 */
    [0x033] = FP_MOVE,              /* FMUL8x16AU */
    [0x035 ... 0x037] = FP_MOVE,    /* FMUL8x16AL SUx16 ULx16 */
    [0x038 ... 0x039] = FP_MOVE,    /* FMULD8SUx16 ULx16 */
    [0x03a ... 0x03b] = FP_MOVE,    /* FPACK32 16 */
    [0x03d ... 0x03e] = FP_MOVE,    /* FPACKFIX, PDIST */
    [0x048] = FP_MOVE,              /* FALIGNDATA */
    [0x04b ... 0x04d] = FP_MOVE,    /* FPMERGE, BSHUFFLE, FEXPAND */
    [0x050 ... 0x057] = FP_MOVE,    /* FPADD, FPSUB */
    [0x060 ... 0x07f] = FP_MOVE,    /* FZERO ... FONE: the logic */
    [0x080] = FP_NOTHING,           /* SHUTDOWN */
    [0x081] = FP_MOVE,              /* SIAM */
};

static void
fp(enum fp kind, uint32_t word, struct insn *insn)
{
    if (kind == FP_NONE) {
        insn_illegal(insn);
        return;
    }
    if (kind == FP_INTEGER || kind == FP_NOTHING)
        insn->class = CLASS_OTHER;
    if (kind == FP_INTEGER || kind == FP_TO_INTEGER)
        insn->reg_writes = 1u << insn_bits(word, 25, 5) & ALL_REGISTERS;
    if (kind == FP_COMPUTE || kind == FP_SHARED)
        insn->flags |= INSN_FP;
    if (kind == FP_SHARED)
        insn->flags |= INSN_SHARED_FPU;
}

static void
operate_1(uint32_t word, struct insn *insn)
{
    fp(fpop1[insn_bits(word, 5, 9)], word, insn);
}

static void
operate_2(uint32_t word, struct insn *insn)
{
    fp(fpop2[insn_bits(word, 5, 9)], word, insn);
}

static void
vis(uint32_t word, struct insn *insn)
{
    fp(impdep1[insn_bits(word, 5, 9)], word, insn);
}

/* LDFSR and STFSR move 4 bytes, LDXFSR and STXFSR (rd = 1) move 8. */
static void
fsr(uint32_t word, struct insn *insn)
{
    if (insn_bits(word, 25, 5) == 1)
        insn->access_size = 8;
}

/* What the user-mode address spaces do to an access; UA2007 chapter 10. */
enum asi {
    ASI_UNKNOWN,
    ASI_PLAIN,   /* primary, secondary, no-fault, little-endian */
    ASI_SHORT_8, /* one byte or two of an FP register (LDDFA, STDFA) */
    ASI_SHORT_16,
    ASI_PIECES, /* block or partial, in units of 8 bytes (LDDFA, STDFA) */
    ASI_TWIN,   /* LDDA: 16 bytes as two of 8; stores: an initializing store */
};

static const uint8_t asi_kind[256] = {
    [0x80 ... 0x83] = ASI_PLAIN,    [0x88 ... 0x8b] = ASI_PLAIN,
    [0xc0 ... 0xc5] = ASI_PIECES,   [0xc8 ... 0xcd] = ASI_PIECES,
    [0xd0 ... 0xd1] = ASI_SHORT_8,  [0xd8 ... 0xd9] = ASI_SHORT_8,
    [0xd2 ... 0xd3] = ASI_SHORT_16, [0xda ... 0xdb] = ASI_SHORT_16,
    [0xe0 ... 0xe1] = ASI_PIECES,   [0xe2 ... 0xe3] = ASI_TWIN,
    [0xea ... 0xeb] = ASI_TWIN,     [0xf0 ... 0xf1] = ASI_PIECES,
    [0xf8 ... 0xf9] = ASI_PIECES,
};

#define OP3_LDDA 0x13
#define OP3_LDDFA 0x33
#define OP3_STDFA 0x37
#define OP3_CASA 0x3c
#define OP3_PREFETCHA 0x3d
#define OP3_CASXA 0x3e

#define ASI_NO_FAULT 2 /* of 0x80 to 0x8b */

static void
mixed(struct insn *insn, uint8_t access_size)
{
    insn->access = ACCESS_MIXED;
    insn->access_size = access_size;
}

static void
alternate(uint32_t word, struct insn *insn)
{
    const uint32_t op3 = insn_bits(word, 19, 6);
    const bool fp_double = op3 == OP3_LDDFA || op3 == OP3_STDFA;
    /* With i = 1 the register %asi decides, which is not known here. */
    const enum asi asi = immediate(word)
                             ? ASI_UNKNOWN
                             : (enum asi)asi_kind[insn_bits(word, 5, 8)];

    if (asi == ASI_PLAIN && (insn_bits(word, 5, 8) & ASI_NO_FAULT) != 0)
        insn->flags |= INSN_NO_FAULT;
    if (asi == ASI_PLAIN || (asi == ASI_TWIN && insn->class == CLASS_STORE))
        return;
    if (fp_double && (asi == ASI_SHORT_8 || asi == ASI_SHORT_16))
        insn->access_size = asi == ASI_SHORT_8 ? 1 : 2;
    else if ((fp_double && asi == ASI_PIECES) ||
             (op3 == OP3_LDDA && asi == ASI_TWIN))
        mixed(insn, 8);
    else
        mixed(insn, 0);
}

/*
 * By its function, in rd, as the T4 takes it: 0 and 14h are for the L1, 1 to 3,
 * 15h to 17h and 11h, the nearest cache of code and data, for the L2 (TABLE
 * 10-2, sl 21). A page (4), an invalidation (10h), and those without a public
 * meaning bring no line. Nor does one to a space that is no program's memory;
 * what takes it from %asi is taken for plain.
 */
static void
prefetch(uint32_t word, struct insn *insn)
{
    static const uint32_t near = 1u << 0x00 | 1u << 0x14;
    static const uint32_t far = 1u << 0x01 | 1u << 0x02 | 1u << 0x03 |
                                1u << 0x11 | 1u << 0x15 | 1u << 0x16 |
                                1u << 0x17;
    const uint32_t function = insn_bits(word, 25, 5);

    if (insn_bits(word, 19, 6) == OP3_PREFETCHA && !immediate(word) &&
        asi_kind[insn_bits(word, 5, 8)] != ASI_PLAIN)
        return;
    if (near >> function & 1)
        insn->prefetch = PREFETCH_NEAR;
    else if (far >> function & 1)
        insn->prefetch = PREFETCH_FAR;
}

static void
flush(uint32_t word, struct insn *insn)
{
    (void)word;
    insn->serializes = true;
}

/* A quad is two accesses of 8 bytes, whatever its address space. */
static void
quad(uint32_t word, struct insn *insn)
{
    (void)word;
    insn->access = ACCESS_MIXED;
}

static void
quad_alternate(uint32_t word, struct insn *insn)
{
    alternate(word, insn);
    insn->access = ACCESS_MIXED;
}

/* op = 0, by op2. ILLTRAP (0) has no row: to be illegal is its purpose. */
static const struct row format_2[8] = {
    [1] = {CLASS_BRANCH, .shift = 20, .valid = 0x50, .more = branch_19},
    [2] = {CLASS_BRANCH, .valid = ANY, .more = branch_22},
    /* rcond 0 and 4 are reserved, and so is bit 28. */
    [3] = {CLASS_BRANCH, .shift = 25, .valid = 0xee00ee,
           .more = branch_register},
    [4] = {CLASS_OTHER, .writes = WRITES_RD, .valid = ANY, .more = sethi},
    [5] = {CLASS_BRANCH, .valid = ANY, .more = branch_19},
    [6] = {CLASS_BRANCH, .valid = ANY, .more = branch_22},
};

/* op = 1 */
static const struct row call_row = {CLASS_BRANCH, .flags = INSN_DELAY_SLOT,
                                    .valid = ANY, .more = call};

#define OTHER .class = CLASS_OTHER, .valid = ANY
#define CHECKED(low, values) \
    .class = CLASS_OTHER, .shift = (low), .valid = (values)
#define FGU(function) .class = CLASS_FGU, .valid = ANY, .more = (function)
#define TO_RD .writes = WRITES_RD
#define TO_ALL .writes = WRITES_ALL

/* Where `valid` looks: rs1, rd, and the conditions of MOVr and Tcc. */
#define AT_RS1 14
#define AT_RD 25
#define AT_RCOND 10
#define AT_CC 11

/* Numbers of state registers. */
#define READ_ASR 0x07cf807du  /* 0, 2-6, 15-19, 22-26 */
#define WRITE_ASR 0x07ff804du /* 0, 2, 3, 6, 15-26 */
#define READ_PR 0x80017fffu   /* 0-14, GL, VER */
#define WRITE_PR 0x00017fffu  /* 0-14, GL */
#define READ_HPR 0x8000006bu  /* 0, 1, 3, 5, 6, 31 */
#define WRITE_HPR 0x8000002bu /* 0, 1, 3, 5, 31 */

/* op = 2, by op3. */
static const struct row format_3[64] = {
    [0x00 ... 0x18] = {OTHER, TO_RD}, /* ADD ... SUBC, their cc forms */
    [0x1a ... 0x1c] = {OTHER, TO_RD}, /* UMULcc, SMULcc, SUBCcc */
    [0x1e ... 0x27] = {OTHER, TO_RD}, /* UDIVcc ... TADDcc ... SRA */
    [0x28] = {CHECKED(AT_RS1, READ_ASR), TO_RD,
              .more = read_state},               /* RDASR, MEMBAR */
    [0x29] = {CHECKED(AT_RS1, READ_HPR), TO_RD}, /* RDHPR */
    [0x2a] = {CHECKED(AT_RS1, READ_PR), TO_RD},  /* RDPR */
    [0x2b] = {OTHER, .flags = INSN_FLUSHW},
    [0x2c] = {OTHER, TO_RD, .more = move_condition}, /* MOVcc */
    [0x2d] = {OTHER, TO_RD},                         /* SDIVX */
    [0x2e] = {CHECKED(AT_RS1, 1), TO_RD},            /* POPC */
    [0x2f] = {CHECKED(AT_RCOND, 0xeeeeeeee), TO_RD}, /* MOVr */
    [0x30] = {CHECKED(AT_RD, WRITE_ASR)},            /* WRASR, SIR */
    [0x31] = {CHECKED(AT_RD, 0x3f)},                 /* SAVED ... INVALW */
    [0x32] = {CHECKED(AT_RD, WRITE_PR)},             /* WRPR */
    [0x33] = {CHECKED(AT_RD, WRITE_HPR)},            /* WRHPR */
    [0x34] = {FGU(operate_1)},
    [0x35] = {FGU(operate_2)},
    [0x36] = {FGU(vis)},
    [0x38] = {CLASS_BRANCH, TO_RD, .flags = INSN_DELAY_SLOT, .valid = ANY,
              .more = jump},
    [0x39] = {CLASS_BRANCH, TO_ALL, .flags = INSN_DELAY_SLOT | INSN_RESTORE,
              .valid = ANY, .more = return_jump},
    [0x3a] = {CHECKED(AT_CC, EVEN), TO_ALL, .flags = INSN_SYSCALL},
    [0x3b] = {OTHER, .more = flush}, /* FLUSH: it touches no data */
    [0x3c] = {OTHER, TO_ALL, .flags = INSN_SAVE},
    [0x3d] = {OTHER, TO_ALL, .flags = INSN_RESTORE},
    [0x3e] = {CHECKED(AT_RD, 3)}, /* DONE, RETRY */
};

#define ACCESS(of_class, way, bytes) \
    .class = (of_class), .access = (way), .access_size = (bytes)
#define FLOAT .flags = INSN_FLOAT
#define LOAD(bytes) ACCESS(CLASS_LOAD, ACCESS_LOAD, bytes), .valid = ANY
#define STORE(bytes) ACCESS(CLASS_STORE, ACCESS_STORE, bytes), .valid = ANY
#define ATOMIC(bytes) \
    ACCESS(CLASS_ATOMIC, ACCESS_ATOMIC, bytes), .valid = ANY, TO_RD
/* LDD and STD need an even register. */
#define LOAD_PAIR                                                      \
    ACCESS(CLASS_LOAD, ACCESS_LOAD, 8), .shift = AT_RD, .valid = EVEN, \
                                        .writes = WRITES_PAIR
#define STORE_PAIR \
    ACCESS(CLASS_STORE, ACCESS_STORE, 8), .shift = AT_RD, .valid = EVEN
#define LOAD_FSR \
    ACCESS(CLASS_LOAD, ACCESS_LOAD, 4), .shift = AT_RD, .valid = 3, .more = fsr
#define STORE_FSR                                                     \
    ACCESS(CLASS_STORE, ACCESS_STORE, 4), .shift = AT_RD, .valid = 3, \
                                          .more = fsr
/* The T2 sends a prefetch down its load pipe and counts it as a load; it is no
   load of the program's. Functions 5 to 15 are reserved. */
#define PREFETCH                                                 \
    .class = CLASS_LOAD, .flags = INSN_PREFETCH, .shift = AT_RD, \
    .valid = 0xffff001f, .more = prefetch
#define ALTERNATE .more = alternate

/* op = 3, by op3. */
static const struct row memory[64] = {
    [0x00] = {LOAD(4), TO_RD}, /* LDUW */
    [0x01] = {LOAD(1), TO_RD}, /* LDUB */
    [0x02] = {LOAD(2), TO_RD}, /* LDUH */
    [0x03] = {LOAD_PAIR},      /* LDD */
    [0x04] = {STORE(4)},       /* STW */
    [0x05] = {STORE(1)},       /* STB */
    [0x06] = {STORE(2)},       /* STH */
    [0x07] = {STORE_PAIR},     /* STD */
    [0x08] = {LOAD(4), TO_RD}, /* LDSW */
    [0x09] = {LOAD(1), TO_RD}, /* LDSB */
    [0x0a] = {LOAD(2), TO_RD}, /* LDSH */
    [0x0b] = {LOAD(8), TO_RD}, /* LDX */
    [0x0d] = {ATOMIC(1)},      /* LDSTUB */
    [0x0e] = {STORE(8)},       /* STX */
    [0x0f] = {ATOMIC(4)},      /* SWAP */
    [0x10] = {LOAD(4), TO_RD, ALTERNATE},
    [0x11] = {LOAD(1), TO_RD, ALTERNATE},
    [0x12] = {LOAD(2), TO_RD, ALTERNATE},
    [OP3_LDDA] = {LOAD_PAIR, ALTERNATE},
    [0x14] = {STORE(4), ALTERNATE},
    [0x15] = {STORE(1), ALTERNATE},
    [0x16] = {STORE(2), ALTERNATE},
    [0x17] = {STORE_PAIR, ALTERNATE},
    [0x18] = {LOAD(4), TO_RD, ALTERNATE},
    [0x19] = {LOAD(1), TO_RD, ALTERNATE},
    [0x1a] = {LOAD(2), TO_RD, ALTERNATE},
    [0x1b] = {LOAD(8), TO_RD, ALTERNATE},
    [0x1d] = {ATOMIC(1), ALTERNATE},
    [0x1e] = {STORE(8), ALTERNATE},
    [0x1f] = {ATOMIC(4), ALTERNATE},
    [0x20] = {LOAD(4), FLOAT},               /* LDF */
    [0x21] = {LOAD_FSR},                     /* LDFSR, LDXFSR */
    [0x22] = {LOAD(8), FLOAT, .more = quad}, /* LDQF */
    [0x23] = {LOAD(8), FLOAT},               /* LDDF */
    [0x24] = {STORE(4)},                     /* STF */
    [0x25] = {STORE_FSR},                    /* STFSR, STXFSR */
    [0x26] = {STORE(8), .more = quad},       /* STQF */
    [0x27] = {STORE(8)},                     /* STDF */
    [0x2d] = {PREFETCH},
    [0x30] = {LOAD(4), FLOAT, ALTERNATE},
    [0x32] = {LOAD(8), FLOAT, .more = quad_alternate},
    [OP3_LDDFA] = {LOAD(8), FLOAT, ALTERNATE},
    [0x34] = {STORE(4), ALTERNATE},
    [0x36] = {STORE(8), .more = quad_alternate},
    [OP3_STDFA] = {STORE(8), ALTERNATE},
    [OP3_CASA] = {ATOMIC(4), ALTERNATE},
    [OP3_PREFETCHA] = {PREFETCH},
    [OP3_CASXA] = {ATOMIC(8), ALTERNATE},
};

static const struct row *
find_row(uint32_t word)
{
    switch (word >> 30) {
    case 0:
        return &format_2[insn_bits(word, 22, 3)];
    case 1:
        return &call_row;
    case 2:
        return &format_3[insn_bits(word, 19, 6)];
    default:
        return &memory[insn_bits(word, 19, 6)];
    }
}

static uint64_t
written(enum writes writes, uint32_t rd)
{
    static const uint32_t mask[] = {
        [WRITES_NONE] = 0, [WRITES_RD] = 1, [WRITES_PAIR] = 3};

    if (writes == WRITES_ALL)
        return ALL_REGISTERS;
    return (uint64_t)mask[writes] << rd & ALL_REGISTERS;
}

/* rs1 + rs2 or rs1 + simm13; CASA and CASXA have rs1 alone. */
static void
address(uint32_t word, struct insn *insn)
{
    const uint32_t op3 = insn_bits(word, 19, 6);
    const uint32_t rs1 = insn_bits(word, 14, 5), rs2 = insn_bits(word, 0, 5);

    insn->addr_known = true;
    if (rs1 != 0)
        insn->addr_base = (int8_t)rs1;
    if (op3 == OP3_CASA || op3 == OP3_CASXA)
        return;
    if (immediate(word)) {
        insn->addr_disp = sign_extend(word, 13);
    } else if (rs2 != 0) {
        insn->addr_index = (int8_t)rs2;
        insn->addr_scale = 1;
    }
}

static bool
direct(enum insn_branch branch)
{
    return branch == BRANCH_CONDITIONAL || branch == BRANCH_NEVER ||
           branch == BRANCH_JUMP || branch == BRANCH_CALL;
}

/* add and sub, with or without condition codes: rd = rs1 +- simm13. */
static void
set_step(uint32_t word, struct insn *insn)
{
    const uint32_t op3 = insn_bits(word, 19, 6) & ~0x10u;
    const uint32_t rd = insn_bits(word, 25, 5);
    const bool add = op3 == 0x00, sub = op3 == 0x04;

    if (word >> 30 != 2 || (!add && !sub) || !immediate(word) || rd == 0 ||
        rd != insn_bits(word, 14, 5))
        return;
    insn->step_reg = (int8_t)rd;
    insn->step = add ? sign_extend(word, 13) : -sign_extend(word, 13);
}

static void
decode_word(uint32_t word, uint64_t pc, struct insn *insn)
{
    const struct row *row = find_row(word);

    if (!(row->valid >> insn_bits(word, row->shift, 5) & 1)) {
        insn_illegal(insn);
        return;
    }
    insn->size = 4;
    insn->class = row->class;
    insn->access = row->access;
    insn->access_size = row->access_size;
    insn->flags = row->flags;
    insn->loads = row->access == ACCESS_LOAD || row->access == ACCESS_ATOMIC;
    insn->stores = row->access == ACCESS_STORE || row->access == ACCESS_ATOMIC;
    insn->reg_writes =
        written((enum writes)row->writes, insn_bits(word, 25, 5));
    if (row->more)
        row->more(word, insn);
    if (insn->access != ACCESS_LOAD)
        insn->flags &= ~(uint32_t)INSN_FLOAT;
    set_step(word, insn);
    if (direct((enum insn_branch)insn->branch))
        insn->target += pc;
    if (insn->prefetch != PREFETCH_NOWHERE ||
        (insn->access != ACCESS_NONE && insn->access != ACCESS_MIXED))
        address(word, insn);
}

/* Instructions are big-endian whatever the byte order of the data. */
static uint32_t
word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
           (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool
decode(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
       struct insn *insn)
{
    (void)isa;
    if (size < 4)
        return false;

    const uint32_t word = word_at(bytes);
    decode_word(word, pc, insn);
    insn->sparc_word = word;
    return true;
}

static void
write_text(const struct isa *isa, const uint8_t *bytes, size_t size,
           uint64_t pc, char *text, size_t text_size)
{
    (void)isa, (void)pc;
    if (size < 4)
        snprintf(text, text_size, INSN_BAD_TEXT);
    else
        snprintf(text, text_size, "0x%08x", (unsigned)word_at(bytes));
}

/* SETHI; ADD, and OR as moves of registers and for the low bits of addresses
 * have them. */
static bool
sum(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
    struct insn_sum *sum)
{
    (void)isa, (void)pc;
    if (size < 4)
        return false;

    const uint32_t word = word_at(bytes), op3 = insn_bits(word, 19, 6);
    const int8_t rs1 = (int8_t)insn_bits(word, 14, 5);
    const int8_t rs2 = (int8_t)insn_bits(word, 0, 5);

    sum->to = (int8_t)insn_bits(word, 25, 5);
    if (sum->to == 0)
        return false;
    if (word >> 30 == 0 && insn_bits(word, 22, 3) == 4) {
        sum->add = (int64_t)insn_bits(word, 0, 22) << 10;
        return true;
    }
    if (word >> 30 != 2 || (op3 != 0x00 && op3 != 0x02))
        return false;
    sum->base = rs1 != 0 ? rs1 : INSN_NO_REG;
    if (immediate(word))
        sum->add = sign_extend(word, 13);
    else if (rs1 == 0)
        sum->base = rs2 != 0 ? rs2 : INSN_NO_REG;
    else if (rs2 != 0)
        sum->index = rs2;
    return op3 == 0x00 || sum->index == INSN_NO_REG;
}

const struct isa_decoder sparc_decoder = {
    .sum = sum,
    .decode = decode,
    .text = write_text,
};
