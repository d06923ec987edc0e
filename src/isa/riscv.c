/* SPDX-License-Identifier: MIT */
/*
 * RISC-V in user mode: RV64GC with Zba, Zbb, Zbc, Zbs, Zfh, Zihintpause, Zawrs
 * and the operations on blocks of a cache (Zicbom, Zicbop, Zicboz). A
 * compressed instruction is first made into the 32-bit instruction that it
 * stands for; a 32-bit instruction is found by bits 6:2, then by rows of masked
 * bits. All else is illegal: what user mode may not execute (WFI, MRET,
 * registers of other modes), vectors, quadruple precision, scalar cryptography,
 * and instructions of 48 bits and more, which count as 32.
 *
 * A jump that writes x1 or x5 is a call, and one to x1 or x5 a return, as the
 * manual's table of return-address stack hints has it. One that the table has
 * pop the stack and push is a call.
 *
 * LR is a load and SC a store; an AMO is an atomic. Sign injections that copy
 * (FSGNJ) and FCLASS and FMV do not compute; FSGNJN and FSGNJX, by which
 * compilers negate and take absolute values, do.
 *
 * CBO.ZERO counts as no store, as the other operations on caches. PREFETCH.R
 * and the others are ORI of x0, which do nothing where Zicbop is missing.
 *
 * Documents: The RISC-V Instruction Set Manual, Volume I: Unprivileged ISA,
 * version 20191213; RISC-V Bit-manipulation ISA-extensions, version 1.0.0;
 * RISC-V Base Cache Management Operation ISA Extensions, version 1.0.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "isa/decode.h"
#include "isa/riscv.h"

#define ALL_REGISTERS 0xfffffffeu
#define REG_ZERO 0
#define REG_LINK 1
#define REG_SP 2
#define REG_LINK_OTHER 5
#define ROUNDING_DYNAMIC 7

static uint32_t
rd_of(uint32_t word)
{
    return insn_bits(word, 7, 5);
}

static uint32_t
rs1_of(uint32_t word)
{
    return insn_bits(word, 15, 5);
}

static uint32_t
rs2_of(uint32_t word)
{
    return insn_bits(word, 20, 5);
}

/* Returns the `count` lowest bits of `value` as a signed number. */
static int64_t
sign_extend(uint32_t value, unsigned count)
{
    const int64_t sign = INT64_C(1) << (count - 1);

    return ((int64_t)insn_bits(value, 0, count) ^ sign) - sign;
}

/* The immediates of the formats I, S, B and J. */
static int64_t
immediate_i(uint32_t word)
{
    return sign_extend(word >> 20, 12);
}

static int64_t
immediate_s(uint32_t word)
{
    return sign_extend(insn_bits(word, 25, 7) << 5 | insn_bits(word, 7, 5), 12);
}

static int64_t
immediate_b(uint32_t word)
{
    return sign_extend(
        insn_bits(word, 31, 1) << 12 | insn_bits(word, 7, 1) << 11 |
            insn_bits(word, 25, 6) << 5 | insn_bits(word, 8, 4) << 1,
        13);
}

static int64_t
immediate_j(uint32_t word)
{
    return sign_extend(
        insn_bits(word, 31, 1) << 20 | insn_bits(word, 12, 8) << 12 |
            insn_bits(word, 20, 1) << 11 | insn_bits(word, 21, 10) << 1,
        21);
}

/* Returns the bit of a register that an instruction writes; x0 has none. */
static uint64_t
written(uint32_t number)
{
    return number == REG_ZERO ? 0 : UINT64_C(1) << number;
}

static bool
is_link(uint32_t number)
{
    return number == REG_LINK || number == REG_LINK_OTHER;
}

/* --- Compressed instructions ---------------------------------------------- */

/* Registers x8 to x15 of a field of 3 bits. */
static uint32_t
short_register(uint32_t half, unsigned low)
{
    return 8 + insn_bits(half, low, 3);
}

static uint32_t
make_i(uint32_t opcode, uint32_t funct3, uint32_t rd, uint32_t rs1,
       uint32_t immediate)
{
    return (immediate & 0xfff) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 |
           opcode;
}

static uint32_t
make_s(uint32_t opcode, uint32_t funct3, uint32_t rs1, uint32_t rs2,
       uint32_t immediate)
{
    return insn_bits(immediate, 5, 7) << 25 | rs2 << 20 | rs1 << 15 |
           funct3 << 12 | insn_bits(immediate, 0, 5) << 7 | opcode;
}

static uint32_t
make_r(uint32_t opcode, uint32_t funct3, uint32_t funct7, uint32_t rd,
       uint32_t rs1, uint32_t rs2)
{
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 |
           opcode;
}

#define OPCODE_LOAD 0x03u
#define OPCODE_LOAD_FP 0x07u
#define OPCODE_OP_IMM 0x13u
#define OPCODE_OP_IMM_32 0x1bu
#define OPCODE_STORE 0x23u
#define OPCODE_STORE_FP 0x27u
#define OPCODE_OP 0x33u
#define OPCODE_LUI 0x37u
#define OPCODE_OP_32 0x3bu
#define OPCODE_BRANCH 0x63u
#define OPCODE_JALR 0x67u
#define OPCODE_JAL 0x6fu
#define EBREAK 0x00100073u

/* Quadrant 0: bits 15:13 are the size, and whether it stores. */
static uint32_t
expand_0(uint32_t half)
{
    const uint32_t rd = short_register(half, 2), rs1 = short_register(half, 7);
    const uint32_t of_8 = insn_bits(half, 5, 2) << 6 | insn_bits(half, 10, 3)
                                                           << 3;
    const uint32_t of_4 = insn_bits(half, 5, 1) << 6 |
                          insn_bits(half, 10, 3) << 3 |
                          insn_bits(half, 6, 1) << 2;
    const uint32_t of_sp =
        insn_bits(half, 7, 4) << 6 | insn_bits(half, 11, 2) << 4 |
        insn_bits(half, 5, 1) << 3 | insn_bits(half, 6, 1) << 2;

    switch (insn_bits(half, 13, 3)) {
    case 0: /* C.ADDI4SPN */
        return of_sp == 0 ? 0 : make_i(OPCODE_OP_IMM, 0, rd, REG_SP, of_sp);
    case 1: /* C.FLD */
        return make_i(OPCODE_LOAD_FP, 3, rd, rs1, of_8);
    case 2: /* C.LW */
        return make_i(OPCODE_LOAD, 2, rd, rs1, of_4);
    case 3: /* C.LD */
        return make_i(OPCODE_LOAD, 3, rd, rs1, of_8);
    case 5: /* C.FSD */
        return make_s(OPCODE_STORE_FP, 3, rs1, rd, of_8);
    case 6: /* C.SW */
        return make_s(OPCODE_STORE, 2, rs1, rd, of_4);
    case 7: /* C.SD */
        return make_s(OPCODE_STORE, 3, rs1, rd, of_8);
    default:
        return 0;
    }
}

