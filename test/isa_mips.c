/* SPDX-License-Identifier: MIT */
/*
 * Decoding MIPS64 release 2: every mnemonic, jumps, every address form, what
 * is no instruction, both byte orders, and random words.
 */
#include "isa/words.h"

#define PC UINT64_C(0x120000000)

#define FP(word) \
    ROW(word, .class = CLASS_FGU, .flags = INSN_FP | INSN_SHARED_FPU)
#define LOAD_BYTES(word, writes)                                       \
    ROW(word, .class = CLASS_LOAD, .access = ACCESS_MIXED, .loads = 1, \
        .reg_writes = (writes))
#define STORE_BYTES(word)                                                     \
    ROW(word, .class = CLASS_STORE, .access = ACCESS_MIXED, .access_size = 1, \
        .stores = 1)
#define CONDITIONAL(word, bytes, writes)                                \
    ROW(word, .class = CLASS_STORE, .access = ACCESS_MIXED,             \
        .access_size = (bytes), .stores = 1, .flags = INSN_CONDITIONAL, \
        .reg_writes = (writes))

static const struct row rows[] = {
#include "isa/mips_rows.inc"
};

static struct insn
decode_at(uint32_t word, uint64_t pc)
{
    const uint8_t big[] = {(uint8_t)(word >> 24), (uint8_t)(word >> 16),
                           (uint8_t)(word >> 8), (uint8_t)word};
    const uint8_t little[] = {big[3], big[2], big[1], big[0]};
    struct insn insn, other;

    assert_true(
        insn_decode(&isa_rows[ISA_MIPS64], big, sizeof(big), pc, &insn));
    assert_true(insn_decode(&isa_rows[ISA_MIPS64EL], little, sizeof(little), pc,
                            &other));
    assert_int_equal(check_insn(__FILE__, __LINE__, &other, &insn), 0);
    assert_int_equal(check_address(__FILE__, __LINE__, &other, &insn), 0);
    return insn;
}

static struct insn
decode(uint32_t word)
{
    return decode_at(word, PC);
}

static void
test_rows(void **state)
{
    (void)state;
    check_rows("mips_rows.inc", rows, sizeof(rows) / sizeof(*rows), decode);
}

/* J and JAL stay in the 256 MB of their delay slot. */
static const struct {
    int line;
    uint32_t word;
    uint64_t pc, target;
} jumps[] = {
    {__LINE__, 0x08000100, 0x120000000, 0x120000400}, /* j */
    {__LINE__, 0x0bffffff, 0x120000000, 0x12ffffffc},
    {__LINE__, 0x08000100, 0x12ffffff8, 0x120000400},
    {__LINE__, 0x08000100, 0x12ffffffc, 0x130000400},
    {__LINE__, 0x0c000100, 0x120000000, 0x120000400}, /* jal */
};

static void
test_jumps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
        const bool call = jumps[i].word >> 26 == 3;
        const struct insn insn = decode_at(jumps[i].word, jumps[i].pc);
        const struct insn want = {
            .size = 4,
            .class = CLASS_BRANCH,
            .branch = call ? BRANCH_CALL : BRANCH_JUMP,
            .flags = D,
            .target = jumps[i].target,
            .reg_writes = call ? R(31) : 0,
        };

        assert_int_equal(check_insn(__FILE__, jumps[i].line, &insn, &want), 0);
    }
}

static const struct row addresses[] = {
    ADDRESS(0x8ca40010, 5, NONE, 0, 16),     /* lw $4, 16($5) */
    ADDRESS(0xdca48000, 5, NONE, 0, -32768), /* ld $4, -32768($5) */
    ADDRESS(0xac040008, NONE, NONE, 0, 8),   /* sw $4, 8($0) */
    ADDRESS(0xffa4fff8, 29, NONE, 0, -8),    /* sd $4, -8($29) */
    ADDRESS(0xd4a40010, 5, NONE, 0, 16),     /* ldc1 $f4, 16($5) */
    ADDRESS(0xc0a40010, 5, NONE, 0, 16),     /* ll $4, 16($5) */
    ADDRESS(0x4cc50100, 6, 5, 1, 0),         /* lwxc1 $f4, $5($6) */
    ADDRESS(0x4cc00101, 6, NONE, 0, 0),      /* ldxc1 $f4, $0($6) */
    ADDRESS(0x4cc52009, 6, 5, 1, 0),         /* sdxc1 $f4, $5($6) */
    NO_ADDRESS(0x4cc50105),                  /* luxc1 $f4, $5($6) */
    NO_ADDRESS(0x4cc5200d),                  /* suxc1 $f4, $5($6) */
    NO_ADDRESS(0x88a40010),                  /* lwl $4, 16($5) */
    NO_ADDRESS(0x98a40010),                  /* lwr $4, 16($5) */
    NO_ADDRESS(0x68a40010),                  /* ldl $4, 16($5) */
    NO_ADDRESS(0x6ca40010),                  /* ldr $4, 16($5) */
    NO_ADDRESS(0xa8a40010),                  /* swl $4, 16($5) */
    NO_ADDRESS(0xe0a40010),                  /* sc $4, 16($5) */
    ADDRESS(0xccc50010, 6, NONE, 0, 16),     /* pref 5, 16($6) */
    ADDRESS(0x4ce6280f, 7, 6, 1, 0),         /* prefx 5, $6($7) */
    NO_ADDRESS(0xccde0010),                  /* pref 30, 16($6) */
    NO_ADDRESS(0x00851021),                  /* addu $2, $4, $5 */
};

