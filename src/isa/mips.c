/* SPDX-License-Identifier: MIT */
/*
 * MIPS64 up to release 2 in user mode, of either byte order: one table row an
 * opcode, and an opcode without a row is illegal. So is what user mode may not
 * execute (COP0, CACHE), what release 6 changed, MIPS16e, microMIPS, MSA, DSP
 * and MIPS-3D. Programs of the R10000 itself (MIPS IV) are a part of this.
 *
 * Fields that must be zero are checked where a value chooses another
 * instruction; the rest are not, because neither the chip nor QEMU looks at
 * all of them. Branches that their registers make certain (beq $0, $0) are
 * jumps or never taken.
 *
 * Documents: MIPS Architecture For Programmers, volume II-A (MD00087, release
 * 2.62); MIPS R10000 User's Manual, chapter 1, for what executes where.
 */
#include <stdio.h>

#include "isa/decode.h"

#define ALL_REGISTERS 0xfffffffeu
#define REG_RA 31

/* Of opcode 0x1f, RDHWR: the hardware registers of user mode. */
#define HARDWARE_REGISTERS 0x2000000fu

enum writes { WRITES_NONE, WRITES_RD, WRITES_RT, WRITES_RA, WRITES_ALL };

struct row {
    bool legal;
    uint8_t class;
    uint8_t access;
    uint8_t access_size;
    uint8_t writes; /* enum writes */
    uint16_t flags;
    /* What the row cannot say; may find the instruction illegal. */
    void (*more)(uint32_t word, struct insn *insn);
};

static uint32_t
rs_of(uint32_t word)
{
    return insn_bits(word, 21, 5);
}

static uint32_t
rt_of(uint32_t word)
{
    return insn_bits(word, 16, 5);
}

static uint32_t
rd_of(uint32_t word)
{
    return insn_bits(word, 11, 5);
}

static uint32_t
sa_of(uint32_t word)
{
    return insn_bits(word, 6, 5);
}

static int64_t
offset_of(uint32_t word)
{
    return (int16_t)(word & 0xffff);
}

/* Sets the target relative to the delay slot; decode_word() adds its address.
 */
static void
branch(uint32_t word, enum insn_branch kind, bool likely, struct insn *insn)
{
    insn->branch = (uint8_t)kind;
    insn->target = (uint64_t)offset_of(word) * 4;
    if (likely && kind != BRANCH_JUMP && kind != BRANCH_CALL)
        insn->flags |= INSN_ANNUL;
    /* One that is never taken annuls its slot for sure if it is likely. */
    if (!likely || kind != BRANCH_NEVER)
        insn->flags |= INSN_DELAY_SLOT;
}

static bool
is_likely(uint32_t word)
{
    return insn_bits(word, 30, 1); /* opcodes 14 to 17 */
}

/* BEQ, BNE (bit 26). */
static void
branch_equal(uint32_t word, struct insn *insn)
{
    const bool sure = rs_of(word) == rt_of(word);
    const enum insn_branch of_same =
        insn_bits(word, 26, 1) ? BRANCH_NEVER : BRANCH_JUMP;

    branch(word, sure ? of_same : BRANCH_CONDITIONAL, is_likely(word), insn);
}

/* BLEZ and BGTZ (bit 26): rt is part of the opcode. */
static void
branch_sign(uint32_t word, struct insn *insn)
{
    const enum insn_branch of_zero =
        insn_bits(word, 26, 1) ? BRANCH_NEVER : BRANCH_JUMP;

    if (rt_of(word) != 0)
        insn_illegal(insn);
    else
        branch(word, rs_of(word) == 0 ? of_zero : BRANCH_CONDITIONAL,
               is_likely(word), insn);
}

/* REGIMM: bit 16 says "or equal", bit 17 likely, bit 20 that it links. */
static void
branch_zero(uint32_t word, struct insn *insn)
{
    const bool or_equal = insn_bits(word, 16, 1),
               links = insn_bits(word, 20, 1);
    const enum insn_branch of_zero = !or_equal ? BRANCH_NEVER
                                     : links   ? BRANCH_CALL
                                               : BRANCH_JUMP;

    branch(word, rs_of(word) == 0 ? of_zero : BRANCH_CONDITIONAL,
           insn_bits(word, 17, 1), insn);
}