/* Of bits 12:10 and 6:5: what C.SRLI to C.ADDW compute. */
static uint32_t
expand_computation(uint32_t half, uint32_t immediate)
{
    static const struct {
        uint32_t opcode;
        uint32_t funct3, funct7;
    } rows[8] = {
        {OPCODE_OP, 0, 0x20},    /* C.SUB */
        {OPCODE_OP, 4, 0},       /* C.XOR */
        {OPCODE_OP, 6, 0},       /* C.OR */
        {OPCODE_OP, 7, 0},       /* C.AND */
        {OPCODE_OP_32, 0, 0x20}, /* C.SUBW */
        {OPCODE_OP_32, 0, 0},    /* C.ADDW */
    };
    const uint32_t rd = short_register(half, 7);
    const uint32_t which = insn_bits(half, 12, 1) << 2 | insn_bits(half, 5, 2);

    switch (insn_bits(half, 10, 2)) {
    case 0: /* C.SRLI */
        return make_i(OPCODE_OP_IMM, 5, rd, rd, immediate & 0x3f);
    case 1: /* C.SRAI */
        return make_i(OPCODE_OP_IMM, 5, rd, rd, 0x400 | (immediate & 0x3f));
    case 2: /* C.ANDI */
        return make_i(OPCODE_OP_IMM, 7, rd, rd, immediate);
    default:
        return rows[which].opcode == 0
                   ? 0
                   : make_r(rows[which].opcode, rows[which].funct3,
                            rows[which].funct7, rd, rd,
                            short_register(half, 2));
    }
}

/* C.J, C.BEQZ and C.BNEZ. */
static uint32_t
expand_jump(uint32_t half)
{
    const uint32_t far = (uint32_t)sign_extend(
        insn_bits(half, 12, 1) << 11 | insn_bits(half, 11, 1) << 4 |
            insn_bits(half, 9, 2) << 8 | insn_bits(half, 8, 1) << 10 |
            insn_bits(half, 7, 1) << 6 | insn_bits(half, 6, 1) << 7 |
            insn_bits(half, 3, 3) << 1 | insn_bits(half, 2, 1) << 5,
        12);
    const uint32_t near = (uint32_t)sign_extend(
        insn_bits(half, 12, 1) << 8 | insn_bits(half, 10, 2) << 3 |
            insn_bits(half, 5, 2) << 6 | insn_bits(half, 3, 2) << 1 |
            insn_bits(half, 2, 1) << 5,
        9);

    if (insn_bits(half, 13, 3) == 5)
        return insn_bits(far, 20, 1) << 31 | insn_bits(far, 1, 10) << 21 |
               insn_bits(far, 11, 1) << 20 | insn_bits(far, 12, 8) << 12 |
               OPCODE_JAL;
    return insn_bits(near, 12, 1) << 31 | insn_bits(near, 5, 6) << 25 |
           short_register(half, 7) << 15 | insn_bits(half, 13, 1) << 12 |
           insn_bits(near, 1, 4) << 8 | insn_bits(near, 11, 1) << 7 |
           OPCODE_BRANCH;
}

static uint32_t
expand_1(uint32_t half)
{
    const uint32_t rd = rd_of(half);
    const uint32_t raw = insn_bits(half, 12, 1) << 5 | insn_bits(half, 2, 5);
    const uint32_t immediate = (uint32_t)sign_extend(raw, 6);
    const uint32_t of_sp = (uint32_t)sign_extend(
        insn_bits(half, 12, 1) << 9 | insn_bits(half, 3, 2) << 7 |
            insn_bits(half, 5, 1) << 6 | insn_bits(half, 2, 1) << 5 |
            insn_bits(half, 6, 1) << 4,
        10);

    switch (insn_bits(half, 13, 3)) {
    case 0: /* C.NOP C.ADDI */
        return make_i(OPCODE_OP_IMM, 0, rd, rd, immediate);
    case 1: /* C.ADDIW */
        return rd == REG_ZERO ? 0
                              : make_i(OPCODE_OP_IMM_32, 0, rd, rd, immediate);
    case 2: /* C.LI */
        return make_i(OPCODE_OP_IMM, 0, rd, REG_ZERO, immediate);
    case 3:
        if (raw == 0)
            return 0;
        if (rd == REG_SP) /* C.ADDI16SP */
            return make_i(OPCODE_OP_IMM, 0, rd, rd, of_sp);
        return immediate << 12 | rd << 7 | OPCODE_LUI; /* C.LUI */
    case 4:
        return expand_computation(half, immediate);
    default:
        return expand_jump(half);
    }
}

/* C.JR C.MV C.EBREAK C.JALR C.ADD. */
static uint32_t
expand_register(uint32_t half)
{
    const uint32_t rd = rd_of(half), rs2 = insn_bits(half, 2, 5);
    const bool adds = insn_bits(half, 12, 1);

    if (rs2 != 0)
        return make_r(OPCODE_OP, 0, 0, rd, adds ? rd : REG_ZERO, rs2);
    if (rd == REG_ZERO)
        return adds ? EBREAK : 0;
    return make_i(OPCODE_JALR, 0, adds ? REG_LINK : REG_ZERO, rd, 0);
}

static uint32_t
expand_2(uint32_t half)
{
    const uint32_t rd = rd_of(half), rs2 = insn_bits(half, 2, 5);
    const uint32_t top = insn_bits(half, 12, 1) << 5;
    const uint32_t load_8 =
        insn_bits(half, 2, 3) << 6 | top | insn_bits(half, 5, 2) << 3;
    const uint32_t load_4 =
        insn_bits(half, 2, 2) << 6 | top | insn_bits(half, 4, 3) << 2;
    const uint32_t store_8 = insn_bits(half, 7, 3) << 6 | insn_bits(half, 10, 3)
                                                              << 3;
    const uint32_t store_4 = insn_bits(half, 7, 2) << 6 | insn_bits(half, 9, 4)
                                                              << 2;

    switch (insn_bits(half, 13, 3)) {
    case 0: /* C.SLLI */
        return make_i(OPCODE_OP_IMM, 1, rd, rd, top | rs2);
    case 1: /* C.FLDSP */
        return make_i(OPCODE_LOAD_FP, 3, rd, REG_SP, load_8);
    case 2: /* C.LWSP */
        return rd == REG_ZERO ? 0 : make_i(OPCODE_LOAD, 2, rd, REG_SP, load_4);
    case 3: /* C.LDSP */
        return rd == REG_ZERO ? 0 : make_i(OPCODE_LOAD, 3, rd, REG_SP, load_8);
    case 4:
        return expand_register(half);
    case 5: /* C.FSDSP */
        return make_s(OPCODE_STORE_FP, 3, REG_SP, rs2, store_8);
    case 6: /* C.SWSP */
        return make_s(OPCODE_STORE, 2, REG_SP, rs2, store_4);
    default: /* C.SDSP */
        return make_s(OPCODE_STORE, 3, REG_SP, rs2, store_8);
    }
}

