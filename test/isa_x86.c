/* SPDX-License-Identifier: MIT */
/*
 * Decoding x86-64: classes, accesses, registers, branches, addresses, and
 * random bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/check.h"
#include "isa/recent.h"
#include "isa/hex.h"

#define PC UINT64_C(0x400000)
#define R(name) (1u << (name))
#define ALL 0xffffu
#define AX_DX (R(RAX) | R(RDX))
#define CX_SI_DI (R(RCX) | R(RSI) | R(RDI))

enum {
    RAX,
    RCX,
    RDX,
    RBX,
    RSP,
    RBP,
    RSI,
    RDI,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15
};

struct row {
    int line;
    const char *hex;
    struct insn want; /* without its size: that of the bytes */
};

#define ROW(hex, ...)    \
    {                    \
        __LINE__, (hex), \
        {                \
            __VA_ARGS__  \
        }                \
    }
#define OTHER(hex, writes) \
    ROW(hex, .class = CLASS_OTHER, .reg_writes = (writes))
#define LOAD(hex, bytes, writes)                                     \
    ROW(hex, .class = CLASS_LOAD, .access = ACCESS_LOAD, .loads = 1, \
        .access_size = (bytes), .reg_writes = (writes))
#define FLOAT_LOAD(hex, bytes, writes)                               \
    ROW(hex, .class = CLASS_LOAD, .access = ACCESS_LOAD, .loads = 1, \
        .flags = INSN_FLOAT, .access_size = (bytes), .reg_writes = (writes))
#define STORE(hex, bytes, writes)                                       \
    ROW(hex, .class = CLASS_STORE, .access = ACCESS_STORE, .stores = 1, \
        .access_size = (bytes), .reg_writes = (writes))
#define UPDATE(hex, bytes, writes)                                      \
    ROW(hex, .class = CLASS_OTHER, .access = ACCESS_UPDATE, .loads = 1, \
        .stores = 1, .access_size = (bytes), .reg_writes = (writes))
#define ATOMIC(hex, bytes, writes)                                       \
    ROW(hex, .class = CLASS_ATOMIC, .access = ACCESS_ATOMIC, .loads = 1, \
        .stores = 1, .access_size = (bytes), .reg_writes = (writes))
#define MIXED(hex, in_class, reads, written, bytes, writes)            \
    ROW(hex, .class = CLASS_##in_class, .access = ACCESS_MIXED,        \
        .loads = (reads), .stores = (written), .access_size = (bytes), \
        .reg_writes = (writes))
#define REPEATED(hex, in_class, bytes, writes)                     \
    ROW(hex, .class = CLASS_##in_class, .access = ACCESS_REPEATED, \
        .access_size = (bytes), .reg_writes = (writes))
#define REPEATED_PAIR(hex, in_class, bytes, writes)                \
    ROW(hex, .class = CLASS_##in_class, .access = ACCESS_REPEATED, \
        .flags = INSN_REPEAT_PAIR, .access_size = (bytes),         \
        .reg_writes = (writes))
