/* SPDX-License-Identifier: MIT */
/*
 * Decoding SPARC V9, VIS 1 and 2: every mnemonic, every condition, every
 * address form, what is no instruction, and random words.
 */
#include "isa/words.h"

#define PC UINT64_C(0x10000000)

#define SETHI(word) ROW(word, .class = CLASS_SETHI)
#define FP(word) ROW(word, .class = CLASS_FGU, .flags = INSN_FP)
/* Of the T1's shared floating-point unit. */
#define FPU(word) \
    ROW(word, .class = CLASS_FGU, .flags = INSN_FP | INSN_SHARED_FPU)
#define LOAD_MIXED(word, bytes, writes)                    \
    ROW(word, .class = CLASS_LOAD, .access = ACCESS_MIXED, \
        .access_size = (bytes), .loads = 1, .reg_writes = (writes))
#define LOAD_NO_FAULT(word, bytes, writes, more)                    \
    ROW(word, .class = CLASS_LOAD, .access = ACCESS_LOAD,           \
        .access_size = (bytes), .loads = 1, .reg_writes = (writes), \
        .flags = INSN_NO_FAULT | (more))
#define STORE_MIXED(word, bytes)                            \
    ROW(word, .class = CLASS_STORE, .access = ACCESS_MIXED, \
        .access_size = (bytes), .stores = 1)
#define ATOMIC(word, bytes, writes)                           \
    ROW(word, .class = CLASS_ATOMIC, .access = ACCESS_ATOMIC, \
        .access_size = (bytes), .loads = 1, .stores = 1,      \
        .reg_writes = (writes))
#define ATOMIC_MIXED(word, bytes, writes)                    \
    ROW(word, .class = CLASS_ATOMIC, .access = ACCESS_MIXED, \
        .access_size = (bytes), .loads = 1, .stores = 1,     \
        .reg_writes = (writes))

#define DR (INSN_DELAY_SLOT | INSN_RESTORE)

static const struct row rows[] = {
#include "isa/sparc_rows.inc"
};

static struct insn
decode(uint32_t word)
{
    const uint8_t bytes[] = {(uint8_t)(word >> 24), (uint8_t)(word >> 16),
                             (uint8_t)(word >> 8), (uint8_t)word};
    struct insn insn;

    assert_true(
        insn_decode(&isa_rows[ISA_SPARC64], bytes, sizeof(bytes), PC, &insn));
    return insn;
}

static void
test_rows(void **state)
{
    (void)state;
    check_rows("sparc_rows.inc", rows, sizeof(rows) / sizeof(*rows), decode);
}

/* The branch families, each as its word with condition, annul and
   displacement zero. */
static const struct family {
    int line;
    uint32_t word;
} families[] = {
    {__LINE__, 0x00800000}, /* Bicc */
    {__LINE__, 0x00480000}, /* BPcc icc, predicted taken */
    {__LINE__, 0x00400000}, /* BPcc icc, predicted not taken */
    {__LINE__, 0x00680000}, /* BPcc xcc */
    {__LINE__, 0x01800000}, /* FBfcc */
    {__LINE__, 0x01480000}, /* FBPfcc 0 */
    {__LINE__, 0x01580000}, /* FBPfcc 1 */
    {__LINE__, 0x01680000}, /* FBPfcc 2 */
    {__LINE__, 0x01700000}, /* FBPfcc 3 */
};

static unsigned
check_condition(const struct family *family, uint32_t condition, bool annul)
{
    const struct insn insn =
        decode(family->word | condition << 25 | (uint32_t)annul << 29 | 5);
    const bool sure = condition == 0 || condition == 8;
    struct insn want = {.size = 4, .class = CLASS_BRANCH, .target = PC + 20};

    want.branch = condition == 0   ? BRANCH_NEVER
                  : condition == 8 ? BRANCH_JUMP
                                   : BRANCH_CONDITIONAL;
    if (annul)
        want.flags = sure ? INSN_ANNUL : INSN_ANNUL | INSN_DELAY_SLOT;
    else
        want.flags = INSN_DELAY_SLOT;
    return check_insn(__FILE__, family->line, &insn, &want);
}

