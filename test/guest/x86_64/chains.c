/* SPDX-License-Identifier: MIT */
/*
 * chains KERNEL ROUNDS, for x86-64: the kernels of chains.h, and
 *
 *   branch      a branch on the result of 12 products
 *   line        a loop within 64 bytes of code
 *   lines       the same loop over the end of 64 bytes
 */
#include "../chains.h"

/* In one page, so that QEMU makes one block of a round. */
#define ROUNDS(what) ".balign 4096\n1:" what "dec %[n]\n jnz 1b\n"

static void
sums(uint64_t n)
{
    __asm__ volatile(ROUNDS(TIMES(100, "add %%rax, %%rax"))
                     : [n] "+r"(n)::"rax", "cc");
}

static void
independent(uint64_t n)
{
    __asm__ volatile(ROUNDS(TIMES(10, "add %%rax, %%rax\n add %%rdx, %%rdx\n"
                                      "add %%rsi, %%rsi\n add %%r8, %%r8\n"
                                      "add %%r9, %%r9\n add %%r10, %%r10\n"
                                      "add %%r11, %%r11\n add %%r12, %%r12\n"
                                      "add %%r13, %%r13\n add %%r14, %%r14"))
                     : [n] "+r"(n)::"rax", "rdx", "rsi", "r8", "r9", "r10",
                       "r11", "r12", "r13", "r14", "cc");
}

static void
products(uint64_t n)
{
    __asm__ volatile(ROUNDS(TIMES(100, "imul %%rax, %%rax"))
                     : [n] "+r"(n)::"rax", "cc");
}

static void
divisions(uint64_t n)
{
    const uint64_t by = 3;

    __asm__ volatile(
        ROUNDS(TIMES(10, "xor %%edx, %%edx\n mov $77, %%eax\n div %[by]"))
        : [n] "+r"(n)
        : [by] "r"(by)
        : "rax", "rdx", "cc");
}

static void
floats(uint64_t n)
{
    __asm__ volatile(
        "pxor %%xmm0, %%xmm0\n" ROUNDS(TIMES(100, "addsd %%xmm0, %%xmm0"))
        : [n] "+r"(n)::"xmm0", "cc");
}

static void
loads(uint64_t n)
{
    static void *self = &self;
    void *at = &self;

    __asm__ volatile(ROUNDS(TIMES(100, "mov (%[at]), %[at]"))
                     : [n] "+r"(n), [at] "+r"(at)::"cc");
}

static void
chase(uint64_t n)
{
    void *at = lines;

    for (size_t i = 0; i < 1024; i++)
        lines[i][0] = (uint64_t)&lines[(i + 17) % 1024];
    __asm__ volatile(ROUNDS(TIMES(64, "mov (%[at]), %[at]"))
                     : [n] "+r"(n), [at] "+r"(at)::"cc");
}

static void
known(uint64_t n)
{
    uint64_t offset = 0;

    memset(lines, 0, sizeof(lines));
    __asm__ volatile(ROUNDS(".set at, 0\n" TIMES(
        64, "mov at * 64(%[lines], %[offset]), %%rax\n "
            ".set at, at + 1") "add $4096, %[offset]\n "
                               "and $65535, %[offset]\n")
                     : [n] "+r"(n), [offset] "+r"(offset)
                     : [lines] "r"(lines)
                     : "rax", "cc");
}

/* The lowest bit of a product of odd numbers and a generator's highest. */
static void
branch(uint64_t n)
{
    uint64_t random = 88172645463325252u;

    __asm__ volatile(
        ".balign 4096\n"
        "1: mov %[random], %%rax\n shl $13, %%rax\n xor %%rax, %[random]\n"
        "mov %[random], %%rax\n shr $7, %%rax\n xor %%rax, %[random]\n"
        "mov %[random], %%rax\n shl $17, %%rax\n xor %%rax, %[random]\n"
        "mov %[random], %%rax\n and $1, %%eax\n"
        "lea 1(%%rax, %%rax), %%rdx\n" TIMES(
            12, "imul %%rdx, %%rdx") "and %%rdx, %%rax\n jz 2f\n nop\n"
                                     "2: dec %[n]\n jnz 1b\n"
        : [n] "+r"(n), [random] "+r"(random)::"rax", "rdx", "cc");
}

static void
line(uint64_t n)
{
    __asm__ volatile(".balign 64\n 1: dec %[n]\n jnz 1b\n" : [n] "+r"(n)::"cc");
}

static void
two_lines(uint64_t n)
{
    __asm__ volatile("jmp 1f\n .balign 64\n .skip 61\n"
                     "1: nop\n dec %[n]\n jnz 1b\n"
                     : [n] "+r"(n)::"cc");
}

static const struct kernel kernels[] = {
    {"sums", sums},           {"free", independent}, {"products", products},
    {"divisions", divisions}, {"floats", floats},    {"loads", loads},
    {"chase", chase},         {"known", known},      {"branch", branch},
    {"line", line},           {"lines", two_lines},
};

int
main(int argc, char **argv)
{
    return run_kernel(kernels, sizeof(kernels) / sizeof(*kernels), argc, argv);
}
