/* SPDX-License-Identifier: MIT */
/*
 * x86-64 in terms of the UltraSPARC T2's classes, from what Zydis says about
 * an instruction's operands.
 *
 * What Zydis leaves out is put right here: the index registers of CMPS, SCAS,
 * INS and OUTS change, XLAT adds %al, a push writes below the stack pointer, a
 * bit string's address depends on the bit number, and masked moves do not
 * always touch memory. Bytes that are no instruction have size 1.
 *
 * Document: Intel 64 and IA-32 Architectures Software Developer's Manual,
 * volume 2.
 */
#include <stdio.h>

#include "isa/decode.h"
#include "isa/x86_zydis.h"

#define ALL_REGISTERS 0xffffu

/* The memory operands of an instruction. */
struct memory {
    const ZydisDecodedOperand *operand; /* the first */
    unsigned operands, reads, writes;
    unsigned size; /* bytes, 0 if they differ */
};

#define FROM_TO(first, last) [ZYDIS_MNEMONIC_##first... ZYDIS_MNEMONIC_##last]
#define ONLY(name) [ZYDIS_MNEMONIC_##name]

/* Floating-point arithmetic: no moves, loads, stores, shuffles or logic.
   CMPSD is in it, and is also the name of a string instruction. */
static const bool fp_arithmetic[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    FROM_TO(ADDPD, ADDSUBPS) = true,
    FROM_TO(CMPPD, CMPPS) = true,
    ONLY(CMPSD) = true,
    ONLY(CMPSS) = true,
    FROM_TO(COMISD, COMISS) = true,
    FROM_TO(CVTDQ2PD, CVTTSS2SI) = true,
    FROM_TO(DIVPD, DIVSS) = true,
    FROM_TO(DPPD, DPPS) = true,
    FROM_TO(F2XM1, FADDP) = true,
    ONLY(FCHS) = true,
    FROM_TO(FCOM, FCOS) = true,
    FROM_TO(FDIV, FDIVRP) = true,
    FROM_TO(FIADD, FIDIVR) = true,
    ONLY(FIMUL) = true,
    FROM_TO(FISUB, FISUBR) = true,
    FROM_TO(FMUL, FMULP) = true,
    FROM_TO(FPATAN, FRNDINT) = true,
    ONLY(FSCALE) = true,
    FROM_TO(FSIN, FSQRT) = true,
    FROM_TO(FSUB, FUCOMPP) = true,
    ONLY(FXAM) = true,
    FROM_TO(FXTRACT, FYL2XP1) = true,
    FROM_TO(HADDPD, HADDPS) = true,
    FROM_TO(HSUBPD, HSUBPS) = true,
    FROM_TO(MAXPD, MAXSS) = true,
    FROM_TO(MINPD, MINSS) = true,
    FROM_TO(MULPD, MULSS) = true,
    FROM_TO(PF2ID, PFSUBR) = true,
    FROM_TO(PI2FD, PI2FW) = true,
    FROM_TO(RCPPS, RCPSS) = true,
    FROM_TO(ROUNDPD, ROUNDSS) = true,
    FROM_TO(RSQRTPS, RSQRTSS) = true,
    FROM_TO(SQRTPD, SQRTSS) = true,
    FROM_TO(SUBPD, SUBSS) = true,
    FROM_TO(UCOMISD, UCOMISS) = true,
    FROM_TO(VADDPD, VADDSUBPS) = true,
    FROM_TO(VCMPPD, VCOMISS) = true,
    FROM_TO(VCVTDQ2PD, VCVTW2PH) = true,
    FROM_TO(VDIVPD, VDPPS) = true,
    FROM_TO(VEXP2PD, VEXP2PS) = true,
    FROM_TO(VFCMADDCPH, VFRCZSS) = true,
    FROM_TO(VGETEXPPD, VGETMANTSS) = true,
    FROM_TO(VHADDPD, VHSUBPS) = true,
    FROM_TO(VMAXPD, VMAXSS) = true,
    FROM_TO(VMINPD, VMINSS) = true,
    FROM_TO(VMULPD, VMULSS) = true,
    FROM_TO(VRANGEPD, VRSQRTSS) = true,
    FROM_TO(VSCALEFPD, VSCALEFSS) = true,
    FROM_TO(VSQRTPD, VSQRTSS) = true,
    FROM_TO(VSUBPD, VSUBSS) = true,
    FROM_TO(VUCOMISD, VUCOMISS) = true,
};

