/* SPDX-License-Identifier: MIT */
/* Cores that execute out of order: what instructions need and make, what
 * becomes of a block, times that follow from arithmetic, and random blocks
 * against the slow twin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "ref/ooo_ref.h"
#include "ref/random.h"
#include "table/table.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(n) ((uint64_t)1 << (n))
#define VECTOR(n) BIT(OPERAND_VECTOR + (n))

/* Numbers of x86-64's registers; see isa/x86_operands.c. */
enum { AX, CX, DX, BX, SP, BP, SI, DI, R8, FLAGS = 16 };

static const struct isa *
isa_x86(void)
{
    return &isa_rows[ISA_X86_64];
}

static const struct {
    int line;
    const char *bytes;
    size_t size;
    uint64_t reads, address, changes;
    enum operation operation;
    uint8_t loads;
    bool stores;
} operands_rows[] = {
    /* add rax, rbx */
    {__LINE__, "\x48\x01\xd8", 3, BIT(AX) | BIT(BX), 0, BIT(AX) | BIT(FLAGS),
     OPERATION_ALU, 0, false},
    /* mov rax, rbx: a move that needs no unit */
    {__LINE__, "\x48\x89\xd8", 3, BIT(BX), 0, BIT(AX), OPERATION_NONE, 0,
     false},
    /* xor eax, eax: needs nothing */
    {__LINE__, "\x31\xc0", 2, 0, 0, BIT(AX) | BIT(FLAGS), OPERATION_NONE, 0,
     false},
    /* mov al, bl: the rest of rax stays */
    {__LINE__, "\x88\xd8", 2, BIT(AX) | BIT(BX), 0, BIT(AX), OPERATION_ALU, 0,
     false},
    /* mov rax, [rbx + rcx * 8 + 16] */
    {__LINE__, "\x48\x8b\x44\xcb\x10", 5, 0, BIT(BX) | BIT(CX), BIT(AX),
     OPERATION_NONE, 1, false},
    /* mov [rbx], rax */
    {__LINE__, "\x48\x89\x03", 3, BIT(AX), BIT(BX), 0, OPERATION_NONE, 0, true},
    /* add [rbx], rax */
    {__LINE__, "\x48\x01\x03", 3, BIT(AX), BIT(BX), BIT(FLAGS), OPERATION_ALU,
     1, true},
    /* lea rax, [rbx + rcx] */
    {__LINE__, "\x48\x8d\x04\x0b", 4, BIT(BX) | BIT(CX), 0, BIT(AX),
     OPERATION_ALU, 0, false},
    /* push rax: the stack pointer is no value that anything waits for */
    {__LINE__, "\x50", 1, BIT(AX), 0, 0, OPERATION_NONE, 0, true},
    /* pop rbx */
    {__LINE__, "\x5b", 1, 0, 0, BIT(BX), OPERATION_NONE, 1, false},
    /* imul rax, rbx */
    {__LINE__, "\x48\x0f\xaf\xc3", 4, BIT(AX) | BIT(BX), 0,
     BIT(AX) | BIT(FLAGS), OPERATION_MUL, 0, false},
    /* div rcx */
    {__LINE__, "\x48\xf7\xf1", 3, BIT(AX) | BIT(DX) | BIT(CX), 0,
     BIT(AX) | BIT(DX) | BIT(FLAGS), OPERATION_DIV64, 0, false},
    /* div ecx */
    {__LINE__, "\xf7\xf1", 2, BIT(AX) | BIT(DX) | BIT(CX), 0,
     BIT(AX) | BIT(DX) | BIT(FLAGS), OPERATION_DIV, 0, false},
    /* popcnt rax, rbx */
    {__LINE__, "\xf3\x48\x0f\xb8\xc3", 5, BIT(BX), 0, BIT(AX) | BIT(FLAGS),
     OPERATION_BITS, 0, false},
    /* jne: needs the flags */
    {__LINE__, "\x75\xfe", 2, BIT(FLAGS), 0, 0, OPERATION_BRANCH, 0, false},
    /* jmp */
    {__LINE__, "\xeb\xfe", 2, 0, 0, 0, OPERATION_BRANCH, 0, false},
    /* ret */
    {__LINE__, "\xc3", 1, 0, 0, 0, OPERATION_BRANCH, 1, false},
    /* addsd xmm0, xmm1 */
    {__LINE__, "\xf2\x0f\x58\xc1", 4, VECTOR(0) | VECTOR(1), 0, VECTOR(0),
     OPERATION_FADD, 0, false},
    /* mulsd xmm0, [rax] */
    {__LINE__, "\xf2\x0f\x59\x00", 4, VECTOR(0), BIT(AX), VECTOR(0),
     OPERATION_FMUL, 1, false},
    /* vfmadd213pd ymm0, ymm1, ymm2 */
    {__LINE__, "\xc4\xe2\xf5\xa8\xc2", 5, VECTOR(0) | VECTOR(1) | VECTOR(2), 0,
     VECTOR(0), OPERATION_FMA, 0, false},
    /* divsd xmm0, xmm1 */
    {__LINE__, "\xf2\x0f\x5e\xc1", 4, VECTOR(0) | VECTOR(1), 0, VECTOR(0),
     OPERATION_FDIV, 0, false},
    /* sqrtsd xmm0, xmm1 */
    {__LINE__, "\xf2\x0f\x51\xc1", 4, VECTOR(1), 0, VECTOR(0), OPERATION_FSQRT,
     0, false},
    /* pxor xmm0, xmm0 */
    {__LINE__, "\x66\x0f\xef\xc0", 4, 0, 0, VECTOR(0), OPERATION_NONE, 0,
     false},
    /* movapd xmm0, xmm1 */
    {__LINE__, "\x66\x0f\x28\xc1", 4, VECTOR(1), 0, VECTOR(0), OPERATION_NONE,
     0, false},
    /* movsd xmm0, [rax] */
    {__LINE__, "\xf2\x0f\x10\x00", 4, 0, BIT(AX), VECTOR(0), OPERATION_NONE, 1,
     false},
    /* movq rax, xmm0 */
    {__LINE__, "\x66\x48\x0f\x7e\xc0", 5, VECTOR(0), 0, BIT(AX),
     OPERATION_TRANSFER, 0, false},
    /* pshufd xmm0, xmm1, 0 */
    {__LINE__, "\x66\x0f\x70\xc1\x00", 5, VECTOR(1), 0, VECTOR(0),
     OPERATION_SHUFFLE, 0, false},
    /* nop dword [rax] */
    {__LINE__, "\x0f\x1f\x00", 3, 0, BIT(AX), 0, OPERATION_NONE, 0, false},
    /* lock add [rbx], rax */
    {__LINE__, "\xf0\x48\x01\x03", 4, BIT(AX), BIT(BX), BIT(FLAGS),
     OPERATION_ATOMIC, 1, true},
    /* cpuid */
    {__LINE__, "\x0f\xa2", 2, BIT(AX) | BIT(CX), 0,
     BIT(AX) | BIT(BX) | BIT(CX) | BIT(DX), OPERATION_SLOW, 0, false},
};

/* The instruction of a line of the tables is known, and is as it says. */
static void
check_operands(int line, bool known, const struct insn_operands *o,
               const struct insn_operands *says)
{
    if (!known || o->reads != says->reads || o->address != says->address ||
        o->changes != says->changes || o->steps != says->steps ||
        o->step_by != says->step_by || o->operation != says->operation ||
        o->loads != says->loads || o->stores != says->stores)
        fail_msg("line %d: %d reads %#llx address %#llx changes %#llx "
                 "steps %#llx operation %u loads %d stores %d",
                 line, known, (unsigned long long)o->reads,
                 (unsigned long long)o->address, (unsigned long long)o->changes,
                 (unsigned long long)o->steps, o->operation, o->loads,
                 o->stores);
}

static void
test_operands(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(operands_rows); i++) {
        struct insn_operands o;
        const bool known =
            insn_operands(isa_x86(), (const uint8_t *)operands_rows[i].bytes,
                          operands_rows[i].size, &o);
        check_operands(operands_rows[i].line, known, &o,
                       &(struct insn_operands){
                           .reads = operands_rows[i].reads,
                           .address = operands_rows[i].address,
                           .changes = operands_rows[i].changes,
                           .operation = (uint8_t)operands_rows[i].operation,
                           .loads = operands_rows[i].loads,
                           .stores = operands_rows[i].stores,
                       });
    }
}

/* Of aarch64, whose flags are register 31; see isa/aarch64_operands.c. */
#define NZCV BIT(31)

