/* SPDX-License-Identifier: MIT */
/*
 * Decoding AArch64: rows by mnemonic, every address form, constant steps, what
 * is no instruction, and random words.
 */
#include "isa/words.h"

#define PC UINT64_C(0x120000000)

#undef ALL
#define ALL 0xffffffffu
#define FP(word) \
    ROW(word, .class = CLASS_FGU, .flags = INSN_FP | INSN_SHARED_FPU)
#define FP_TO(word, writes)                                           \
    ROW(word, .class = CLASS_FGU, .flags = INSN_FP | INSN_SHARED_FPU, \
        .reg_writes = (writes))
/* Of two words, or of single elements: QEMU makes an access for each. */
#define LOAD_WORDS(word, flag, writes)                                 \
    ROW(word, .class = CLASS_LOAD, .access = ACCESS_MIXED, .loads = 1, \
        .access_size = 4, .flags = (flag), .reg_writes = (writes))
#define LOAD_ELEMENTS(word, bytes, writes)                             \
    ROW(word, .class = CLASS_LOAD, .access = ACCESS_MIXED, .loads = 1, \
        .access_size = (bytes), .flags = INSN_FLOAT, .reg_writes = (writes))
#define STORE_PIECES(word, bytes)                           \
    ROW(word, .class = CLASS_STORE, .access = ACCESS_MIXED, \
        .access_size = (bytes), .stores = 1)
#define STORE_BACK(word, bytes, writes)                     \
    ROW(word, .class = CLASS_STORE, .access = ACCESS_STORE, \
        .access_size = (bytes), .stores = 1, .reg_writes = (writes))
#define CONDITIONAL(word, bytes, writes)                                \
    ROW(word, .class = CLASS_STORE, .access = ACCESS_MIXED,             \
        .access_size = (bytes), .stores = 1, .flags = INSN_CONDITIONAL, \
        .reg_writes = (writes))
#define ATOMIC(word, bytes, writes)                           \
    ROW(word, .class = CLASS_ATOMIC, .access = ACCESS_ATOMIC, \
        .access_size = (bytes), .loads = 1, .stores = 1,      \
        .reg_writes = (writes))
#define ATOMIC_PAIR(word, writes)                                        \
    ROW(word, .class = CLASS_ATOMIC, .access = ACCESS_MIXED, .loads = 1, \
        .stores = 1, .reg_writes = (writes))
#define SVE_LOAD(word)                                                 \
    ROW(word, .class = CLASS_LOAD, .access = ACCESS_MIXED, .loads = 1, \
        .flags = INSN_FLOAT)
#define SVE_STORE(word) \
    ROW(word, .class = CLASS_STORE, .access = ACCESS_MIXED, .stores = 1)

static const struct row rows[] = {
#include "isa/aarch64_rows.inc"
};

