/* SPDX-License-Identifier: MIT */
/*
 * Decoding RISC-V: rows by mnemonic, every address form, constant steps, text,
 * what is no instruction, and random words.
 */
#include <string.h>

#include "isa/words.h"

#define PC UINT64_C(0x120000000)

#define FP(word) \
    ROW(word, .class = CLASS_FGU, .flags = INSN_FP | INSN_SHARED_FPU)
#define FP_TO(word, writes)                                           \
    ROW(word, .class = CLASS_FGU, .flags = INSN_FP | INSN_SHARED_FPU, \
        .reg_writes = (writes))
#define CONDITIONAL(word, bytes, writes)                                \
    ROW(word, .class = CLASS_STORE, .access = ACCESS_MIXED,             \
        .access_size = (bytes), .stores = 1, .flags = INSN_CONDITIONAL, \
        .reg_writes = (writes))
#define ATOMIC(word, bytes, writes)                           \
    ROW(word, .class = CLASS_ATOMIC, .access = ACCESS_ATOMIC, \
        .access_size = (bytes), .loads = 1, .stores = 1,      \
        .reg_writes = (writes))
/* Of 16 bits. */
#define HALF(word, ...)            \
    {                              \
        __LINE__, (word),          \
        {                          \
            .size = 2, __VA_ARGS__ \
        }                          \
    }
#define C_OTHER(word, writes) \
    HALF(word, .class = CLASS_OTHER, .reg_writes = (writes))
#define C_FLAG(word, flag) HALF(word, .class = CLASS_OTHER, .flags = (flag))
#define C_BRANCH(word, kind, to, writes)                                       \
    HALF(word, .class = CLASS_BRANCH, .branch = BRANCH_##kind, .target = (to), \
         .reg_writes = (writes))
#define C_LOAD(word, bytes, writes)                        \
    HALF(word, .class = CLASS_LOAD, .access = ACCESS_LOAD, \
         .access_size = (bytes), .loads = 1, .reg_writes = (writes))
#define C_FLOAT_LOAD(word, bytes)                          \
    HALF(word, .class = CLASS_LOAD, .access = ACCESS_LOAD, \
         .access_size = (bytes), .loads = 1, .flags = INSN_FLOAT)
#define C_STORE(word, bytes)                                 \
    HALF(word, .class = CLASS_STORE, .access = ACCESS_STORE, \
         .access_size = (bytes), .stores = 1)

static const struct row rows[] = {
#include "isa/riscv_rows.inc"
};

static const struct isa *
riscv(void)
{
    return &isa_rows[ISA_RISCV64];
}