static const struct {
    int line;
    uint32_t word;
    uint64_t reads, address, changes, steps;
    enum operation operation;
    uint8_t loads;
    bool stores;
    uint8_t micro_ops;
} words_rows[] = {
    /* add x1, x2, x3 */
    {__LINE__, 0x8b030041, BIT(2) | BIT(3), 0, BIT(1), 0, OPERATION_ALU, 0,
     false, 1},
    /* adds x1, x2, #3 */
    {__LINE__, 0xb1000c41, BIT(2), 0, BIT(1) | NZCV, 0, OPERATION_ALU, 0, false,
     1},
    /* adc x1, x2, x3 */
    {__LINE__, 0x9a030041, BIT(2) | BIT(3) | NZCV, 0, BIT(1), 0, OPERATION_ALU,
     0, false, 1},
    /* mov x1, x2 */
    {__LINE__, 0xaa0203e1, BIT(2), 0, BIT(1), 0, OPERATION_ALU, 0, false, 1},
    /* mov x1, xzr: the register of zeros is none */
    {__LINE__, 0xaa1f03e1, 0, 0, BIT(1), 0, OPERATION_ALU, 0, false, 1},
    /* add sp, sp, #16: nor is the stack pointer */
    {__LINE__, 0x910043ff, 0, 0, 0, 0, OPERATION_ALU, 0, false, 1},
    /* movk x1, #3: the rest of x1 stays */
    {__LINE__, 0xf2800061, BIT(1), 0, BIT(1), 0, OPERATION_ALU, 0, false, 1},
    /* bfi x1, x2, #3, #4 */
    {__LINE__, 0xb37d0c41, BIT(1) | BIT(2), 0, BIT(1), 0, OPERATION_BITS, 0,
     false, 1},
    /* csel x1, x2, x3, eq */
    {__LINE__, 0x9a830041, BIT(2) | BIT(3) | NZCV, 0, BIT(1), 0, OPERATION_ALU,
     0, false, 1},
    /* ccmp x1, x2, #0, eq */
    {__LINE__, 0xfa420020, BIT(1) | BIT(2) | NZCV, 0, NZCV, 0, OPERATION_ALU, 0,
     false, 1},
    /* crc32x w1, w2, x3 */
    {__LINE__, 0x9ac34c41, BIT(2) | BIT(3), 0, BIT(1), 0, OPERATION_BITS, 0,
     false, 1},
    /* madd x1, x2, x3, x4 */
    {__LINE__, 0x9b031041, BIT(2) | BIT(3) | BIT(4), 0, BIT(1), 0,
     OPERATION_MUL, 0, false, 1},
    /* sdiv w1, w2, w3 */
    {__LINE__, 0x1ac30c41, BIT(2) | BIT(3), 0, BIT(1), 0, OPERATION_DIV, 0,
     false, 1},
    /* udiv x1, x2, x3 */
    {__LINE__, 0x9ac30841, BIT(2) | BIT(3), 0, BIT(1), 0, OPERATION_DIV64, 0,
     false, 1},
    /* b.eq . */
    {__LINE__, 0x54000000, NZCV, 0, 0, 0, OPERATION_BRANCH, 0, false, 1},
    /* cbz x1, . */
    {__LINE__, 0xb4000001, BIT(1), 0, 0, 0, OPERATION_BRANCH, 0, false, 1},
    /* bl . */
    {__LINE__, 0x94000000, 0, 0, BIT(30), 0, OPERATION_BRANCH, 0, false, 1},
    /* blraa x1, x2: the address is checked by x2 */
    {__LINE__, 0xd73f0822, BIT(1) | BIT(2), 0, BIT(30), 0, OPERATION_BRANCH, 0,
     false, 1},
    /* retaa */
    {__LINE__, 0xd65f0bff, BIT(30), 0, 0, 0, OPERATION_BRANCH, 0, false, 1},
    /* paciasp: signs the link register */
    {__LINE__, 0xd503233f, BIT(30), 0, BIT(30), 0, OPERATION_ALU, 0, false, 1},
    /* xpaclri */
    {__LINE__, 0xd50320ff, BIT(30), 0, BIT(30), 0, OPERATION_ALU, 0, false, 1},
    /* autib1716 */
    {__LINE__, 0xd50321df, BIT(16) | BIT(17), 0, BIT(17), 0, OPERATION_ALU, 0,
     false, 1},
    /* blr x1 */
    {__LINE__, 0xd63f0020, BIT(1), 0, BIT(30), 0, OPERATION_BRANCH, 0, false,
     1},
    /* ret */
    {__LINE__, 0xd65f03c0, BIT(30), 0, 0, 0, OPERATION_BRANCH, 0, false, 1},
    /* nop */
    {__LINE__, 0xd503201f, 0, 0, 0, 0, OPERATION_NONE, 0, false, 1},
    /* mrs x1, tpidr_el0 */
    {__LINE__, 0xd53bd041, 0, 0, BIT(1), 0, OPERATION_ALU, 0, false, 1},
    /* svc #0 */
    {__LINE__, 0xd4000001, 0, 0, 0, 0, OPERATION_SLOW, 0, false, 8},
    /* dmb ish */
    {__LINE__, 0xd5033bbf, 0, 0, 0, 0, OPERATION_SLOW, 0, false, 8},
    /* ldr x1, [x2, x3, lsl #3] */
    {__LINE__, 0xf8637841, 0, BIT(2) | BIT(3), BIT(1), 0, OPERATION_NONE, 1,
     false, 1},
    /* ldr x1, [sp, #8] */
    {__LINE__, 0xf94007e1, 0, 0, BIT(1), 0, OPERATION_NONE, 1, false, 1},
    /* ldr x1, . */
    {__LINE__, 0x58000001, 0, 0, BIT(1), 0, OPERATION_NONE, 1, false, 1},
    /* ldr x1, [x2], #8: the base is written back */
    {__LINE__, 0xf8408441, 0, BIT(2), BIT(1), BIT(2), OPERATION_NONE, 1, false,
     1},
    /* str w1, [x2, #-4]! */
    {__LINE__, 0xb81fcc41, BIT(1), BIT(2), 0, BIT(2), OPERATION_NONE, 0, true,
     1},
    /* ldp x1, x2, [x3] */
    {__LINE__, 0xa9400861, 0, BIT(3), BIT(1) | BIT(2), 0, OPERATION_NONE, 1,
     false, 1},
    /* ldp w1, w2, [x3] */
    {__LINE__, 0x29400861, 0, BIT(3), BIT(1) | BIT(2), 0, OPERATION_NONE, 1,
     false, 1},
    /* stp x29, x30, [sp, #-16]! */
    {__LINE__, 0xa9bf7bfd, BIT(29) | BIT(30), 0, 0, 0, OPERATION_NONE, 0, true,
     1},
    /* ldp q1, q2, [x3], #32 */
    {__LINE__, 0xacc10861, 0, BIT(3), VECTOR(1) | VECTOR(2), BIT(3),
     OPERATION_NONE, 1, false, 1},
    /* str d1, [x2, #8] */
    {__LINE__, 0xfd000441, VECTOR(1), BIT(2), 0, 0, OPERATION_NONE, 0, true, 1},
    /* prfm pldl1keep, [x2] */
    {__LINE__, 0xf9800040, 0, BIT(2), 0, 0, OPERATION_NONE, 0, false, 1},
    /* ldxr x1, [x2] */
    {__LINE__, 0xc85f7c41, 0, BIT(2), BIT(1), 0, OPERATION_NONE, 1, false, 1},
    /* stxr w1, x3, [x2] */
    {__LINE__, 0xc8017c43, BIT(3), BIT(2), BIT(1), 0, OPERATION_ATOMIC, 0, true,
     8},
    /* ldadd x1, x3, [x2] */
    {__LINE__, 0xf8210043, BIT(1), BIT(2), BIT(3), 0, OPERATION_ATOMIC, 1, true,
     8},
    /* casp x4, x5, x6, x7, [x2] */
    {__LINE__, 0x48247c46, BIT(4) | BIT(5) | BIT(6) | BIT(7), BIT(2),
     BIT(4) | BIT(5), 0, OPERATION_ATOMIC, 1, true, 8},
    /* ld1 {v31.16b, v0.16b}, [x2], #32 */
    {__LINE__, 0x4cdfa05f, 0, BIT(2), VECTOR(31) | VECTOR(0), BIT(2),
     OPERATION_NONE, 2, false, 2},
    /* ld4 {v1.4s-v4.4s}, [x2] */
    {__LINE__, 0x4c400841, 0, BIT(2),
     VECTOR(1) | VECTOR(2) | VECTOR(3) | VECTOR(4), 0, OPERATION_SHUFFLE, 4,
     false, 4},
    /* ld1 {v1.s}[1], [x2] */
    {__LINE__, 0x0d409041, VECTOR(1), BIT(2), VECTOR(1), 0, OPERATION_SHUFFLE,
     1, false, 1},
    /* st1 {v1.16b}, [x2], #16 */
    {__LINE__, 0x4c9f7041, VECTOR(1), BIT(2), 0, BIT(2), OPERATION_NONE, 0,
     true, 1},
    /* fadd d1, d2, d3 */
    {__LINE__, 0x1e632841, VECTOR(2) | VECTOR(3), 0, VECTOR(1), 0,
     OPERATION_FADD, 0, false, 1},
    /* fcmp d1, d2 */
    {__LINE__, 0x1e622020, VECTOR(1) | VECTOR(2), 0, NZCV, 0, OPERATION_FADD, 0,
     false, 1},
    /* fmul s1, s2, s3 */
    {__LINE__, 0x1e230841, VECTOR(2) | VECTOR(3), 0, VECTOR(1), 0,
     OPERATION_FMUL, 0, false, 1},
    /* fmadd d1, d2, d3, d4 */
    {__LINE__, 0x1f431041, VECTOR(2) | VECTOR(3) | VECTOR(4), 0, VECTOR(1), 0,
     OPERATION_FMA, 0, false, 1},
    /* fdiv d1, d2, d3 */
    {__LINE__, 0x1e631841, VECTOR(2) | VECTOR(3), 0, VECTOR(1), 0,
     OPERATION_FDIV, 0, false, 1},
    /* fsqrt d1, d2 */
    {__LINE__, 0x1e61c041, VECTOR(2), 0, VECTOR(1), 0, OPERATION_FSQRT, 0,
     false, 1},
    /* scvtf d1, w2 */
    {__LINE__, 0x1e620041, BIT(2), 0, VECTOR(1), 0, OPERATION_CONVERT, 0, false,
     1},
    /* fcvtzs x1, d2 */
    {__LINE__, 0x9e780041, VECTOR(2), 0, BIT(1), 0, OPERATION_CONVERT, 0, false,
     1},
    /* fmov x1, d2 */
    {__LINE__, 0x9e660041, VECTOR(2), 0, BIT(1), 0, OPERATION_TRANSFER, 0,
     false, 1},
    /* dup v1.4s, w2 */
    {__LINE__, 0x4e040c41, BIT(2), 0, VECTOR(1), 0, OPERATION_TRANSFER, 0,
     false, 1},
    /* fcsel d1, d2, d3, eq */
    {__LINE__, 0x1e630c41, VECTOR(2) | VECTOR(3) | NZCV, 0, VECTOR(1), 0,
     OPERATION_VECTOR, 0, false, 1},
    /* add v1.4s, v2.4s, v3.4s */
    {__LINE__, 0x4ea38441, VECTOR(2) | VECTOR(3), 0, VECTOR(1), 0,
     OPERATION_VECTOR, 0, false, 1},
    /* bsl v1.16b, v2.16b, v3.16b */
    {__LINE__, 0x6e631c41, VECTOR(1) | VECTOR(2) | VECTOR(3), 0, VECTOR(1), 0,
     OPERATION_VECTOR, 0, false, 1},
    /* movi v1.2d, #0 */
    {__LINE__, 0x6f00e401, 0, 0, VECTOR(1), 0, OPERATION_VECTOR, 0, false, 1},
    /* xtn2 v1.8h, v2.4s: half of v1 stays */
    {__LINE__, 0x4e612841, VECTOR(1) | VECTOR(2), 0, VECTOR(1), 0,
     OPERATION_VECTOR, 0, false, 1},
    /* mla v1.4s, v2.4s, v3.4s */
    {__LINE__, 0x4ea39441, VECTOR(1) | VECTOR(2) | VECTOR(3), 0, VECTOR(1), 0,
     OPERATION_VMUL, 0, false, 1},
    /* fmla v1.4s, v2.4s, v19.s[1] */
    {__LINE__, 0x4fb31041, VECTOR(1) | VECTOR(2) | VECTOR(19), 0, VECTOR(1), 0,
     OPERATION_FMA, 0, false, 1},
    /* mul v1.8h, v2.8h, v3.h[7]: its top bit is of the index */
    {__LINE__, 0x4f738841, VECTOR(2) | VECTOR(3), 0, VECTOR(1), 0,
     OPERATION_VMUL, 0, false, 1},
    /* tbl v1.16b, {v2.16b, v3.16b}, v9.16b */
    {__LINE__, 0x4e092041, VECTOR(2) | VECTOR(3) | VECTOR(9), 0, VECTOR(1), 0,
     OPERATION_SHUFFLE, 0, false, 1},
    /* aese v1.16b, v2.16b */
    {__LINE__, 0x4e284841, VECTOR(1) | VECTOR(2), 0, VECTOR(1), 0,
     OPERATION_VMUL, 0, false, 1},
};

