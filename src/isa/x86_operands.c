/* SPDX-License-Identifier: MIT */
/*
 * What instructions of x86-64 need and make, from what Zydis says about their
 * operands. General registers are 0 to 15, the flags 16, the stack of the x87
 * 17 as a whole, mask registers 24 to 31.
 *
 * Which unit executes an instruction follows from its mnemonic: the first rule
 * below whose beginning the mnemonic has. Instructions that no rule names are
 * executed by the ALUs or, if they name a vector register, by vector units.
 *
 * Document: Intel 64 and IA-32 Architectures Software Developer's Manual,
 * volume 2, for what each does.
 */
#include <string.h>

#include "isa/decode.h"
#include "isa/operands.h"
#include "isa/x86_zydis.h"

#define X87 17
#define MASKS 24

/* Of instructions with a vector register, without the "v" of AVX. */
static const struct rule {
    const char *begins;
    enum operation operation;
} vector_rules[] = {
    {"fmadd", OPERATION_FMA},
    {"fmsub", OPERATION_FMA},
    {"fnm", OPERATION_FMA},
    {"divp", OPERATION_FDIV},
    {"divs", OPERATION_FDIV},
    {"sqrt", OPERATION_FSQRT},
    {"rsqrt", OPERATION_FMUL},
    {"rcp", OPERATION_FMUL},
    {"mulp", OPERATION_FMUL},
    {"muls", OPERATION_FMUL},
    {"dpp", OPERATION_FMA},
    {"addp", OPERATION_FADD},
    {"adds", OPERATION_FADD},
    {"subp", OPERATION_FADD},
    {"subs", OPERATION_FADD},
    {"minp", OPERATION_FADD},
    {"mins", OPERATION_FADD},
    {"maxp", OPERATION_FADD},
    {"maxs", OPERATION_FADD},
    {"cmpp", OPERATION_FADD},
    {"cmps", OPERATION_FADD},
    {"hadd", OPERATION_FADD},
    {"hsub", OPERATION_FADD},
    {"round", OPERATION_FADD},
    {"comis", OPERATION_FADD},
    {"ucomis", OPERATION_FADD},
    {"cvt", OPERATION_CONVERT},
    {"movd", OPERATION_TRANSFER},
    {"movq", OPERATION_TRANSFER},
    {"pextr", OPERATION_TRANSFER},
    {"pinsr", OPERATION_TRANSFER},
    {"pmovmsk", OPERATION_TRANSFER},
    {"movmsk", OPERATION_TRANSFER},
    {"pmul", OPERATION_VMUL},
    {"pmadd", OPERATION_VMUL},
    {"psadbw", OPERATION_VMUL},
    {"pclmul", OPERATION_VMUL},
    {"aes", OPERATION_VMUL},
    {"sha", OPERATION_VMUL},
    {"gf2p8", OPERATION_VMUL},
    {"pshuf", OPERATION_SHUFFLE},
    {"punpck", OPERATION_SHUFFLE},
    {"unpck", OPERATION_SHUFFLE},
    {"shuf", OPERATION_SHUFFLE},
    {"pack", OPERATION_SHUFFLE},
    {"palign", OPERATION_SHUFFLE},
    {"perm", OPERATION_SHUFFLE},
    {"broadcast", OPERATION_SHUFFLE},
    {"pbroadcast", OPERATION_SHUFFLE},
    {"insert", OPERATION_SHUFFLE},
    {"extract", OPERATION_SHUFFLE},
    {"movhl", OPERATION_SHUFFLE},
    {"movlh", OPERATION_SHUFFLE},
    {"movddup", OPERATION_SHUFFLE},
    {"movs", OPERATION_VECTOR},
    {"pcmpestr", OPERATION_SLOW},
    {"pcmpistr", OPERATION_SLOW},
};

static const struct rule x87_rules[] = {
    {"fadd", OPERATION_FADD},    {"fiadd", OPERATION_FADD},
    {"fsub", OPERATION_FADD},    {"fisub", OPERATION_FADD},
    {"fcom", OPERATION_FADD},    {"fucom", OPERATION_FADD},
    {"fild", OPERATION_CONVERT}, {"fist", OPERATION_CONVERT},
    {"fmul", OPERATION_FMUL},    {"fimul", OPERATION_FMUL},
    {"fdiv", OPERATION_FDIV},    {"fidiv", OPERATION_FDIV},
    {"fsqrt", OPERATION_FSQRT},  {"fld", OPERATION_VECTOR},
    {"fst", OPERATION_VECTOR},   {"fxch", OPERATION_NONE},
    {"fchs", OPERATION_VECTOR},  {"fabs", OPERATION_VECTOR},
    {"fcmov", OPERATION_VECTOR}, {"fnst", OPERATION_VECTOR},
    {"fnop", OPERATION_NONE},    {"", OPERATION_SLOW},
};