/* Returns the 32-bit instruction that a compressed one stands for; 0, which is
 * no instruction: it is none. */
static uint32_t
expand(uint32_t half)
{
    switch (half & 3) {
    case 0:
        return expand_0(half);
    case 1:
        return expand_1(half);
    default:
        return expand_2(half);
    }
}

/* --- What rows say -------------------------------------------------------- */

/* A row of a group: the words whose bits under `mask` are `bits`. */
struct row {
    uint32_t mask, bits;
    const char *name; /* with % for the letter of a precision */
    /* Of the text, a letter each: see add_operand(). Those that are registers
     * are operands for riscv_operands.c, too. */
    const char *operands;
    uint32_t flags;
    /* What the row cannot say; may find the instruction illegal. NULL: the
     * instruction changes the register rd. */
    void (*more)(uint32_t word, uint64_t pc, struct insn *insn);
};

/* For rows of instructions that change no general register. */
static void
no_register(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)word, (void)pc, (void)insn;
}

/* --- Integers ------------------------------------------------------------- */

static void
add_immediate(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    insn->reg_writes = written(rd_of(word));
    if (rd_of(word) == rs1_of(word) && insn->reg_writes != 0) {
        insn->step_reg = (int8_t)rd_of(word);
        insn->step = immediate_i(word);
    }
}

static void
set_address(uint32_t word, int64_t disp, struct insn *insn)
{
    insn->addr_known = true;
    if (rs1_of(word) != REG_ZERO)
        insn->addr_base = (int8_t)rs1_of(word);
    insn->addr_disp = disp;
}

/* PREFETCH.I brings no line of data. */
static void
prefetch(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    insn->class = CLASS_LOAD;
    if (rs2_of(word) == 0)
        return;
    insn->prefetch = PREFETCH_NEAR;
    set_address(word, immediate_s(word), insn);
}

static const struct row upper[] = {
    {0x0000007f, 0x00000017, "auipc", "du", .flags = 0},
    {0x0000007f, 0x00000037, "lui", "du", .flags = 0},
};

static const struct row immediates[] = {
    {0x0000707f, 0x00000013, "addi", "dsi", .more = add_immediate},
    {0xfc00707f, 0x00001013, "slli", "ds>", .flags = 0},
    {0x0000707f, 0x00002013, "slti", "dsi", .flags = 0},
    {0x0000707f, 0x00003013, "sltiu", "dsi", .flags = 0},
    {0x0000707f, 0x00004013, "xori", "dsi", .flags = 0},
    {0xfc00707f, 0x00005013, "srli", "ds>", .flags = 0},
    {0xfc00707f, 0x40005013, "srai", "ds>", .flags = 0},
    {0x01f07fff, 0x00006013, "prefetch.i", "q", INSN_PREFETCH, prefetch},
    {0x01f07fff, 0x00106013, "prefetch.r", "q", INSN_PREFETCH, prefetch},
    {0x01f07fff, 0x00306013, "prefetch.w", "q", INSN_PREFETCH, prefetch},
    {0x0000707f, 0x00006013, "ori", "dsi", .flags = 0},
    {0x0000707f, 0x00007013, "andi", "dsi", .flags = 0},
    {0xfff0707f, 0x60001013, "clz", "ds", .flags = 0},
    {0xfff0707f, 0x60101013, "ctz", "ds", .flags = 0},
    {0xfff0707f, 0x60201013, "cpop", "ds", .flags = 0},
    {0xfff0707f, 0x60401013, "sext.b", "ds", .flags = 0},
    {0xfff0707f, 0x60501013, "sext.h", "ds", .flags = 0},
    {0xfc00707f, 0x28001013, "bseti", "ds>", .flags = 0},
    {0xfc00707f, 0x48001013, "bclri", "ds>", .flags = 0},
    {0xfc00707f, 0x68001013, "binvi", "ds>", .flags = 0},
    {0xfc00707f, 0x48005013, "bexti", "ds>", .flags = 0},
    {0xfc00707f, 0x60005013, "rori", "ds>", .flags = 0},
    {0xfff0707f, 0x28705013, "orc.b", "ds", .flags = 0},
    {0xfff0707f, 0x6b805013, "rev8", "ds", .flags = 0},
};

static const struct row immediates_32[] = {
    {0x0000707f, 0x0000001b, "addiw", "dsi", .flags = 0},
    {0xfe00707f, 0x0000101b, "slliw", "ds>", .flags = 0},
    {0xfe00707f, 0x0000501b, "srliw", "ds>", .flags = 0},
    {0xfe00707f, 0x4000501b, "sraiw", "ds>", .flags = 0},
    {0xfc00707f, 0x0800101b, "slli.uw", "ds>", .flags = 0},
    {0xfff0707f, 0x6000101b, "clzw", "ds", .flags = 0},
    {0xfff0707f, 0x6010101b, "ctzw", "ds", .flags = 0},
    {0xfff0707f, 0x6020101b, "cpopw", "ds", .flags = 0},
    {0xfe00707f, 0x6000501b, "roriw", "ds>", .flags = 0},
};