/* Within the 256 MB of the delay slot. */
static void
jump(uint32_t word, struct insn *insn)
{
    insn->branch = insn_bits(word, 26, 1) ? BRANCH_CALL : BRANCH_JUMP;
    insn->target = (uint64_t)insn_bits(word, 0, 26) * 4;
}

static void
jump_register(uint32_t word, struct insn *insn)
{
    insn->branch = rs_of(word) == REG_RA ? BRANCH_RETURN : BRANCH_INDIRECT;
}

static void
jump_link(uint32_t word, struct insn *insn)
{
    if (rd_of(word) == 0)
        jump_register(word, insn);
    else
        insn->branch = BRANCH_INDIRECT_CALL;
}

#define PAUSE 0x00000140u /* sll $0, $0, 5 */

static void
shift(uint32_t word, struct insn *insn)
{
    if (rs_of(word) != 0)
        insn_illegal(insn);
    else if (word == PAUSE)
        insn->flags |= INSN_PAUSE;
}

/* SRL and its kin: bit 21 makes a rotation of it. */
static void
shift_right(uint32_t word, struct insn *insn)
{
    if (rs_of(word) > 1)
        insn_illegal(insn);
}

/* The same for SRLV and DSRLV, in bit 6. */
static void
shift_variable(uint32_t word, struct insn *insn)
{
    if (sa_of(word) > 1)
        insn_illegal(insn);
}

static void
plain(uint32_t word, struct insn *insn)
{
    if (sa_of(word) != 0)
        insn_illegal(insn);
}

/* Into HI and LO; the DSP has more such pairs, by bits 12:11. */
static void
multiply(uint32_t word, struct insn *insn)
{
    if (sa_of(word) != 0 || rd_of(word) != 0)
        insn_illegal(insn);
}

/* MOVF, MOVT. */
static void
move_condition(uint32_t word, struct insn *insn)
{
    if (insn_bits(word, 17, 1) || sa_of(word) != 0)
        insn_illegal(insn);
}

/* EXT and DEXT... take msbd and lsb, INS and DINS... msb and lsb. */
static void
extract(uint32_t word, struct insn *insn)
{
    const uint32_t last = sa_of(word) + rd_of(word);
    const uint32_t form = insn_bits(word, 0, 6);

    /* 0 EXT, 1 DEXTM, 2 DEXTU, 3 DEXT */
    if (form != 3 && last > 31)
        insn_illegal(insn);
}

static void
insert(uint32_t word, struct insn *insn)
{
    /* DINSM's msb is 32 more than it says. */
    if (insn_bits(word, 0, 6) != 5 && sa_of(word) > rd_of(word))
        insn_illegal(insn);
}

/* BSHFL is WSBH, SEB and SEH, DBSHFL (bit 2) DSBH and DSHD. */
static void
shuffle(uint32_t word, struct insn *insn)
{
    const uint32_t valid = insn_bits(word, 2, 1) ? 0x24 : 0x01010004;

    if (rs_of(word) != 0 || !(valid >> sa_of(word) & 1))
        insn_illegal(insn);
}

static void
read_hardware(uint32_t word, struct insn *insn)
{
    if (!(HARDWARE_REGISTERS >> rd_of(word) & 1) || rs_of(word) != 0)
        insn_illegal(insn);
}

#define OTHER .legal = true, .class = CLASS_OTHER
#define TO_RD .writes = WRITES_RD
#define TO_RT .writes = WRITES_RT
#define TO_RA .writes = WRITES_RA
#define TO_ALL .writes = WRITES_ALL
#define PLAIN OTHER, TO_RD, .more = plain
#define MULDIV OTHER, .flags = INSN_MULDIV
#define TRAP OTHER, .flags = INSN_SYSCALL
#define JUMP(how)                                                   \
    .legal = true, .class = CLASS_BRANCH, .flags = INSN_DELAY_SLOT, \
    .more = (how)
#define BRANCH(how) .legal = true, .class = CLASS_BRANCH, .more = (how)
#define ACCESS(of_class, way, bytes) \
    .legal = true, .class = (of_class), .access = (way), .access_size = (bytes)