static const struct rule plain_rules[] = {
    {"nop", OPERATION_NONE},      {"endbr", OPERATION_NONE},
    {"imul", OPERATION_MUL},      {"mul", OPERATION_MUL},
    {"popcnt", OPERATION_BITS},   {"lzcnt", OPERATION_BITS},
    {"tzcnt", OPERATION_BITS},    {"bsf", OPERATION_BITS},
    {"bsr", OPERATION_BITS},      {"pdep", OPERATION_BITS},
    {"pext", OPERATION_BITS},     {"crc32", OPERATION_BITS},
    {"kmov", OPERATION_TRANSFER}, {"cpuid", OPERATION_SLOW},
    {"rdtsc", OPERATION_SLOW},    {"rdpmc", OPERATION_SLOW},
    {"xgetbv", OPERATION_SLOW},   {"xsave", OPERATION_SLOW},
    {"xrstor", OPERATION_SLOW},   {"fxsave", OPERATION_SLOW},
    {"fxrstor", OPERATION_SLOW},  {"mfence", OPERATION_SLOW},
    {"lfence", OPERATION_SLOW},   {"pause", OPERATION_SLOW},
    {"syscall", OPERATION_SLOW},  {"int", OPERATION_SLOW},
    {"rdrand", OPERATION_SLOW},   {"rdseed", OPERATION_SLOW},
    {"cld", OPERATION_SLOW},      {"std", OPERATION_SLOW},
};

#define COUNT(rules) (sizeof(rules) / sizeof(*(rules)))

static enum operation
by_rule(const struct rule *rules, size_t count, const char *name,
        enum operation otherwise)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(name, rules[i].begins, strlen(rules[i].begins)) == 0)
            return rules[i].operation;
    }
    return otherwise;
}

/* Returns the register's bit; 0 for one whose values nothing waits for. */
static uint64_t
bit_of(ZydisRegister reg)
{
    const ZydisRegister whole =
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

    if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
        return UINT64_C(1) << (whole - ZYDIS_REGISTER_RAX);
    if (whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM31)
        return UINT64_C(1) << (OPERAND_VECTOR + whole - ZYDIS_REGISTER_ZMM0);
    if (reg >= ZYDIS_REGISTER_K1 && reg <= ZYDIS_REGISTER_K7)
        return UINT64_C(1) << (MASKS + reg - ZYDIS_REGISTER_K0);
    if (reg >= ZYDIS_REGISTER_ST0 && reg <= ZYDIS_REGISTER_ST7)
        return UINT64_C(1) << X87;
    if (reg >= ZYDIS_REGISTER_MM0 && reg <= ZYDIS_REGISTER_MM7)
        return UINT64_C(1) << X87;
    if (reg == ZYDIS_REGISTER_FLAGS || reg == ZYDIS_REGISTER_EFLAGS ||
        reg == ZYDIS_REGISTER_RFLAGS)
        return X86_FLAGS;
    return 0;
}

static bool
is_vector(uint64_t registers)
{
    return registers >> OPERAND_VECTOR != 0;
}

static bool
is_x87(const ZydisDecodedInstruction *info)
{
    return info->meta.category == ZYDIS_CATEGORY_X87_ALU ||
           info->meta.category == ZYDIS_CATEGORY_FCMOV;
}

/* A write of 8 or 16 bits keeps the rest of a general register. */
static bool
merges(const ZydisDecodedOperand *op)
{
    return op->size < 32 &&
           ZydisRegisterGetClass(op->reg.value) != ZYDIS_REGCLASS_FLAGS;
}

static void
take_register(const ZydisDecodedOperand *op, struct insn_operands *o)
{
    const uint64_t bit = bit_of(op->reg.value);
    const bool hidden = op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;

    if (hidden && op->reg.value == ZYDIS_REGISTER_RSP)
        return;
    if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        o->reads |= bit;
    if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
        o->changes |= bit;
        o->reads |= merges(op) ? bit : 0;
    }
}

