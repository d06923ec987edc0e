/* SPDX-License-Identifier: MIT */
/*
 * AArch64 in user mode, Armv8.0 to Armv8.9 with SVE: first by bits 28:25, the
 * groups of the manual's table of encodings, then by rows of masked bits. What
 * user mode may not execute is illegal (HVC, ERET, system registers of EL1 but
 * for those that Linux reads for a program). So are SME, the instructions that
 * copy and set memory (FEAT_MOPS), and loads and stores of 64 bytes at once.
 *
 * A word of data processing is checked as far as another instruction would be
 * meant: an unallocated word between the forms of one instruction counts as
 * that instruction, and QEMU raises the signal.
 *
 * A pair (LDP, STP) is one load or store, as the processors' own events count.
 * Vector instructions are of class FGU, and those that compute with
 * floating-point numbers have INSN_FP. Of the SVE instructions that compute,
 * the register of bits 4:0 counts as changed, whether it is a general register
 * or not.
 *
 * DC ZVA, which clears a block of memory, counts as no store, as the other
 * operations on caches: QEMU 7.2 shows no access of it, so that a store would
 * be one that no cache sees.
 *
 * Document: Arm Architecture Reference Manual for A-profile (DDI 0487),
 * chapter C4.
 */
#include <stdio.h>

#include "isa/decode.h"

#define ALL_REGISTERS 0xffffffffu
#define REG_LINK 30
#define REG_SP 31 /* in an address and a few others; elsewhere it is zero */

static uint32_t
rd_of(uint32_t word)
{
    return insn_bits(word, 0, 5);
}

static uint32_t
rn_of(uint32_t word)
{
    return insn_bits(word, 5, 5);
}

static uint32_t
ra_of(uint32_t word)
{
    return insn_bits(word, 10, 5);
}

static uint32_t
rm_of(uint32_t word)
{
    return insn_bits(word, 16, 5);
}

/* Returns `count` bits from bit `low` on as a signed number. */
static int64_t
signed_bits(uint32_t word, unsigned low, unsigned count)
{
    const int64_t sign = INT64_C(1) << (count - 1);

    return ((int64_t)insn_bits(word, low, count) ^ sign) - sign;
}

/* Returns the bit of a register whose number 31 is the register of zeros. */
static uint64_t
zero_or(uint32_t number)
{
    return number == 31 ? 0 : UINT64_C(1) << number;
}

/* A row of a group: the words whose bits under `mask` are `bits`. */
struct row {
    uint32_t mask, bits;
    uint32_t flags;
    /* What the row cannot say; may find the instruction illegal. NULL: the
     * instruction changes the register of bits 4:0. */
    void (*more)(uint32_t word, uint64_t pc, struct insn *insn);
};

static const struct row *
find_row(const struct row *rows, size_t count, uint32_t word)
{
    for (size_t i = 0; i < count; i++)
        if ((word & rows[i].mask) == rows[i].bits)
            return &rows[i];
    return NULL;
}

/* Decodes by the first row that fits; a word without a row is illegal. */
#define DECODE(rows, word, pc, insn)                                           \
    decode_row(find_row(rows, sizeof(rows) / sizeof(*(rows)), word), word, pc, \
               insn)

static void
decode_row(const struct row *row, uint32_t word, uint64_t pc, struct insn *insn)
{
    if (row == NULL) {
        insn_illegal(insn);
        return;
    }
    insn->flags = row->flags;
    if (row->more != NULL)
        row->more(word, pc, insn);
    else
        insn->reg_writes = zero_or(rd_of(word));
}

/* For rows of instructions that change no general register. */
static void
no_register(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)word, (void)pc, (void)insn;
}

/* --- Data processing with immediates and registers ----------------------- */

/* ADD and SUB of an immediate: without flags, number 31 is the stack pointer.
 */
static void
add_immediate(uint32_t word, uint64_t pc, struct insn *insn)
{
    const bool flags = insn_bits(word, 29, 1);
    const int64_t value = (int64_t)insn_bits(word, 10, 12)
                          << (insn_bits(word, 22, 1) ? 12 : 0);

    (void)pc;
    insn->reg_writes =
        flags ? zero_or(rd_of(word)) : UINT64_C(1) << rd_of(word);
    if (insn_bits(word, 31, 1) && rd_of(word) == rn_of(word) &&
        insn->reg_writes != 0) {
        insn->step_reg = (int8_t)rd_of(word);
        insn->step = insn_bits(word, 30, 1) ? -value : value;
    }
}

/* ADDG and SUBG add a tag, too. */
static void
add_tag(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    insn->reg_writes = UINT64_C(1) << rd_of(word);
}

/* Returns whether N:imms is a pattern of ones, of a size that fits. */
static bool
is_pattern(uint32_t word)
{
    const uint32_t n = insn_bits(word, 22, 1);
    const uint32_t length = n << 6 | (~insn_bits(word, 10, 6) & 0x3f);

    if (length < 2 || (n != 0 && !insn_bits(word, 31, 1)))
        return false;
    const uint32_t levels =
        (UINT32_C(1) << (31 - (unsigned)__builtin_clz(length))) - 1;
    return (insn_bits(word, 10, 6) & levels) != levels;
}

/* AND, ORR and EOR write the stack pointer as number 31, ANDS does not. */
static void
logical_immediate(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    if (!is_pattern(word))
        insn_illegal(insn);
    else
        insn->reg_writes = insn_bits(word, 29, 2) == 3
                               ? zero_or(rd_of(word))
                               : UINT64_C(1) << rd_of(word);
}