#define FGU(hex, way, bytes, writes)                                    \
    ROW(hex, .class = CLASS_FGU,                                        \
        .flags = INSN_FP | INSN_SHARED_FPU |                            \
                 (ACCESS_##way == ACCESS_LOAD ? INSN_FLOAT : 0),        \
        .access = ACCESS_##way, .loads = ACCESS_##way == ACCESS_LOAD,   \
        .stores = ACCESS_##way == ACCESS_STORE, .access_size = (bytes), \
        .reg_writes = (writes))
#define BRANCH(hex, kind, to, way, bytes, reads, written, writes)            \
    ROW(hex, .class = CLASS_BRANCH, .branch = BRANCH_##kind, .target = (to), \
        .access = ACCESS_##way, .access_size = (bytes), .loads = (reads),    \
        .stores = (written), .reg_writes = (writes))
#define DIRECT(hex, kind, to, writes) \
    BRANCH(hex, kind, to, NONE, 0, 0, 0, writes)
#define FLAG(hex, in_class, flag, writes) \
    ROW(hex, .class = CLASS_##in_class, .flags = (flag), .reg_writes = (writes))

#define PREFETCH(hex, where)                              \
    ROW(hex, .class = CLASS_LOAD, .flags = INSN_PREFETCH, \
        .prefetch = PREFETCH_##where)

#define ACCESS_NO ACCESS_NONE
#define BRANCH_COND BRANCH_CONDITIONAL

static const struct row rows[] = {
#include "isa/x86_rows.inc"
};

static struct insn
decode(const char *hex)
{
    uint8_t bytes[16];
    const size_t size = hex_bytes(hex, bytes, sizeof(bytes));
    struct insn insn;

    assert_true(insn_decode(&isa_rows[ISA_X86_64], bytes, size, PC, &insn));
    return insn;
}

static void
test_rows(void **state)
{
    const size_t count = sizeof(rows) / sizeof(*rows);
    unsigned failed = 0;

    (void)state;
    for (const struct row *row = rows; row < rows + count; row++) {
        const struct insn insn = decode(row->hex);
        struct insn want = row->want;

        want.size = (uint8_t)(strlen(row->hex) / 2);
        failed += check_insn("x86_rows.inc", row->line, &insn, &want);
        failed += check_rules(row->hex, &insn);
    }
    assert_int_equal(failed, 0);
}

#define NONE INSN_NO_REG
#define ADDRESS(hex, base, index, scale, disp)                               \
    ROW(hex, .addr_known = true, .addr_base = (base), .addr_index = (index), \
        .addr_scale = (scale), .addr_disp = (disp))
#define NO_ADDRESS(hex) ROW(hex, .addr_base = NONE, .addr_index = NONE)

static const struct row addresses[] = {
    ADDRESS("488b03", RBX, NONE, 0, 0),     /* mov rax, [rbx] */
    ADDRESS("488b43f8", RBX, NONE, 0, -8),  /* mov rax, [rbx-8] */
    ADDRESS("488b44cb10", RBX, RCX, 8, 16), /* mov rax, [rbx+rcx*8+16] */
    ADDRESS("4b8b443d00", R13, R15, 1, 0),  /* mov rax, [r13+r15*1+0] */
    ADDRESS("488b04cd00000080", NONE, RCX, 8, INT32_MIN), /* [rcx*8-2^31] */
    ADDRESS("498b0424", R12, NONE, 0, 0),                 /* mov rax, [r12] */
    ADDRESS("8b442410", RSP, NONE, 0, 16),              /* mov eax, [rsp+16] */
    ADDRESS("488b0500010000", NONE, NONE, 0, 0x400107), /* [rip+0x100] */
    ADDRESS("c7053412000007000000", NONE, NONE, 0, 0x40123e),
    ADDRESS("8b042500100000", NONE, NONE, 0, 0x1000), /* mov eax, [0x1000] */
    ADDRESS("a18877665544332211", NONE, NONE, 0, 0x1122334455667788),
    ADDRESS("50", RSP, NONE, 0, -8),               /* push rax */
    ADDRESS("6650", RSP, NONE, 0, -2),             /* push ax */
    ADDRESS("6a05", RSP, NONE, 0, -8),             /* push 5 */
    ADDRESS("9c", RSP, NONE, 0, -8),               /* pushfq */
    ADDRESS("58", RSP, NONE, 0, 0),                /* pop rax */
    ADDRESS("9d", RSP, NONE, 0, 0),                /* popfq */
    ADDRESS("e800000000", RSP, NONE, 0, -8),       /* call .+5 */
    ADDRESS("ffd0", RSP, NONE, 0, -8),             /* call rax */
    ADDRESS("c3", RSP, NONE, 0, 0),                /* ret */
    ADDRESS("c21000", RSP, NONE, 0, 0),            /* ret 16 */
    ADDRESS("c9", RBP, NONE, 0, 0),                /* leave */
    ADDRESS("aa", RDI, NONE, 0, 0),                /* stosb */
    ADDRESS("ac", RSI, NONE, 0, 0),                /* lodsb */
    ADDRESS("ae", RDI, NONE, 0, 0),                /* scasb */
    ADDRESS("8700", RAX, NONE, 0, 0),              /* xchg [rax], eax */
    ADDRESS("f00fb10f", RDI, NONE, 0, 0),          /* lock cmpxchg [rdi], ecx */
    ADDRESS("0f1800", RAX, NONE, 0, 0),            /* prefetchnta [rax] */
    ADDRESS("0f188c8840010000", RAX, RCX, 4, 320), /* prefetcht0 [] */
    ADDRESS("014808", RAX, NONE, 0, 8),            /* add [rax+8], ecx */
    ADDRESS("0fba280d", RAX, NONE, 0, 0),          /* bts dword [rax], 13 */
    ADDRESS("f20f584008", RAX, NONE, 0, 8),        /* addsd xmm0, [rax+8] */
    ADDRESS("ff24c540000000", NONE, RAX, 8, 64),   /* jmp [rax*8+64] */
    NO_ADDRESS("0fab08"),             /* bts [rax], ecx: a bit string */
    NO_ADDRESS("0fb308"),             /* btr [rax], ecx */
    NO_ADDRESS("f00fbb08"),           /* lock btc [rax], ecx */
    NO_ADDRESS("0fa308"),             /* bt [rax], ecx */
    NO_ADDRESS("64488b042528000000"), /* mov rax, fs:[0x28] */
    NO_ADDRESS("65488908"),           /* mov gs:[rax], rcx */
    NO_ADDRESS("678b03"),             /* mov eax, [ebx] */
    NO_ADDRESS("678b0500010000"),     /* mov eax, [eip+0x100] */
    NO_ADDRESS("d7"),                 /* xlatb */
    NO_ADDRESS("a4"),                 /* movsb */
    NO_ADDRESS("f3a4"),               /* rep movsb */
    NO_ADDRESS("ff33"),               /* push [rbx] */
    NO_ADDRESS("488d0498"),           /* lea rax, [rax+rbx*4] */
    NO_ADDRESS("480fc70f"),           /* cmpxchg16b [rdi] */
    NO_ADDRESS("c4e265900c90"),       /* vpgatherdd */
};

static void
test_addresses(void **state)
{
    const size_t count = sizeof(addresses) / sizeof(*addresses);
    unsigned failed = 0;

    (void)state;
    for (const struct row *row = addresses; row < addresses + count; row++) {
        const struct insn insn = decode(row->hex);

        failed += check_address(__FILE__, row->line, &insn, &row->want);
    }
    assert_int_equal(failed, 0);
}

static void
test_illegal(void **state)
{
    static const struct row illegals[] = {
        {__LINE__, "06", {0}},         /* push es of the 32-bit mode */
        {__LINE__, "ea00000000", {0}}, /* jmp far with a direct address */
        {__LINE__, "f0488b00", {0}},   /* lock mov */
        {__LINE__, "0f04", {0}},       /* no instruction has this opcode */
        {__LINE__, "c5f9ff", {0}},     /* nor in this map */
        {__LINE__, "66666666666666666666666666666690", {0}}, /* 16 bytes */
    };
    const struct insn want = {
        .size = 1, .class = CLASS_OTHER, .flags = INSN_ILLEGAL};
    unsigned failed = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(illegals) / sizeof(*illegals); i++) {
        const struct insn insn = decode(illegals[i].hex);

        failed += check_insn(__FILE__, illegals[i].line, &insn, &want);
    }
    assert_int_equal(failed, 0);
}

/* No instruction is the beginning of another: whatever is cut off a row, the
   rest is none. */
static void
test_truncated(void **state)
{
    const size_t count = sizeof(rows) / sizeof(*rows);

    (void)state;
    for (const struct row *row = rows; row < rows + count; row++) {
        uint8_t bytes[16];
        const size_t size = hex_bytes(row->hex, bytes, sizeof(bytes));

        for (size_t cut = 0; cut < size; cut++) {
            /* Exactly sized, so that reading past it is found. */
            uint8_t *copy = malloc(cut + !cut);
            struct insn insn;

            assert_non_null(copy);
            memcpy(copy, bytes, cut);
            if (insn_decode(&isa_rows[ISA_X86_64], copy, cut, PC, &insn))
                fail_msg("x86_rows.inc:%d: decodes from %zu bytes", row->line,
                         cut);
            assert_int_equal(insn.size, 0);
            free(copy);
        }
    }
}

static void
test_text(void **state)
{
    static const uint8_t jump[] = {0xeb, 0x0e}, load[] = {0x48, 0x8b, 0x03};
    char text[64], cut[4];

    (void)state;
    insn_text(&isa_rows[ISA_X86_64], load, sizeof(load), PC, text,
              sizeof(text));
    assert_string_equal(text, "mov rax, [rbx]");
    insn_text(&isa_rows[ISA_X86_64], jump, sizeof(jump), PC, text,
              sizeof(text));
    assert_non_null(strstr(text, "400010"));
    insn_text(&isa_rows[ISA_X86_64], load, sizeof(load), PC, cut, sizeof(cut));
    assert_string_equal(cut, "mov");
    insn_text(&isa_rows[ISA_X86_64], load, 2, PC, text, sizeof(text));
    assert_string_equal(text, "(bad)");
    insn_text(&isa_rows[ISA_X86_64], (const uint8_t *)"\x06", 1, PC, text,
              sizeof(text));
    assert_string_equal(text, "(bad)");
}

/* A quarter each starts with the bytes that lead to the larger opcode maps. */
static void
fill(uint8_t *bytes, size_t size, uint64_t *random)
{
    static const uint8_t starts[][2] = {{0x0f}, {0xc4, 0xe2}, {0x62, 0xf1}};
    const uint64_t choice = next_random(random) % 4;

    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(next_random(random) >> 32);
    if (choice < 3)
        memcpy(bytes, starts[choice], starts[choice][1] ? 2 : 1);
}

static void
test_random_bytes(void **state)
{
    const uint64_t seed = 20240229;
    uint64_t random = seed;
    unsigned failed = 0;

    (void)state;
    print_message("# seed %" PRIu64 "\n", seed);
    for (int i = 0; i < 1000000; i++) {
        uint8_t bytes[15];
        const size_t size = 1 + next_random(&random) % sizeof(bytes);
        struct insn insn;
        char text[64];

        fill(bytes, sizeof(bytes), &random);
        if (!insn_decode(&isa_rows[ISA_X86_64], bytes, size, PC, &insn)) {
            failed += insn.size != 0;
            continue;
        }
        insn_text(&isa_rows[ISA_X86_64], bytes, size, PC, text, sizeof(text));
        failed += check_rules(text, &insn);
        failed += insn.size > size || insn.reg_writes & ~(uint64_t)ALL;
    }
    assert_int_equal(failed, 0);
}

/* An x86-64 program on a SPARC T4: by what the T4 does with its like. */
static void
test_t4_classes(void **state)
{
    static const struct {
        int line;
        const char *hex;
        enum t4_class want;
    } list[] = {
        {__LINE__, "eb10", T4_BRANCH},         /* jmp */
        {__LINE__, "f20f58c1", T4_FGU_CRYPTO}, /* addsd */
        {__LINE__, "8b07", T4_LOAD},           /* mov eax, [rdi] */
        {__LINE__, "8907", T4_STORE},          /* mov [rdi], eax */
        {__LINE__, "0faef0", T4_STORE},        /* mfence */
        {__LINE__, "0f180f", T4_OTHER},        /* prefetcht0 [rdi] */
        {__LINE__, "f00107", T4_OTHER},        /* lock add [rdi], eax */
        {__LINE__, "01c8", T4_OTHER},          /* add eax, ecx */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
        uint8_t bytes[16];
        struct insn insn;
        const size_t size = hex_bytes(list[i].hex, bytes, sizeof(bytes));

        assert_true(insn_decode(&isa_rows[ISA_X86_64], bytes, size, PC, &insn));
        if (t4_class(&insn) != list[i].want)
            print_error("%s:%d: class %u\n", __FILE__, list[i].line,
                        t4_class(&insn));
        assert_int_equal(t4_class(&insn), list[i].want);
        assert_false(t4_block(&insn));
    }
}

static void
test_serializing(void **state)
{
    static const struct {
        const char *hex;
        bool want;
    } list[] = {
        {"0fa2", true},    /* cpuid */
        {"0f01e8", true},  /* serialize */
        {"0faef0", false}, /* mfence */
        {"0f05", false},   /* syscall */
        {"01c8", false},   /* add eax, ecx */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
        uint8_t bytes[16];
        struct insn insn;
        const size_t size = hex_bytes(list[i].hex, bytes, sizeof(bytes));

        assert_true(insn_decode(&isa_rows[ISA_X86_64], bytes, size, PC, &insn));
        assert_int_equal(insn.serializes, list[i].want);
    }
}

/* Decoded once more, at any address, as by the decoder itself: instructions of
 * random bytes, each many times, more than are remembered. */
static void
test_recent(void **state)
{
    enum { KINDS = INSN_RECENT * 2, TRIES = 500000 };

    static struct insn_recent recent;
    static uint8_t bytes[KINDS][15];
    const uint64_t seed = 20261122;
    uint64_t random = seed;
    unsigned failed = 0, branches = 0, near = 0;

    (void)state;
    print_message("# seed %" PRIu64 "\n", seed);
    for (int i = 0; i < KINDS; i++)
        fill(bytes[i], sizeof(bytes[i]), &random);
    for (int i = 0; i < TRIES; i++) {
        const uint8_t *const one = bytes[next_random(&random) % KINDS];
        const uint64_t pc = next_random(&random) >> 17;
        struct insn want, got;
        const bool is_one =
            insn_decode(&isa_rows[ISA_X86_64], one, 15, pc, &want);
        const size_t size = is_one ? want.size : 15;
        const bool whole =
            insn_decode(&isa_rows[ISA_X86_64], one, size, pc, &want);
        failed += insn_recent_decode(&recent, &isa_rows[ISA_X86_64], one, size,
                                     pc, &got) != whole;
        failed += check_insn(__FILE__, __LINE__, &got, &want) != 0;
        failed += check_address(__FILE__, __LINE__, &got, &want) != 0;
        failed += got.step != want.step || got.step_reg != want.step_reg ||
                  got.serializes != want.serializes ||
                  got.sparc_word != want.sparc_word;
        branches += got.target != 0;
        near += got.addr_known && got.addr_base < 0 && got.addr_index < 0;
    }
    assert_int_equal(failed, 0);
    assert_true(branches > TRIES / 100);
    assert_true(near > TRIES / 1000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serializing),  cmocka_unit_test(test_rows),
        cmocka_unit_test(test_addresses),    cmocka_unit_test(test_illegal),
        cmocka_unit_test(test_truncated),    cmocka_unit_test(test_text),
        cmocka_unit_test(test_random_bytes), cmocka_unit_test(test_t4_classes),
        cmocka_unit_test(test_recent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