static const struct row registers[] = {
    {0xfe00707f, 0x00000033, "add", "dst", .flags = 0},
    {0xfe00707f, 0x40000033, "sub", "dst", .flags = 0},
    {0xfe00707f, 0x00001033, "sll", "dst", .flags = 0},
    {0xfe00707f, 0x00002033, "slt", "dst", .flags = 0},
    {0xfe00707f, 0x00003033, "sltu", "dst", .flags = 0},
    {0xfe00707f, 0x00004033, "xor", "dst", .flags = 0},
    {0xfe00707f, 0x00005033, "srl", "dst", .flags = 0},
    {0xfe00707f, 0x40005033, "sra", "dst", .flags = 0},
    {0xfe00707f, 0x00006033, "or", "dst", .flags = 0},
    {0xfe00707f, 0x00007033, "and", "dst", .flags = 0},
    {0xfe00707f, 0x02000033, "mul", "dst", INSN_MULDIV, NULL},
    {0xfe00707f, 0x02001033, "mulh", "dst", INSN_MULDIV, NULL},
    {0xfe00707f, 0x02002033, "mulhsu", "dst", INSN_MULDIV, NULL},
    {0xfe00707f, 0x02003033, "mulhu", "dst", INSN_MULDIV, NULL},
    {0xfe00707f, 0x02004033, "div", "dst", INSN_MULDIV, NULL},
    {0xfe00707f, 0x02005033, "divu", "dst", INSN_MULDIV, NULL},
    {0xfe00707f, 0x02006033, "rem", "dst", INSN_MULDIV, NULL},
    {0xfe00707f, 0x02007033, "remu", "dst", INSN_MULDIV, NULL},
    {0xfe00707f, 0x20002033, "sh1add", "dst", .flags = 0},
    {0xfe00707f, 0x20004033, "sh2add", "dst", .flags = 0},
    {0xfe00707f, 0x20006033, "sh3add", "dst", .flags = 0},
    {0xfe00707f, 0x40004033, "xnor", "dst", .flags = 0},
    {0xfe00707f, 0x40006033, "orn", "dst", .flags = 0},
    {0xfe00707f, 0x40007033, "andn", "dst", .flags = 0},
    {0xfe00707f, 0x0a001033, "clmul", "dst", .flags = 0},
    {0xfe00707f, 0x0a002033, "clmulr", "dst", .flags = 0},
    {0xfe00707f, 0x0a003033, "clmulh", "dst", .flags = 0},
    {0xfe00707f, 0x0a004033, "min", "dst", .flags = 0},
    {0xfe00707f, 0x0a005033, "minu", "dst", .flags = 0},
    {0xfe00707f, 0x0a006033, "max", "dst", .flags = 0},
    {0xfe00707f, 0x0a007033, "maxu", "dst", .flags = 0},
    {0xfe00707f, 0x28001033, "bset", "dst", .flags = 0},
    {0xfe00707f, 0x48001033, "bclr", "dst", .flags = 0},
    {0xfe00707f, 0x68001033, "binv", "dst", .flags = 0},
    {0xfe00707f, 0x48005033, "bext", "dst", .flags = 0},
    {0xfe00707f, 0x60001033, "rol", "dst", .flags = 0},
    {0xfe00707f, 0x60005033, "ror", "dst", .flags = 0},
};

static const struct row registers_32[] = {
    {0xfe00707f, 0x0000003b, "addw", "dst", .flags = 0},
    {0xfe00707f, 0x4000003b, "subw", "dst", .flags = 0},
    {0xfe00707f, 0x0000103b, "sllw", "dst", .flags = 0},
    {0xfe00707f, 0x0000503b, "srlw", "dst", .flags = 0},
    {0xfe00707f, 0x4000503b, "sraw", "dst", .flags = 0},
    {0xfe00707f, 0x0200003b, "mulw", "dst", INSN_MULDIV, NULL},
    {0xfe00707f, 0x0200403b, "divw", "dst", INSN_MULDIV, NULL},
    {0xfe00707f, 0x0200503b, "divuw", "dst", INSN_MULDIV, NULL},
    {0xfe00707f, 0x0200603b, "remw", "dst", INSN_MULDIV, NULL},
    {0xfe00707f, 0x0200703b, "remuw", "dst", INSN_MULDIV, NULL},
    {0xfe00707f, 0x0800003b, "add.uw", "dst", .flags = 0},
    {0xfff0707f, 0x0800403b, "zext.h", "ds", .flags = 0},
    {0xfe00707f, 0x2000203b, "sh1add.uw", "dst", .flags = 0},
    {0xfe00707f, 0x2000403b, "sh2add.uw", "dst", .flags = 0},
    {0xfe00707f, 0x2000603b, "sh3add.uw", "dst", .flags = 0},
    {0xfe00707f, 0x6000103b, "rolw", "dst", .flags = 0},
    {0xfe00707f, 0x6000503b, "rorw", "dst", .flags = 0},
};

/* --- Branches ------------------------------------------------------------- */

static void
set_branch(enum insn_branch kind, uint64_t target, struct insn *insn)
{
    insn->branch = (uint8_t)kind;
    insn->target = target;
}

static void
jump(uint32_t word, uint64_t pc, struct insn *insn)
{
    set_branch(is_link(rd_of(word)) ? BRANCH_CALL : BRANCH_JUMP,
               pc + (uint64_t)immediate_j(word), insn);
    insn->reg_writes = written(rd_of(word));
}

static void
jump_register(uint32_t word, uint64_t pc, struct insn *insn)
{
    enum insn_branch kind = BRANCH_INDIRECT;

    (void)pc;
    if (is_link(rd_of(word)))
        kind = BRANCH_INDIRECT_CALL;
    else if (is_link(rs1_of(word)))
        kind = BRANCH_RETURN;
    set_branch(kind, 0, insn);
    insn->reg_writes = written(rd_of(word));
}

/* Bits 14:12: 0 equal, 1 not, 4 less, 5 not, 6 and 7 the same unsigned. A
 * register beside itself decides, and so does x0, below which is no unsigned
 * number. */
static void
branch_condition(uint32_t word, uint64_t pc, struct insn *insn)
{
    const uint32_t funct3 = insn_bits(word, 12, 3);
    const bool unsigned_below_0 = funct3 >= 6 && rs2_of(word) == REG_ZERO;
    const bool same = rs1_of(word) == rs2_of(word) || unsigned_below_0;
    const bool taken = funct3 == 0 || funct3 == 5 || funct3 == 7;
    const enum insn_branch sure = taken ? BRANCH_JUMP : BRANCH_NEVER;

    set_branch(same ? sure : BRANCH_CONDITIONAL,
               pc + (uint64_t)immediate_b(word), insn);
}

static const struct row branches[] = {
    {0x0000707f, 0x00000063, "beq", "stb", .more = branch_condition},
    {0x0000707f, 0x00001063, "bne", "stb", .more = branch_condition},
    {0x0000707f, 0x00004063, "blt", "stb", .more = branch_condition},
    {0x0000707f, 0x00005063, "bge", "stb", .more = branch_condition},
    {0x0000707f, 0x00006063, "bltu", "stb", .more = branch_condition},
    {0x0000707f, 0x00007063, "bgeu", "stb", .more = branch_condition},
};