#define FLOAT .flags = INSN_FLOAT
#define LOAD(bytes) ACCESS(CLASS_LOAD, ACCESS_LOAD, bytes)
#define STORE(bytes) ACCESS(CLASS_STORE, ACCESS_STORE, bytes)
/* LWL and its kin: QEMU reads the byte that is asked for, then its word. */
#define LOAD_BYTES ACCESS(CLASS_LOAD, ACCESS_MIXED, 0)
/* SWL and its kin write some bytes one by one; a store conditional may fail. */
#define STORE_BYTES ACCESS(CLASS_STORE, ACCESS_MIXED, 1)
#define STORE_CONDITIONAL(bytes) \
    ACCESS(CLASS_STORE, ACCESS_MIXED, bytes), TO_RT, .flags = INSN_CONDITIONAL
/* It goes down the load pipe, and is no load of the program's. */
#define PREFETCH(how) \
    .legal = true, .class = CLASS_LOAD, .flags = INSN_PREFETCH, .more = (how)

/* Opcode 0, by function. */
static const struct row special[64] = {
    [0x00] = {OTHER, TO_RD, .more = shift},          /* SLL, NOP */
    [0x01] = {OTHER, TO_RD, .more = move_condition}, /* MOVF, MOVT */
    [0x02] = {OTHER, TO_RD, .more = shift_right},    /* SRL, ROTR */
    [0x03] = {OTHER, TO_RD, .more = shift},          /* SRA */
    [0x04] = {PLAIN},                                /* SLLV */
    [0x06] = {OTHER, TO_RD, .more = shift_variable}, /* SRLV, ROTRV */
    [0x07] = {PLAIN},                                /* SRAV */
    [0x08] = {JUMP(jump_register)},                  /* JR */
    [0x09] = {JUMP(jump_link), TO_RD},               /* JALR */
    [0x0a ... 0x0b] = {PLAIN},                       /* MOVZ, MOVN */
    [0x0c] = {TRAP, TO_ALL},                         /* SYSCALL */
    [0x0d] = {TRAP},                                 /* BREAK */
    [0x0f] = {OTHER, .flags = INSN_MEMBAR},          /* SYNC */
    [0x10] = {PLAIN},                                /* MFHI */
    [0x11] = {OTHER},                                /* MTHI */
    [0x12] = {PLAIN},                                /* MFLO */
    [0x13] = {OTHER},                                /* MTLO */
    [0x14] = {PLAIN},                                /* DSLLV */
    [0x16] = {OTHER, TO_RD, .more = shift_variable}, /* DSRLV, DROTRV */
    [0x17] = {PLAIN},                                /* DSRAV */
    [0x18 ... 0x1f] = {MULDIV, .more = multiply},    /* MULT ... DDIVU */
    [0x20 ... 0x27] = {PLAIN},                       /* ADD ... NOR */
    [0x2a ... 0x2f] = {PLAIN},                       /* SLT ... DSUBU */
    [0x30 ... 0x34] = {TRAP},                        /* TGE ... TEQ */
    [0x36] = {TRAP},                                 /* TNE */
    [0x38] = {OTHER, TO_RD, .more = shift},          /* DSLL */
    [0x3a] = {OTHER, TO_RD, .more = shift_right},    /* DSRL, DROTR */
    [0x3b] = {OTHER, TO_RD, .more = shift},          /* DSRA */
    [0x3c] = {OTHER, TO_RD, .more = shift},          /* DSLL32 */
    [0x3e] = {OTHER, TO_RD, .more = shift_right},    /* DSRL32, DROTR32 */
    [0x3f] = {OTHER, TO_RD, .more = shift},          /* DSRA32 */
};

/* Opcode 1, by rt. */
static const struct row regimm[32] = {
    [0x00 ... 0x03] = {BRANCH(branch_zero)},        /* BLTZ ... BGEZL */
    [0x08 ... 0x0c] = {TRAP},                       /* TGEI ... TEQI */
    [0x0e] = {TRAP},                                /* TNEI */
    [0x10 ... 0x13] = {BRANCH(branch_zero), TO_RA}, /* BLTZAL ... BGEZALL */
    [0x1f] = {OTHER},                               /* SYNCI */
};

