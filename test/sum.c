/* SPDX-License-Identifier: MIT */
/* Instructions that make an address, by each decoder; encodings by the GNU
 * assembler. */
#include "isa/sum.h"
#include "isa/isa.h"

#include "check.h"

#define NO INSN_NO_REG
#define PC 0x1234u

static const struct {
    int line;
    const char *isa;
    uint8_t size, bytes[8];
    bool is_sum;
    struct insn_sum sum;
} rows[] = {
    /* mov %rdi,%rax */
    {__LINE__, "x86_64", 3, {0x48, 0x89, 0xf8}, true, {0, 7, NO, false, 0}},
    /* mov %edi,%eax: not a whole register */
    {__LINE__, "x86_64", 2, {0x89, 0xf8}, false, {0}},
    /* lea 8(%rdi,%rsi,2),%rax */
    {__LINE__,
     "x86_64",
     5,
     {0x48, 0x8d, 0x44, 0x77, 8},
     true,
     {0, 7, 6, true, 8}},
    /* lea 0x10(%rip),%rdx */
    {__LINE__,
     "x86_64",
     7,
     {0x48, 0x8d, 0x15, 0x10, 0, 0, 0},
     true,
     {2, NO, NO, false, PC + 0x17}},
    /* add %rsi,%rax; sub %rsi,%rax */
    {__LINE__, "x86_64", 3, {0x48, 0x01, 0xf0}, true, {0, 0, 6, false, 0}},
    {__LINE__, "x86_64", 3, {0x48, 0x29, 0xf0}, false, {0}},
    /* mov $0x404040,%edi */
    {__LINE__,
     "x86_64",
     5,
     {0xbf, 0x40, 0x40, 0x40, 0},
     true,
     {7, NO, NO, false, 0x404040}},
    /* mov x0,x1; add x0,x1,#16; sub x0,x1,#16 */
    {__LINE__,
     "aarch64",
     4,
     {0xe0, 0x03, 0x01, 0xaa},
     true,
     {0, 1, NO, false, 0}},
    {__LINE__,
     "aarch64",
     4,
     {0x20, 0x40, 0x00, 0x91},
     true,
     {0, 1, NO, false, 16}},
    {__LINE__,
     "aarch64",
     4,
     {0x20, 0x40, 0x00, 0xd1},
     true,
     {0, 1, NO, false, -16}},
    /* adrp x0, a page on, and one back */
    {__LINE__,
     "aarch64",
     4,
     {0x00, 0x00, 0x00, 0xb0},
     true,
     {0, NO, NO, false, 0x2000}},
    {__LINE__,
     "aarch64",
     4,
     {0xe0, 0xff, 0xff, 0xf0},
     true,
     {0, NO, NO, false, 0}},
    /* add x0,x1,x2; add x0,x1,x2,lsl #3; madd x0,x1,x2,x3 */
    {__LINE__,
     "aarch64",
     4,
     {0x20, 0x00, 0x02, 0x8b},
     true,
     {0, 1, 2, false, 0}},
    {__LINE__,
     "aarch64",
     4,
     {0x20, 0x0c, 0x02, 0x8b},
     true,
     {0, 1, 2, true, 0}},
    {__LINE__,
     "aarch64",
     4,
     {0x20, 0x0c, 0x02, 0x9b},
     true,
     {0, 3, 2, true, 0}},
    /* mov %i0,%o0; add %o0,16,%o1; sethi %hi(0x40000),%o0; sub */
    {__LINE__,
     "sparc64",
     4,
     {0x90, 0x10, 0x00, 0x18},
     true,
     {8, 24, NO, false, 0}},
    {__LINE__,
     "sparc64",
     4,
     {0x92, 0x02, 0x20, 0x10},
     true,
     {9, 8, NO, false, 16}},
    {__LINE__,
     "sparc64",
     4,
     {0x11, 0x00, 0x01, 0x00},
     true,
     {8, NO, NO, false, 0x40000}},
    {__LINE__, "sparc64", 4, {0x92, 0x22, 0x20, 0x10}, false, {0}},
    /* daddu $2,$4,$5; daddiu $2,$4,-8; move $2,$4 */
    {__LINE__,
     "mips64el",
     4,
     {0x2d, 0x10, 0x85, 0x00},
     true,
     {2, 4, 5, false, 0}},
    {__LINE__,
     "mips64",
     4,
     {0x64, 0x82, 0xff, 0xf8},
     true,
     {2, 4, NO, false, -8}},
    {__LINE__,
     "mips64",
     4,
     {0x00, 0x80, 0x10, 0x25},
     true,
     {2, 4, NO, false, 0}},
    /* addi a0,a1,16; c.mv a0,a1; sh3add a0,a1,a2; auipc a0,1 */
    {__LINE__,
     "riscv64",
     4,
     {0x13, 0x85, 0x05, 0x01},
     true,
     {10, 11, NO, false, 16}},
    {__LINE__, "riscv64", 2, {0x2e, 0x85}, true, {10, 11, NO, false, 0}},
    {__LINE__,
     "riscv64",
     4,
     {0x33, 0xe5, 0xc5, 0x20},
     true,
     {10, 12, 11, true, 0}},
    {__LINE__,
     "riscv64",
     4,
     {0x17, 0x15, 0x00, 0x00},
     true,
     {10, NO, NO, false, PC + 0x1000}},
};

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct insn_sum *const want = &rows[i].sum;
        struct insn_sum got;
        const bool is_sum = insn_sum(isa_find(rows[i].isa), rows[i].bytes,
                                     rows[i].size, PC, &got);
        if (is_sum != rows[i].is_sum ||
            (is_sum && (got.to != want->to || got.base != want->base ||
                        got.index != want->index || got.add != want->add ||
                        (got.index != NO && got.scaled != want->scaled))))
            fail_msg("line %d: %d: %d = %d + %d * %d + %lld", rows[i].line,
                     is_sum, got.to, got.base, got.scaled, got.index,
                     (long long)got.add);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