static bool
aarch64_word(uint32_t word, struct insn_operands *o)
{
    const uint8_t bytes[] = {(uint8_t)word, (uint8_t)(word >> 8),
                             (uint8_t)(word >> 16), (uint8_t)(word >> 24)};

    return insn_operands(&isa_rows[ISA_AARCH64], bytes, sizeof(bytes), o);
}

static void
test_operands_aarch64(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(words_rows); i++) {
        struct insn_operands o;
        const bool known = aarch64_word(words_rows[i].word, &o);
        check_operands(words_rows[i].line, known, &o,
                       &(struct insn_operands){
                           .reads = words_rows[i].reads,
                           .address = words_rows[i].address,
                           .changes = words_rows[i].changes,
                           .steps = words_rows[i].steps,
                           .operation = (uint8_t)words_rows[i].operation,
                           .loads = words_rows[i].loads,
                           .stores = words_rows[i].stores,
                       });
        if (o.micro_ops != words_rows[i].micro_ops)
            fail_msg("line %d: %u micro-operations", words_rows[i].line,
                     o.micro_ops);
    }
}

/* A register that is added to the base afterwards is no part of the address. */
static void
test_step_by(void **state)
{
    (void)state;
    struct insn_operands o;

    /* ld1 {v31.16b, v0.16b}, [x2], x3 */
    assert_true(aarch64_word(0x4cc3a05f, &o));
    assert_int_equal(o.address, BIT(2));
    assert_int_equal(o.steps, BIT(2));
    assert_int_equal(o.step_by, BIT(3));
}

/* CMP, CMN and TST may be fused with a B.cond; no others. */
static void
test_fused_aarch64(void **state)
{
    (void)state;
    static const struct {
        uint32_t word;
        enum flag_setter sets;
        enum flag_condition asks;
    } rows[] = {
        {0xeb02003f, SETS_COMPARE, ASKS_NONE}, /* cmp x1, x2 */
        {0x31000c3f, SETS_COMPARE, ASKS_NONE}, /* cmn w1, #3 */
        {0xf240043f, SETS_COMPARE, ASKS_NONE}, /* tst x1, #3 */
        {0xab030041, SETS_NONE, ASKS_NONE},    /* adds x1, x2, x3 */
        {0xfa420020, SETS_NONE, ASKS_NONE},    /* ccmp x1, x2, #0, eq */
        {0x1e622020, SETS_NONE, ASKS_NONE},    /* fcmp d1, d2 */
        {0x54000000, SETS_NONE, ASKS_SIGNED},  /* b.eq */
        {0x5400000e, SETS_NONE, ASKS_NONE},    /* b.al */
        {0xb4000001, SETS_NONE, ASKS_NONE},    /* cbz x1 */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct insn_operands o;
        assert_true(aarch64_word(rows[i].word, &o));
        assert_int_equal(o.sets, rows[i].sets);
        assert_int_equal(o.asks, rows[i].asks);
    }
}

/* Of riscv64, whose floating-point registers are the vector ones; see
 * isa/riscv_operands.c. */
static const struct {
    int line;
    uint32_t word;
    uint64_t reads, address, changes;
    enum operation operation;
    bool loads, stores;
    uint8_t micro_ops;
} riscv_rows[] = {
    /* add a0, a1, a2 */
    {__LINE__, 0x00c58533, BIT(11) | BIT(12), 0, BIT(10), OPERATION_ALU, false,
     false, 1},
    /* c.mv a0, a1: a copy needs a unit */
    {__LINE__, 0x852e, BIT(11), 0, BIT(10), OPERATION_ALU, false, false, 1},
    /* c.li a0, 1 */
    {__LINE__, 0x4505, 0, 0, BIT(10), OPERATION_ALU, false, false, 1},
    /* lui a0, 5 */
    {__LINE__, 0x00005537, 0, 0, BIT(10), OPERATION_ALU, false, false, 1},
    /* auipc a0, 5 */
    {__LINE__, 0x00005517, 0, 0, BIT(10), OPERATION_ALU, false, false, 1},
    /* sub a0, a0, a0: no idiom */
    {__LINE__, 0x40a50533, BIT(10), 0, BIT(10), OPERATION_ALU, false, false, 1},
    /* c.nop */
    {__LINE__, 0x0001, 0, 0, 0, OPERATION_NONE, false, false, 1},
    /* add zero, a1, a2: a hint */
    {__LINE__, 0x00c58033, 0, 0, 0, OPERATION_NONE, false, false, 1},
    /* addi a0, zero, 1: the register of zeros is none */
    {__LINE__, 0x00100513, 0, 0, BIT(10), OPERATION_ALU, false, false, 1},
    /* c.addi16sp sp, -64: the stack pointer is one */
    {__LINE__, 0x7139, BIT(2), 0, BIT(2), OPERATION_ALU, false, false, 1},
    /* clz a0, a1 */
    {__LINE__, 0x60059513, BIT(11), 0, BIT(10), OPERATION_BITS, false, false,
     1},
    /* cpopw a0, a1 */
    {__LINE__, 0x6025951b, BIT(11), 0, BIT(10), OPERATION_BITS, false, false,
     1},
    /* sh2add a0, a1, a2 */
    {__LINE__, 0x20c5c533, BIT(11) | BIT(12), 0, BIT(10), OPERATION_ALU, false,
     false, 1},
    /* rev8 a0, a1 */
    {__LINE__, 0x6b85d513, BIT(11), 0, BIT(10), OPERATION_ALU, false, false, 1},
    /* mul a0, a1, a2 */
    {__LINE__, 0x02c58533, BIT(11) | BIT(12), 0, BIT(10), OPERATION_MUL, false,
     false, 1},
    /* clmul a0, a1, a2 */
    {__LINE__, 0x0ac59533, BIT(11) | BIT(12), 0, BIT(10), OPERATION_MUL, false,
     false, 1},
    /* divw a0, a1, a2 */
    {__LINE__, 0x02c5c53b, BIT(11) | BIT(12), 0, BIT(10), OPERATION_DIV, false,
     false, 1},
    /* remu a0, a1, a2 */
    {__LINE__, 0x02c5f533, BIT(11) | BIT(12), 0, BIT(10), OPERATION_DIV64,
     false, false, 1},
    /* beq a1, a2, . */
    {__LINE__, 0x00c58063, BIT(11) | BIT(12), 0, 0, OPERATION_BRANCH, false,
     false, 1},
    /* c.beqz a1, . */
    {__LINE__, 0xc181, BIT(11), 0, 0, OPERATION_BRANCH, false, false, 1},
    /* j . */
    {__LINE__, 0x0000006f, 0, 0, 0, OPERATION_BRANCH, false, false, 1},
    /* jal . */
    {__LINE__, 0x000000ef, 0, 0, BIT(1), OPERATION_BRANCH, false, false, 1},
    /* jalr a5 */
    {__LINE__, 0x000780e7, BIT(15), 0, BIT(1), OPERATION_BRANCH, false, false,
     1},
    /* ret */
    {__LINE__, 0x00008067, BIT(1), 0, 0, OPERATION_BRANCH, false, false, 1},
    /* ecall */
    {__LINE__, 0x00000073, 0, 0, 0, OPERATION_SLOW, false, false, 8},
    /* fence rw, rw */
    {__LINE__, 0x0330000f, 0, 0, 0, OPERATION_SLOW, false, false, 8},
    /* pause */
    {__LINE__, 0x0100000f, 0, 0, 0, OPERATION_NONE, false, false, 1},
    /* csrrs a0, fcsr, zero */
    {__LINE__, 0x00302573, 0, 0, BIT(10), OPERATION_ALU, false, false, 1},
    /* csrrs a0, cycle, zero */
    {__LINE__, 0xc0002573, 0, 0, BIT(10), OPERATION_SLOW, false, false, 8},
    /* csrrw a0, frm, a1 */
    {__LINE__, 0x00259573, BIT(11), 0, BIT(10), OPERATION_SLOW, false, false,
     8},
    /* cbo.flush (a0) */
    {__LINE__, 0x0025200f, 0, BIT(10), 0, OPERATION_SLOW, false, false, 8},
    /* ld a0, 8(a1) */
    {__LINE__, 0x0085b503, 0, BIT(11), BIT(10), OPERATION_NONE, true, false, 1},
    /* lw a0, 8(zero) */
    {__LINE__, 0x00802503, 0, 0, BIT(10), OPERATION_NONE, true, false, 1},
    /* c.ldsp ra, 8(sp) */
    {__LINE__, 0x60a2, 0, BIT(2), BIT(1), OPERATION_NONE, true, false, 1},
    /* sd a0, 8(a1) */
    {__LINE__, 0x00a5b423, BIT(10), BIT(11), 0, OPERATION_NONE, false, true, 1},
    /* sb zero, 0(a1) */
    {__LINE__, 0x00058023, 0, BIT(11), 0, OPERATION_NONE, false, true, 1},
    /* c.sdsp ra, 8(sp) */
    {__LINE__, 0xe406, BIT(1), BIT(2), 0, OPERATION_NONE, false, true, 1},
    /* fld fa0, 8(a1) */
    {__LINE__, 0x0085b507, 0, BIT(11), VECTOR(10), OPERATION_NONE, true, false,
     1},
    /* c.fldsp fa0, 8(sp) */
    {__LINE__, 0x2522, 0, BIT(2), VECTOR(10), OPERATION_NONE, true, false, 1},
    /* fsw fa0, 8(a1) */
    {__LINE__, 0x00a5a427, VECTOR(10), BIT(11), 0, OPERATION_NONE, false, true,
     1},
    /* prefetch.r 0(a1) */
    {__LINE__, 0x0015e013, 0, BIT(11), 0, OPERATION_NONE, false, false, 1},
    /* lr.d a0, (a1) */
    {__LINE__, 0x1005b52f, 0, BIT(11), BIT(10), OPERATION_NONE, true, false, 1},
    /* sc.d a0, a2, (a1) */
    {__LINE__, 0x18c5b52f, BIT(12), BIT(11), BIT(10), OPERATION_ATOMIC, false,
     true, 8},
    /* amoadd.w a0, a2, (a1) */
    {__LINE__, 0x00c5a52f, BIT(12), BIT(11), BIT(10), OPERATION_ATOMIC, true,
     true, 8},
    /* amoswap.w zero, a2, (a1) */
    {__LINE__, 0x08c5a02f, BIT(12), BIT(11), 0, OPERATION_ATOMIC, true, true,
     8},
    /* fadd.d fa0, fa1, fa2 */
    {__LINE__, 0x02c5f553, VECTOR(11) | VECTOR(12), 0, VECTOR(10),
     OPERATION_FADD, false, false, 1},
    /* fmin.s fa0, fa1, fa2 */
    {__LINE__, 0x28c58553, VECTOR(11) | VECTOR(12), 0, VECTOR(10),
     OPERATION_FADD, false, false, 1},
    /* flt.d a0, fa1, fa2 */
    {__LINE__, 0xa2c59553, VECTOR(11) | VECTOR(12), 0, BIT(10), OPERATION_FADD,
     false, false, 1},
    /* fclass.d a0, fa1 */
    {__LINE__, 0xe2059553, VECTOR(11), 0, BIT(10), OPERATION_FADD, false, false,
     1},
    /* fmul.s fa0, fa1, fa2 */
    {__LINE__, 0x10c5f553, VECTOR(11) | VECTOR(12), 0, VECTOR(10),
     OPERATION_FMUL, false, false, 1},
    /* fmadd.d fa0, fa1, fa2, fa3 */
    {__LINE__, 0x6ac5f543, VECTOR(11) | VECTOR(12) | VECTOR(13), 0, VECTOR(10),
     OPERATION_FMA, false, false, 1},
    /* fdiv.d fa0, fa1, fa2 */
    {__LINE__, 0x1ac5f553, VECTOR(11) | VECTOR(12), 0, VECTOR(10),
     OPERATION_FDIV, false, false, 1},
    /* fsqrt.d fa0, fa1 */
    {__LINE__, 0x5a05f553, VECTOR(11), 0, VECTOR(10), OPERATION_FSQRT, false,
     false, 1},
    /* fcvt.d.w fa0, a1 */
    {__LINE__, 0xd2058553, BIT(11), 0, VECTOR(10), OPERATION_CONVERT, false,
     false, 1},
    /* fcvt.l.d a0, fa1 */
    {__LINE__, 0xc225f553, VECTOR(11), 0, BIT(10), OPERATION_CONVERT, false,
     false, 1},
    /* fcvt.s.d fa0, fa1 */
    {__LINE__, 0x4015f553, VECTOR(11), 0, VECTOR(10), OPERATION_CONVERT, false,
     false, 1},
    /* fsgnj.d fa0, fa1, fa1: a copy */
    {__LINE__, 0x22b58553, VECTOR(11), 0, VECTOR(10), OPERATION_VECTOR, false,
     false, 1},
    /* fmv.x.d a0, fa1 */
    {__LINE__, 0xe2058553, VECTOR(11), 0, BIT(10), OPERATION_TRANSFER, false,
     false, 1},
    /* fmv.d.x fa0, a1 */
    {__LINE__, 0xf2058553, BIT(11), 0, VECTOR(10), OPERATION_TRANSFER, false,
     false, 1},
    /* fmv.d.x ft0, zero */
    {__LINE__, 0xf2000053, 0, 0, VECTOR(0), OPERATION_TRANSFER, false, false,
     1},
};