static void
test_addresses(void **state)
{
    (void)state;
    check_addresses(__FILE__, addresses, sizeof(addresses) / sizeof(*addresses),
                    decode);
}

/* Registers that change by a constant: DADDI and DADDIU to themselves. */
static const struct {
    int line;
    uint32_t word;
    int reg;
    int64_t step;
} steps[] = {
    {__LINE__, 0x67bdffe0, 29, -32}, /* daddiu $29, $29, -32 */
    {__LINE__, 0x60840008, 4, 8},    /* daddi $4, $4, 8 */
    {__LINE__, 0x64a40008, NONE, 0}, /* daddiu $4, $5, 8 */
    {__LINE__, 0x64000008, NONE, 0}, /* daddiu $0, $0, 8 */
    {__LINE__, 0x24840008, NONE, 0}, /* addiu $4, $4, 8: of 32 bits */
};

static void
test_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        const struct insn insn = decode(steps[i].word);

        if (insn.step_reg != steps[i].reg || insn.step != steps[i].step)
            fail_msg("%s:%d: register %d", __FILE__, steps[i].line,
                     insn.step_reg);
    }
}

static const struct illegal illegals[] = {
    {__LINE__, 0x00000001 | 2 << 16}, /* movf with bit 17 */
    {__LINE__, 0x00000005},           /* lsa of release 6 and MSA */
    {__LINE__, 0x0000000e},           /* function 0e */
    {__LINE__, 0x00200000},           /* sll with bit 21 */
    {__LINE__, 0x00400002},           /* srl with bit 22 */
    {__LINE__, 0x00200003},           /* sra with bit 21 */
    {__LINE__, 0x00000086},           /* srlv with bit 7 */
    {__LINE__, 0x00850818},           /* mult $ac1 of the DSP */
    {__LINE__, 0x00851098},           /* mul of release 6 */
    {__LINE__, 0x00000028},           /* function 28 */
    {__LINE__, 0x00000035},           /* selz of release 6 */
    {__LINE__, 0x00000039},           /* function 39 */
    {__LINE__, 0x04040000},           /* regimm 4 */
    {__LINE__, 0x041c0000},           /* regimm 1c: of the DSP */
    {__LINE__, 0x18850004},           /* blez with rt: of release 6 */
    {__LINE__, 0x3c850004},           /* aui of release 6 */
    {__LINE__, 0x40046000},           /* mfc0 $4, $12 */
    {__LINE__, 0x42000018},           /* eret */
    {__LINE__, 0x44a40000 | 1},       /* dmtc1 with bit 0 */
    {__LINE__, 0x45200004},           /* bc1any2 of MIPS-3D */
    {__LINE__, 0x46000010},           /* function 10 of S */
    {__LINE__, 0x46000020},           /* cvt.s.s */
    {__LINE__, 0x46200021},           /* cvt.d.d */
    {__LINE__, 0x46200026},           /* cvt.ps.d */
    {__LINE__, 0x46010004},           /* sqrt.s with ft */
    {__LINE__, 0x46000070},           /* c.f with bit 6 */
    {__LINE__, 0x46800000},           /* add.w */
    {__LINE__, 0x46800826},           /* cvt.ps.pw of MIPS-3D */
    {__LINE__, 0x46c00003},           /* div.ps */
    {__LINE__, 0x46e00000},           /* format 17 */
    {__LINE__, 0x48040000},           /* mfc2 */
    {__LINE__, 0x4cc50900},           /* lwxc1 with fs */
    {__LINE__, 0x4c000002},           /* function 2 of COP1X */
    {__LINE__, 0x70000003},           /* function 3 of special2 */
    {__LINE__, 0x74000000},           /* jalx: MIPS16e */
    {__LINE__, 0x78000000},           /* MSA */
    {__LINE__, 0x7ca4f8c0 | 1 << 6},  /* ext of 33 bits */
    {__LINE__, 0x7ca40944},           /* ins that ends before it starts */
    {__LINE__, 0x7ca40020},           /* bshfl 0 */
    {__LINE__, 0x7ca42024},           /* dbshfl with rs */
    {__LINE__, 0x7c03203b},           /* rdhwr of register 4 */
    {__LINE__, 0x7c00000a},           /* lwx of the DSP */
    {__LINE__, 0xbc000000},           /* cache */
    {__LINE__, 0xc8000000},           /* lwc2 */
    {__LINE__, 0xd8000000},           /* ldc2 */
    {__LINE__, 0xe8000000},           /* swc2 */
    {__LINE__, 0xec000000},           /* opcode 3b */
    {__LINE__, 0xf8000000},           /* sdc2 */
};

static void
test_illegal(void **state)
{
    (void)state;
    check_illegal(__FILE__, illegals, sizeof(illegals) / sizeof(*illegals),
                  decode);
}

static void
test_truncated(void **state)
{
    static const uint8_t move[] = {0x00, 0x80, 0x10, 0x25};
    char text[32];

    (void)state;
    check_truncated(&isa_rows[ISA_MIPS64], move, PC, "0x00801025");
    insn_text(&isa_rows[ISA_MIPS64EL], move, 4, PC, text, sizeof(text));
    assert_string_equal(text, "0x25108000");
}

static void
test_random_words(void **state)
{
    (void)state;
    check_random_words(decode);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),         cmocka_unit_test(test_jumps),
        cmocka_unit_test(test_addresses),    cmocka_unit_test(test_steps),
        cmocka_unit_test(test_illegal),      cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_random_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