static const struct row jumps[] = {
    {0x0000007f, 0x0000006f, "jal", "dj", .more = jump},
    {0x0000707f, 0x00000067, "jalr", "dl", .more = jump_register},
};

/* --- The system ----------------------------------------------------------- */

static void
call_kernel(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)word, (void)pc;
    /* The kernel may change them all (sigreturn, execve). */
    insn->reg_writes = ALL_REGISTERS;
}

/* Bits 9:8 of a control register's number are the lowest mode that has it, and
 * bits 11:10 say that it is only read: CSRRS and CSRRC of x0 or 0 read. */
static void
control_register(uint32_t word, uint64_t pc, struct insn *insn)
{
    const bool writes = insn_bits(word, 12, 2) == 1 || rs1_of(word) != 0;

    (void)pc;
    if (insn_bits(word, 28, 2) != 0 || (writes && insn_bits(word, 30, 2) == 3))
        insn_illegal(insn);
    else
        insn->reg_writes = written(rd_of(word));
}

static void
synchronize(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)word, (void)pc;
    insn->serializes = true;
}

static const struct row system_rows[] = {
    {0xffffffff, 0x00000073, "ecall", "", INSN_SYSCALL, call_kernel},
    {0xffffffff, EBREAK, "ebreak", "", INSN_SYSCALL, no_register},
    {0xffffffff, 0x00d00073, "wrs.nto", "", INSN_PAUSE, no_register},
    {0xffffffff, 0x01d00073, "wrs.sto", "", INSN_PAUSE, no_register},
    {0x0000707f, 0x00001073, "csrrw", "dcs", .more = control_register},
    {0x0000707f, 0x00002073, "csrrs", "dcs", .more = control_register},
    {0x0000707f, 0x00003073, "csrrc", "dcs", .more = control_register},
    {0x0000707f, 0x00005073, "csrrwi", "dcz", .more = control_register},
    {0x0000707f, 0x00006073, "csrrsi", "dcz", .more = control_register},
    {0x0000707f, 0x00007073, "csrrci", "dcz", .more = control_register},
};

/* FENCE and FENCE.I have reserved fields, which are to be ignored. */
static const struct row fences[] = {
    {0xffffffff, 0x0100000f, "pause", "", INSN_PAUSE, no_register},
    {0xffffffff, 0x8330000f, "fence.tso", "", INSN_MEMBAR, no_register},
    {0x0000707f, 0x0000000f, "fence", "f", INSN_MEMBAR, no_register},
    {0x0000707f, 0x0000100f, "fence.i", "", .more = synchronize},
    {0xfff07fff, 0x0000200f, "cbo.inval", "a", .more = no_register},
    {0xfff07fff, 0x0010200f, "cbo.clean", "a", .more = no_register},
    {0xfff07fff, 0x0020200f, "cbo.flush", "a", .more = no_register},
    {0xfff07fff, 0x0040200f, "cbo.zero", "a", .more = no_register},
};

/* --- Loads and stores ------------------------------------------------------
 */

/* Bits 13:12 are the size of loads, stores and atomics. */
static uint8_t
size_of(uint32_t word)
{
    return (uint8_t)(1u << insn_bits(word, 12, 2));
}

static void
load(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    insn->class = CLASS_LOAD;
    insn->access = ACCESS_LOAD;
    insn->access_size = size_of(word);
    insn->loads = 1;
    insn->reg_writes = written(rd_of(word));
    set_address(word, immediate_i(word), insn);
}

static void
load_float(uint32_t word, uint64_t pc, struct insn *insn)
{
    load(word, pc, insn);
    insn->reg_writes = 0;
}

static void
store(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    insn->access = ACCESS_STORE;
    insn->access_size = size_of(word);
    insn->stores = 1;
    set_address(word, immediate_s(word), insn);
}

static void
load_reserved(uint32_t word, uint64_t pc, struct insn *insn)
{
    load(word, pc, insn);
    insn->addr_disp = 0;
}

/* SC, which may fail, has no address that others could be told by. */
static void
store_conditional(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    insn->class = CLASS_STORE;
    insn->access = ACCESS_MIXED;
    insn->access_size = size_of(word);
    insn->stores = 1;
    insn->flags |= INSN_CONDITIONAL;
    insn->reg_writes = written(rd_of(word));
}

static void
atomic(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    insn->access = ACCESS_ATOMIC;
    insn->access_size = size_of(word);
    insn->loads = insn->stores = 1;
    insn->reg_writes = written(rd_of(word));
    set_address(word, 0, insn);
}

static const struct row loads[] = {
    {0x0000707f, 0x00000003, "lb", "dl", .more = load},
    {0x0000707f, 0x00001003, "lh", "dl", .more = load},
    {0x0000707f, 0x00002003, "lw", "dl", .more = load},
    {0x0000707f, 0x00003003, "ld", "dl", .more = load},
    {0x0000707f, 0x00004003, "lbu", "dl", .more = load},
    {0x0000707f, 0x00005003, "lhu", "dl", .more = load},
    {0x0000707f, 0x00006003, "lwu", "dl", .more = load},
};

static const struct row float_loads[] = {
    {0x0000707f, 0x00001007, "flh", "Dl", INSN_FLOAT, load_float},
    {0x0000707f, 0x00002007, "flw", "Dl", INSN_FLOAT, load_float},
    {0x0000707f, 0x00003007, "fld", "Dl", INSN_FLOAT, load_float},
};

static const struct row stores[] = {
    {0x0000707f, 0x00000023, "sb", "tq", .more = store},
    {0x0000707f, 0x00001023, "sh", "tq", .more = store},
    {0x0000707f, 0x00002023, "sw", "tq", .more = store},
    {0x0000707f, 0x00003023, "sd", "tq", .more = store},
};

static const struct row float_stores[] = {
    {0x0000707f, 0x00001027, "fsh", "Tq", .more = store},
    {0x0000707f, 0x00002027, "fsw", "Tq", .more = store},
    {0x0000707f, 0x00003027, "fsd", "Tq", .more = store},
};