/* Moves of 16 bits, of which a 32-bit register has two places. */
static void
move_wide(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    if (insn_bits(word, 29, 2) == 1 ||
        (!insn_bits(word, 31, 1) && insn_bits(word, 22, 1)))
        insn_illegal(insn);
    else
        insn->reg_writes = zero_or(rd_of(word));
}

/* Of bit fields and EXTR: bit 22 is the size, and a 32-bit register has places
 * below 32. */
static void
bit_field(uint32_t word, uint64_t pc, struct insn *insn)
{
    const bool wide = insn_bits(word, 31, 1);

    (void)pc;
    if (wide != insn_bits(word, 22, 1) ||
        (!wide && (insn_bits(word, 21, 1) || insn_bits(word, 15, 1))))
        insn_illegal(insn);
    else
        insn->reg_writes = zero_or(rd_of(word));
}

static const struct row immediates[] = {
    {0x1f000000, 0x10000000, .flags = 0},                /* ADR ADRP */
    {0x1f800000, 0x11000000, .more = add_immediate},     /* ADD SUB */
    {0xbfc0c000, 0x91800000, .more = add_tag},           /* ADDG SUBG */
    {0x7ff00000, 0x11c00000, .flags = 0},                /* SMAX ... UMIN */
    {0x1f800000, 0x12000000, .more = logical_immediate}, /* AND ... */
    {0x1f800000, 0x12800000, .more = move_wide},         /* MOVZ ... */
    {0x7f800000, 0x13000000, .more = bit_field},         /* SBFM */
    {0x7f800000, 0x33000000, .more = bit_field},         /* BFM */
    {0x7f800000, 0x53000000, .more = bit_field},         /* UBFM */
    {0x7fa00000, 0x13800000, .more = bit_field},         /* EXTR */
};

/* Of an operand that is shifted: a 32-bit register by less than 32. */
static void
shifted(uint32_t word, uint64_t pc, struct insn *insn)
{
    const bool adds = insn_bits(word, 24, 1);

    (void)pc;
    if ((!insn_bits(word, 31, 1) && insn_bits(word, 15, 1)) ||
        (adds && insn_bits(word, 22, 2) == 3))
        insn_illegal(insn);
    else
        insn->reg_writes = zero_or(rd_of(word));
}

static void
extended(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    if (insn_bits(word, 10, 3) > 4)
        insn_illegal(insn);
    else
        insn->reg_writes = insn_bits(word, 29, 1) ? zero_or(rd_of(word))
                                                  : UINT64_C(1) << rd_of(word);
}

/* IRG writes the stack pointer as number 31. */
static void
insert_tag(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    insn->reg_writes = UINT64_C(1) << rd_of(word);
}

static const struct row registers[] = {
    {0x1f000000, 0x0a000000, .more = shifted},      /* AND ... BICS */
    {0x1f200000, 0x0b000000, .more = shifted},      /* ADD ... SUBS */
    {0x1fe00000, 0x0b200000, .more = extended},     /* ADD ... SUBS */
    {0x1fe0fc00, 0x1a000000, .flags = 0},           /* ADC ... SBCS */
    {0xffe07c10, 0xba000400, .more = no_register},  /* RMIF */
    {0xffffbc1f, 0x3a00080d, .more = no_register},  /* SETF8, SETF16 */
    {0x3fe00410, 0x3a400000, .more = no_register},  /* CCMN, CCMP */
    {0x3fe00800, 0x1a800000, .flags = 0},           /* CSEL ... CSNEG */
    {0x7fe0f800, 0x1ac00800, .flags = INSN_MULDIV}, /* UDIV SDIV */
    {0x7fe0f000, 0x1ac02000, .flags = 0},           /* LSLV ... */
    {0x7fe0f000, 0x1ac06000, .flags = 0},           /* SMAX ... UMIN */
    {0xffe0ec00, 0x1ac04000, .flags = 0},           /* CRC32B CRC32CB */
    {0xffe0ec00, 0x1ac04400, .flags = 0},           /* CRC32H CRC32CH */
    {0xffe0ec00, 0x1ac04800, .flags = 0},           /* CRC32W CRC32CW */
    {0xffe0ec00, 0x9ac04c00, .flags = 0},           /* CRC32X CRC32CX */
    {0xffe0fc00, 0x9ac00000, .flags = 0},           /* SUBP */
    {0xffe0fc00, 0xbac00000, .flags = 0},           /* SUBPS */
    {0xffe0fc00, 0x9ac01000, .more = insert_tag},   /* IRG */
    {0xffe0fc00, 0x9ac01400, .flags = 0},           /* GMI */
    {0xffe0fc00, 0x9ac03000, .flags = 0},           /* PACGA */
    {0x7ffff800, 0x5ac00000, .flags = 0},           /* RBIT REV16 */
    {0x7ffffc00, 0x5ac00800, .flags = 0},           /* REV REV32 */
    {0xfffffc00, 0xdac00c00, .flags = 0},           /* REV */
    {0x7ffff800, 0x5ac01000, .flags = 0},           /* CLZ CLS */
    {0x7ffff800, 0x5ac01800, .flags = 0},           /* CTZ CNT */
    {0x7ffffc00, 0x5ac02000, .flags = 0},           /* ABS */
    {0xffffe000, 0xdac10000, .flags = 0},           /* PACIA ... */
    {0xffffe3e0, 0xdac123e0, .flags = 0},           /* PACIZA ... */
    {0xfffffbe0, 0xdac143e0, .flags = 0},           /* XPACI XPACD */
    {0x7fe00000, 0x1b000000, .flags = INSN_MULDIV}, /* MADD MSUB */
    {0xff600000, 0x9b200000, .flags = INSN_MULDIV}, /* SMADDL ... */
    {0xff608000, 0x9b400000, .flags = INSN_MULDIV}, /* SMULH UMULH */
};