static void
test_branch_conditions(void **state)
{
    const size_t count = sizeof(families) / sizeof(*families);
    unsigned failed = 0;

    (void)state;
    for (const struct family *f = families; f < families + count; f++)
        for (uint32_t condition = 0; condition < 16; condition++)
            failed += check_condition(f, condition, false) +
                      check_condition(f, condition, true);
    assert_int_equal(failed, 0);
}

/* TABLE 3-2, footnote 3: 23 instructions, of all operations of the FGU. */
static void
test_shared_fpu(void **state)
{
    unsigned count = 0;

    (void)state;
    for (uint32_t op3 = 0x34; op3 <= 0x37; op3++) {
        for (uint32_t opf = 0; opf < 512; opf++) {
            const struct insn insn =
                decode(UINT32_C(2) << 30 | op3 << 19 | opf << 5);

            count += (insn.flags & INSN_SHARED_FPU) != 0;
        }
    }
    assert_int_equal(count, 23);
}

/* FLUSH alone. */
static void
test_serializing(void **state)
{
    (void)state;
    for (uint32_t op = 2; op <= 3; op++) {
        for (uint32_t op3 = 0; op3 < 64; op3++) {
            const struct insn insn = decode(op << 30 | op3 << 19 | 1 << 14);
            assert_int_equal(insn.serializes, op == 2 && op3 == 0x3b);
        }
    }
}

/* MOVcc, FMOVcc and Tcc exist with all 16 conditions. */
static void
test_other_conditions(void **state)
{
    (void)state;
    for (uint32_t condition = 0; condition < 16; condition++) {
        struct insn insn = decode(0x93640000 | condition << 14 | 10);
        assert_int_equal(insn.class, CLASS_OTHER);
        assert_int_equal(insn.reg_writes, R(9));
        insn = decode(0x89a80000 | condition << 14 | 2 << 5 | 2);
        assert_int_equal(insn.class, CLASS_FGU);
        assert_int_equal(insn.flags, 0);
        insn = decode(0x81d02000 | condition << 25 | 5);
        assert_int_equal(insn.flags, INSN_SYSCALL);
    }
}

static const struct row addresses[] = {
    ADDRESS(0xd4020009, 8, 9, 1, 0),         /* ld [%o0+%o1], %o2 */
    ADDRESS(0xd4020000, 8, NONE, 0, 0),      /* ld [%o0], %o2 */
    ADDRESS(0xd4022fff, 8, NONE, 0, 4095),   /* ld [%o0+4095], %o2 */
    ADDRESS(0xd4023000, 8, NONE, 0, -4096),  /* ld [%o0-4096], %o2 */
    ADDRESS(0xd4003fff, NONE, NONE, 0, -1),  /* ld [%g0-1], %o2 */
    ADDRESS(0xd4000009, NONE, 9, 1, 0),      /* ld [%g0+%o1], %o2 */
    ADDRESS(0xd4000000, NONE, NONE, 0, 0),   /* ld [%g0], %o2 */
    ADDRESS(0xd077bfff, 30, NONE, 0, -1),    /* stx %o0, [%fp-1] */
    ADDRESS(0xc13fa7ef, 30, NONE, 0, 0x7ef), /* std %f0, [%fp+2031] */
    ADDRESS(0xd4821009, 8, 9, 1, 0),         /* lda [%o0+%o1] ASI_P, %o2 */
    ADDRESS(0xd46a0009, 8, 9, 1, 0),         /* ldstub [%o0+%o1], %o2 */
    ADDRESS(0xd5f21009, 8, NONE, 0, 0),      /* casxa [%o0] ASI_P, %o1, %o2 */
    ADDRESS(0xd5e01009, NONE, NONE, 0, 0),   /* casa [%g0] ASI_P, %o1, %o2 */
    ADDRESS(0xc1020000, 8, NONE, 0, 0),      /* ld [%o0], %f0 */
    NO_ADDRESS(0xd4822008),                  /* lda [%o0+8] %asi, %o2 */
    NO_ADDRESS(0xc9120000),                  /* ldq [%o0], %f4 */
    NO_ADDRESS(0xc19a1e00),                  /* ldda [%o0] ASI_BLK_P, %f0 */
    ADDRESS(0xc56a2040, 8, NONE, 0, 64),     /* prefetch [%o0+64], 2 */
    ADDRESS(0xc16a0009, 8, 9, 1, 0),         /* prefetch [%o0+%o1], 0 */
    ADDRESS(0xc5ea1009, 8, 9, 1, 0),         /* prefetcha [%o0+%o1] ASI_P, 2 */
    NO_ADDRESS(0xe16a2040),                  /* prefetch [%o0+64], 16 */
    NO_ADDRESS(0x90020009),                  /* add %o0, %o1, %o0 */
    NO_ADDRESS(0x81c3e008),                  /* retl */
    NO_ADDRESS(0x81da0000),                  /* flush %o0 */
};