/* Bits 26:25 are acquire and release, bit 12 is the size. */
static const struct row atomics[] = {
    {0xf9f0607f, 0x1000202f, "lr", "da", .more = load_reserved},
    {0xf800607f, 0x1800202f, "sc", "dta", .more = store_conditional},
    {0xf800607f, 0x0800202f, "amoswap", "dta", .more = atomic},
    {0xf800607f, 0x0000202f, "amoadd", "dta", .more = atomic},
    {0xf800607f, 0x2000202f, "amoxor", "dta", .more = atomic},
    {0xf800607f, 0x6000202f, "amoand", "dta", .more = atomic},
    {0xf800607f, 0x4000202f, "amoor", "dta", .more = atomic},
    {0xf800607f, 0x8000202f, "amomin", "dta", .more = atomic},
    {0xf800607f, 0xa000202f, "amomax", "dta", .more = atomic},
    {0xf800607f, 0xc000202f, "amominu", "dta", .more = atomic},
    {0xf800607f, 0xe000202f, "amomaxu", "dta", .more = atomic},
};

/* --- Floating point ---------------------------------------------------------
 */

#define COMPUTES (INSN_FP | INSN_SHARED_FPU)

/* Bits 26:25 are the precision, of which user programs have no quadruple. */
static bool
is_precision(uint32_t word)
{
    return insn_bits(word, 25, 2) != 3;
}

/* The rounding modes 5 and 6 are reserved. */
static bool
is_rounding(uint32_t word)
{
    return insn_bits(word, 12, 3) != 5 && insn_bits(word, 12, 3) != 6;
}

static void
of_precision(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    if (!is_precision(word))
        insn_illegal(insn);
}

static void
rounded(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    if (!is_precision(word) || !is_rounding(word))
        insn_illegal(insn);
}

static void
of_precision_to_integer(uint32_t word, uint64_t pc, struct insn *insn)
{
    insn->reg_writes = written(rd_of(word));
    of_precision(word, pc, insn);
}

static void
rounded_to_integer(uint32_t word, uint64_t pc, struct insn *insn)
{
    insn->reg_writes = written(rd_of(word));
    rounded(word, pc, insn);
}

/* Between precisions: bits 21:20 are the one that is converted. */
static void
convert_precision(uint32_t word, uint64_t pc, struct insn *insn)
{
    if (insn_bits(word, 20, 2) == insn_bits(word, 25, 2))
        insn_illegal(insn);
    else
        rounded(word, pc, insn);
}

static const struct row fused[] = {
    {0x0000007f, 0x00000043, "fmadd.%", "DSTRr", COMPUTES, rounded},
    {0x0000007f, 0x00000047, "fmsub.%", "DSTRr", COMPUTES, rounded},
    {0x0000007f, 0x0000004b, "fnmsub.%", "DSTRr", COMPUTES, rounded},
    {0x0000007f, 0x0000004f, "fnmadd.%", "DSTRr", COMPUTES, rounded},
};

#define TO_INTEGER COMPUTES, rounded_to_integer

static const struct row floats[] = {
    {0xf800007f, 0x00000053, "fadd.%", "DSTr", COMPUTES, rounded},
    {0xf800007f, 0x08000053, "fsub.%", "DSTr", COMPUTES, rounded},
    {0xf800007f, 0x10000053, "fmul.%", "DSTr", COMPUTES, rounded},
    {0xf800007f, 0x18000053, "fdiv.%", "DSTr", COMPUTES, rounded},
    {0xf9f0007f, 0x58000053, "fsqrt.%", "DSr", COMPUTES, rounded},
    {0xf800707f, 0x20000053, "fsgnj.%", "DST", .more = of_precision},
    {0xf800707f, 0x20001053, "fsgnjn.%", "DST", COMPUTES, of_precision},
    {0xf800707f, 0x20002053, "fsgnjx.%", "DST", COMPUTES, of_precision},
    {0xf800707f, 0x28000053, "fmin.%", "DST", COMPUTES, of_precision},
    {0xf800707f, 0x28001053, "fmax.%", "DST", COMPUTES, of_precision},
    {0xf9f0007f, 0x40000053, "fcvt.%.s", "DSe", COMPUTES, convert_precision},
    {0xf9f0007f, 0x40100053, "fcvt.%.d", "DSr", COMPUTES, convert_precision},
    {0xf9f0007f, 0x40200053, "fcvt.%.h", "DS", COMPUTES, convert_precision},
    {0xf800707f, 0xa0000053, "fle.%", "dST", COMPUTES, of_precision_to_integer},
    {0xf800707f, 0xa0001053, "flt.%", "dST", COMPUTES, of_precision_to_integer},
    {0xf800707f, 0xa0002053, "feq.%", "dST", COMPUTES, of_precision_to_integer},
    {0xf9f0007f, 0xc0000053, "fcvt.w.%", "dSr", TO_INTEGER},
    {0xf9f0007f, 0xc0100053, "fcvt.wu.%", "dSr", TO_INTEGER},
    {0xf9f0007f, 0xc0200053, "fcvt.l.%", "dSr", TO_INTEGER},
    {0xf9f0007f, 0xc0300053, "fcvt.lu.%", "dSr", TO_INTEGER},
    {0xf9f0007f, 0xd0000053, "fcvt.%.w", "Dse", COMPUTES, rounded},
    {0xf9f0007f, 0xd0100053, "fcvt.%.wu", "Dse", COMPUTES, rounded},
    {0xf9f0007f, 0xd0200053, "fcvt.%.l", "Dsr", COMPUTES, rounded},
    {0xf9f0007f, 0xd0300053, "fcvt.%.lu", "Dsr", COMPUTES, rounded},
    {0xfff0707f, 0xe0000053, "fmv.x.w", "dS", .flags = 0},
    {0xfff0707f, 0xe2000053, "fmv.x.d", "dS", .flags = 0},
    {0xfff0707f, 0xe4000053, "fmv.x.h", "dS", .flags = 0},
    {0xf9f0707f, 0xe0001053, "fclass.%", "dS", .more = of_precision_to_integer},
    {0xfff0707f, 0xf0000053, "fmv.w.x", "Ds", .more = no_register},
    {0xfff0707f, 0xf2000053, "fmv.d.x", "Ds", .more = no_register},
    {0xfff0707f, 0xf4000053, "fmv.h.x", "Ds", .more = no_register},
};

/* -------------------------------------------------------------------------- */

#define GROUP(rows, class)                          \
    {                                               \
        rows, sizeof(rows) / sizeof(*(rows)), class \
    }