static void
take_memory(const ZydisDecodedOperand *op, struct insn_operands *o)
{
    const bool hidden = op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;

    if (!hidden || op->mem.base != ZYDIS_REGISTER_RSP)
        o->address |= bit_of(op->mem.base);
    o->address |= bit_of(op->mem.index);
    if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
        o->reads |= o->address; /* LEA */
        o->address = 0;
        return;
    }
    if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        o->loads = 1;
    o->stores |= (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

/* Returns whether the instruction makes 0 or all ones of any value: both of its
 * sources are one register. */
static bool
is_idiom(const struct decoded *d)
{
    const ZydisDecodedOperand *op = d->operands;
    const unsigned visible = d->info.operand_count_visible;

    if (visible < 2 || op[visible - 1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
        op[visible - 2].type != ZYDIS_OPERAND_TYPE_REGISTER ||
        op[visible - 1].reg.value != op[visible - 2].reg.value ||
        op[0].size < 32)
        return false;
    switch (d->info.mnemonic) {
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_VPXOR:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_XORPD:
    case ZYDIS_MNEMONIC_VXORPS:
    case ZYDIS_MNEMONIC_VXORPD:
    case ZYDIS_MNEMONIC_PCMPEQD:
    case ZYDIS_MNEMONIC_VPCMPEQD:
    case ZYDIS_MNEMONIC_PCMPEQB:
    case ZYDIS_MNEMONIC_PCMPEQW:
        return true;
    default:
        return false;
    }
}

/* Returns whether the instruction only copies a register of its kind. */
static bool
is_move(const struct decoded *d)
{
    const ZydisDecodedOperand *op = d->operands;

    if (d->info.operand_count_visible != 2 ||
        op[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
        op[1].type != ZYDIS_OPERAND_TYPE_REGISTER || op[0].size < 32)
        return false;
    switch (d->info.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVAPS:
    case ZYDIS_MNEMONIC_MOVAPD:
    case ZYDIS_MNEMONIC_MOVUPS:
    case ZYDIS_MNEMONIC_MOVUPD:
    case ZYDIS_MNEMONIC_MOVDQA:
    case ZYDIS_MNEMONIC_MOVDQU:
    case ZYDIS_MNEMONIC_VMOVAPS:
    case ZYDIS_MNEMONIC_VMOVAPD:
    case ZYDIS_MNEMONIC_VMOVUPS:
    case ZYDIS_MNEMONIC_VMOVUPD:
    case ZYDIS_MNEMONIC_VMOVDQA:
    case ZYDIS_MNEMONIC_VMOVDQU:
        return true;
    default:
        return false;
    }
}

/* Moves alone: what loads or stores without computing. */
static bool
only_moves(const struct decoded *d, const struct insn_operands *o)
{
    const ZydisInstructionCategory category = d->info.meta.category;

    return ((o->loads != 0) != o->stores) &&
           (category == ZYDIS_CATEGORY_DATAXFER ||
            category == ZYDIS_CATEGORY_PUSH || category == ZYDIS_CATEGORY_POP ||
            strncmp(ZydisMnemonicGetString(d->info.mnemonic), "mov", 3) == 0 ||
            strncmp(ZydisMnemonicGetString(d->info.mnemonic), "vmov", 4) == 0 ||
            strncmp(ZydisMnemonicGetString(d->info.mnemonic), "vbroadcast",
                    10) == 0);
}

static enum operation
operation_of(const struct decoded *d, const struct insn_operands *o)
{
    const char *name = ZydisMnemonicGetString(d->info.mnemonic);
    const ZydisInstructionCategory category = d->info.meta.category;

    if (d->info.attributes & ZYDIS_ATTRIB_HAS_LOCK ||
        (d->info.mnemonic == ZYDIS_MNEMONIC_XCHG && o->stores))
        return OPERATION_ATOMIC;
    if (category == ZYDIS_CATEGORY_COND_BR ||
        category == ZYDIS_CATEGORY_UNCOND_BR ||
        category == ZYDIS_CATEGORY_CALL || category == ZYDIS_CATEGORY_RET)
        return OPERATION_BRANCH;
    if (is_idiom(d) || is_move(d) || only_moves(d, o))
        return OPERATION_NONE;
    if (is_x87(&d->info))
        return by_rule(x87_rules, COUNT(x87_rules), name, OPERATION_SLOW);
    if (is_vector(o->reads | o->changes)) {
        const enum operation found =
            by_rule(vector_rules, COUNT(vector_rules),
                    *name == 'v' ? name + 1 : name, OPERATION_VECTOR);
        const bool general = (o->reads | o->changes) & (X86_FLAGS - 1);
        /* MOVD and MOVQ between vectors. */
        return found == OPERATION_TRANSFER && !general ? OPERATION_VECTOR
                                                       : found;
    }
    if (d->info.mnemonic == ZYDIS_MNEMONIC_DIV ||
        d->info.mnemonic == ZYDIS_MNEMONIC_IDIV)
        return d->info.operand_width == 64 ? OPERATION_DIV64 : OPERATION_DIV;
    return by_rule(plain_rules, COUNT(plain_rules), name, OPERATION_ALU);
}

static unsigned
micro_ops_of(const struct decoded *d, const struct insn_operands *o)
{
    switch (d->info.meta.category) {
    case ZYDIS_CATEGORY_CALL:
        return 2;
    case ZYDIS_CATEGORY_STRINGOP:
        return 2;
    default:
        break;
    }
    if (o->operation == OPERATION_ATOMIC || o->operation == OPERATION_SLOW)
        return 8;
    return o->loads && o->stores ? 2 : 1;
}

/* What writes memory, and what has an immediate with an operand in memory, no
 * core fuses. */
static enum flag_setter
setter_of(const struct decoded *d, const struct insn_operands *o)
{
    const ZydisDecodedOperand *op = d->operands;
    bool memory = false, immediate = false;

    for (unsigned i = 0; i < d->info.operand_count_visible; i++) {
        memory |= op[i].type == ZYDIS_OPERAND_TYPE_MEMORY;
        immediate |= op[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    }
    if (o->stores || (memory && immediate))
        return SETS_NONE;
    switch (d->info.mnemonic) {
    case ZYDIS_MNEMONIC_TEST:
        return SETS_TEST;
    case ZYDIS_MNEMONIC_CMP:
        return SETS_COMPARE;
    case ZYDIS_MNEMONIC_AND:
        return SETS_AND;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        return SETS_SUM;
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        return SETS_STEP;
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
        return SETS_OR;
    default:
        return SETS_NONE;
    }
}

static enum flag_condition
condition_of(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_JZ:
    case ZYDIS_MNEMONIC_JNZ:
    case ZYDIS_MNEMONIC_JL:
    case ZYDIS_MNEMONIC_JNL:
    case ZYDIS_MNEMONIC_JLE:
    case ZYDIS_MNEMONIC_JNLE:
        return ASKS_SIGNED;
    case ZYDIS_MNEMONIC_JB:
    case ZYDIS_MNEMONIC_JNB:
    case ZYDIS_MNEMONIC_JBE:
    case ZYDIS_MNEMONIC_JNBE:
        return ASKS_UNSIGNED;
    case ZYDIS_MNEMONIC_JO:
    case ZYDIS_MNEMONIC_JNO:
    case ZYDIS_MNEMONIC_JS:
    case ZYDIS_MNEMONIC_JNS:
    case ZYDIS_MNEMONIC_JP:
    case ZYDIS_MNEMONIC_JNP:
        return ASKS_OTHER;
    default:
        return ASKS_NONE;
    }
}

bool
x86_operands(const uint8_t *bytes, size_t size, struct insn_operands *o)
{
    struct decoded d;

    if (!ZYAN_SUCCESS(x86_zydis(bytes, size, &d)))
        return false;
    for (unsigned i = 0; i < d.info.operand_count; i++) {
        if (d.operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
            take_register(&d.operands[i], o);
        else if (d.operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            take_memory(&d.operands[i], o);
    }
    if (d.info.meta.category == ZYDIS_CATEGORY_NOP ||
        d.info.meta.category == ZYDIS_CATEGORY_WIDENOP ||
        d.info.meta.category == ZYDIS_CATEGORY_PREFETCH) {
        o->loads = 0;
        o->stores = false;
        o->reads = o->changes = 0;
    }
    o->operation = (uint8_t)operation_of(&d, o);
    if (is_idiom(&d))
        o->reads = 0;
    o->vector = is_vector(o->changes);
    o->wide = d.info.raw.imm[0].size == 64;
    o->micro_ops = (uint8_t)micro_ops_of(&d, o);
    o->sets = (uint8_t)setter_of(&d, o);
    o->asks = (uint8_t)condition_of(d.info.mnemonic);
    return true;
}