static void
test_addresses(void **state)
{
    (void)state;
    check_addresses(__FILE__, addresses, sizeof(addresses) / sizeof(*addresses),
                    decode);
}

static const struct illegal illegals[] = {
    {__LINE__, 0x00000000}, /* illtrap */
    {__LINE__, 0x00001234}, /* illtrap 0x1234 */
    {__LINE__, 0x01c00000}, /* op2 7: CBcc of V8 */
    {__LINE__, 0x12500002}, /* BPcc on condition codes 1 */
    {__LINE__, 0x12700002}, /* and 3 */
    {__LINE__, 0x00c00002}, /* BPr with rcond 0 */
    {__LINE__, 0x08c00002}, /* and 4 */
    {__LINE__, 0x12c00002}, /* with bit 28: CBcond of the T4 */
    {__LINE__, 0x80c80000}, /* op3 19 */
    {__LINE__, 0x80e80000}, /* op3 1d */
    {__LINE__, 0x81404000}, /* rd %asr1 */
    {__LINE__, 0x9141c000}, /* rd %asr7 */
    {__LINE__, 0x91450000}, /* rd %asr20: written only */
    {__LINE__, 0x9146c000}, /* rd %asr27 */
    {__LINE__, 0x9143e002}, /* membar with a destination */
    {__LINE__, 0x83800000}, /* wr %asr1 */
    {__LINE__, 0x89800000}, /* wr %tick */
    {__LINE__, 0x8b800000}, /* wr %pc */
    {__LINE__, 0x9153c000}, /* rdpr %fq */
    {__LINE__, 0x91544000}, /* rdpr 17 */
    {__LINE__, 0xbf900000}, /* wrpr %ver */
    {__LINE__, 0x91488000}, /* rdhpr 2 */
    {__LINE__, 0x8d980000}, /* wrhpr %hver */
    {__LINE__, 0x8d880000}, /* fcn 6 of SAVED */
    {__LINE__, 0x85f00000}, /* fcn 2 of DONE */
    {__LINE__, 0x95724009}, /* popc with rs1 */
    {__LINE__, 0x93640800}, /* movcc on condition codes 5 */
    {__LINE__, 0x93641800}, /* and 7 */
    {__LINE__, 0x917a6000}, /* movr with rcond 0 */
    {__LINE__, 0x917a7000}, /* and 4 */
    {__LINE__, 0x91d02805}, /* ta on condition codes 1 */
    {__LINE__, 0x91d03805}, /* and 3 */
    {__LINE__, 0x81a00000}, /* opf 0 of FPop1 */
    {__LINE__, 0x81a00ca0}, /* opf 65 */
    {__LINE__, 0x81a80000}, /* opf 0 of FPop2 */
    {__LINE__, 0x81a82820}, /* opf 141: fmovs on condition codes 5 */
    {__LINE__, 0x81aa00a0}, /* opf 5: fmovr with rcond 0 */
    {__LINE__, 0x81b00180}, /* opf c of IMPDEP1 */
    {__LINE__, 0x81b00220}, /* addxc of VIS 3 */
    {__LINE__, 0x81b02220}, /* movxtod of VIS 3 */
    {__LINE__, 0x89b90c40}, /* fmaddd */
    {__LINE__, 0x81f80000}, /* op3 3f */
    {__LINE__, 0xc0600000}, /* op3 0c of op 3 */
    {__LINE__, 0xc5080000}, /* rd 2 of ldfsr */
    {__LINE__, 0xc7080000}, /* rd 3: ldxefsr of the T4 */
    {__LINE__, 0xc5280000}, /* rd 2 of stfsr */
    {__LINE__, 0xd21a0000}, /* ldd to an odd register */
    {__LINE__, 0xd23a0000}, /* std of an odd register */
    {__LINE__, 0xcb6a0000}, /* prefetch 5 */
    {__LINE__, 0xdf6a0000}, /* prefetch 15 */
    {__LINE__, 0xc1400000}, /* op3 28 of op 3 */
    {__LINE__, 0xc1c80000}, /* op3 39 */
    {__LINE__, 0xc1f80000}, /* op3 3f */
};