/* Of an instruction with a memory operand; 0: nothing out of the ordinary. */
enum oddity {
    ODDITY_NONE,
    ODDITY_NO_ACCESS, /* names an address and touches no data there */
    ODDITY_MIXED,     /* touches it more than once, in part or not always */
    ODDITY_ADDRESS,   /* the address is not the operand's alone */
    ODDITY_BIT,       /* so if the bit number is in a register */
};

static enum oddity
oddity(const ZydisDecodedInstruction *info)
{
    switch (info->mnemonic) {
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
    case ZYDIS_MNEMONIC_CLWB:
    case ZYDIS_MNEMONIC_CLDEMOTE:
    case ZYDIS_MNEMONIC_INVLPG:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
        return ODDITY_NO_ACCESS;
    case ZYDIS_MNEMONIC_CMPXCHG16B:
    case ZYDIS_MNEMONIC_ENTER:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
        return ODDITY_MIXED;
    case ZYDIS_MNEMONIC_XLAT:
        return ODDITY_ADDRESS;
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
        return ODDITY_BIT;
    default:
        return ODDITY_NONE;
    }
}

static bool
is_string(const ZydisDecodedInstruction *info)
{
    return info->meta.category == ZYDIS_CATEGORY_STRINGOP ||
           info->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

static bool
is_repeated(const ZydisDecodedInstruction *info)
{
    return is_string(info) &&
           info->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
                               ZYDIS_ATTRIB_HAS_REPNE);
}

static bool
is_prefetch(const ZydisDecodedInstruction *info)
{
    return info->meta.category == ZYDIS_CATEGORY_PREFETCH ||
           info->meta.category == ZYDIS_CATEGORY_PREFETCHWT1;
}

/* Returns the kind of a branch whose first operand is `operand`. */
static enum insn_branch
branch_kind(const ZydisDecodedInstruction *info,
            const ZydisDecodedOperand *operand)
{
    const bool relative = operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                          operand->imm.is_relative;

    /* XBEGIN, XEND and XABORT are in these categories, without a type. */
    switch (info->meta.category) {
    case ZYDIS_CATEGORY_RET: /* with IRET, which has no type either */
        return BRANCH_RETURN;
    case ZYDIS_CATEGORY_CALL:
        return relative ? BRANCH_CALL : BRANCH_INDIRECT_CALL;
    case ZYDIS_CATEGORY_COND_BR:
        return info->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE
                   ? BRANCH_CONDITIONAL
                   : BRANCH_NONE;
    case ZYDIS_CATEGORY_UNCOND_BR:
        if (info->meta.branch_type == ZYDIS_BRANCH_TYPE_NONE)
            return BRANCH_NONE;
        return relative ? BRANCH_JUMP : BRANCH_INDIRECT;
    default:
        return BRANCH_NONE;
    }
}

static void
set_branch(const struct decoded *d, uint64_t pc, struct insn *insn)
{
    const enum insn_branch kind = branch_kind(&d->info, d->operands);

    insn->branch = (uint8_t)kind;
    if (kind == BRANCH_CONDITIONAL || kind == BRANCH_JUMP ||
        kind == BRANCH_CALL)
        insn->target =
            pc + d->info.length + (uint64_t)d->operands[0].imm.value.s;
}