/* A compressed instruction is the lower half of its word. */
static bool
riscv_word(uint32_t word, struct insn_operands *o)
{
    const uint8_t bytes[] = {(uint8_t)word, (uint8_t)(word >> 8),
                             (uint8_t)(word >> 16), (uint8_t)(word >> 24)};

    return insn_operands(&isa_rows[ISA_RISCV64], bytes, (word & 3) == 3 ? 4 : 2,
                         o);
}

static void
test_operands_riscv(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(riscv_rows); i++) {
        struct insn_operands o;
        const bool known = riscv_word(riscv_rows[i].word, &o);
        check_operands(riscv_rows[i].line, known, &o,
                       &(struct insn_operands){
                           .reads = riscv_rows[i].reads,
                           .address = riscv_rows[i].address,
                           .changes = riscv_rows[i].changes,
                           .operation = (uint8_t)riscv_rows[i].operation,
                           .loads = riscv_rows[i].loads,
                           .stores = riscv_rows[i].stores,
                       });
        if (o.micro_ops != riscv_rows[i].micro_ops || o.sets != SETS_NONE ||
            o.asks != ASKS_NONE ||
            o.vector != (o.changes >> OPERAND_VECTOR != 0))
            fail_msg("line %d: %u micro-operations", riscv_rows[i].line,
                     o.micro_ops);
    }
}

static void
test_operands_unknown(void **state)
{
    (void)state;
    struct insn_operands o;

    assert_false(insn_operands(isa_x86(), (const uint8_t *)"\x06", 1, &o));
    assert_int_equal(o.operation, OPERATION_NONE);
    assert_false(insn_operands(&isa_rows[ISA_SPARC64],
                               (const uint8_t *)"\x01\x00\x00\x00", 4, &o));
    assert_false(aarch64_word(0x00000000, &o));
    assert_false(riscv_word(0x0000, &o));     /* all zeros */
    assert_false(riscv_word(0x02007007, &o)); /* vle64.v */
    assert_int_equal(o.reads | o.address | o.changes, 0);
    assert_false(insn_operands(&isa_rows[ISA_RISCV64],
                               (const uint8_t *)"\x33\x85", 2, &o));
}

/* Parameters of a core: 4 micro-operations a cycle, 64 of them in the buffer.
 */
static void
set_params(uint64_t *params)
{
    const struct machine_row *const ci = machine_find("ci-1");

    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = ci->params[i].value;
    params[PARAM_TIME_ISSUE] = 4;
    params[PARAM_ROB_ENTRIES] = 64;
    params[PARAM_TIME_MISPREDICT] = 10;
    params[PARAM_LATENCY_LOAD] = 4;
}

#define OPS_MOST 40u

/* Makes a block of x86-64 code. Freed by the caller. */
static struct ooo_block *
block_of(const uint64_t *params, const char *code, size_t size)
{
    struct ooo_block *const b = malloc(ooo_block_size(OPS_MOST * OOO_OPS_MOST));
    struct insn_operands operands[OPS_MOST];
    struct insn insns[OPS_MOST];
    size_t count = 0;

    assert_non_null(b);
    for (size_t at = 0; at < size; count++) {
        const uint8_t *const bytes = (const uint8_t *)code + at;
        assert_true(count < OPS_MOST);
        assert_true(
            insn_decode(isa_x86(), bytes, size - at, at, &insns[count]));
        insn_operands(isa_x86(), bytes, insns[count].size, &operands[count]);
        at += insns[count].size;
    }
    ooo_block_make(b, params, 0, insns, operands, count);
    return b;
}

#define CODE(text) text, sizeof(text) - 1

static void
test_block(void **state)
{
    (void)state;
    uint64_t params[PARAM_COUNT];

    set_params(params);
    /* mov eax, 1; mov eax, 2; cmp rbx, rcx; jne: the first value is never read,
     * and the branch is fused. */
    struct ooo_block *b =
        block_of(params, CODE("\xb8\x01\x00\x00\x00\xb8\x02\x00\x00\x00"
                              "\x48\x39\xcb\x75\xf1"));
    assert_int_equal(b->end, 15);
    assert_int_equal(b->micro_ops, 3);
    assert_int_equal(b->issue, 3 * OOO_CYCLE / 4);
    assert_int_equal(b->count, 3);
    assert_int_equal(b->ops[0].instruction, 1);
    assert_int_equal(b->ops[2].instruction, 3);
    free(b);
    /* Two divisions keep their one unit busy. */
    params[PARAM_BUSY_DIV64] = 9;
    b = block_of(params, CODE("\x48\xf7\xf1\x48\xf7\xf1"));
    assert_int_equal(b->issue, 2 * OOO_CYCLE / 4);
    assert_int_equal(b->time, 18 * OOO_CYCLE);
    free(b);
    /* add, imul and add of one cycle; one unit of all begins each. */
    const char *const sums = "\x48\x01\xc8\x48\x0f\xaf\xda\x48\x01\xce";
    b = block_of(params, sums, 10);
    assert_int_equal(b->time, OOO_CYCLE);
    free(b);
    params[PARAM_UNITS_INTEGER] = 2;
    b = block_of(params, sums, 10);
    assert_int_equal(b->time, 3 * OOO_CYCLE / 2);
    free(b);
    params[PARAM_UNITS_EXECUTION] = 1;
    b = block_of(params, sums, 10);
    assert_int_equal(b->time, 3 * OOO_CYCLE);
    free(b);
    /* movaps (%rdi), %xmm0; movaps %xmm1, (%rsi); mov (%rdx), %rax */
    const char *const moves = "\x0f\x28\x07\x0f\x29\x0e\x48\x8b\x02";
    params[PARAM_UNITS_LOAD] = params[PARAM_UNITS_STORE] = 4;
    const struct {
        enum param_id param;
        uint64_t most, time;
    } limits[] = {
        {PARAM_UNITS_MEMORY, 64, 3 * OOO_CYCLE / 4},
        {PARAM_UNITS_MEMORY, 2, 3 * OOO_CYCLE / 2},
        {PARAM_UNITS_LOAD_VECTOR, 1, OOO_CYCLE},
        {PARAM_UNITS_STORE_VECTOR, 1, OOO_CYCLE},
        {PARAM_UNITS_LOAD, 1, 2 * OOO_CYCLE},
    };
    for (size_t i = 0; i < COUNT(limits); i++) {
        const uint64_t before = params[limits[i].param];
        params[limits[i].param] = limits[i].most;
        b = block_of(params, moves, 9);
        assert_int_equal(b->time, limits[i].time);
        free(b);
        params[limits[i].param] = before;
    }
    /* mov (%rbx), %rax; mov (%rbx,%rcx,8), %rdx */
    params[PARAM_LATENCY_LOAD_INDEX] = 1;
    b = block_of(params, CODE("\x48\x8b\x03\x48\x8b\x14\xcb"));
    assert_int_equal(b->ops[0].load, 4 * OOO_CYCLE);
    assert_int_equal(b->ops[1].load, 5 * OOO_CYCLE);
    free(b);
    /* vaddpd and vmulpd, on units of their own, one of which is free. */
    params[PARAM_UNITS_EXECUTION] = 64;
    params[PARAM_UNITS_FADD] = params[PARAM_UNITS_FMUL] = 4;
    params[PARAM_UNITS_FLOAT] = 1;
    b = block_of(params, CODE("\xc5\xf5\x58\xc2\xc5\xf5\x59\xda"));
    assert_int_equal(b->time, 2 * OOO_CYCLE);
    free(b);
    /* rep movsb: 16 bytes a cycle, a byte an iteration. */
    b = block_of(params, CODE("\xf3\xa4"));
    assert_int_equal(b->micro_ops, 0);
    assert_int_equal(b->time, OOO_CYCLE / 16);
    free(b);
    /* vfmadd213pd reads three registers: two operations. */
    b = block_of(params, CODE("\xc4\xe2\xf5\xa8\xc2"));
    assert_int_equal(b->count, 2);
    assert_int_equal(b->micro_ops, 1);
    free(b);
}