static struct insn
decode(uint32_t word)
{
    const uint8_t bytes[] = {(uint8_t)word, (uint8_t)(word >> 8),
                             (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    struct insn insn;

    assert_true(insn_decode(riscv(), bytes, sizeof(bytes), PC, &insn));
    return insn;
}

static void
test_rows(void **state)
{
    (void)state;
    check_rows("riscv_rows.inc", rows, sizeof(rows) / sizeof(*rows), decode);
}

static const struct row addresses[] = {
    ADDRESS(0x00853583, 10, NONE, 0, 8),    /* ld a1, 8(a0) */
    ADDRESS(0x80013583, 2, NONE, 0, -2048), /* ld a1, -2048(sp) */
    ADDRESS(0x01003583, NONE, NONE, 0, 16), /* ld a1, 16(zero) */
    ADDRESS(0x00b53423, 10, NONE, 0, 8),    /* sd a1, 8(a0) */
    ADDRESS(0xfeb53c27, 10, NONE, 0, -8),   /* fsd fa1, -8(a0) */
    ADDRESS(0x00853587, 10, NONE, 0, 8),    /* fld fa1, 8(a0) */
    ADDRESS(0x1005b52f, 11, NONE, 0, 0),    /* lr.d a0, (a1) */
    ADDRESS(0x00b6352f, 12, NONE, 0, 0),    /* amoadd.d a0, a1, (a2) */
    NO_ADDRESS(0x18b6352f),                 /* sc.d a0, a1, (a2) */
    ADDRESS(0x7e166013, 12, NONE, 0, 2016), /* prefetch.r 2016(a2) */
    NO_ADDRESS(0x7e066013),                 /* prefetch.i 2016(a2) */
    NO_ADDRESS(0x0045200f),                 /* cbo.zero (a0) */
    NO_ADDRESS(0x00b50533),                 /* add a0, a0, a1 */
    ADDRESS(0x60a2, 2, NONE, 0, 8),         /* c.ldsp ra, 8(sp) */
    ADDRESS(0xc334, 14, NONE, 0, 64),       /* c.sw a3, 64(a4) */
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
    {__LINE__, 0xfe010113, 2, -32},   /* addi sp, sp, -32 */
    {__LINE__, 0x7ff50513, 10, 2047}, /* addi a0, a0, 2047 */
    {__LINE__, 0x00158513, NONE, 0},  /* addi a0, a1, 1 */
    {__LINE__, 0x00100013, NONE, 0},  /* addi zero, zero, 1 */
    {__LINE__, 0x0015051b, NONE, 0},  /* addiw a0, a0, 1: of 32 bits */
    {__LINE__, 0x1141, 2, -16},       /* c.addi sp, -16 */
    {__LINE__, 0x6145, 2, 48},        /* c.addi16sp sp, 48 */
    {__LINE__, 0x4505, NONE, 0},      /* c.li a0, 1 */
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
    assert_true(decode(0x0000100f).serializes);  /* fence.i */
    assert_false(decode(0x0ff0000f).serializes); /* fence iorw, iorw */
}

static const struct {
    int line;
    uint32_t word;
    const char *text;
} texts[] = {
    {__LINE__, 0x00000013, "nop"},
    {__LINE__, 0x0001, "nop"},
    {__LINE__, 0x557d, "li a0, -1"},
    {__LINE__, 0x852e, "mv a0, a1"},
    {__LINE__, 0xfff5c513, "not a0, a1"},
    {__LINE__, 0x8082, "ret"},
    {__LINE__, 0x00078067, "jr a5"},
    {__LINE__, 0x9782, "jalr a5"},
    {__LINE__, 0x00c782e7, "jalr t0, 12(a5)"},
    {__LINE__, 0x0080006f, "j 0x120000008"},
    {__LINE__, 0xffdff0ef, "jal ra, 0x11ffffffc"},
    {__LINE__, 0xc10d, "beqz a0, 0x120000022"},
    {__LINE__, 0x00b56863, "bltu a0, a1, 0x120000010"},
    {__LINE__, 0xfffff517, "auipc a0, 0xfffff"},
    {__LINE__, 0x03f51513, "slli a0, a0, 63"},
    {__LINE__, 0x60a2, "ld ra, 8(sp)"},
    {__LINE__, 0xfeb53c27, "fsd fa1, -8(a0)"},
    {__LINE__, 0x02c5f553, "fadd.d fa0, fa1, fa2"},
    {__LINE__, 0x00c59553, "fadd.s fa0, fa1, fa2, rtz"},
    {__LINE__, 0x6ac5f543, "fmadd.d fa0, fa1, fa2, fa3"},
    {__LINE__, 0xc2259553, "fcvt.l.d a0, fa1, rtz"},
    {__LINE__, 0x42058553, "fcvt.d.s fa0, fa1"},
    {__LINE__, 0x06b6352f, "amoadd.d.aqrl a0, a1, (a2)"},
    {__LINE__, 0x1005a52f, "lr.w a0, (a1)"},
    {__LINE__, 0x0310000f, "fence rw, w"},
    {__LINE__, 0x00302573, "csrrs a0, fcsr, zero"},
    {__LINE__, 0xc0306573, "csrrsi a0, 0xc03, 0"},
    {__LINE__, 0x00f57573, "csrrci a0, 0xf, 10"},
    {__LINE__, 0x7e166013, "prefetch.r 2016(a2)"},
    {__LINE__, 0x00000073, "ecall"},
    {__LINE__, 0x0000, "0x0000"},
    {__LINE__, 0x30200073, "0x30200073"},
};

static void
test_texts(void **state)
{
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        const uint32_t word = texts[i].word;
        const uint8_t bytes[] = {(uint8_t)word, (uint8_t)(word >> 8),
                                 (uint8_t)(word >> 16), (uint8_t)(word >> 24)};

        insn_text(riscv(), bytes, sizeof(bytes), PC, text, sizeof(text));
        if (strcmp(text, texts[i].text) != 0)
            fail_msg("%s:%d: %s", __FILE__, texts[i].line, text);
    }
}

static const struct {
    int line;
    uint32_t word;
    unsigned size;
} illegals[] = {
    {__LINE__, 0x0000, 2},     /* all zeros */
    {__LINE__, 0x0004, 2},     /* c.addi4spn of 0 */
    {__LINE__, 0x8000, 2},     /* reserved: c.lbu of Zcb */
    {__LINE__, 0x2001, 2},     /* c.addiw zero, 0 */
    {__LINE__, 0x6101, 2},     /* c.addi16sp sp, 0 */
    {__LINE__, 0x6501, 2},     /* c.lui a0, 0 */
    {__LINE__, 0x9c41, 2},     /* reserved: c.mul of Zcb */
    {__LINE__, 0x4002, 2},     /* c.lwsp zero, 0(sp) */
    {__LINE__, 0x6002, 2},     /* c.ldsp zero, 0(sp) */
    {__LINE__, 0x8002, 2},     /* c.jr zero */
    {__LINE__, 0xffffffff, 4}, /* all ones */
    {__LINE__, 0x0000001f, 4}, /* of 48 bits */
    {__LINE__, 0x00007003, 4}, /* a load of size 7 */
    {__LINE__, 0x00004007, 4}, /* flq */
    {__LINE__, 0x02007007, 4}, /* vle64.v */
    {__LINE__, 0x00000057, 4}, /* vadd.vv */
    {__LINE__, 0x00004023, 4}, /* a store of size 4 */
    {__LINE__, 0x04001013, 4}, /* slli by 64 */
    {__LINE__, 0x0200501b, 4}, /* srliw by 32 */
    {__LINE__, 0x1000402f, 4}, /* lr of size 4 */
    {__LINE__, 0x1010202f, 4}, /* lr.w with a source */
    {__LINE__, 0x2800202f, 4}, /* amocas.w */
    {__LINE__, 0x00002063, 4}, /* a branch on condition 2 */
    {__LINE__, 0x00001067, 4}, /* jalr with 1 */
    {__LINE__, 0x06000053, 4}, /* fadd.q */
    {__LINE__, 0x00005053, 4}, /* fadd.s rounded by 5 */
    {__LINE__, 0x40000053, 4}, /* fcvt.s.s */
    {__LINE__, 0x00006043, 4}, /* fmadd.s rounded by 6 */
    {__LINE__, 0x10500073, 4}, /* wfi */
    {__LINE__, 0x10200073, 4}, /* sret */
    {__LINE__, 0x12000073, 4}, /* sfence.vma */
    {__LINE__, 0x30002573, 4}, /* csrr a0, mstatus */
    {__LINE__, 0xc0059073, 4}, /* csrrw zero, cycle, a1 */
    {__LINE__, 0xc0001073, 4}, /* unimp */
    {__LINE__, 0x6c004073, 4}, /* hlv.d */
};

static void
test_illegal(void **state)
{
    unsigned failed = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(illegals) / sizeof(*illegals); i++) {
        const struct insn want = {.size = (uint8_t)illegals[i].size,
                                  .class = CLASS_OTHER,
                                  .flags = INSN_ILLEGAL};
        const struct insn insn = decode(illegals[i].word);

        failed += check_insn(__FILE__, illegals[i].line, &insn, &want);
    }
    assert_int_equal(failed, 0);
}