/* --- Branches, exceptions, system ----------------------------------------- */

static void
set_branch(enum insn_branch kind, uint64_t target, struct insn *insn)
{
    insn->class = CLASS_BRANCH;
    insn->branch = (uint8_t)kind;
    insn->target = target;
}

static void
jump(uint32_t word, uint64_t pc, struct insn *insn)
{
    const bool links = insn_bits(word, 31, 1);

    set_branch(links ? BRANCH_CALL : BRANCH_JUMP,
               pc + (uint64_t)signed_bits(word, 0, 26) * 4, insn);
    if (links)
        insn->reg_writes = UINT64_C(1) << REG_LINK;
}

/* B.cond; the conditions 14 and 15 are always true. */
static void
branch_condition(uint32_t word, uint64_t pc, struct insn *insn)
{
    set_branch(insn_bits(word, 1, 3) == 7 ? BRANCH_JUMP : BRANCH_CONDITIONAL,
               pc + (uint64_t)signed_bits(word, 5, 19) * 4, insn);
}

/* Sets a branch on the register of bits 4:0; zero, register 31, decides. */
static void
branch_register(uint32_t word, uint64_t target, struct insn *insn)
{
    const enum insn_branch of_zero =
        insn_bits(word, 24, 1) ? BRANCH_NEVER : BRANCH_JUMP;

    set_branch(rd_of(word) == 31 ? of_zero : BRANCH_CONDITIONAL, target, insn);
}

static void
compare_branch(uint32_t word, uint64_t pc, struct insn *insn)
{
    branch_register(word, pc + (uint64_t)signed_bits(word, 5, 19) * 4, insn);
}

static void
test_branch(uint32_t word, uint64_t pc, struct insn *insn)
{
    branch_register(word, pc + (uint64_t)signed_bits(word, 5, 14) * 4, insn);
}

/* BR, BLR, RET, by bits 22:21, and those that authenticate the address. */
static void
jump_register(uint32_t word, uint64_t pc, struct insn *insn)
{
    static const enum insn_branch kinds[] = {
        BRANCH_INDIRECT, BRANCH_INDIRECT_CALL, BRANCH_RETURN, BRANCH_NONE};

    (void)pc;
    set_branch(kinds[insn_bits(word, 21, 2)], 0, insn);
    if (insn->branch == BRANCH_INDIRECT_CALL)
        insn->reg_writes = UINT64_C(1) << REG_LINK;
}

static void
call_kernel(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)word, (void)pc;
    /* The kernel may change them all (sigreturn, execve). */
    insn->reg_writes = ALL_REGISTERS;
}

/* Hints, by bits 11:5. Those that sign or strip an address change one register,
 * those without a name do nothing. */
static void
hint(uint32_t word, uint64_t pc, struct insn *insn)
{
    const uint32_t number = insn_bits(word, 5, 7);

    (void)pc;
    if (number >= 1 && number <= 3) /* YIELD WFE WFI */
        insn->flags |= INSN_PAUSE;
    else if (number == 7 || (number >= 24 && number < 32))
        insn->reg_writes = UINT64_C(1) << REG_LINK; /* XPACLRI PACIASP ... */
    else if (number == 8 || number == 10 || number == 12 || number == 14)
        insn->reg_writes = UINT64_C(1) << 17; /* PACIA1716 ... */
}

static void
synchronize(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)word, (void)pc;
    insn->serializes = true;
}

/* MRS and MSR of a register of user mode (op1 is 3), or MRS of one by which the
 * processor is identified, which Linux lets programs read. */
static void
system_register(uint32_t word, uint64_t pc, struct insn *insn)
{
    const bool reads = insn_bits(word, 21, 1);
    const bool identifies = insn_bits(word, 19, 1) &&
                            insn_bits(word, 12, 7) == 0 &&
                            insn_bits(word, 8, 4) < 8;

    (void)pc;
    if (insn_bits(word, 16, 3) != 3 && !(reads && identifies)) {
        insn_illegal(insn);
        return;
    }
    if (reads)
        insn->reg_writes = zero_or(rd_of(word));
}