/* By bits 6:2. */
static const struct group {
    const struct row *rows;
    size_t count;
    enum insn_class class;
} groups[32] = {
    [0x00] = GROUP(loads, CLASS_LOAD),
    [0x01] = GROUP(float_loads, CLASS_LOAD),
    [0x03] = GROUP(fences, CLASS_OTHER),
    [0x04] = GROUP(immediates, CLASS_OTHER),
    [0x05] = GROUP(upper, CLASS_OTHER),
    [0x06] = GROUP(immediates_32, CLASS_OTHER),
    [0x08] = GROUP(stores, CLASS_STORE),
    [0x09] = GROUP(float_stores, CLASS_STORE),
    [0x0b] = GROUP(atomics, CLASS_ATOMIC),
    [0x0c] = GROUP(registers, CLASS_OTHER),
    [0x0d] = GROUP(upper, CLASS_OTHER),
    [0x0e] = GROUP(registers_32, CLASS_OTHER),
    [0x10] = GROUP(fused, CLASS_FGU),
    [0x11] = GROUP(fused, CLASS_FGU),
    [0x12] = GROUP(fused, CLASS_FGU),
    [0x13] = GROUP(fused, CLASS_FGU),
    [0x14] = GROUP(floats, CLASS_FGU),
    [0x18] = GROUP(branches, CLASS_BRANCH),
    [0x19] = GROUP(jumps, CLASS_BRANCH),
    [0x1b] = GROUP(jumps, CLASS_BRANCH),
    [0x1c] = GROUP(system_rows, CLASS_OTHER),
};

/* Returns the first of the rows that the word is of, or NULL. */
static const struct row *
find_row(const struct row *rows, size_t count, uint32_t word)
{
    for (size_t i = 0; i < count; i++)
        if ((word & rows[i].mask) == rows[i].bits)
            return &rows[i];
    return NULL;
}

/* Decodes all but the size of a 32-bit instruction, or of that which a
 * compressed one stands for. Returns its row, or NULL: it is illegal. */
static const struct row *
decode_word(uint32_t word, uint64_t pc, struct insn *insn)
{
    const struct group *const group = &groups[insn_bits(word, 2, 5)];
    const struct row *const row = find_row(group->rows, group->count, word);

    if (row == NULL) {
        insn_illegal(insn);
        return NULL;
    }
    insn->class = (uint8_t)group->class;
    insn->flags = row->flags;
    insn->riscv_kind = (uint8_t)riscv_kind(word);
    if (row->more != NULL)
        row->more(word, pc, insn);
    else
        insn->reg_writes = written(rd_of(word));
    return (insn->flags & INSN_ILLEGAL) != 0 ? NULL : row;
}

/* Reads an instruction: `raw` is as in memory, `word` the 32-bit instruction
 * that it is or stands for. Returns its size, 2 or 4; 0: the bytes end first.
 */