/* What sets the flags and the branch behind it are one micro-operation, which
 * takes one place of the branch units alone, where the core fuses them. */
static void
test_fusion(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *code; /* and behind it a conditional branch of 2 bytes */
        size_t size;
        bool fused[4]; /* with fusion = none, compare, arithmetic, condition */
    } rows[] = {
        {__LINE__, CODE("\x48\x39\xcb\x75\x00"), {0, 1, 1, 1}}, /* cmp jne */
        {__LINE__, CODE("\x48\x39\xcb\x72\x00"), {0, 1, 1, 1}}, /* cmp jb */
        {__LINE__, CODE("\x48\x39\xcb\x78\x00"), {0, 1, 1, 0}}, /* cmp js */
        {__LINE__, CODE("\x48\x85\xc0\x78\x00"), {0, 1, 1, 1}}, /* test js */
        {__LINE__, CODE("\x48\x21\xcb\x78\x00"), {0, 0, 1, 1}}, /* and js */
        {__LINE__, CODE("\x48\x01\xcb\x72\x00"), {0, 0, 1, 1}}, /* add jb */
        {__LINE__, CODE("\x48\x29\xcb\x70\x00"), {0, 0, 1, 0}}, /* sub jo */
        {__LINE__, CODE("\x48\xff\xc9\x75\x00"), {0, 0, 1, 1}}, /* dec jne */
        {__LINE__, CODE("\x48\xff\xc1\x72\x00"), {0, 0, 1, 0}}, /* inc jb */
        {__LINE__, CODE("\x48\x09\xcb\x75\x00"), {0, 0, 1, 0}}, /* or jne */
        /* cmp (%rbx), %rax; jne */
        {__LINE__, CODE("\x48\x39\x03\x75\x00"), {0, 1, 1, 1}},
        /* cmpl $1, (%rbx); jne: an operand in memory and an immediate */
        {__LINE__, CODE("\x83\x3b\x01\x75\x00"), {0}},
        /* add %rax, (%rbx); jne: writes memory */
        {__LINE__, CODE("\x48\x01\x03\x75\x00"), {0}},
        /* imul; jne */
        {__LINE__, CODE("\x48\x0f\xaf\xda\x75\x00"), {0}},
        /* cmp; jrcxz, which asks no flags */
        {__LINE__, CODE("\x48\x39\xcb\xe3\x00"), {0}},
    };
    uint64_t params[PARAM_COUNT];

    set_params(params);
    params[PARAM_UNITS_INTEGER] = 1;
    for (size_t i = 0; i < COUNT(rows); i++) {
        params[PARAM_FUSION] = FUSION_NONE;
        struct ooo_block *b = block_of(params, rows[i].code, rows[i].size);
        const uint32_t micro_ops = b->micro_ops, time = b->time;
        free(b);
        for (unsigned way = 0; way < 4; way++) {
            params[PARAM_FUSION] = way;
            b = block_of(params, rows[i].code, rows[i].size);
            const struct ooo_op *const branch = &b->ops[b->count - 1];
            const bool fused = rows[i].fused[way];
            if (b->micro_ops != micro_ops - fused ||
                b->time != time - fused * OOO_CYCLE ||
                branch->latency != (fused ? 0 : OOO_CYCLE))
                fail_msg("line %d, fusion %u: %u micro-operations, %u of time",
                         rows[i].line, way, b->micro_ops, b->time);
            free(b);
        }
    }
}

/* Times are the nearest multiple of OOO_CAUSES, and the longest that there are
 * where a block takes longer. */
static void
test_rounded(void **state)
{
    (void)state;
    uint64_t params[PARAM_COUNT];

    set_params(params);
    params[PARAM_TIME_ISSUE] = 3;
    struct ooo_block *b = block_of(params, CODE("\x48\x01\xc8")); /* add */
    assert_in_range(3 * b->issue, OOO_CYCLE - 12, OOO_CYCLE + 12);
    assert_int_equal(b->issue % OOO_CAUSES, 0);
    free(b);
    params[PARAM_BUSY_SLOW] = params[PARAM_LATENCY_SLOW] = 10000;
    char code[2 * OPS_MOST];
    for (unsigned i = 0; i < OPS_MOST; i++)
        memcpy(code + (size_t)2 * i, "\x0f\xa2", 2); /* cpuid */
    b = block_of(params, code, 10);
    assert_int_equal(b->time, 5 * 10000 * OOO_CYCLE);
    free(b);
    params[PARAM_UNITS_SLOW] = 1;
    b = block_of(params, code, sizeof(code));
    assert_int_equal(b->time, 40 * 10000 * OOO_CYCLE);
    free(b);
    params[PARAM_BUSY_SLOW] = 100000;
    b = block_of(params, code, sizeof(code));
    assert_int_equal(b->time, UINT32_MAX - UINT32_MAX % OOO_CAUSES);
    free(b);
}

/* A base that is written back waits for the address, not for what is loaded. */
static void
test_back(void **state)
{
    (void)state;
    uint64_t params[PARAM_COUNT];
    struct ooo_block *const b = malloc(ooo_block_size(2 * OOO_OPS_MOST));
    const uint8_t bytes[] = {0x41, 0x84, 0x40, 0xf8}; /* ldr x1, [x2], #8 */
    struct insn_operands o;
    struct insn insn;

    assert_non_null(b);
    set_params(params);
    assert_true(insn_decode(&isa_rows[ISA_AARCH64], bytes, 4, 0, &insn));
    assert_true(insn_operands(&isa_rows[ISA_AARCH64], bytes, 4, &o));
    ooo_block_make(b, params, 0, &insn, &o, 1);
    assert_int_equal(b->count, 2);
    assert_int_equal(b->micro_ops, 1);
    assert_int_equal(b->ops[0].changes[0], 1);
    assert_int_equal(b->ops[0].load, 4 * OOO_CYCLE);
    assert_int_equal(b->ops[1].load, 0);
    assert_int_equal(b->ops[1].reads[0], 2);
    assert_int_equal(b->ops[1].changes[0], 2);
    assert_int_equal(b->ops[1].latency, OOO_CYCLE);
    free(b);
}

/* What loads or stores of pairs take of the units, on a core that stores 8
 * bytes at once. */
static void
test_pairs(void **state)
{
    (void)state;
    static const struct {
        uint32_t word;
        unsigned cycles;
    } rows[] = {
        {0xf9400041, 1}, /* ldr x1, [x2] */
        {0x29400861, 1}, /* ldp w1, w2, [x3] */
        {0xa9400861, 2}, /* ldp x1, x2, [x3] */
        {0x3dc00041, 1}, /* ldr q1, [x2] */
        {0xad400861, 2}, /* ldp q1, q2, [x3] */
        {0xf9000041, 1}, /* str x1, [x2] */
        {0x29000861, 1}, /* stp w1, w2, [x3] */
        {0xa9000861, 2}, /* stp x1, x2, [x3] */
        {0x3d800041, 2}, /* str q1, [x2] */
        {0xad000861, 4}, /* stp q1, q2, [x3] */
    };
    uint64_t params[PARAM_COUNT];
    struct ooo_block *const b = malloc(ooo_block_size(2 * OOO_OPS_MOST));

    assert_non_null(b);
    set_params(params);
    params[PARAM_UNITS_LOAD] = params[PARAM_UNITS_STORE] = 4;
    params[PARAM_UNITS_MEMORY] = 1;
    params[PARAM_STORE_BYTES] = 8;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[4];
        struct insn_operands o;
        struct insn insn;
        memcpy(bytes, &rows[i].word, 4);
        assert_true(insn_decode(&isa_rows[ISA_AARCH64], bytes, 4, 0, &insn));
        assert_true(insn_operands(&isa_rows[ISA_AARCH64], bytes, 4, &o));
        ooo_block_make(b, params, 0, &insn, &o, 1);
        if (b->time != rows[i].cycles * OOO_CYCLE)
            fail_msg("%#x takes %u", rows[i].word, b->time);
    }
    free(b);
}

/* Lines of code and what is fetched of them: a micro-operation counts where it
 * ends. */