static const struct row branches[] = {
    {0x7c000000, 0x14000000, .more = jump},             /* B BL */
    {0xff000000, 0x54000000, .more = branch_condition}, /* B.cond BC.cond */
    {0x7e000000, 0x34000000, .more = compare_branch},   /* CBZ CBNZ */
    {0x7e000000, 0x36000000, .more = test_branch},      /* TBZ TBNZ */
    {0xff9ffc1f, 0xd61f0000, .more = jump_register},    /* BR BLR RET */
    {0xffdff81f, 0xd61f081f, .more = jump_register},    /* BRAAZ BLRAAZ ... */
    {0xfffffbff, 0xd65f0bff, .more = jump_register},    /* RETAA RETAB */
    {0xffdff800, 0xd71f0800, .more = jump_register},    /* BRAA BLRAA ... */
    {0xffe0001f, 0xd4000001, .flags = INSN_SYSCALL, .more = call_kernel},
    {0xffe0001f, 0xd4200000, .flags = INSN_SYSCALL, .more = no_register},
    {0xffe0001f, 0xd4400000, .flags = INSN_SYSCALL, .more = no_register},
    {0xfffff01f, 0xd503201f, .more = hint},
    {0xffffffc0, 0xd5031000, .flags = INSN_PAUSE, .more = no_register},
    {0xfffff0ff, 0xd503305f, .more = no_register}, /* CLREX */
    {0xfffff0ff, 0xd503309f, .flags = INSN_MEMBAR, .more = no_register},
    {0xfffff3ff, 0xd503323f, .flags = INSN_MEMBAR, .more = no_register},
    {0xfffff0ff, 0xd50330bf, .flags = INSN_MEMBAR, .more = no_register},
    {0xfffff0ff, 0xd50330df, .more = synchronize}, /* ISB */
    {0xffffffff, 0xd50330ff, .flags = INSN_MEMBAR, .more = no_register},
    {0xffffffff, 0xd500401f, .more = no_register},        /* CFINV */
    {0xffffffbf, 0xd500401f | 0x20, .more = no_register}, /* XAFLAG */
    {0xffffffff, 0xd500405f, .more = no_register},        /* AXFLAG */
    {0xfffff0ff, 0xd503405f, .more = no_register},        /* MSR DIT */
    {0xfffff0ff, 0xd503403f, .more = no_register},        /* MSR SSBS */
    {0xfffff0ff, 0xd503409f, .more = no_register},        /* MSR TCO */
    {0xfffff000, 0xd50b7000, .more = no_register},        /* DC IC ... */
    {0xffd00000, 0xd5100000, .more = system_register},
};

/* --- Loads and stores ------------------------------------------------------
 */

static void
set_load(unsigned bytes, struct insn *insn)
{
    insn->class = CLASS_LOAD;
    insn->access = ACCESS_LOAD;
    insn->access_size = (uint8_t)bytes;
    insn->loads = 1;
}

static void
set_store(unsigned bytes, struct insn *insn)
{
    insn->class = CLASS_STORE;
    insn->access = ACCESS_STORE;
    insn->access_size = (uint8_t)bytes;
    insn->stores = 1;
}

/* A prefetch of code has none, as it brings no line of data. */
static void
set_address(uint32_t word, int64_t disp, struct insn *insn)
{
    if (insn->access == ACCESS_NONE && insn->prefetch == PREFETCH_NOWHERE)
        return;
    insn->addr_known = true;
    insn->addr_base = (int8_t)rn_of(word);
    insn->addr_disp = disp;
}

/* The base register changes by `step`, behind the access or before. */
static void
write_back(uint32_t word, int64_t step, struct insn *insn)
{
    insn->reg_writes |= UINT64_C(1) << rn_of(word);
    /* A load into its own base leaves what it has loaded, or anything. */
    insn->step_reg = (int8_t)rn_of(word);
    insn->step = step;
}

/* Bits 4:3 are what is prefetched, 0 for loads, 1 code, 2 for stores; bits 2:1
 * the cache, 0 the first. */
static void
set_prefetch(uint32_t word, struct insn *insn)
{
    insn->class = CLASS_LOAD;
    insn->access = ACCESS_NONE;
    insn->flags |= INSN_PREFETCH;
    if (insn_bits(word, 3, 2) != 1 && insn_bits(word, 3, 2) != 3)
        insn->prefetch =
            insn_bits(word, 1, 2) == 0 ? PREFETCH_NEAR : PREFETCH_FAR;
}

/* Load and store exclusive, load acquire and store release, compare and swap:
 * bit 23 says that it is not exclusive, bit 22 that it loads, bit 21 that it is
 * of a pair or a swap. */
static void
exclusive(uint32_t word, uint64_t pc, struct insn *insn)
{
    const bool plain = insn_bits(word, 23, 1), loads = insn_bits(word, 22, 1);
    const bool pair = insn_bits(word, 21, 1);
    const uint32_t rs = rm_of(word), size = insn_bits(word, 30, 2);
    const unsigned bytes = 1u << size;

    (void)pc;
    if (plain && pair) { /* CAS */
        if (ra_of(word) != 31) {
            insn_illegal(insn);
            return;
        }
        insn->class = CLASS_ATOMIC;
        insn->access = ACCESS_ATOMIC;
        insn->access_size = (uint8_t)bytes;
        insn->loads = insn->stores = 1;
        insn->reg_writes = zero_or(rs);
        set_address(word, 0, insn);
    } else if (pair && size < 2) { /* CASP, of even registers */
        if (ra_of(word) != 31 || (rs | rd_of(word)) & 1) {
            insn_illegal(insn);
            return;
        }
        insn->class = CLASS_ATOMIC;
        insn->access = ACCESS_MIXED;
        insn->loads = insn->stores = 1;
        insn->reg_writes = zero_or(rs) | zero_or(rs + 1);
    } else if (loads) {
        set_load(pair ? 2 * bytes : bytes, insn);
        insn->reg_writes =
            zero_or(rd_of(word)) | (pair ? zero_or(ra_of(word)) : 0);
        set_address(word, 0, insn);
    } else if (plain) {
        set_store(bytes, insn);
        set_address(word, 0, insn);
    } else { /* it may fail */
        set_store(pair ? 2 * bytes : bytes, insn);
        insn->access = ACCESS_MIXED;
        insn->flags |= INSN_CONDITIONAL;
        insn->reg_writes = zero_or(rs);
    }
}