static struct insn
decode(uint32_t word)
{
    const uint8_t bytes[] = {(uint8_t)word, (uint8_t)(word >> 8),
                             (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    struct insn insn;

    assert_true(
        insn_decode(&isa_rows[ISA_AARCH64], bytes, sizeof(bytes), PC, &insn));
    return insn;
}

static void
test_rows(void **state)
{
    (void)state;
    check_rows("aarch64_rows.inc", rows, sizeof(rows) / sizeof(*rows), decode);
}

static const struct row addresses[] = {
    ADDRESS(0xf9400481, 4, NONE, 0, 8),         /* ldr x1, [x4, #8] */
    ADDRESS(0xf94003e0, 31, NONE, 0, 0),        /* ldr x0, [sp] */
    ADDRESS(0xf85f8107, 8, NONE, 0, -8),        /* ldur x7, [x8, #-8] */
    ADDRESS(0xf8408549, 10, NONE, 0, 0),        /* ldr x9, [x10], #8 */
    ADDRESS(0xf8410fea, 31, NONE, 0, 16),       /* ldr x10, [sp, #16]! */
    ADDRESS(0xf8656803, 0, 5, 1, 0),            /* ldr x3, [x0, x5] */
    ADDRESS(0xf8657803, 0, 5, 8, 0),            /* ldr x3, [x0, x5, lsl #3] */
    ADDRESS(0x3ce57803, 0, 5, 16, 0),           /* ldr q3, [x0, x5, lsl #4] */
    ADDRESS(0xf87f6803, 0, NONE, 0, 0),         /* ldr x3, [x0, xzr] */
    NO_ADDRESS(0xf8654803),                     /* ldr x3, [x0, w5, uxtw] */
    ADDRESS(0x58000041, NONE, NONE, 0, PC + 8), /* ldr x1, .+8 */
    ADDRESS(0xa9410440, 2, NONE, 0, 16),        /* ldp x0, x1, [x2, #16] */
    ADDRESS(0xa8c27bfd, 31, NONE, 0, 0),        /* ldp x29, x30, [sp], #32 */
    ADDRESS(0xa9be7bfd, 31, NONE, 0, -32),      /* stp x29, x30, [sp, #-32]! */
    NO_ADDRESS(0x29410440),                     /* ldp w0, w1, [x2, #8] */
    ADDRESS(0x4cdf2020, 1, NONE, 0, 0),         /* ld1 of four, [x1], #64 */
    NO_ADDRESS(0x4c408020),                     /* ld2 of two, [x1] */
    ADDRESS(0xc85ffc20, 1, NONE, 0, 0),         /* ldaxr x0, [x1] */
    NO_ADDRESS(0xc801fc62),                     /* stlxr w1, x2, [x3] */
    ADDRESS(0xf8210062, 3, NONE, 0, 0),         /* ldadd x1, x2, [x3] */
    ADDRESS(0xf9800c20, 1, NONE, 0, 24),        /* prfm pldl1keep, [x1, #24] */
    NO_ADDRESS(0xf82005ee),                     /* ldraa x14, [x15] */
    NO_ADDRESS(0xd50b7428),                     /* dc zva, x8 */
    NO_ADDRESS(0x8b020020),                     /* add x0, x1, x2 */
};

static void
test_addresses(void **state)
{
    (void)state;
    check_addresses(__FILE__, addresses, sizeof(addresses) / sizeof(*addresses),
                    decode);
}

/* Registers that change by a constant. */
static const struct {
    int line;
    uint32_t word;
    int reg;
    int64_t step;
} steps[] = {
    {__LINE__, 0xd10083ff, 31, -32},   /* sub sp, sp, #32 */
    {__LINE__, 0x91402084, 4, 0x8000}, /* add x4, x4, #8, lsl #12 */
    {__LINE__, 0xf1000442, 2, -1},     /* subs x2, x2, #1 */
    {__LINE__, 0xf10007ff, NONE, 0},   /* subs xzr, sp, #1 */
    {__LINE__, 0x910020a4, NONE, 0},   /* add x4, x5, #8 */
    {__LINE__, 0x11002084, NONE, 0},   /* add w4, w4, #8: of 32 bits */
    {__LINE__, 0xf8408549, 10, 8},     /* ldr x9, [x10], #8 */
    {__LINE__, 0xf81f8d49, 10, -8},    /* str x9, [x10, #-8]! */
    {__LINE__, 0xa8c27bfd, 31, 32},    /* ldp x29, x30, [sp], #32 */
    {__LINE__, 0x4cdf2020, 1, 64},     /* ld1 of four, [x1], #64 */
    {__LINE__, 0x4cc22020, NONE, 0},   /* ld1 of four, [x1], x2 */
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
        if (insn.step_reg != NONE)
            assert_true(insn.reg_writes >> insn.step_reg & 1);
    }
}

static void
test_serializes(void **state)
{
    (void)state;
    assert_true(decode(0xd5033fdf).serializes);  /* isb */
    assert_false(decode(0xd5033f9f).serializes); /* dsb sy */
}

static const struct illegal illegals[] = {
    {__LINE__, 0x00000000}, /* udf #0 */
    {__LINE__, 0x02000000}, /* a group without instructions */
    {__LINE__, 0x80800000}, /* fmopa of SME */
    {__LINE__, 0x12400000}, /* and w0, w0 of a 64-bit pattern */
    {__LINE__, 0x9240fc00}, /* and x0, x0 of a pattern of ones alone */
    {__LINE__, 0x32800000}, /* the move between MOVN and MOVZ */
    {__LINE__, 0x12c00000}, /* movn w0, lsl #32 */
    {__LINE__, 0x13400000}, /* sbfm w0 with N */
    {__LINE__, 0x0a008000}, /* and w0, w0, w0, lsl #32 */
    {__LINE__, 0x0bc00000}, /* add with a rotation */
    {__LINE__, 0x8b201400}, /* add extended by 5 */
    {__LINE__, 0xd4000002}, /* hvc #0 */
    {__LINE__, 0xd4000003}, /* smc #0 */
    {__LINE__, 0xd4a00001}, /* dcps1 */
    {__LINE__, 0xd69f03e0}, /* eret */
    {__LINE__, 0xd6bf03e0}, /* drps */
    {__LINE__, 0xd5087620}, /* dc ivac, x0 */
    {__LINE__, 0xd5381000}, /* mrs x0, sctlr_el1 */
    {__LINE__, 0xd5181000}, /* msr sctlr_el1, x0 */
    {__LINE__, 0x08a00000}, /* casb without ones in bits 14:10 */
    {__LINE__, 0x08217c00}, /* casp of odd registers */
    {__LINE__, 0xdc000000}, /* ldr of a literal, opcode 3 of vectors */
    {__LINE__, 0xe8000000}, /* stnp with opcode 3 */
    {__LINE__, 0x68000000}, /* stnp with opcode 1 */
    {__LINE__, 0xb8c00000}, /* ldur with opcode 3 of words */
    {__LINE__, 0xf8800400}, /* prfm that writes its base back */
    {__LINE__, 0x3c800800}, /* without privileges, of vectors */
    {__LINE__, 0xf8602800}, /* an index extended by 1 */
    {__LINE__, 0xf83f9000}, /* st64b */
    {__LINE__, 0x0c001000}, /* st1 with opcode 1 */
    {__LINE__, 0x0c008c00}, /* st2 of .1d */
    {__LINE__, 0x0d00c000}, /* st1r, which there is not */
    {__LINE__, 0x19000400}, /* cpyfp of FEAT_MOPS */
    {__LINE__, 0xd9200000}, /* stzgm */
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
    static const uint8_t add[] = {0x20, 0x00, 0x02, 0x0b};

    (void)state;
    check_truncated(&isa_rows[ISA_AARCH64], add, PC, "0x0b020020");
}

static void
test_random_words(void **state)
{
    const uint64_t seed = 20240229;
    uint64_t random = seed;
    unsigned failed = 0;

    (void)state;
    print_message("# seed %" PRIu64 "\n", seed);
    for (int i = 0; i < 1000000; i++) {
        const uint32_t word = (uint32_t)(next_random(&random) >> 32);
        const struct insn insn = decode(word);
        char text[16];

        snprintf(text, sizeof(text), "0x%08x", (unsigned)word);
        failed += check_rules(text, &insn);
        failed += insn.size != 4 || insn.reg_writes >> 32;
    }
    assert_int_equal(failed, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),         cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_steps),        cmocka_unit_test(test_serializes),
        cmocka_unit_test(test_illegal),      cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_random_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