static void
test_illegal(void **state)
{
    (void)state;
    check_illegal(__FILE__, illegals, sizeof(illegals) / sizeof(*illegals),
                  decode);
}

/* The numbers of the state registers that can be read or written. */
static const struct state {
    int line;
    uint32_t word; /* for register 0 */
    unsigned shift;
    uint32_t numbers;
} states[] = {
    {__LINE__, 0x91400000, 14, /* rd %asr, %o0, but for membar (15) */
     R(0) | R(2) | R(3) | R(4) | R(5) | R(6) | R(16) | R(17) | R(18) | R(19) |
         R(22) | R(23) | R(24) | R(25) | R(26)},
    {__LINE__, 0x81820009, 25, /* wr %o0, %o1, %asr */
     R(0) | R(2) | R(3) | R(6) | R(15) | R(16) | R(17) | R(18) | R(19) | R(20) |
         R(21) | R(22) | R(23) | R(24) | R(25) | R(26)},
    {__LINE__, 0x91500000, 14, 0x7fff | R(16) | R(31)}, /* rdpr */
    {__LINE__, 0x81920009, 25, 0x7fff | R(16)},         /* wrpr */
    {__LINE__, 0x91480000, 14,                          /* rdhpr */
     R(0) | R(1) | R(3) | R(5) | R(6) | R(31)},
    {__LINE__, 0x819a0009, 25, R(0) | R(1) | R(3) | R(5) | R(31)}, /* wrhpr */
    {__LINE__, 0x81880000, 25, 0x3f},        /* saved ... invalw */
    {__LINE__, 0x81f00000, 25, R(0) | R(1)}, /* done, retry */
    {__LINE__, 0xc16a0000, 25, 0xffff001f},  /* prefetch */
    {__LINE__, 0xc1080000, 25, R(0) | R(1)}, /* ldfsr, ldxfsr */
    {__LINE__, 0xc1280000, 25, R(0) | R(1)}, /* stfsr, stxfsr */
};

static void
test_state_registers(void **state)
{
    const size_t count = sizeof(states) / sizeof(*states);
    unsigned failed = 0;

    (void)state;
    for (const struct state *s = states; s < states + count; s++)
        for (uint32_t number = 0; number < 32; number++) {
            const struct insn insn = decode(s->word | number << s->shift);
            const bool legal = s->numbers >> number & 1;

            if (legal != !(insn.flags & INSN_ILLEGAL)) {
                print_error("%s:%d: number %u\n", __FILE__, s->line,
                            (unsigned)number);
                failed++;
            }
        }
    assert_int_equal(failed, 0);
}

static void
test_truncated(void **state)
{
    static const uint8_t nop[] = {0x01, 0, 0, 0};

    (void)state;
    check_truncated(&isa_rows[ISA_SPARC64], nop, PC, "0x01000000");
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
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_shared_fpu),
        cmocka_unit_test(test_serializing),
        cmocka_unit_test(test_branch_conditions),
        cmocka_unit_test(test_other_conditions),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_illegal),
        cmocka_unit_test(test_state_registers),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_random_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