static struct memory
find_memory(const struct decoded *d)
{
    struct memory m = {0};

    for (unsigned i = 0; i < d->info.operand_count; i++) {
        const ZydisDecodedOperand *op = &d->operands[i];

        if (op->type != ZYDIS_OPERAND_TYPE_MEMORY ||
            (op->mem.type != ZYDIS_MEMOP_TYPE_MEM &&
             op->mem.type != ZYDIS_MEMOP_TYPE_VSIB))
            continue;
        if (m.operands++ == 0) {
            m.operand = op;
            m.size = op->size / 8u;
        } else if (m.size != op->size / 8u) {
            m.size = 0;
        }
        m.reads += (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
        m.writes += (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    }
    return m;
}

/* One access, or the 8-byte pieces of a vector; state images are more. */
static bool
ordinary_size(unsigned size)
{
    return size <= 64 && (size & (size - 1)) == 0;
}

static bool
is_masked(const ZydisDecodedInstruction *info)
{
    return info->avx.mask.reg != ZYDIS_REGISTER_NONE &&
           info->avx.mask.reg != ZYDIS_REGISTER_K0;
}

static bool
is_mixed(const ZydisDecodedInstruction *info, const struct memory *m)
{
    return m->operands > 1 || oddity(info) == ODDITY_MIXED ||
           m->operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB || is_masked(info) ||
           !ordinary_size(m->size) ||
           info->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
           info->meta.category == ZYDIS_CATEGORY_PADLOCK;
}

static enum insn_access
access_kind(const ZydisDecodedInstruction *info, const struct memory *m)
{
    if (is_repeated(info))
        return ACCESS_REPEATED;
    if (is_mixed(info, m))
        return ACCESS_MIXED;
    if (info->attributes & ZYDIS_ATTRIB_HAS_LOCK ||
        info->mnemonic == ZYDIS_MNEMONIC_XCHG)
        return ACCESS_ATOMIC;
    if (m->writes == 0)
        return ACCESS_LOAD;
    return m->reads == 0 ? ACCESS_STORE : ACCESS_UPDATE;
}

static int
general_register(ZydisRegister reg)
{
    const ZydisRegister whole =
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return INSN_NO_REG;
    return (int)whole - (int)ZYDIS_REGISTER_RAX;
}

/* False if the address depends on more than registers and the instruction. */
static bool
address_known(const struct decoded *d, const ZydisDecodedOperand *op)
{
    const enum oddity odd = oddity(&d->info);

    if (d->info.address_width != 64 || op->mem.segment == ZYDIS_REGISTER_FS ||
        op->mem.segment == ZYDIS_REGISTER_GS)
        return false;
    return odd != ODDITY_ADDRESS &&
           (odd != ODDITY_BIT ||
            d->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE);
}

static void
set_address(const struct decoded *d, const ZydisDecodedOperand *op, uint64_t pc,
            struct insn *insn)
{
    if (!address_known(d, op))
        return;
    insn->addr_known = true;
    insn->addr_base = (int8_t)general_register(op->mem.base);
    insn->addr_index = (int8_t)general_register(op->mem.index);
    if (insn->addr_index != INSN_NO_REG)
        insn->addr_scale = op->mem.scale;
    if (op->mem.disp.has_displacement)
        insn->addr_disp = op->mem.disp.value;
    if (op->mem.base == ZYDIS_REGISTER_RIP)
        insn->addr_disp =
            (int64_t)((uint64_t)insn->addr_disp + pc + d->info.length);
    /* A push: the stack pointer is moved before it is used. */
    if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
        op->mem.base == ZYDIS_REGISTER_RSP)
        insn->addr_disp =
            op->actions & ZYDIS_OPERAND_ACTION_WRITE ? -(op->size / 8) : 0;
}

/* Data of an FPU or a vector unit goes there, or is computed with. */
static bool
is_float(const struct decoded *d)
{
    for (unsigned i = 0; i < d->info.operand_count; i++) {
        if (d->operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        switch (ZydisRegisterGetClass(d->operands[i].reg.value)) {
        case ZYDIS_REGCLASS_X87:
        case ZYDIS_REGCLASS_MMX:
        case ZYDIS_REGCLASS_XMM:
        case ZYDIS_REGCLASS_YMM:
        case ZYDIS_REGCLASS_ZMM:
            return true;
        default:
            break;
        }
    }
    return false;
}

/* PREFETCHT1, T2 and WT1 are for the L2, all others for the L1. */
static void
set_prefetch(const struct decoded *d, const struct memory *m, uint64_t pc,
             struct insn *insn)
{
    const bool far = d->info.mnemonic == ZYDIS_MNEMONIC_PREFETCHT1 ||
                     d->info.mnemonic == ZYDIS_MNEMONIC_PREFETCHT2 ||
                     d->info.mnemonic == ZYDIS_MNEMONIC_PREFETCHWT1;

    insn->prefetch = far ? PREFETCH_FAR : PREFETCH_NEAR;
    set_address(d, m->operand, pc, insn);
}

static void
set_access(const struct decoded *d, const struct memory *m, uint64_t pc,
           struct insn *insn)
{
    if (m->operands == 0 || oddity(&d->info) == ODDITY_NO_ACCESS)
        return;
    if (is_prefetch(&d->info)) {
        set_prefetch(d, m, pc, insn);
        return;
    }

    insn->access = (uint8_t)access_kind(&d->info, m);
    if (ordinary_size(m->size) && !is_masked(&d->info) &&
        oddity(&d->info) != ODDITY_MIXED)
        insn->access_size = (uint8_t)m->size;
    if (insn->access == ACCESS_REPEATED) {
        if (m->operands > 1)
            insn->flags |= INSN_REPEAT_PAIR;
        return;
    }
    if (insn->access == ACCESS_LOAD && is_float(d))
        insn->flags |= INSN_FLOAT;
    insn->loads = (uint8_t)m->reads;
    insn->stores = (uint8_t)m->writes;
    if (insn->access != ACCESS_MIXED)
        set_address(d, m->operand, pc, insn);
}

static uint64_t
register_bit(ZydisRegister reg)
{
    const int number = general_register(reg);

    return number == INSN_NO_REG ? 0 : UINT64_C(1) << number;
}

static void
set_registers(const struct decoded *d, struct insn *insn)
{
    for (unsigned i = 0; i < d->info.operand_count; i++) {
        const ZydisDecodedOperand *op = &d->operands[i];

        if (op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            insn->reg_writes |= register_bit(op->reg.value);
        if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && is_string(&d->info))
            insn->reg_writes |= register_bit(op->mem.base);
    }
}

/* By how much `reg` changes, if that is a constant of the instruction. */
static bool
constant_step(const struct decoded *d, int64_t *step)
{
    const ZydisDecodedOperand *op = d->operands;
    const bool immediate = d->info.operand_count_visible == 2 &&
                           op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

    switch (d->info.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
        *step = op[1].imm.value.s;
        return immediate;
    case ZYDIS_MNEMONIC_SUB:
        *step = -op[1].imm.value.s;
        return immediate;
    case ZYDIS_MNEMONIC_INC:
        *step = 1;
        return true;
    case ZYDIS_MNEMONIC_DEC:
        *step = -1;
        return true;
    default:
        return false;
    }
}

/*
 * PUSH and POP move the stack pointer by 8; others step their 64-bit register
 * operand. POP into RSP sets it and steps nothing.
 */
static void
set_step(const struct decoded *d, struct insn *insn)
{
    const ZydisDecodedOperand *op = &d->operands[0];
    const bool reg = op->type == ZYDIS_OPERAND_TYPE_REGISTER;
    const bool push = d->info.mnemonic == ZYDIS_MNEMONIC_PUSH;

    if (push || d->info.mnemonic == ZYDIS_MNEMONIC_POP) {
        if (d->info.operand_width != 64 ||
            (!push && reg && op->reg.value == ZYDIS_REGISTER_RSP))
            return;
        insn->step_reg = (int8_t)general_register(ZYDIS_REGISTER_RSP);
        insn->step = push ? -8 : 8;
    } else if (reg && op->size == 64 && constant_step(d, &insn->step)) {
        insn->step_reg = (int8_t)general_register(op->reg.value);
    }
}

static void
set_flags(const ZydisDecodedInstruction *info, struct insn *insn)
{
    switch (info->mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
        /* The kernel may change them all (sigreturn, execve). */
        insn->reg_writes = ALL_REGISTERS;
        insn->flags |= INSN_SYSCALL;
        break;
    case ZYDIS_MNEMONIC_LFENCE:
    case ZYDIS_MNEMONIC_MFENCE:
    case ZYDIS_MNEMONIC_SFENCE:
        insn->flags |= INSN_MEMBAR;
        break;
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
        insn->flags |= INSN_TICKS;
        break;
    case ZYDIS_MNEMONIC_PAUSE:
        insn->flags |= INSN_PAUSE;
        break;
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_SERIALIZE:
        insn->serializes = true;
        break;
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
        insn->flags |= INSN_ILLEGAL;
        break;
    default:
        break;
    }
    if (is_prefetch(info))
        insn->flags |= INSN_PREFETCH;
}

/* Called last. */
static void
set_class(const ZydisDecodedInstruction *info, const struct memory *m,
          struct insn *insn)
{
    /* A system call is a far transfer of control, which processors count as a
     * branch; nothing predicts it, so that insn->branch has no kind for it. */
    if (insn->branch != BRANCH_NONE || insn->flags & INSN_SYSCALL) {
        insn->class = CLASS_BRANCH;
    } else if (fp_arithmetic[info->mnemonic] && !is_string(info)) {
        insn->class = CLASS_FGU;
        insn->flags |= INSN_FP | INSN_SHARED_FPU;
    } else if (info->attributes & ZYDIS_ATTRIB_HAS_LOCK ||
               insn->access == ACCESS_ATOMIC) {
        insn->class = CLASS_ATOMIC;
    } else if (insn->flags & INSN_PREFETCH) {
        insn->class = CLASS_LOAD; /* as a SPARC prefetch is */
    } else if (insn->access == ACCESS_NONE || (m->reads && m->writes)) {
        insn->class = CLASS_OTHER;
    } else {
        insn->class = m->reads ? CLASS_LOAD : CLASS_STORE;
    }
}

static bool
x86_decode(const struct isa *isa, const uint8_t *bytes, size_t size,
           uint64_t pc, struct insn *insn)
{
    (void)isa;

    struct decoded d;
    const ZyanStatus status = x86_zydis(bytes, size, &d);

    if (status == ZYDIS_STATUS_NO_MORE_DATA)
        return false;
    if (!ZYAN_SUCCESS(status)) {
        insn->size = 1;
        insn->class = CLASS_OTHER;
        insn->flags = INSN_ILLEGAL;
        return true;
    }

    const struct memory m = find_memory(&d);

    insn->size = d.info.length;
    set_branch(&d, pc, insn);
    set_access(&d, &m, pc, insn);
    set_registers(&d, insn);
    set_step(&d, insn);
    set_flags(&d.info, insn);
    set_class(&d.info, &m, insn);
    return true;
}

static void
x86_text(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
         char *text, size_t text_size)
{
    (void)isa;

    struct decoded d;
    ZydisFormatter formatter;
    char line[256] = INSN_BAD_TEXT;

    if (ZYAN_SUCCESS(x86_zydis(bytes, size, &d))) {
        ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
        ZydisFormatterFormatInstruction(&formatter, &d.info, d.operands,
                                        d.info.operand_count_visible, line,
                                        sizeof(line), pc, NULL);
    }
    snprintf(text, text_size, "%s", line);
}

static size_t
x86_bad_size(const uint8_t *bytes, size_t size)
{
    struct decoded d;

    for (size_t i = 1; i <= size; i++) {
        const ZyanStatus status = x86_zydis(bytes, i, &d);
        if (ZYAN_SUCCESS(status))
            return size;
        if (status != ZYDIS_STATUS_NO_MORE_DATA)
            return i;
    }
    return size;
}

static const char *
x86_set(const uint8_t *bytes, size_t size)
{
    struct decoded d;

    if (!ZYAN_SUCCESS(x86_zydis(bytes, size, &d)))
        return NULL;
    switch (d.info.meta.isa_set) {
    case ZYDIS_ISA_SET_I86:
    case ZYDIS_ISA_SET_I186:
    case ZYDIS_ISA_SET_I286PROTECTED:
    case ZYDIS_ISA_SET_I286REAL:
    case ZYDIS_ISA_SET_I386:
    case ZYDIS_ISA_SET_I486:
    case ZYDIS_ISA_SET_I486REAL:
    case ZYDIS_ISA_SET_PENTIUMREAL:
    case ZYDIS_ISA_SET_PENTIUMMMX:
    case ZYDIS_ISA_SET_PPRO:
    case ZYDIS_ISA_SET_FAT_NOP:
    case ZYDIS_ISA_SET_CMOV:
    case ZYDIS_ISA_SET_FCMOV:
    case ZYDIS_ISA_SET_X87:
    case ZYDIS_ISA_SET_FXSAVE:
    case ZYDIS_ISA_SET_FXSAVE64:
    case ZYDIS_ISA_SET_SSE:
    case ZYDIS_ISA_SET_SSEMXCSR:
    case ZYDIS_ISA_SET_SSE_PREFETCH:
    case ZYDIS_ISA_SET_SSE2:
    case ZYDIS_ISA_SET_SSE2MMX:
    case ZYDIS_ISA_SET_LONGMODE:
    case ZYDIS_ISA_SET_PAUSE:
        return "";
    default:
        return ZydisISASetGetString(d.info.meta.isa_set);
    }
}

/* F2 or F3, perhaps a REX prefix, A4 to A7 or AA to AF. */
static bool
may_repeat(const uint8_t *end)
{
    const bool string =
        (end[-1] & 0xfc) == 0xa4 || (end[-1] >= 0xaa && end[-1] <= 0xaf);
    const uint8_t prefix = (end[-2] & 0xf0) == 0x40 ? end[-3] : end[-2];

    return string && (prefix & 0xfe) == 0xf2;
}

/* Moves, LEA and ADD of whole registers. A move of 32 bits makes the address of
 * data of a program that is loaded below 4 GiB. */
static bool
x86_sum(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
        struct insn_sum *sum)
{
    (void)isa;

    struct decoded d;
    const ZydisDecodedOperand *const to = d.operands, *const from = to + 1;

    if (!ZYAN_SUCCESS(x86_zydis(bytes, size, &d)) ||
        d.info.operand_count_visible != 2 ||
        to->type != ZYDIS_OPERAND_TYPE_REGISTER || to->size < 32)
        return false;
    sum->to = (int8_t)general_register(to->reg.value);
    if (sum->to == INSN_NO_REG)
        return false;
    if (d.info.mnemonic == ZYDIS_MNEMONIC_MOV &&
        from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        sum->add = to->size == 32 ? (int64_t)(uint32_t)from->imm.value.u
                                  : from->imm.value.s;
        return true;
    }
    if (to->size != 64)
        return false;
    if (from->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        const int8_t other = (int8_t)general_register(from->reg.value);
        const bool add = d.info.mnemonic == ZYDIS_MNEMONIC_ADD;
        sum->base = add ? sum->to : other;
        sum->index = add ? other : INSN_NO_REG;
        return other != INSN_NO_REG &&
               (add || d.info.mnemonic == ZYDIS_MNEMONIC_MOV);
    }
    if (d.info.mnemonic != ZYDIS_MNEMONIC_LEA || d.info.address_width != 64)
        return false;
    sum->base = (int8_t)general_register(from->mem.base);
    sum->index = (int8_t)general_register(from->mem.index);
    sum->scaled = from->mem.scale > 1;
    sum->add = from->mem.disp.has_displacement ? from->mem.disp.value : 0;
    if (from->mem.base == ZYDIS_REGISTER_RIP)
        sum->add = (int64_t)((uint64_t)sum->add + pc + d.info.length);
    return true;
}

const struct isa_decoder x86_decoder = {
    .sum = x86_sum,
    .decode = x86_decode,
    .text = x86_text,
    .set = x86_set,
    .operands = x86_operands,
    .flags = X86_FLAGS,
    .bad_size = x86_bad_size,
    .may_repeat = may_repeat,
    .slow = true,
};