/* Opcode 1c, by function. */
static const struct row special2[64] = {
    [0x00 ... 0x01] = {MULDIV, .more = multiply}, /* MADD, MADDU */
    [0x02] = {MULDIV, TO_RD, .more = plain},      /* MUL */
    [0x04 ... 0x05] = {MULDIV, .more = multiply}, /* MSUB, MSUBU */
    [0x20 ... 0x21] = {PLAIN},                    /* CLZ, CLO */
    [0x24 ... 0x25] = {PLAIN},                    /* DCLZ, DCLO */
    [0x3f] = {TRAP},                              /* SDBBP */
};

/* Opcode 1f, by function. */
static const struct row special3[64] = {
    [0x00 ... 0x03] = {OTHER, TO_RT, .more = extract},
    [0x04 ... 0x07] = {OTHER, TO_RT, .more = insert},
    [0x20] = {OTHER, TO_RD, .more = shuffle},
    [0x24] = {OTHER, TO_RD, .more = shuffle},
    [0x3b] = {OTHER, TO_RT, .more = read_hardware},
};

/* How a function of a floating-point format is executed; 0: not at all. */
enum fp {
    FP_NONE,
    FP_COMPUTE, /* adds, multiplies, ..., compares and converts */
    FP_MOVE,    /* copies, some of them on a condition */
};

#define FP_S 0x10
#define FP_D 0x11
#define FP_W 0x14
#define FP_L 0x15
#define FP_PS 0x16

static const uint8_t fp_single[64] = {
    [0x00 ... 0x05] = FP_COMPUTE, /* ADD SUB MUL DIV SQRT ABS */
    [0x06] = FP_MOVE,             /* MOV */
    [0x07] = FP_COMPUTE,          /* NEG */
    [0x08 ... 0x0f] = FP_COMPUTE, /* ROUND.L ... FLOOR.W */
    [0x11 ... 0x13] = FP_MOVE,    /* MOVF, MOVT, MOVZ, MOVN */
    [0x15 ... 0x16] = FP_COMPUTE, /* RECIP, RSQRT */
    [0x21] = FP_COMPUTE,          /* CVT.D */
    [0x24 ... 0x26] = FP_COMPUTE, /* CVT.W, CVT.L, CVT.PS */
    [0x30 ... 0x3f] = FP_COMPUTE, /* C.cond */
};

static const uint8_t fp_double[64] = {
    [0x00 ... 0x05] = FP_COMPUTE, [0x06] = FP_MOVE,
    [0x07 ... 0x0f] = FP_COMPUTE, [0x11 ... 0x13] = FP_MOVE,
    [0x15 ... 0x16] = FP_COMPUTE, [0x20] = FP_COMPUTE, /* CVT.S */
    [0x24 ... 0x25] = FP_COMPUTE, [0x30 ... 0x3f] = FP_COMPUTE,
};

/* CVT.S and CVT.D from integers. */
static const uint8_t fp_integer[64] = {[0x20 ... 0x21] = FP_COMPUTE};

static const uint8_t fp_pair[64] = {
    [0x00 ... 0x02] = FP_COMPUTE, /* ADD SUB MUL */
    [0x05] = FP_COMPUTE,          /* ABS */
    [0x06] = FP_MOVE,             /* MOV */
    [0x07] = FP_COMPUTE,          /* NEG */
    [0x11 ... 0x13] = FP_MOVE,    /* MOVF, MOVT, MOVZ, MOVN */
    [0x20] = FP_COMPUTE,          /* CVT.S.PU */
    [0x28] = FP_COMPUTE,          /* CVT.S.PL */
    [0x2c ... 0x2f] = FP_MOVE,    /* PLL PLU PUL PUU */
    [0x30 ... 0x3f] = FP_COMPUTE, /* C.cond */
};

static enum fp
fp_kind(uint32_t format, uint32_t function)
{
    switch (format) {
    case FP_S:
        return (enum fp)fp_single[function];
    case FP_D:
        return (enum fp)fp_double[function];
    case FP_W:
    case FP_L:
        return (enum fp)fp_integer[function];
    case FP_PS:
        return (enum fp)fp_pair[function];
    default:
        return FP_NONE;
    }
}

/* Returns whether operand fields hold what the function leaves unused. */
static bool
fp_fields(uint32_t word, uint32_t function)
{
    const uint32_t ft = rt_of(word), fd = sa_of(word);

    if (function >= 0x30) /* C.cond: cc in 10:8, then zeros */
        return (fd & 3) == 0;
    if (function == 0x11) /* MOVF, MOVT: cc in 20:18, 0, tf */
        return (ft & 2) == 0;
    if (function <= 0x03 || function == 0x12 || function == 0x13 ||
        function == 0x26 || function >= 0x2c)
        return true;
    return ft == 0;
}

