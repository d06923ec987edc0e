/* SPDX-License-Identifier: MIT */
/*
 * Lists the instructions of AVX, AVX2, FMA, F16C, BMI1 and BMI2, and LZCNT,
 * MOVBE and POPCNT, for test/vex.py: `vex-list` prints one variant a line for
 * the guest program vex.x86_64, `vex-list space` every candidate encoding that
 * Zydis does not list, for objdump.
 *
 * The list is complete by construction: each opcode of the VEX maps 0F, 0F38
 * and 0F3A is tried with each prefix (none, 66, F3, F2), both vector lengths,
 * both values of W, with a register and with memory, and where ModRM.reg
 * selects the instruction, with all eight values of ModRM.reg. The scalar
 * instructions without VEX are tried in the same ways.
 *
 * A line: MNEMONIC FORM KIND UNDEFINED BYTES
 *   FORM       what its results are summed under: r or m (a register or memory
 *              as an operand), and 128 or 256 of a vector, 0 of others; ".4" of
 *              a gather whose index register is 4
 *   KIND       how the guest prepares operands: - as always, or see kind_of()
 *   UNDEFINED  in hexadecimal, the flags that the manual leaves undefined
 *   BYTES      the instruction
 */
#include <Zydis/Zydis.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Where vex.c maps the memory operand, and where in it the operand is. */
#define MEMORY 0x10010000u
#define OPERAND (MEMORY + 0x400)

/* The registers of one variant: of ModRM.reg, VEX.vvvv and ModRM.rm. Register 4
 * is not among them: it is the stack pointer. */
struct registers {
    unsigned reg, vvvv, rm;
};

static const struct registers variants[] = {
    {1, 2, 3}, {13, 10, 9}, {6, 6, 6}, {8, 7, 8}, {5, 11, 11}, {15, 15, 0}};

#define VARIANTS (sizeof(variants) / sizeof(variants[0]))

struct encoding {
    unsigned map, prefix, l, w, opcode;
    bool memory;
    int group; /* ModRM.reg where it is a part of the opcode, or -1 */
    int imm;   /* -1: none known */
    int index; /* the index register of a gather, or -1 */
};

static unsigned
modrm(const struct encoding *e, const struct registers *r, uint8_t *at)
{
    const unsigned reg = e->group >= 0 ? (unsigned)e->group : r->reg & 7;

    if (!e->memory) {
        at[0] = (uint8_t)(0xc0 | reg << 3 | (r->rm & 7));
        return 1;
    }
    /* No base, no index or that of a gather, a 32-bit address. */
    const uint32_t address = OPERAND;
    const unsigned index = e->index >= 0 ? e->index & 7 : 4;
    at[0] = (uint8_t)(reg << 3 | 4);
    at[1] = (uint8_t)((r->reg & 3) << 6 | index << 3 | 5);
    memcpy(at + 2, &address, sizeof(address));
    return 6;
}

/* Writes the VEX instruction with room for an immediate byte. */
static unsigned
build_vex(const struct encoding *e, const struct registers *r, uint8_t *at)
{
    const unsigned reg = e->group >= 0 ? 0 : r->reg;
    const unsigned not_r = reg < 8, not_b = e->memory || r->rm < 8;
    const unsigned not_x = e->index < 8;
    unsigned n = 0;

    at[n++] = 0xc4;
    at[n++] = (uint8_t)(not_r << 7 | not_x << 6 | not_b << 5 | e->map);
    at[n++] =
        (uint8_t)(e->w << 7 | (~r->vvvv & 15) << 3 | e->l << 2 | e->prefix);
    at[n++] = (uint8_t)e->opcode;
    n += modrm(e, r, at + n);
    at[n++] = e->imm >= 0 ? (uint8_t)e->imm : 0;
    return n;
}

/* The same of an instruction without VEX; of map 0F or 0F38. */
static unsigned
build_plain(const struct encoding *e, const struct registers *r, uint8_t *at)
{
    static const uint8_t bytes[] = {0, 0x66, 0xf3, 0xf2};
    unsigned n = 0;

    if (e->l != 0)
        at[n++] = 0x66; /* 16-bit operands, beside F3 */
    if (e->prefix != 0)
        at[n++] = bytes[e->prefix];
    at[n++] = (uint8_t)(0x40 | e->w << 3 | (r->reg & 8) >> 1 |
                        (e->memory ? 0 : r->rm >> 3));
    at[n++] = 0x0f;
    if (e->map == 2)
        at[n++] = 0x38;
    at[n++] = (uint8_t)e->opcode;
    n += modrm(e, r, at + n);
    at[n++] = 0;
    return n;
}

typedef unsigned
build(const struct encoding *e, const struct registers *r, uint8_t *at);