static unsigned
read_word(const uint8_t *bytes, size_t size, uint32_t *raw, uint32_t *word)
{
    if (size < 2)
        return 0;
    *raw = (uint32_t)bytes[1] << 8 | bytes[0];
    if ((*raw & 3) != 3) {
        *word = expand(*raw);
        return 2;
    }
    if (size < 4)
        return 0;
    *raw |= (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16;
    *word = *raw;
    return 4;
}

static bool
decode(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
       struct insn *insn)
{
    uint32_t raw, word;
    const unsigned length = read_word(bytes, size, &raw, &word);

    (void)isa;
    if (length == 0)
        return false;
    decode_word(word, pc, insn);
    insn->size = (uint8_t)length;
    return true;
}

bool
riscv_read(const uint8_t *bytes, size_t size, struct riscv_insn *found)
{
    uint32_t raw;

    *found = (struct riscv_insn){0};
    if (read_word(bytes, size, &raw, &found->word) == 0)
        return false;
    const struct row *const row = decode_word(found->word, 0, &found->insn);
    if (row != NULL)
        found->operands = row->operands;
    return row != NULL;
}

/* --- Text ----------------------------------------------------------------- */

/* What assemblers call an instruction with some fields of 0 or of another sort,
 * tried before its row: `more` is not looked at. */
static const struct row aliases[] = {
    {0xffffffff, 0x00000013, "nop", "", .flags = 0},
    {0x000ff07f, 0x00000013, "li", "di", .flags = 0},
    {0xfff0707f, 0x00000013, "mv", "ds", .flags = 0},
    {0xfe0ff07f, 0x00000033, "mv", "dt", .flags = 0}, /* C.MV */
    {0xfff0707f, 0xfff04013, "not", "ds", .flags = 0},
    {0xfe0ff07f, 0x40000033, "neg", "dt", .flags = 0},
    {0xfff0707f, 0x0000001b, "sext.w", "ds", .flags = 0},
    {0xfff0707f, 0x00103013, "seqz", "ds", .flags = 0},
    {0xfe0ff07f, 0x00003033, "snez", "dt", .flags = 0},
    {0x01f0707f, 0x00000063, "beqz", "sb", .flags = 0},
    {0x01f0707f, 0x00001063, "bnez", "sb", .flags = 0},
    {0x00000fff, 0x0000006f, "j", "j", .flags = 0},
    {0xffffffff, 0x00008067, "ret", "", .flags = 0},
    {0xfff07fff, 0x00000067, "jr", "s", .flags = 0},
    {0xfff07fff, 0x000000e7, "jalr", "s", .flags = 0},
};

static const char *const general_names[32] = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

static const char *const float_names[32] = {
    "ft0", "ft1", "ft2",  "ft3",  "ft4", "ft5", "ft6",  "ft7",
    "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
    "fa6", "fa7", "fs2",  "fs3",  "fs4", "fs5", "fs6",  "fs7",
    "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

static const char *const rounding_names[8] = {"rne", "rtz", "rdn", "rup",
                                              "rmm", "",    "",    "dyn"};

struct text {
    char *at; /* of `size` bytes */
    size_t size, length;
};

static __attribute__((format(printf, 2, 3))) void
add_text(struct text *text, const char *format, ...)
{
    va_list words;

    if (text->length >= text->size)
        return;
    va_start(words, format);
    text->length += (size_t)vsnprintf(text->at + text->length,
                                      text->size - text->length, format, words);
    va_end(words);
}

/* A number of a control and status register, which few have a name for. */
static void
add_control_register(struct text *text, uint32_t number)
{
    static const struct {
        uint32_t number;
        const char *name;
    } names[] = {{0x001, "fflags"}, {0x002, "frm"},  {0x003, "fcsr"},
                 {0xc00, "cycle"},  {0xc01, "time"}, {0xc02, "instret"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (names[i].number == number) {
            add_text(text, "%s", names[i].name);
            return;
        }
    add_text(text, "%#x", (unsigned)number);
}

/* What a fence orders: input, output, reads, writes. */
static void
add_order(struct text *text, uint32_t set)
{
    add_text(text, "%s%s%s%s%s", set & 8 ? "i" : "", set & 4 ? "o" : "",
             set & 2 ? "r" : "", set & 1 ? "w" : "", set == 0 ? "0" : "");
}

/* Of an operand that is a number, by its letter in the row. */
static int64_t
number_of(char letter, uint32_t word, uint64_t pc)
{
    switch (letter) {
    case 'u':
        return word >> 12;
    case '>': /* W instructions have a bit less, which is 0 */
        return insn_bits(word, 20, 6);
    case 'b':
        return (int64_t)(pc + (uint64_t)immediate_b(word));
    case 'j':
        return (int64_t)(pc + (uint64_t)immediate_j(word));
    case 'q':
        return immediate_s(word);
    default:
        return immediate_i(word);
    }
}

static void
add_operand(struct text *text, char letter, uint32_t word, uint64_t pc)
{
    const int64_t number = number_of(letter, word, pc);

    switch (letter) {
    case 'd':
        add_text(text, "%s", general_names[rd_of(word)]);
        break;
    case 's':
        add_text(text, "%s", general_names[rs1_of(word)]);
        break;
    case 't':
        add_text(text, "%s", general_names[rs2_of(word)]);
        break;
    case 'D':
        add_text(text, "%s", float_names[rd_of(word)]);
        break;
    case 'S':
        add_text(text, "%s", float_names[rs1_of(word)]);
        break;
    case 'T':
        add_text(text, "%s", float_names[rs2_of(word)]);
        break;
    case 'R':
        add_text(text, "%s", float_names[word >> 27]);
        break;
    case 'a':
        add_text(text, "(%s)", general_names[rs1_of(word)]);
        break;
    case 'l': /* of loads and JALR */
    case 'q': /* of stores */
        add_text(text, "%" PRId64 "(%s)", number, general_names[rs1_of(word)]);
        break;
    case 'i':
    case '>':
        add_text(text, "%" PRId64, number);
        break;
    case 'u':
    case 'b':
    case 'j':
        add_text(text, "0x%" PRIx64, (uint64_t)number);
        break;
    case 'c':
        add_control_register(text, word >> 20);
        break;
    case 'z':
        add_text(text, "%u", (unsigned)rs1_of(word));
        break;
    case 'f':
        add_order(text, insn_bits(word, 24, 4));
        add_text(text, ", ");
        add_order(text, insn_bits(word, 20, 4));
        break;
    default: /* 'r', and 'e' of what is exact in double precision */
        add_text(text, "%s", rounding_names[insn_bits(word, 12, 3)]);
        break;
    }
}

/* Returns whether the text has the operand: not the rounding mode that is the
 * one in FCSR, or where there is nothing to round. */
static bool
is_shown(char letter, uint32_t word)
{
    const bool exact = letter == 'e' && insn_bits(word, 25, 2) == 1;

    return (letter != 'r' && letter != 'e') ||
           (insn_bits(word, 12, 3) != ROUNDING_DYNAMIC && !exact);
}

static void
add_name(struct text *text, const char *name, uint32_t word)
{
    static const char *const orders[] = {"", ".rl", ".aq", ".aqrl"};
    static const char precisions[] = "sdhq";

    for (; *name != '\0'; name++)
        add_text(text, "%c",
                 *name == '%' ? precisions[insn_bits(word, 25, 2)] : *name);
    if (insn_bits(word, 0, 7) == 0x2f)
        add_text(text, ".%c%s", insn_bits(word, 12, 1) ? 'd' : 'w',
                 orders[insn_bits(word, 25, 2)]);
}

/* Writes a compressed instruction as the 32-bit one that it stands for. */
static void
write_text(const struct isa *isa, const uint8_t *bytes, size_t size,
           uint64_t pc, char *text, size_t text_size)
{
    uint32_t raw = 0, word = 0;
    const unsigned length = read_word(bytes, size, &raw, &word);
    struct insn insn = {0};
    struct text to = {text, text_size, 0};

    (void)isa;
    if (length == 0) {
        add_text(&to, INSN_BAD_TEXT);
        return;
    }
    const struct row *const row = decode_word(word, pc, &insn);
    const struct row *const alias =
        find_row(aliases, sizeof(aliases) / sizeof(*aliases), word);
    const struct row *const shown = row != NULL && alias != NULL ? alias : row;
    if (shown == NULL) {
        add_text(&to, "0x%0*x", (int)length * 2, (unsigned)raw);
        return;
    }
    add_name(&to, shown->name, word);
    const char *before = " ";
    for (const char *letter = shown->operands; *letter != '\0'; letter++) {
        if (!is_shown(*letter, word))
            continue;
        add_text(&to, "%s", before);
        add_operand(&to, *letter, word, pc);
        before = ", ";
    }
}

/* ADDI, ADD, AUIPC, LUI, and SH1ADD to SH3ADD, compressed or not. */
static bool
sum(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
    struct insn_sum *sum)
{
    uint32_t raw = 0, word = 0;

    (void)isa;
    if (read_word(bytes, size, &raw, &word) == 0)
        return false;
    const uint32_t opcode = insn_bits(word, 0, 7);
    const uint32_t function = word & 0xfe007000;
    const int8_t rs1 = (int8_t)rs1_of(word);
    const int8_t rs2 = (int8_t)insn_bits(word, 20, 5);

    sum->to = (int8_t)rd_of(word);
    if (sum->to == 0)
        return false;
    if (opcode == 0x17 || opcode == 0x37) {
        sum->add = (int32_t)(word & 0xfffff000);
        sum->add = (int64_t)((uint64_t)sum->add + (opcode == 0x17 ? pc : 0));
        return true;
    }
    sum->base = rs1 != 0 ? rs1 : INSN_NO_REG;
    if (opcode == 0x13 && insn_bits(word, 12, 3) == 0) {
        sum->add = immediate_i(word);
        return true;
    }
    if (opcode != 0x33)
        return false;
    if (function == 0) { /* ADD */
        sum->base = rs1 != 0 ? rs1 : rs2 != 0 ? rs2 : INSN_NO_REG;
        sum->index = rs1 != 0 && rs2 != 0 ? rs2 : INSN_NO_REG;
        return true;
    }
    /* SHnADD adds rs1, shifted, to rs2. */
    sum->base = rs2 != 0 ? rs2 : INSN_NO_REG;
    sum->index = rs1 != 0 ? rs1 : INSN_NO_REG;
    sum->scaled = true;
    return function == 0x20002000 || function == 0x20004000 ||
           function == 0x20006000;
}

const struct isa_decoder riscv_decoder = {
    .sum = sum,
    .decode = decode,
    .text = write_text,
    .operands = riscv_operands,
};