static void
fp_operate(uint32_t word, struct insn *insn)
{
    const uint32_t function = insn_bits(word, 0, 6);
    const enum fp kind = fp_kind(rs_of(word), function);

    if (kind == FP_NONE || !fp_fields(word, function))
        insn_illegal(insn);
    else if (kind == FP_COMPUTE)
        insn->flags |= INSN_FP | INSN_SHARED_FPU;
}

/* Moves between registers of both kinds. */
static void
fp_move(uint32_t word, struct insn *insn)
{
    if (insn_bits(word, 0, 11) != 0)
        insn_illegal(insn);
}

/* BC1F, BC1T, BC1FL, BC1TL. */
static void
fp_branch(uint32_t word, struct insn *insn)
{
    branch(word, BRANCH_CONDITIONAL, insn_bits(word, 17, 1), insn);
}

#define FP_ROW(how) .legal = true, .class = CLASS_FGU, .more = (how)

/* Opcode 11, by rs. */
static const struct row cop1[32] = {
    [0x00 ... 0x03] = {FP_ROW(fp_move), TO_RT}, /* MFC1 DMFC1 CFC1 MFHC1 */
    [0x04 ... 0x07] = {FP_ROW(fp_move)},        /* MTC1 DMTC1 CTC1 MTHC1 */
    [0x08] = {BRANCH(fp_branch)},
    [FP_S] = {FP_ROW(fp_operate)},
    [FP_D] = {FP_ROW(fp_operate)},
    [FP_W] = {FP_ROW(fp_operate)},
    [FP_L] = {FP_ROW(fp_operate)},
    [FP_PS] = {FP_ROW(fp_operate)},
};

/* The register field that is not used: a load's fs, a store's fd. */
static void
indexed(uint32_t word, struct insn *insn)
{
    if ((insn_bits(word, 3, 1) ? sa_of(word) : rd_of(word)) != 0)
        insn_illegal(insn);
}

/*
 * The hints of MIPS IV for a load or a store, streamed and retained ones too;
 * later ones bring no line, or prepare one without a look at memory.
 */
static void
set_prefetch(uint32_t hint, struct insn *insn)
{
    if (hint < 2 || (hint >= 4 && hint < 8))
        insn->prefetch = PREFETCH_NEAR;
}

static void
prefetch(uint32_t word, struct insn *insn)
{
    set_prefetch(rt_of(word), insn);
}

/* PREFX has its hint where a load has fs. */
static void
prefetch_indexed(uint32_t word, struct insn *insn)
{
    set_prefetch(rd_of(word), insn);
    indexed(word, insn);
}

#define MULTIPLY_ADD \
    .legal = true, .class = CLASS_FGU, .flags = INSN_FP | INSN_SHARED_FPU

/* Opcode 13, by function. */
static const struct row cop1x[64] = {
    [0x00] = {LOAD(4), FLOAT, .more = indexed},   /* LWXC1 */
    [0x01] = {LOAD(8), FLOAT, .more = indexed},   /* LDXC1 */
    [0x05] = {LOAD(8), FLOAT, .more = indexed},   /* LUXC1 */
    [0x08] = {STORE(4), .more = indexed},         /* SWXC1 */
    [0x09] = {STORE(8), .more = indexed},         /* SDXC1 */
    [0x0d] = {STORE(8), .more = indexed},         /* SUXC1 */
    [0x0f] = {PREFETCH(prefetch_indexed)},        /* PREFX */
    [0x1e] = {.legal = true, .class = CLASS_FGU}, /* ALNV.PS */
    [0x20 ... 0x21] = {MULTIPLY_ADD},             /* MADD.S .D */
    [0x26] = {MULTIPLY_ADD},                      /* .PS */
    [0x28 ... 0x29] = {MULTIPLY_ADD},             /* MSUB */
    [0x2e] = {MULTIPLY_ADD},
    [0x30 ... 0x31] = {MULTIPLY_ADD}, /* NMADD */
    [0x36] = {MULTIPLY_ADD},
    [0x38 ... 0x39] = {MULTIPLY_ADD}, /* NMSUB */
    [0x3e] = {MULTIPLY_ADD},
};