static bool
is_wanted(const ZydisDecodedInstruction *info)
{
    switch (info->meta.isa_set) {
    case ZYDIS_ISA_SET_AVX:
    case ZYDIS_ISA_SET_AVX2:
    case ZYDIS_ISA_SET_AVX2GATHER:
    case ZYDIS_ISA_SET_AVXAES:
    case ZYDIS_ISA_SET_FMA:
    case ZYDIS_ISA_SET_F16C:
    case ZYDIS_ISA_SET_BMI1:
    case ZYDIS_ISA_SET_BMI2:
    case ZYDIS_ISA_SET_LZCNT:
    case ZYDIS_ISA_SET_MOVBE:
    case ZYDIS_ISA_SET_POPCNT:
        return true;
    default:
        return false;
    }
}

static bool
is_ymm(ZydisRegister reg)
{
    return ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_YMM;
}

/* Whether a vector length of 256 bits is of an instruction that ignores it: no
 * assembler sets it, and QEMU 7.2 does not take it. */
static bool
is_ignored_length(const ZydisDecodedInstruction *info,
                  const ZydisDecodedOperand *op)
{
    if (info->encoding != ZYDIS_INSTRUCTION_ENCODING_VEX ||
        info->avx.vector_length != 256 || info->operand_count == 0)
        return false;
    for (unsigned i = 0; i < info->operand_count; i++) {
        const bool memory = op[i].type == ZYDIS_OPERAND_TYPE_MEMORY;
        if (op[i].size == 256 ||
            is_ymm(memory ? op[i].mem.index : op[i].reg.value))
            return false;
    }
    return info->mnemonic != ZYDIS_MNEMONIC_VZEROALL;
}

static bool
decode(const uint8_t *bytes, unsigned size, ZydisDecodedInstruction *info,
       ZydisDecodedOperand *operands)
{
    ZydisDecoder decoder;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
                     ZYDIS_STACK_WIDTH_64);
    return ZYAN_SUCCESS(
               ZydisDecoderDecodeFull(&decoder, bytes, size, info, operands)) &&
           is_wanted(info) && !is_ignored_length(info, operands);
}

static bool
is_float(const ZydisDecodedInstruction *info, const ZydisDecodedOperand *op)
{
    for (unsigned i = 0; i < info->operand_count; i++) {
        if (op[i].element_type == ZYDIS_ELEMENT_TYPE_FLOAT16 ||
            op[i].element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
            op[i].element_type == ZYDIS_ELEMENT_TYPE_FLOAT64)
            return true;
    }
    return false;
}

/* How the guest must prepare the operands. */
static char
kind_of(const ZydisDecodedInstruction *info, const ZydisDecodedOperand *op)
{
    switch (info->mnemonic) {
    case ZYDIS_MNEMONIC_VLDMXCSR: /* the operand is a valid MXCSR */
        return 'c';
    case ZYDIS_MNEMONIC_VMASKMOVDQU: /* %rdi is the operand's address */
        return 'd';
    case ZYDIS_MNEMONIC_VRCPPS: /* an approximation */
    case ZYDIS_MNEMONIC_VRCPSS:
        return 'r';
    case ZYDIS_MNEMONIC_VRSQRTPS:
    case ZYDIS_MNEMONIC_VRSQRTSS:
        return 's';
    default:
        break;
    }
    for (unsigned i = 0; i < info->operand_count; i++) {
        if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            op[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB)
            return info->mnemonic == ZYDIS_MNEMONIC_VGATHERDPD ||
                           info->mnemonic == ZYDIS_MNEMONIC_VGATHERDPS ||
                           info->mnemonic == ZYDIS_MNEMONIC_VPGATHERDD ||
                           info->mnemonic == ZYDIS_MNEMONIC_VPGATHERDQ
                       ? 'g'  /* 32-bit indices */
                       : 'h'; /* 64-bit indices */
    }
    return is_float(info, op) ? 'f' : '-';
}

static void
print(const uint8_t *bytes, const ZydisDecodedInstruction *info,
      const ZydisDecodedOperand *op, const char *form)
{
    const char *name = ZydisMnemonicGetString(info->mnemonic);
    const uint32_t undefined =
        info->cpu_flags != NULL ? info->cpu_flags->undefined : 0;
    bool memory = false;

    for (unsigned i = 0; i < info->operand_count_visible; i++)
        memory |= op[i].type == ZYDIS_OPERAND_TYPE_MEMORY;
    printf("%s %c%u%s %c %" PRIx32 " ", name, memory ? 'm' : 'r',
           info->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX
               ? info->avx.vector_length
               : 0,
           form, kind_of(info, op), undefined);
    for (unsigned i = 0; i < info->length; i++)
        printf("%02x", bytes[i]);
    printf("\n");
}

/* Immediates to try: all that differ of a comparison's 32, else a sample. */
static unsigned
immediate(unsigned k, ZydisMnemonic mnemonic)
{
    static const uint8_t sample[] = {
        0,  1,  2,  3,  4,    5,    7,    8,    15,   16,   17,   31,
        32, 33, 63, 64, 0x4e, 0x88, 0xb1, 0xe4, 0xaa, 0x55, 0x1b, 0xff};

    switch (mnemonic) {
    case ZYDIS_MNEMONIC_VCMPPD:
    case ZYDIS_MNEMONIC_VCMPPS:
    case ZYDIS_MNEMONIC_VCMPSD:
    case ZYDIS_MNEMONIC_VCMPSS:
        return k < 32 ? k : 256;
    default:
        return k < sizeof(sample) ? sample[k] : 256;
    }
}