/* LDR of an address relative to the instruction's own. */
static void
load_literal(uint32_t word, uint64_t pc, struct insn *insn)
{
    static const uint8_t general[] = {4, 8, 4, 0}, vector[] = {4, 8, 16, 0};
    const bool floats = insn_bits(word, 26, 1);
    const uint32_t opcode = insn_bits(word, 30, 2);

    if (opcode == 3 && floats) {
        insn_illegal(insn);
        return;
    }
    if (opcode == 3) {
        set_prefetch(word, insn);
    } else {
        set_load(floats ? vector[opcode] : general[opcode], insn);
        insn->flags = floats ? INSN_FLOAT : 0;
        insn->reg_writes = floats ? 0 : zero_or(rd_of(word));
    }
    if (insn->access == ACCESS_NONE && insn->prefetch == PREFETCH_NOWHERE)
        return;
    insn->addr_known = true;
    insn->addr_disp = (int64_t)(pc + (uint64_t)signed_bits(word, 5, 19) * 4);
}

/*
 * LDP, STP, LDPSW; bits 24:23 are the form: 0 not temporal, 1 and 3 write the
 * base back behind and before the access. QEMU makes two accesses, pieces of
 * one where they have 8 bytes.
 */
static void
load_pair(uint32_t word, uint64_t pc, struct insn *insn)
{
    const bool floats = insn_bits(word, 26, 1), loads = insn_bits(word, 22, 1);
    const uint32_t opcode = insn_bits(word, 30, 2);
    const uint32_t form = insn_bits(word, 23, 2);
    const bool tags = opcode == 1 && !floats && !loads; /* STGP */
    const unsigned general = opcode == 2 || tags ? 8 : 4;
    const unsigned bytes = floats ? 4u << opcode : general;
    const int64_t offset =
        signed_bits(word, 15, 7) * (tags ? 16 : (int64_t)bytes);
    const bool back = form == 1 || form == 3;

    (void)pc;
    if (opcode == 3 || (opcode == 1 && !floats && form == 0)) {
        insn_illegal(insn);
        return;
    }
    if (loads) {
        set_load(2 * bytes, insn);
        insn->flags = floats ? INSN_FLOAT : 0;
        insn->reg_writes =
            floats ? 0 : zero_or(rd_of(word)) | zero_or(ra_of(word));
    } else {
        set_store(2 * bytes, insn);
    }
    if (bytes == 4) {
        insn->access = ACCESS_MIXED;
        insn->access_size = 4;
    } else {
        set_address(word, form == 1 ? 0 : offset, insn);
    }
    if (back)
        write_back(word, offset, insn);
}

/* LDR, STR and their kin of one register, without an address. Returns the size
 * as a shift, or -1: illegal. */
static int
load_one(uint32_t word, bool prefetches, struct insn *insn)
{
    const bool floats = insn_bits(word, 26, 1);
    const uint32_t size = insn_bits(word, 30, 2);
    const uint32_t opcode = insn_bits(word, 22, 2);
    const uint32_t shift = floats && opcode >= 2 ? 4 : size;

    if (floats ? opcode >= 2 && size != 0 : opcode == 3 && size >= 2)
        return -1;
    if (!floats && opcode == 2 && size == 3) {
        if (!prefetches)
            return -1;
        set_prefetch(word, insn);
    } else if (floats ? opcode & 1 : opcode != 0) {
        set_load(1u << shift, insn);
        insn->flags |= floats ? INSN_FLOAT : 0;
        insn->reg_writes = floats ? 0 : zero_or(rd_of(word));
    } else {
        set_store(1u << shift, insn);
    }
    return (int)shift;
}

static void
load_scaled(uint32_t word, uint64_t pc, struct insn *insn)
{
    const int shift = load_one(word, true, insn);

    (void)pc;
    if (shift < 0)
        insn_illegal(insn);
    else
        set_address(word, (int64_t)insn_bits(word, 10, 12) << shift, insn);
}

/* Bits 11:10: 0 the offset alone, 1 and 3 write the base back behind and before
 * the access, 2 as without privileges. */
static void
load_unscaled(uint32_t word, uint64_t pc, struct insn *insn)
{
    const uint32_t form = insn_bits(word, 10, 2);
    const int64_t offset = signed_bits(word, 12, 9);
    const int shift = load_one(word, form == 0, insn);

    (void)pc;
    if (shift < 0 || (form == 2 && insn_bits(word, 26, 1))) {
        insn_illegal(insn);
        return;
    }
    set_address(word, form == 1 ? 0 : offset, insn);
    if (form & 1)
        write_back(word, offset, insn);
}

/* The index is of 64 bits (bit 13), or of 32, which the fields do not hold. */
static void
load_indexed(uint32_t word, uint64_t pc, struct insn *insn)
{
    const int shift = load_one(word, true, insn);

    (void)pc;
    if (shift < 0 || !insn_bits(word, 14, 1)) {
        insn_illegal(insn);
        return;
    }
    if (!insn_bits(word, 13, 1))
        return;
    set_address(word, 0, insn);
    if (insn->addr_known && rm_of(word) != 31) {
        insn->addr_index = (int8_t)rm_of(word);
        insn->addr_scale =
            (uint8_t)(1u << (insn_bits(word, 12, 1) ? shift : 0));
    }
}

/* LDADD ... UMINL, SWP: one access, read and written as one. */
static void
atomic(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    insn->class = CLASS_ATOMIC;
    insn->access = ACCESS_ATOMIC;
    insn->access_size = (uint8_t)(1u << insn_bits(word, 30, 2));
    insn->loads = insn->stores = 1;
    insn->reg_writes = zero_or(rd_of(word));
    set_address(word, 0, insn);
}

static void
load_acquire(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    set_load(1u << insn_bits(word, 30, 2), insn);
    insn->reg_writes = zero_or(rd_of(word));
    set_address(word, 0, insn);
}