static void
test_fetch(void **state)
{
    (void)state;
    static const char nops[] = "\x90\x90\x90\x90\x90\x90\x90\x90\x90";
    uint64_t params[PARAM_COUNT];

    set_params(params);
    /* Without lines a block is one. */
    struct ooo_block *b = block_of(params, CODE(nops));
    assert_int_equal(b->fetch, 1);
    assert_int_equal(b->first_line | b->last_line, 0);
    assert_int_equal(b->first_slots | b->last_slots, 0);
    free(b);
    /* 4, 4 and 1 in lines of 4 bytes. */
    params[PARAM_FETCH_LINE] = 4;
    b = block_of(params, CODE(nops));
    assert_int_equal(b->fetch, 3);
    assert_int_equal(b->first_line, 0);
    assert_int_equal(b->last_line, 2);
    assert_int_equal(b->first_slots, 4);
    assert_int_equal(b->last_slots, 1);
    free(b);
    /* 3 a cycle. */
    params[PARAM_FETCH_SLOTS] = 3;
    b = block_of(params, CODE(nops));
    assert_int_equal(b->fetch, 5);
    free(b);
    /* movabs, which is two, ends in the second line of 8 bytes; cmp and jne are
     * one, where jne ends. */
    params[PARAM_FETCH_LINE] = 8;
    b = block_of(params, CODE("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08"
                              "\x48\x39\xcb\x75\xf1\x90\x90"));
    assert_int_equal(b->first_line, 1);
    assert_int_equal(b->last_line, 2);
    assert_int_equal(b->first_slots, 4);
    assert_int_equal(b->last_slots, 1);
    assert_int_equal(b->fetch, 3);
    free(b);
    /* nop; ret */
    params[PARAM_FETCH_RETURN] = 2;
    b = block_of(params, CODE("\x90\xc3"));
    assert_int_equal(b->fetch, 1);
    assert_int_equal(b->foretell, 3);
    free(b);
    /* Iterations of a REP string instruction are not fetched. */
    b = block_of(params, CODE("\xf3\xa4"));
    assert_int_equal(b->fetch, 0);
    free(b);
}

/* A core that runs blocks, and the time by what it is spent on. */
struct run {
    uint64_t params[PARAM_COUNT];
    struct ooo_core *core;
    uint64_t time[OOO_REASONS], all;
};

static void
add_spent(const struct ooo_spent *spent, uint64_t *time)
{
    time[OOO_ISSUE] += spent->issue;
    time[OOO_CORE] += spent->units;
    time[OOO_FETCH] += spent->fetch;
    time[OOO_STORE] += spent->stores;
    time[spent->memory_reason] += spent->memory;
    time[OOO_L2] += spent->fills;
    time[OOO_TLB] += spent->walks;
    if (spent->room != 0)
        time[spent->reason] += spent->room;
}

static void
start(struct run *r)
{
    r->core = ooo_core_create(r->params);
    assert_non_null(r->core);
    memset(r->time, 0, sizeof(r->time));
    r->all = 0;
}

static void
run_block(struct run *r, const struct ooo_block *b, bool taken)
{
    struct ooo_spent spent;

    ooo_core_run(r->core, b, taken, 7, &spent);
    add_spent(&spent, r->time);
    r->all = 0;
    for (unsigned i = 0; i < OOO_REASONS; i++)
        r->all += r->time[i];
}

/* Returns the cycles that 1,000 more runs of a block take once the core is
 * full, each with a miss of `wait` cycles if that is not 0. */
static uint64_t
cycles_of(struct run *r, const char *code, size_t size, uint64_t wait,
          enum ooo_reason reason)
{
    struct ooo_block *const b = block_of(r->params, code, size);
    uint64_t before = 0;

    start(r);
    for (unsigned i = 0; i < 2000; i++) {
        if (i == 1000)
            before = r->all;
        if (wait != 0)
            assert_true(ooo_core_wait(
                r->core, &(struct ooo_wait){64 * i + 8, wait * OOO_CYCLE, 0,
                                            (uint8_t)reason, false, false}));
        run_block(r, b, false);
    }
    ooo_core_destroy(r->core);
    free(b);
    return (r->all - before) / OOO_CYCLE;
}

static void
test_arithmetic(void **state)
{
    (void)state;
    struct run r;

    set_params(r.params);
    /* add rax, rax; the same of rbx, rcx, rdx: 4 chains, 4 a cycle. */
    assert_int_equal(cycles_of(&r,
                               CODE("\x48\x01\xc0\x48\x01\xdb"
                                    "\x48\x01\xc9\x48\x01\xd2"),
                               0, OOO_CORE),
                     1000);
    /* Four in one chain: a cycle each. */
    assert_int_equal(cycles_of(&r,
                               CODE("\x48\x01\xc0\x48\x01\xc0"
                                    "\x48\x01\xc0\x48\x01\xc0"),
                               0, OOO_CORE),
                     4000);
    /* imul rax, rax: 3 cycles each. */
    r.params[PARAM_LATENCY_MUL] = 3;
    assert_int_equal(cycles_of(&r, CODE("\x48\x0f\xaf\xc0"), 0, OOO_CORE),
                     3000);
    /* Two such chains and two others: each cycle one of the four begins, so a
     * round takes 4 cycles, or 3 with two units. */
    static const char products[] = "\x48\x0f\xaf\xc0\x48\x0f\xaf\xdb"
                                   "\x48\x0f\xaf\xc9\x48\x0f\xaf\xd2";
    assert_int_equal(cycles_of(&r, CODE(products), 0, OOO_CORE), 4000);
    r.params[PARAM_UNITS_MUL] = 2;
    assert_int_equal(cycles_of(&r, CODE(products), 0, OOO_CORE), 3000);
    r.params[PARAM_UNITS_MUL] = 1;
    /* imul rax, rax; imul rbx, rax, 3; imul rcx, rax, 3; imul rax, rax: what
     * does not matter for the chain is before its next product, which waits for
     * the unit 2 cycles: 3 + 2 + 3. In number, 4 products would take 4 cycles.
     */
    assert_int_equal(cycles_of(&r,
                               CODE("\x48\x0f\xaf\xc0\x48\x6b\xd8\x03"
                                    "\x48\x6b\xc8\x03\x48\x0f\xaf\xc0"),
                               0, OOO_CORE),
                     8000);
    /* imul rax, rbx, 3: no chain, one unit. */
    assert_int_equal(cycles_of(&r, CODE("\x48\x6b\xc3\x03"), 0, OOO_CORE),
                     1000);
    /* mov rax, [rax]: each load needs the one before. */
    assert_int_equal(cycles_of(&r, CODE("\x48\x8b\x00"), 0, OOO_CORE), 4000);
    assert_int_equal(cycles_of(&r, CODE("\x48\x8b\x00"), 20, OOO_L2), 24000);
    /* mov rax, [rbx]: 64 of them are under way, and 64 leave together. */
    assert_in_range(cycles_of(&r, CODE("\x48\x8b\x03"), 640, OOO_MEMORY), 9900,
                    10300);
    /* With 8 buffers, 8 of them. */
    r.params[PARAM_L1D_MISSES] = 8;
    assert_int_equal(cycles_of(&r, CODE("\x48\x8b\x03"), 640, OOO_MEMORY),
                     80000);
    /* A line every 100 cycles. */
    r.params[PARAM_TIME_LINE] = 100;
    assert_int_equal(cycles_of(&r, CODE("\x48\x8b\x03"), 640, OOO_MEMORY),
                     100000);
    r.params[PARAM_L1D_MISSES] = 0;
    r.params[PARAM_TIME_LINE] = 0;
    r.params[PARAM_TIME_FILL] = 2;
    assert_int_equal(cycles_of(&r, CODE("\x48\x8b\x03"), 20, OOO_L2), 2000);
}

/* Returns the cycles that 1,000 more runs of two blocks take that begin at
 * these addresses, where each ends in a branch. The second branch is taken;
 * `first`: the first, too. */
static uint64_t
cycles_of_two(struct run *r, const struct ooo_block *a,
              const struct ooo_block *b, bool first)
{
    uint64_t before = 0;

    start(r);
    for (unsigned i = 0; i < 2000; i++) {
        if (i == 1000)
            before = r->all;
        run_block(r, a, first);
        run_block(r, b, true);
    }
    ooo_core_destroy(r->core);
    return (r->all - before) / OOO_CYCLE;
}

/* A core that takes in 6 a cycle fetches a line of code in a cycle, of which 9
 * micro-operations. */
static void
test_fetching(void **state)
{
    (void)state;
    struct ooo_block a = {
        .micro_ops = 2, .fetch = 1, .first_slots = 2, .last_slots = 2};
    struct ooo_block b = a;
    struct run r;

    set_params(r.params);
    r.params[PARAM_FETCH_SLOTS] = 9;
    a.issue = a.time = b.issue = b.time = OOO_CYCLE / 4;
    /* One line, through which the core goes once in a cycle. */
    assert_int_equal(cycles_of_two(&r, &a, &b, false), 1000);
    /* Each branch that is taken is another cycle. */
    assert_int_equal(cycles_of_two(&r, &a, &b, true), 2000);
    /* So is another line. */
    b.first_line = b.last_line = 1;
    assert_int_equal(cycles_of_two(&r, &a, &b, false), 2000);
    /* 5 and 4 micro-operations of one line are a cycle, 5 and 5 are two. */
    b.first_line = b.last_line = 0;
    a.first_slots = a.last_slots = 5;
    b.first_slots = b.last_slots = 4;
    assert_int_equal(cycles_of_two(&r, &a, &b, false), 1000);
    b.first_slots = b.last_slots = 5;
    assert_int_equal(cycles_of_two(&r, &a, &b, false), 2000);
    /* Fetching takes a cycle for each of the two, 4 for the second at last, and
     * foretelling as long as the branches need meanwhile. */
    a.foretell = b.foretell = 1;
    assert_int_equal(cycles_of_two(&r, &a, &b, true), 2000);
    b.foretell = 2;
    assert_int_equal(cycles_of_two(&r, &a, &b, true), 3000);
    b.foretell = 4;
    assert_int_equal(cycles_of_two(&r, &a, &b, true), 5000);
    b.fetch = 4;
    assert_int_equal(cycles_of_two(&r, &a, &b, true), 5000);
    b.foretell = 1;
    b.fetch = 1;
    /* Fetching takes 10 cycles a round, 9 of them for the second block, and
     * units are busy for 10 with the first: the second is fetched meanwhile, as
     * far as fetching may be ahead. */
    a.time = 10 * OOO_CYCLE;
    b.fetch = 9;
    assert_int_equal(cycles_of_two(&r, &a, &b, false), 10250);
    r.params[PARAM_FETCH_AHEAD] = 2;
    assert_int_equal(cycles_of_two(&r, &a, &b, false), 17000);
    r.params[PARAM_FETCH_AHEAD] = 0;
    assert_int_equal(cycles_of_two(&r, &a, &b, false), 19000);
}