static bool
is_gather(char kind)
{
    return kind == 'g' || kind == 'h';
}

/* The gather with the index register `rm`, and with register 4. */
static void
list_gather(struct encoding *e, const struct registers *r, build *make)
{
    ZydisDecodedInstruction info;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint8_t bytes[16] = {0};

    e->index = (int)r->rm;
    if (decode(bytes, make(e, r, bytes), &info, operands))
        print(bytes, &info, operands, "");
    e->index = 4;
    if (decode(bytes, make(e, r, bytes), &info, operands))
        print(bytes, &info, operands, ".4");
}

static void
list_variants(struct encoding *e, build *make)
{
    ZydisDecodedInstruction info;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint8_t bytes[16] = {0};

    for (size_t v = 0; v < VARIANTS; v++) {
        struct registers r = variants[v];
        e->imm = e->index = -1;
        if (!decode(bytes, make(e, &r, bytes), &info, operands)) {
            r.vvvv = 0; /* the field must be unused */
            if (!decode(bytes, make(e, &r, bytes), &info, operands))
                continue;
            if (v >= 4)
                continue; /* the same as another variant */
        }
        if (is_gather(kind_of(&info, operands))) {
            list_gather(e, &r, make);
            continue;
        }
        if (info.raw.imm[0].size == 0) {
            print(bytes, &info, operands, "");
            continue;
        }
        for (unsigned k = 0; immediate(k, info.mnemonic) < 256; k++) {
            e->imm = (int)immediate(k, info.mnemonic);
            if (k % VARIANTS != v && k >= 2)
                continue; /* shared out over the variants */
            if (decode(bytes, make(e, &r, bytes), &info, operands))
                print(bytes, &info, operands, "");
        }
    }
}

static bool
is_listed(struct encoding *e, build *make)
{
    ZydisDecodedInstruction info;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint8_t bytes[16] = {0};

    e->imm = e->index = -1;
    for (size_t v = 0; v < 3; v++) {
        struct registers r = variants[v];
        for (unsigned k = 0; k < 2; k++, r.vvvv = 0) {
            if (decode(bytes, make(e, &r, bytes), &info, operands))
                return true;
        }
    }
    return false;
}

/* Prints the encoding, if Zydis does not list it, for objdump: with vvvv used
 * and unused. */
static void
print_space(struct encoding *e)
{
    if (is_listed(e, build_vex))
        return;
    e->index = -1;
    for (unsigned k = 0; k < 2; k++) {
        const struct registers r = {1, k == 0 ? 2 : 0, 3};
        uint8_t bytes[16];
        const unsigned n = build_vex(e, &r, bytes);
        for (unsigned i = 0; i < n; i++)
            printf("%02x", bytes[i]);
        printf("\n");
    }
}

/* Opcodes whose ModRM.reg selects the instruction. */
static bool
is_group(unsigned map, unsigned opcode)
{
    return (map == 1 &&
            ((opcode >= 0x71 && opcode <= 0x73) || opcode == 0xae)) ||
           (map == 2 && opcode == 0xf3);
}

static void
each_modrm(struct encoding *e, bool space)
{
    for (unsigned memory = 0; memory < 2; memory++) {
        e->memory = memory != 0;
        const bool group = is_group(e->map, e->opcode);
        for (int k = 0; k < (group ? 8 : 1); k++) {
            e->group = group ? k : -1;
            if (space)
                print_space(e);
            else
                list_variants(e, build_vex);
        }
    }
}

static void
each_vex(bool space)
{
    for (unsigned n = 0; n < 3 * 4 * 2 * 2 * 256; n++) {
        struct encoding e = {
            .opcode = n & 255,
            .w = n >> 8 & 1,
            .l = n >> 9 & 1,
            .prefix = n >> 10 & 3,
            .map = (n >> 12) + 1,
        };
        each_modrm(&e, space);
    }
}

static void
each_plain(void)
{
    static const struct {
        unsigned map, opcode;
    } opcodes[] = {{1, 0xb8}, {1, 0xbc}, {1, 0xbd}, {2, 0xf0}, {2, 0xf1}};

    for (unsigned n = 0; n < 5 * 4 * 2 * 2 * 2; n++) {
        struct encoding e = {
            .map = opcodes[n / 32].map,
            .opcode = opcodes[n / 32].opcode,
            .prefix = n & 3,
            .l = n >> 2 & 1,
            .w = n >> 3 & 1,
            .memory = n >> 4 & 1,
            .group = -1,
        };
        if (e.w != 0 && (e.l != 0 || e.prefix == 1))
            continue; /* two sizes of operands: no assembler writes that */
        list_variants(&e, build_plain);
    }
}

int
main(int argc, char **argv)
{
    const bool space = argc == 2 && strcmp(argv[1], "space") == 0;

    if (argc > 2 || (argc == 2 && !space))
        return 2;
    each_vex(space);
    if (!space)
        each_plain();
    return 0;
}