/* LDRAA and LDRAB authenticate the base, whose upper bits are a signature. */
static void
load_authenticated(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    set_load(8, insn);
    insn->reg_writes = zero_or(rd_of(word));
    if (insn_bits(word, 11, 1))
        insn->reg_writes |= UINT64_C(1) << rn_of(word);
}

/* LDAPUR and STLUR. */
static void
load_ordered(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    if (load_one(word, false, insn) < 0)
        insn_illegal(insn);
    else
        set_address(word, signed_bits(word, 12, 9), insn);
}

/* Structures of bit 31:30 ... of LD1 to LD4: the offset behind which the base
 * is written back is a register or the size of all. */
static void
structure_back(uint32_t word, unsigned bytes, struct insn *insn)
{
    if (!insn_bits(word, 23, 1))
        return;
    if (rm_of(word) == 31)
        write_back(word, (int64_t)bytes, insn);
    else
        insn->reg_writes |= UINT64_C(1) << rn_of(word);
}

static void
set_structure(uint32_t word, unsigned bytes, bool whole, unsigned piece,
              struct insn *insn)
{
    if (insn_bits(word, 22, 1)) {
        set_load(bytes, insn);
        insn->flags |= INSN_FLOAT;
    } else {
        set_store(bytes, insn);
    }
    if (whole) {
        set_address(word, 0, insn);
    } else {
        insn->access = ACCESS_MIXED;
        insn->access_size = (uint8_t)piece;
    }
    structure_back(word, bytes, insn);
}

/* LD1 to LD4 and ST1 to ST4 of whole registers: bits 15:12 say of how many. LD1
 * goes through memory in pieces of 8 bytes, the others by element. */
static void
load_structures(uint32_t word, uint64_t pc, struct insn *insn)
{
    static const uint8_t counts[16] = {
        [0x0] = 4, [0x2] = 4, [0x4] = 3, [0x6] = 3,
        [0x7] = 1, [0x8] = 2, [0xa] = 2,
    };
    const uint32_t opcode = insn_bits(word, 12, 4),
                   size = insn_bits(word, 10, 2);
    const unsigned count = counts[opcode];
    const bool whole = (opcode & 2) != 0, q = insn_bits(word, 30, 1);

    (void)pc;
    if (count == 0 || (!whole && size == 3 && !q) ||
        (!insn_bits(word, 23, 1) && rm_of(word) != 0)) {
        insn_illegal(insn);
        return;
    }
    set_structure(word, count * (q ? 16u : 8u), whole, 1u << size, insn);
}

/* Of one element, or one for all (LD1R): bits 13 and 21 say of how many
 * registers, bits 15:14 how large it is. */
static void
load_element(uint32_t word, uint64_t pc, struct insn *insn)
{
    const uint32_t scale = insn_bits(word, 14, 2),
                   size = insn_bits(word, 10, 2);
    const bool s = insn_bits(word, 12, 1);
    const unsigned count =
        1u + insn_bits(word, 21, 1) + 2u * insn_bits(word, 13, 1);
    uint32_t shift = scale;

    (void)pc;
    if (scale == 3)
        shift = size;
    else if (scale == 2 && (size & 1))
        shift = 3;
    if ((scale == 3 && (s || !insn_bits(word, 22, 1))) ||
        (scale == 1 && (size & 1)) ||
        (scale == 2 && (size > 1 || (size == 1 && s))) ||
        (!insn_bits(word, 23, 1) && rm_of(word) != 0)) {
        insn_illegal(insn);
        return;
    }
    set_structure(word, count << shift, count == 1, 1u << shift, insn);
}

/* Tags of memory: STZG and STZ2G write memory, too, which QEMU does not show
 * as an access of a certain size. */
static void
store_tag(uint32_t word, uint64_t pc, struct insn *insn)
{
    const uint32_t form = insn_bits(word, 10, 2),
                   opcode = insn_bits(word, 22, 2);
    const bool loads = form == 0 && opcode == 1; /* LDG */

    (void)pc;
    if (form == 0 && !loads) { /* STGM LDGM STZGM are the kernel's */
        insn_illegal(insn);
        return;
    }
    if (loads)
        insn->reg_writes = zero_or(rd_of(word));
    if (form & 1)
        write_back(word, signed_bits(word, 12, 9) * 16, insn);
    if (!loads && (opcode & 1)) {
        insn->class = CLASS_STORE;
        insn->access = ACCESS_MIXED;
        insn->stores = 1;
    }
}

static const struct row memory[] = {
    {0x3f000000, 0x08000000, .more = exclusive},
    {0xbf200000, 0x0c000000, .more = load_structures},
    {0xbf000000, 0x0d000000, .more = load_element},
    {0x3f200c00, 0x19000000, .more = load_ordered},
    {0xff200000, 0xd9200000, .more = store_tag},
    {0x3b000000, 0x18000000, .more = load_literal},
    {0x3a000000, 0x28000000, .more = load_pair},
    {0x3b000000, 0x39000000, .more = load_scaled},
    {0x3b200000, 0x38000000, .more = load_unscaled},
    {0x3b200c00, 0x38200800, .more = load_indexed},
    {0x3f208c00, 0x38200000, .more = atomic},       /* LDADD ... */
    {0x3f20fc00, 0x38208000, .more = atomic},       /* SWP */
    {0x3ffffc00, 0x38bfc000, .more = load_acquire}, /* LDAPR */
    {0xff200400, 0xf8200400, .more = load_authenticated},
};

/* --- Floating point and vectors ---------------------------------------------
 */

#define COMPUTES .flags = INSN_FP | INSN_SHARED_FPU, .more = no_register
#define COMPUTES_TO .flags = INSN_FP | INSN_SHARED_FPU
#define MOVES .more = no_register