static void
test_truncated(void **state)
{
    static const uint8_t add[] = {0x33, 0x85, 0xc5, 0x00};
    static const uint8_t ret[] = {0x82, 0x80};
    struct insn insn;
    char text[32], cut[4];

    (void)state;
    for (size_t size = 0; size < sizeof(add); size++) {
        insn.size = 1;
        assert_false(insn_decode(riscv(), add, size, PC, &insn));
        assert_int_equal(insn.size, 0);
        insn_text(riscv(), add, size, PC, text, sizeof(text));
        assert_string_equal(text, "(bad)");
    }
    assert_false(insn_decode(riscv(), ret, 1, PC, &insn));
    assert_true(insn_decode(riscv(), ret, 2, PC, &insn));
    insn_text(riscv(), add, sizeof(add), PC, text, sizeof(text));
    assert_string_equal(text, "add a0, a1, a2");
    insn_text(riscv(), add, sizeof(add), PC, cut, sizeof(cut));
    assert_string_equal(cut, "add");
}

/* An instruction is known to both or to neither, and changes the same general
 * registers; a system call, after which the kernel may have changed them all,
 * makes none that others wait for. */
static bool
same_operands(uint32_t word, const struct insn *insn)
{
    const uint8_t bytes[] = {(uint8_t)word, (uint8_t)(word >> 8),
                             (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    struct insn_operands o;
    const bool known = insn_operands(riscv(), bytes, sizeof(bytes), &o);
    const bool legal = (insn->flags & INSN_ILLEGAL) == 0;

    return known == legal && ((insn->flags & INSN_SYSCALL) != 0 ||
                              (uint32_t)o.changes == insn->reg_writes);
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
        failed += insn.size != ((word & 3) == 3 ? 4 : 2) ||
                  insn.reg_writes & 1 || insn.reg_writes >> 32 ||
                  !same_operands(word, &insn);
    }
    assert_int_equal(failed, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_steps),     cmocka_unit_test(test_serializes),
        cmocka_unit_test(test_texts),     cmocka_unit_test(test_illegal),
        cmocka_unit_test(test_truncated), cmocka_unit_test(test_random_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