/* What the time is spent on is that for which the core waited. */
static void
test_reasons(void **state)
{
    (void)state;
    struct run r;

    set_params(r.params);
    cycles_of(&r, CODE("\x48\x8b\x00"), 20, OOO_L2);
    assert_in_range(r.time[OOO_L2] * 100 / r.all, 97, 100);
    cycles_of(&r, CODE("\x48\x8b\x00"), 500, OOO_MEMORY);
    assert_in_range(r.time[OOO_MEMORY] * 100 / r.all, 97, 100);
    cycles_of(&r, CODE("\x48\x8b\x00"), 30, OOO_TLB);
    assert_in_range(r.time[OOO_TLB] * 100 / r.all, 97, 100);
    cycles_of(&r, CODE("\x48\x01\xc0"), 0, OOO_CORE);
    assert_int_equal(r.time[OOO_L2] + r.time[OOO_MEMORY], 0);
    assert_int_equal(r.time[OOO_ISSUE], 2000 * OOO_CYCLE / 4);
}

/* A load that waits for a page and for a line counts for the longer wait. */
static void
test_page_and_line(void **state)
{
    (void)state;
    static const struct {
        unsigned page, line;
        enum ooo_reason reason;
    } rows[] = {{30, 10, OOO_TLB}, {10, 30, OOO_L2}};
    struct run r;

    set_params(r.params);
    struct ooo_block *const b = block_of(r.params, CODE("\x48\x8b\x00"));
    for (size_t i = 0; i < COUNT(rows); i++) {
        start(&r);
        for (unsigned n = 0; n < 1000; n++) {
            const uint64_t addr = 64 * n + 8;
            assert_true(ooo_core_wait(
                r.core, &(struct ooo_wait){addr, rows[i].page * OOO_CYCLE, 0,
                                           OOO_TLB, false, true}));
            assert_true(ooo_core_wait(
                r.core, &(struct ooo_wait){addr, rows[i].line * OOO_CYCLE, 0,
                                           OOO_L2, false, false}));
            run_block(&r, b, false);
        }
        assert_in_range(r.all / OOO_CYCLE, 40000, 44500);
        assert_in_range(r.time[rows[i].reason] * 100 / r.all, 97, 100);
        ooo_core_destroy(r.core);
    }
    free(b);
}

/* Runs `rounds` blocks, of which instruction 0 needs a walk of `time` cycles.
 * Returns the cycles that all take. */
static uint64_t
cycles_of_walks(struct run *r, const struct ooo_block *b, unsigned rounds,
                uint64_t time, bool code)
{
    start(r);
    for (unsigned i = 0; i < rounds; i++) {
        if (code)
            ooo_core_walk_code(r->core, time * OOO_CYCLE);
        else
            assert_true(ooo_core_wait(
                r->core, &(struct ooo_wait){.time = time * OOO_CYCLE,
                                            .reason = OOO_TLB,
                                            .walks = true}));
        run_block(r, b, false);
    }
    ooo_core_destroy(r->core);
    return r->all / OOO_CYCLE;
}

/* Walks wait for walkers: of 1,000 walks of 30 cycles that need nothing of each
 * other, a walker makes one at a time. */
static void
test_walkers(void **state)
{
    (void)state;
    static const struct {
        int line;
        unsigned walkers;
        uint64_t least, most;
    } loads[] = {
        /* 64 loads fit in the buffer: the last ones need not leave it. */
        {__LINE__, 1, 936 * 30, 1000 * 30},
        {__LINE__, 2, 936 * 15, 1000 * 15},
        {__LINE__, 3, 936 * 10, 1000 * 10},
        /* A load is taken in each half cycle, and 64 walk at once. */
        {__LINE__, 0, 499, 1000},
    };
    struct run r;

    set_params(r.params);
    /* mov rax, [rbx] */
    struct ooo_block *b = block_of(r.params, CODE("\x48\x8b\x03"));
    for (size_t i = 0; i < COUNT(loads); i++) {
        r.params[PARAM_TLB_WALKERS] = loads[i].walkers;
        const uint64_t all = cycles_of_walks(&r, b, 1000, 30, false);
        if (all < loads[i].least || all > loads[i].most)
            fail_msg("line %d: %llu cycles", loads[i].line,
                     (unsigned long long)all);
    }
    assert_in_range(r.time[OOO_TLB] * 100 / r.all, 0, 60);
    free(b);
    /* mov rax, [rax]: no two of these walks meet. */
    b = block_of(r.params, CODE("\x48\x8b\x00"));
    r.params[PARAM_TLB_WALKERS] = 0;
    const uint64_t chain = cycles_of_walks(&r, b, 1000, 30, false);
    r.params[PARAM_TLB_WALKERS] = 1;
    assert_int_equal(cycles_of_walks(&r, b, 1000, 30, false), chain);
    free(b);
    /* mov [rbx], rax: the core is at most two walks ahead of each walker. */
    b = block_of(r.params, CODE("\x48\x89\x03"));
    assert_in_range(cycles_of_walks(&r, b, 1000, 30, false), 998 * 30,
                    1000 * 30);
    assert_in_range(r.time[OOO_TLB] * 100 / r.all, 90, 100);
    r.params[PARAM_TLB_WALKERS] = 2;
    assert_in_range(cycles_of_walks(&r, b, 1000, 30, false), 996 * 15,
                    1000 * 15);
    r.params[PARAM_TLB_WALKERS] = 0;
    assert_int_equal(cycles_of_walks(&r, b, 1000, 30, false), 1000);
    /* A walk for code stops the core, whatever the walkers. */
    for (unsigned walkers = 0; walkers < 3; walkers++) {
        r.params[PARAM_TLB_WALKERS] = walkers;
        assert_int_equal(cycles_of_walks(&r, b, 1000, 30, true), 31000);
        assert_int_equal(r.time[OOO_FETCH], 30000 * OOO_CYCLE);
    }
    free(b);
}

/* Loads that wait for a walker longer than for their line count for the page.
 */
static void
test_walker_and_line(void **state)
{
    (void)state;
    struct run r;

    set_params(r.params);
    r.params[PARAM_TLB_WALKERS] = 1;
    r.params[PARAM_TIME_LINE] = 12;
    struct ooo_block *const b = block_of(r.params, CODE("\x48\x8b\x03"));
    start(&r);
    for (unsigned i = 0; i < 1000; i++) {
        assert_true(
            ooo_core_wait(r.core, &(struct ooo_wait){.time = 30 * OOO_CYCLE,
                                                     .reason = OOO_TLB,
                                                     .walks = true}));
        assert_true(
            ooo_core_wait(r.core, &(struct ooo_wait){.addr = 64 * i,
                                                     .time = 160 * OOO_CYCLE,
                                                     .reason = OOO_MEMORY}));
        run_block(&r, b, false);
    }
    assert_in_range(r.all / OOO_CYCLE, 936 * 30, 1000 * 30 + 160);
    assert_in_range(r.time[OOO_TLB] * 100 / r.all, 85, 100);
    ooo_core_destroy(r.core);
    free(b);
}

/* A load by the register of a load that waits, of its line, waits too; of
 * another line it does not. */
static void
test_same_line(void **state)
{
    (void)state;
    /* mov rcx, [rax + 8]; mov rax, [rax]: the first misses. */
    static const char same[] = "\x48\x8b\x48\x08\x48\x8b\x00";
    /* mov rcx, [rax + 72]; mov rax, [rax] */
    static const char other[] = "\x48\x8b\x48\x48\x48\x8b\x00";
    struct run r;

    set_params(r.params);
    assert_int_equal(cycles_of(&r, CODE(same), 100, OOO_L3), 104000);
    /* Only 32 of these fit in the buffer: they wait for the first. */
    assert_in_range(cycles_of(&r, CODE(other), 100, OOO_L3), 3900, 4100);
}

static void
test_mispredicted(void **state)
{
    (void)state;
    struct run r;

    set_params(r.params);
    /* imul rax, rax; jne: nothing else is to be done. */
    struct ooo_block *const b =
        block_of(r.params, CODE("\x48\x0f\xaf\xc0\x75\xfa"));
    start(&r);
    run_block(&r, b, true);
    /* Taken in at 0, executed at 3, the branch at 4: go on at 14; a cycle was
     * spent on taking the block in. */
    assert_int_equal(ooo_core_mispredicted(r.core), 13 * OOO_CYCLE);
    assert_int_equal(r.all, OOO_CYCLE);
    /* The one unit for products is the bound. */
    assert_int_equal(r.time[OOO_ISSUE], OOO_CYCLE / 2);
    assert_int_equal(r.time[OOO_CORE], OOO_CYCLE / 2);
    /* Code that is not there. */
    ooo_core_fetch(r.core, 12 * OOO_CYCLE);
    run_block(&r, b, true);
    assert_int_equal(r.all, 14 * OOO_CYCLE);
    ooo_core_destroy(r.core);
    free(b);
}

/* Returns the cycles of 1,000 blocks of `micro_ops`, of which the core takes in
 * 4 a cycle. Each ends in a taken branch; every fourth of these is foretold
 * `time` later, or is found at decode, which takes so long. */
static uint64_t
cycles_late(uint64_t ahead, unsigned micro_ops, uint64_t time, bool decode)
{
    struct run r;
    struct ooo_block b = {.micro_ops = micro_ops,
                          .issue = micro_ops * OOO_CYCLE / 4,
                          .fetch = 1,
                          .foretell = 1};
    uint64_t waited = 0, before = 0;

    set_params(r.params);
    r.params[PARAM_FETCH_AHEAD] = ahead;
    b.time = b.issue;
    start(&r);
    for (unsigned i = 0; i < 2000; i++) {
        if (i == 1000)
            before = r.all + waited;
        run_block(&r, &b, true);
        if (i % 4 == 3)
            waited += decode ? ooo_core_resteer(r.core, time * OOO_CYCLE)
                             : ooo_core_bubble(r.core, time * OOO_CYCLE);
    }
    ooo_core_destroy(r.core);
    return (r.all + waited - before) / OOO_CYCLE;
}