/* Conversions between floating-point and general registers, by bits 18:16: 2
 * and 3 are to floating point, 6 and 7 move. FJCVTZS is 6, too, with mode 3. */
static void
convert(uint32_t word, uint64_t pc, struct insn *insn)
{
    const uint32_t opcode = insn_bits(word, 16, 3);
    const bool fixed = !insn_bits(word, 21, 1);
    const bool moves = !fixed && opcode >= 6 && insn_bits(word, 19, 2) < 2;

    (void)pc;
    if (!moves)
        insn->flags |= INSN_FP | INSN_SHARED_FPU;
    if (opcode != 2 && opcode != 3 && opcode != 7)
        insn->reg_writes = zero_or(rd_of(word));
}

/* The scalars: bits 31, 28:24 and 21 are the form. */
static const struct row scalars[] = {
    {0x7f200000, 0x1e000000, .more = convert}, /* fixed point */
    {0x7f20fc00, 0x1e200000, .more = convert}, /* integers */
    {0xff3ffc00, 0x1e204000, MOVES},           /* FMOV */
    {0xff207c00, 0x1e204000, COMPUTES},        /* FABS ... FRINT64X */
    {0xff203c00, 0x1e202000, COMPUTES},        /* FCMP FCMPE */
    {0xff201fe0, 0x1e201000, MOVES},           /* FMOV of an immediate */
    {0xff200c00, 0x1e200400, COMPUTES},        /* FCCMP FCCMPE */
    {0xff200c00, 0x1e200800, COMPUTES},        /* FMUL ... FNMUL */
    {0xff200c00, 0x1e200c00, MOVES},           /* FCSEL */
    {0xff000000, 0x1f000000, COMPUTES},        /* FMADD ... FNMSUB */
};

/* Vectors. Bit 28 is set in those of one element; bit 30 is their length. */
static const struct row vectors[] = {
    /* Cryptography: AES, SHA, SHA3, SM3, SM4. */
    {0xff3e0c00, 0x4e280800, MOVES},
    {0xff3e0c00, 0x5e280800, MOVES},
    {0xff208c00, 0x5e000000, MOVES},
    {0xff000000, 0xce000000, MOVES},
    /* SMOV and UMOV, whose length is the general register's. */
    {0xbfe0fc00, 0x0e002c00, .flags = 0},
    {0xbfe0fc00, 0x0e003c00, .flags = 0},
    /* Of two registers: FCMGT ... FABS of zero with bit 23, FCVTN ... FSQRT. */
    {0x8fbfcc00, 0x0ea0c800, COMPUTES},
    {0x8f3ffc00, 0x0e216800, COMPUTES}, /* FCVTN FCVTXN BFCVTN */
    {0x8f3ffc00, 0x0e217800, COMPUTES}, /* FCVTL */
    {0x8fbffc00, 0x0ea1c800, MOVES},    /* URECPE URSQRTE */
    {0x8f3f8c00, 0x0e218800, COMPUTES}, /* FRINT ... FSQRT */
    {0x8f7e0c00, 0x0e780800, COMPUTES}, /* of half precision */
    {0x8f3fcc00, 0x0e30c800, COMPUTES}, /* FMAXNMV FMAXV, FADDP of a pair */
    {0x8f3e0c00, 0x0e200800, MOVES},
    {0x8f3e0c00, 0x0e300800, MOVES},
    /* Of three: floating point from opcode 0x18 on. */
    {0x8f20c400, 0x0e20c400, COMPUTES},
    {0x8f200400, 0x0e200400, MOVES},
    {0x8f200c00, 0x0e200000, MOVES},    /* of different lengths */
    {0x8f60c400, 0x0e400400, COMPUTES}, /* of half precision */
    {0x8f20c400, 0x0e00c400, COMPUTES}, /* FCMLA FCADD BFDOT BFMMLA */
    {0x8f208400, 0x0e008400, MOVES},    /* SQRDMLAH SDOT SMMLA ... */
    {0x8fe08400, 0x0e000400, MOVES},    /* DUP INS */
    {0xbf208c00, 0x0e000000, MOVES},    /* TBL TBX */
    {0xbf208c00, 0x0e000800, MOVES},    /* UZP TRN ZIP */
    {0xbf208400, 0x2e000000, MOVES},    /* EXT */
    /* Immediates: MOVI ... FMOV, and shifts; fixed point among the shifts. */
    {0x9ff80400, 0x0f000400, MOVES},
    {0x8f80fc00, 0x0f00e400, COMPUTES},
    {0x8f80fc00, 0x0f00fc00, COMPUTES},
    {0x8f800400, 0x0f000400, MOVES},
    /* By element. */
    {0xaf00b400, 0x0f001000, COMPUTES}, /* FMLA FMLS */
    {0x8f00f400, 0x0f009000, COMPUTES}, /* FMUL FMULX */
    {0xbf80b400, 0x0f800000, COMPUTES}, /* FMLAL FMLSL */
    {0xbf80b400, 0x2f808000, COMPUTES}, /* FMLAL2 FMLSL2 */
    {0xbf009400, 0x2f001000, COMPUTES}, /* FCMLA */
    {0xbf40f400, 0x0f40f000, COMPUTES}, /* BFDOT BFMLAL */
    {0x8f000400, 0x0f000000, MOVES},
};

/* --- SVE --------------------------------------------------------------------
 */

/* Predicates say which elements are accessed. */
static void
sve_load(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)word, (void)pc;
    set_load(0, insn);
    insn->access = ACCESS_MIXED;
    insn->flags |= INSN_FLOAT;
}