/* LUI takes no register. */
static void
load_upper(uint32_t word, struct insn *insn)
{
    if (rs_of(word) != 0)
        insn_illegal(insn);
}

/* By opcode; COP0, COP2 and CACHE are the kernel's. */
static const struct row opcodes[64] = {
    [0x02] = {JUMP(jump)},                    /* J */
    [0x03] = {JUMP(jump), TO_RA},             /* JAL */
    [0x04 ... 0x05] = {BRANCH(branch_equal)}, /* BEQ, BNE */
    [0x06 ... 0x07] = {BRANCH(branch_sign)},  /* BLEZ, BGTZ */
    [0x08 ... 0x0e] = {OTHER, TO_RT},         /* ADDI ... XORI */
    [0x0f] = {OTHER, TO_RT, .more = load_upper},
    [0x14 ... 0x15] = {BRANCH(branch_equal)}, /* the likely ones */
    [0x16 ... 0x17] = {BRANCH(branch_sign)},
    [0x18 ... 0x19] = {OTHER, TO_RT},      /* DADDI, DADDIU */
    [0x1a ... 0x1b] = {LOAD_BYTES, TO_RT}, /* LDL, LDR */
    [0x20] = {LOAD(1), TO_RT},             /* LB */
    [0x21] = {LOAD(2), TO_RT},             /* LH */
    [0x22] = {LOAD_BYTES, TO_RT},          /* LWL */
    [0x23] = {LOAD(4), TO_RT},             /* LW */
    [0x24] = {LOAD(1), TO_RT},             /* LBU */
    [0x25] = {LOAD(2), TO_RT},             /* LHU */
    [0x26] = {LOAD_BYTES, TO_RT},          /* LWR */
    [0x27] = {LOAD(4), TO_RT},             /* LWU */
    [0x28] = {STORE(1)},                   /* SB */
    [0x29] = {STORE(2)},                   /* SH */
    [0x2a] = {STORE_BYTES},                /* SWL */
    [0x2b] = {STORE(4)},                   /* SW */
    [0x2c ... 0x2e] = {STORE_BYTES},       /* SDL, SDR, SWR */
    [0x30] = {LOAD(4), TO_RT},             /* LL */
    [0x31] = {LOAD(4), FLOAT},             /* LWC1 */
    [0x33] = {PREFETCH(prefetch)},         /* PREF */
    [0x34] = {LOAD(8), TO_RT},             /* LLD */
    [0x35] = {LOAD(8), FLOAT},             /* LDC1 */
    [0x37] = {LOAD(8), TO_RT},             /* LD */
    [0x38] = {STORE_CONDITIONAL(4)},       /* SC */
    [0x39] = {STORE(4)},                   /* SWC1 */
    [0x3c] = {STORE_CONDITIONAL(8)},       /* SCD */
    [0x3d] = {STORE(8)},                   /* SDC1 */
    [0x3f] = {STORE(8)},                   /* SD */
};

static const struct row *
find_row(uint32_t word)
{
    const uint32_t function = insn_bits(word, 0, 6);

    switch (word >> 26) {
    case 0x00:
        return &special[function];
    case 0x01:
        return &regimm[rt_of(word)];
    case 0x11:
        return &cop1[rs_of(word)];
    case 0x13:
        return &cop1x[function];
    case 0x1c:
        return &special2[function];
    case 0x1f:
        return &special3[function];
    default:
        return &opcodes[word >> 26];
    }
}

static uint64_t
written(enum writes writes, uint32_t word)
{
    switch (writes) {
    case WRITES_RD:
        return 1u << rd_of(word) & ALL_REGISTERS;
    case WRITES_RT:
        return 1u << rt_of(word) & ALL_REGISTERS;
    case WRITES_RA:
        return 1u << REG_RA;
    case WRITES_ALL:
        return ALL_REGISTERS;
    default:
        return 0;
    }
}

/*
 * base + offset, of COP1X base + index. LUXC1 and SUXC1 access the doubleword
 * around that: where is not known here.
 */