/* Branches that branch target buffers foretell late, or do not foretell. */
static void
test_late_branches(void **state)
{
    (void)state;
    /* Blocks of a cycle: a branch is foretold in each, and nothing hides what
     * is late. */
    assert_int_equal(cycles_late(16, 4, 0, false), 1000);
    assert_int_equal(cycles_late(16, 4, 3, false), 1000 + 250 * 3);
    assert_int_equal(cycles_late(0, 4, 3, false), 1000 + 250 * 3);
    assert_int_equal(cycles_late(16, 4, 9, true), 1000 + 250 * 9);
    /* Blocks of two cycles: four branches are foretold in 4 + 3 of 8 cycles, or
     * 4 + 4, and 4 + 6 are too many. */
    assert_int_equal(cycles_late(16, 8, 3, false), 2000);
    assert_int_equal(cycles_late(16, 8, 4, false), 2000);
    assert_int_equal(cycles_late(16, 8, 6, false), 2500);
    /* Decode has the same time. */
    assert_int_equal(cycles_late(16, 8, 4, true), 2000);
    assert_int_equal(cycles_late(16, 8, 9, true), 1000 + 250 * 9);
    /* Nothing is fetched ahead: a branch is foretold 1 + 3 cycles after the
     * core has begun to take its block in, 2 later than the block is. */
    assert_int_equal(cycles_late(0, 8, 3, false), 2000 + 250 * 2);
    assert_int_equal(cycles_late(0, 8, 3, true), 2000 + 250 * 2);
    /* A cycle ahead hides one of these. */
    assert_int_equal(cycles_late(1, 8, 3, false), 2000 + 250);
}

static void
test_stores(void **state)
{
    (void)state;
    struct run r;

    set_params(r.params);
    r.params[PARAM_TIME_LINE] = 10;
    /* mov [rbx], rax */
    struct ooo_block *const b = block_of(r.params, CODE("\x48\x89\x03"));
    start(&r);
    for (unsigned i = 0; i < 1000; i++) {
        assert_true(
            ooo_core_wait(r.core, &(struct ooo_wait){64 * i, 100 * OOO_CYCLE, 0,
                                                     OOO_MEMORY, true, false}));
        run_block(&r, b, false);
    }
    /* The last store may be ten lines ahead of memory. */
    assert_in_range(r.all / OOO_CYCLE, 9850, 10000);
    /* One store a cycle is taken in. */
    assert_int_equal(r.time[OOO_ISSUE] + r.time[OOO_CORE], 1000 * OOO_CYCLE);
    assert_int_equal(r.time[OOO_STORE], r.all - 1000 * OOO_CYCLE);
    /* Of more waits than can be kept, it is said. */
    bool kept = true;
    for (unsigned i = 0; i < 2000; i++)
        kept &= ooo_core_wait(r.core, &(struct ooo_wait){0});
    assert_false(kept);
    ooo_core_destroy(r.core);
    free(b);
}

/* Lines that come ahead of loads are bound by memory alone. */
static void
test_prefetched(void **state)
{
    (void)state;
    struct run r;

    set_params(r.params);
    r.params[PARAM_TIME_LINE] = 10;
    struct ooo_block *const b = block_of(r.params, CODE("\x48\x8b\x03"));
    start(&r);
    for (unsigned i = 0; i < 1000; i++) {
        ooo_core_prefetched(r.core, 1, 0);
        run_block(&r, b, false);
    }
    /* 32 of the lines are still on their way. */
    assert_in_range(r.all / OOO_CYCLE, 10 * (1000 - OOO_AHEAD), 9700);
    assert_in_range(r.time[OOO_MEMORY] * 100 / r.all, 90, 100);
    ooo_core_destroy(r.core);
    /* Lines from the L2 by how fast the L1 takes them in. */
    r.params[PARAM_TIME_FILL] = 5;
    start(&r);
    for (unsigned i = 0; i < 1000; i++) {
        ooo_core_prefetched(r.core, 0, 1);
        run_block(&r, b, false);
    }
    assert_in_range(r.all / OOO_CYCLE, 5 * (1000 - OOO_AHEAD), 4850);
    assert_in_range(r.time[OOO_L2] * 100 / r.all, 85, 100);
    ooo_core_destroy(r.core);
    free(b);
}

/* A random block of `count` operations; most read what others change. */
static void
random_block(uint64_t *random, const uint64_t *params, struct ooo_block *b)
{
    *b = (struct ooo_block){
        .micro_ops = (uint32_t)(1 + random_below(random, 12)),
        .count = (uint32_t)random_below(random, 9),
    };
    b->first_line = random_below(random, 4);
    b->last_line = b->first_line + random_below(random, 3);
    b->first_slots = b->last_slots = (uint16_t)(1 + random_below(random, 20));
    if (b->first_line != b->last_line)
        b->last_slots = (uint16_t)(1 + random_below(random, 20));
    b->fetch = ooo_fetch_cycles(params, b->first_slots);
    if (b->first_line != b->last_line)
        b->fetch += ooo_fetch_cycles(params, b->last_slots);
    if (random_below(random, 20) == 0)
        b->fetch = 0;
    b->foretell = (uint32_t)(1 + random_below(random, 3));
    b->issue = b->micro_ops * 256;
    b->time = b->issue + (uint32_t)random_below(random, 4) * 512;
    for (uint32_t i = 0; i < b->count; i++) {
        struct ooo_op *const op = &b->ops[i];
        *op = (struct ooo_op){
            .offset = (uint32_t)(b->time / (b->count + 1) * i) / 8 * 8,
            .instruction = (uint16_t)(i / 2),
            .latency = (uint32_t)random_below(random, 6) * OOO_CYCLE,
            .unit = (uint8_t)(random_below(random, 2) == 0
                                  ? random_below(random, OOO_UNITS)
                                  : OOO_UNIT_NONE),
            .base = OOO_THERE,
        };
        for (unsigned k = 0; k < 2; k++) {
            op->address[k] = OOO_THERE;
            op->reads[k] = random_below(random, 3) == 0
                               ? OOO_THERE
                               : (uint8_t)random_below(random, 8);
            op->changes[k] = random_below(random, 3) == 0
                                 ? OOO_NOWHERE
                                 : (uint8_t)random_below(random, 8);
        }
        if (random_below(random, 2) == 0)
            continue;
        op->load = 4 * OOO_CYCLE;
        op->address[0] = (uint8_t)random_below(random, 8);
        if (random_below(random, 2) == 0) {
            op->base = op->address[0];
            op->disp = (int32_t)random_below(random, 256) - 128;
        }
    }
}

static void
compare(const uint64_t *params, uint64_t seed)
{
    struct ooo_block *const b = malloc(ooo_block_size(9));
    struct ooo_core *const core = ooo_core_create(params);
    struct ooo_ref ref;

    assert_non_null(b);
    assert_non_null(core);
    ooo_ref_init(&ref, params);
    for (unsigned step = 0; step < 4000; step++) {
        uint64_t mine[OOO_REASONS] = {0}, its[OOO_REASONS];
        struct ooo_spent spent;
        random_block(&seed, params, b);
        const uint64_t late = random_below(&seed, 5) * OOO_CYCLE;
        if (random_below(&seed, 10) == 0)
            assert_int_equal(ooo_core_mispredicted(core),
                             ooo_ref_mispredicted(&ref));
        else if (random_below(&seed, 10) == 0)
            assert_int_equal(ooo_core_resteer(core, late),
                             ooo_ref_resteer(&ref, late));
        else if (random_below(&seed, 3) == 0)
            assert_int_equal(ooo_core_bubble(core, late),
                             ooo_ref_bubble(&ref, late));
        if (random_below(&seed, 20) == 0) {
            const uint64_t time = random_below(&seed, 50) * OOO_CYCLE;
            ooo_core_fetch(core, time);
            ref.fetch += time;
        }
        if (random_below(&seed, 20) == 0) {
            const uint64_t time = random_below(&seed, 90) * OOO_CYCLE;
            ooo_core_walk_code(core, time);
            ref.fetch_walk += time;
        }
        for (unsigned i = 0; i < b->count && random_below(&seed, 3) == 0; i++) {
            struct ooo_wait w = {
                .addr = random_below(&seed, 1000),
                .time = random_below(&seed, 200) * OOO_CYCLE,
                .instruction = (uint16_t)random_below(&seed, 5),
                .reason = (uint8_t)(OOO_L2 + random_below(&seed, 4)),
                .stores = random_below(&seed, 4) == 0,
            };
            if (w.reason == OOO_TLB) {
                w.stores = false;
                w.walks = random_below(&seed, 3) != 0;
            }
            assert_true(ooo_core_wait(core, &w));
            ref.waits[ref.wait_count++] = w;
        }
        if (random_below(&seed, 6) == 0) {
            const uint64_t lines = random_below(&seed, 12);
            const uint64_t near = random_below(&seed, 20);
            ooo_core_prefetched(core, lines, near);
            ooo_ref_prefetched(&ref, lines, near);
        }
        const bool taken = random_below(&seed, 2) != 0;
        ooo_core_run(core, b, taken, step, &spent);
        add_spent(&spent, mine);
        ooo_ref_run(&ref, b, taken, its);
        assert_memory_equal(mine, its, sizeof(its));
    }
    ooo_ref_finish(&ref);
    ooo_core_destroy(core);
    free(b);
}

static void
test_twin(void **state)
{
    (void)state;
    uint64_t params[PARAM_COUNT];

    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t random = seed;
        set_params(params);
        params[PARAM_ROB_ENTRIES] = 12 + random_below(&random, 300);
        params[PARAM_L1D_MISSES] = random_below(&random, 20);
        params[PARAM_TIME_LINE] = random_below(&random, 30);
        params[PARAM_TIME_FILL] = random_below(&random, 4);
        params[PARAM_TLB_WALKERS] = random_below(&random, 5);
        params[PARAM_FETCH_SLOTS] = random_below(&random, 12);
        params[PARAM_FETCH_AHEAD] = random_below(&random, 20);
        compare(params, seed * 7919);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_operands_aarch64),
        cmocka_unit_test(test_step_by),
        cmocka_unit_test(test_operands_riscv),
        cmocka_unit_test(test_fused_aarch64),
        cmocka_unit_test(test_operands_unknown),
        cmocka_unit_test(test_block),
        cmocka_unit_test(test_fusion),
        cmocka_unit_test(test_rounded),
        cmocka_unit_test(test_back),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_fetch),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_fetching),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_page_and_line),
        cmocka_unit_test(test_walkers),
        cmocka_unit_test(test_walker_and_line),
        cmocka_unit_test(test_same_line),
        cmocka_unit_test(test_mispredicted),
        cmocka_unit_test(test_late_branches),
        cmocka_unit_test(test_stores),
        cmocka_unit_test(test_prefetched),
        cmocka_unit_test(test_twin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