static void
sve_store(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)word, (void)pc;
    set_store(0, insn);
    insn->access = ACCESS_MIXED;
}

/* As of a scalar, with one bit less for what is prefetched. */
static void
sve_prefetch(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    insn->class = CLASS_LOAD;
    insn->flags |= INSN_PREFETCH;
    insn->prefetch = insn_bits(word, 1, 2) == 0 ? PREFETCH_NEAR : PREFETCH_FAR;
}

/* May change a general register, or the stack pointer (ADDVL). */
static void
sve_integer(uint32_t word, uint64_t pc, struct insn *insn)
{
    (void)pc;
    insn->reg_writes = UINT64_C(1) << rd_of(word);
}

static const struct row sve[] = {
    {0xffc08010, 0x85c00000, .more = sve_prefetch}, /* PRF of an offset */
    {0xfe60e010, 0x8400c000, .more = sve_prefetch}, /* of an index */
    {0xfe60e010, 0x8400e000, .more = sve_prefetch}, /* of 32-bit bases */
    {0xffa08010, 0x84200000, .more = sve_prefetch}, /* of 32-bit indices */
    {0xfe60e010, 0xc400e000, .more = sve_prefetch}, /* of 64-bit bases */
    {0xffa08010, 0xc4200000, .more = sve_prefetch}, /* of 32-bit indices */
    {0xffe08010, 0xc4608000, .more = sve_prefetch}, /* of 64-bit indices */
    {0xfe000000, 0x84000000, .more = sve_load},
    {0xfe000000, 0xa4000000, .more = sve_load},
    {0xfe000000, 0xc4000000, .more = sve_load},
    {0xfe000000, 0xe4000000, .more = sve_store},
    {0xfe000000, 0x64000000, COMPUTES},
    {0x9e000000, 0x04000000, .more = sve_integer},
};

/* ------------------------------------------------------------------------- */

static void
decode_word(uint32_t word, uint64_t pc, struct insn *insn)
{
    insn->size = 4;
    insn->class = CLASS_OTHER;
    switch (insn_bits(word, 25, 4)) {
    case 0x2:
        insn->class = CLASS_FGU;
        DECODE(sve, word, pc, insn);
        return;
    case 0x8:
    case 0x9:
        DECODE(immediates, word, pc, insn);
        return;
    case 0xa:
    case 0xb:
        DECODE(branches, word, pc, insn);
        return;
    case 0x4:
    case 0x6:
    case 0xc:
    case 0xe:
        DECODE(memory, word, pc, insn);
        return;
    case 0x5:
    case 0xd:
        DECODE(registers, word, pc, insn);
        return;
    case 0x7:
    case 0xf:
        insn->class = CLASS_FGU;
        if ((word & 0x5e000000) == 0x1e000000)
            DECODE(scalars, word, pc, insn);
        else
            DECODE(vectors, word, pc, insn);
        return;
    default:
        insn_illegal(insn);
        return;
    }
}

static bool
decode(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
       struct insn *insn)
{
    (void)isa;
    if (size < 4)
        return false;
    decode_word(insn_little_word(bytes), pc, insn);
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
        snprintf(text, text_size, "0x%08x", (unsigned)insn_little_word(bytes));
}

/* MOV of a register, ADD, SUB of a constant, ADRP, and the products that gcc
 * and clang make addresses of elements with. Register 31 is the stack pointer
 * in sums with a constant, else 0. */
static bool
sum(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
    struct insn_sum *sum)
{
    (void)isa;
    if (size < 4)
        return false;

    const uint32_t word = insn_little_word(bytes);
    const int8_t rm = (int8_t)insn_bits(word, 16, 5);
    const int8_t ra = (int8_t)insn_bits(word, 10, 5);
    const int64_t page = (int32_t)(word << 8) >> 13; /* signed bits 23:5 */
    const int64_t adr = (int64_t)((uint64_t)page << 2 | insn_bits(word, 29, 2));

    sum->to = (int8_t)rd_of(word);
    sum->base = (int8_t)rn_of(word);
    if ((word & 0xbf800000) == 0x91000000 ||
        (word & 0xff800000) == 0xd1000000) {
        const int64_t add = (int64_t)insn_bits(word, 10, 12)
                            << (insn_bits(word, 22, 1) * 12);
        sum->add = insn_bits(word, 30, 1) ? -add : add;
        return true;
    }
    if ((word & 0x1f000000) == 0x10000000) {
        sum->base = INSN_NO_REG;
        sum->add =
            insn_bits(word, 31, 1)
                ? (int64_t)((pc & ~UINT64_C(0xfff)) + ((uint64_t)adr << 12))
                : (int64_t)(pc + (uint64_t)adr);
        return sum->to != 31;
    }
    if ((word & 0xffe0ffe0) == 0xaa0003e0) {
        sum->base = rm;
        return sum->to != 31 && rm != 31;
    }
    sum->index = rm;
    sum->scaled = (word & 0xff20fc00) != 0x8b000000;
    if ((word & 0xffe00000) == 0x8b200000) /* the index is extended */
        return true;
    if ((word & 0xff200000) == 0x8b000000)
        return sum->to != 31 && sum->base != 31 && rm != 31;
    if ((word & 0xffe08000) == 0x9b000000 ||
        (word & 0xff608000) == 0x9b200000) {
        sum->base = ra;
        return sum->to != 31 && ra != 31;
    }
    return false;
}

const struct isa_decoder aarch64_decoder = {
    .sum = sum,
    .decode = decode,
    .text = write_text,
    .operands = aarch64_operands,
    .flags = AARCH64_FLAGS,
};