static void
address(uint32_t word, struct insn *insn)
{
    const uint32_t opcode = word >> 26;

    if (opcode == 0x13 && insn_bits(word, 2, 1) &&
        insn->prefetch == PREFETCH_NOWHERE)
        return;
    insn->addr_known = true;
    if (rs_of(word) != 0)
        insn->addr_base = (int8_t)rs_of(word);
    if (opcode != 0x13) {
        insn->addr_disp = offset_of(word);
    } else if (rt_of(word) != 0) {
        insn->addr_index = (int8_t)rt_of(word);
        insn->addr_scale = 1;
    }
}

static bool
is_relative(const struct insn *insn, uint32_t word)
{
    const uint32_t opcode = word >> 26;

    return insn->class == CLASS_BRANCH && opcode != 0x00 && opcode != 0x02 &&
           opcode != 0x03;
}

/* DADDI and DADDIU of a register to itself. */
static void
set_step(uint32_t word, struct insn *insn)
{
    const uint32_t opcode = word >> 26;

    if (opcode != 0x18 && opcode != 0x19)
        return;
    if (rt_of(word) == 0 || rt_of(word) != rs_of(word))
        return;
    insn->step_reg = (int8_t)rt_of(word);
    insn->step = offset_of(word);
}

static void
decode_word(uint32_t word, uint64_t pc, struct insn *insn)
{
    const struct row *row = find_row(word);
    const uint64_t slot = pc + 4;

    if (!row->legal) {
        insn_illegal(insn);
        return;
    }
    insn->size = 4;
    insn->class = row->class;
    insn->access = row->access;
    insn->access_size = row->access_size;
    insn->flags = row->flags;
    insn->loads = row->access != ACCESS_NONE && row->class == CLASS_LOAD;
    insn->stores = row->class == CLASS_STORE;
    insn->reg_writes = written((enum writes)row->writes, word);
    if (row->more)
        row->more(word, insn);
    set_step(word, insn);
    if (is_relative(insn, word))
        insn->target += slot;
    else if (insn->branch == BRANCH_JUMP || insn->branch == BRANCH_CALL)
        insn->target |= slot & ~UINT64_C(0x0fffffff);
    if (insn->access == ACCESS_LOAD || insn->access == ACCESS_STORE ||
        insn->prefetch != PREFETCH_NOWHERE)
        address(word, insn);
}

static uint32_t
word_at(const uint8_t *b, bool big_endian)
{
    return big_endian ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
                            (uint32_t)b[2] << 8 | b[3]
                      : insn_little_word(b);
}

static bool
decode(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
       struct insn *insn)
{
    if (size < 4)
        return false;
    decode_word(word_at(bytes, isa->big_endian), pc, insn);
    return true;
}

static void
write_text(const struct isa *isa, const uint8_t *bytes, size_t size,
           uint64_t pc, char *text, size_t text_size)
{
    (void)pc;
    if (size < 4)
        snprintf(text, text_size, INSN_BAD_TEXT);
    else
        snprintf(text, text_size, "0x%08x",
                 (unsigned)word_at(bytes, isa->big_endian));
}

/* DADDIU, LUI, DADDU, and OR as a move of a register. */
static bool
sum(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
    struct insn_sum *sum)
{
    (void)pc;
    if (size < 4)
        return false;

    const uint32_t word = word_at(bytes, isa->big_endian);
    const uint32_t opcode = word >> 26, function = insn_bits(word, 0, 6);
    const int8_t rs = (int8_t)rs_of(word), rt = (int8_t)rt_of(word);

    sum->to = opcode == 0 ? (int8_t)rd_of(word) : rt;
    sum->base = rs != 0 ? rs : INSN_NO_REG;
    if (sum->to == 0)
        return false;
    if (opcode == 0x19 || opcode == 0x0f) {
        sum->add = opcode == 0x0f ? (int64_t)offset_of(word) * 65536
                                  : (int64_t)offset_of(word);
        return true;
    }
    if (opcode != 0 || (function != 0x2d && function != 0x25))
        return false;
    if (rs == 0)
        sum->base = rt != 0 ? rt : INSN_NO_REG;
    else if (rt != 0)
        sum->index = rt;
    return function == 0x2d || sum->index == INSN_NO_REG;
}

const struct isa_decoder mips_decoder = {
    .sum = sum,
    .decode = decode,
    .text = write_text,
};
