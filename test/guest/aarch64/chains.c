/* SPDX-License-Identifier: MIT */
/*
 * chains KERNEL ROUNDS, for AArch64: the kernels of chains.h, and
 *
 *   back        100 loads of pairs that write back the base they share
 */
#include "../chains.h"

/* In one page, so that QEMU makes one block of a round. */
#define ROUNDS(what) ".balign 4096\n1:" what "subs %[n], %[n], #1\n b.ne 1b\n"

static void
sums(uint64_t n)
{
    __asm__ volatile(ROUNDS(TIMES(100, "add x9, x9, x9"))
                     : [n] "+r"(n)::"x9", "cc");
}

static void
independent(uint64_t n)
{
    __asm__ volatile(ROUNDS(TIMES(10, "add x9, x9, x9\n add x10, x10, x10\n"
                                      "add x11, x11, x11\n add x12, x12, x12\n"
                                      "add x13, x13, x13\n add x14, x14, x14\n"
                                      "add x15, x15, x15\n add x4, x4, x4\n"
                                      "add x5, x5, x5\n add x6, x6, x6"))
                     : [n] "+r"(n)::"x4", "x5", "x6", "x9", "x10", "x11", "x12",
                       "x13", "x14", "x15", "cc");
}

static void
products(uint64_t n)
{
    __asm__ volatile(ROUNDS(TIMES(100, "mul x9, x9, x9"))
                     : [n] "+r"(n)::"x9", "cc");
}

static void
divisions(uint64_t n)
{
    const uint64_t by = 3;

    __asm__ volatile(ROUNDS(TIMES(10, "mov x9, #77\n udiv x9, x9, %[by]"))
                     : [n] "+r"(n)
                     : [by] "r"(by)
                     : "x9", "cc");
}

static void
floats(uint64_t n)
{
    __asm__ volatile("movi d0, #0\n" ROUNDS(TIMES(100, "fadd d0, d0, d0"))
                     : [n] "+r"(n)::"v0", "cc");
}

static void
loads(uint64_t n)
{
    static void *self = &self;
    void *at = &self;

    __asm__ volatile(ROUNDS(TIMES(100, "ldr %[at], [%[at]]"))
                     : [n] "+r"(n), [at] "+r"(at)::"cc");
}

static void
back(uint64_t n)
{
    void *at = lines;

    __asm__ volatile(ROUNDS(TIMES(50, "ldp x9, x10, [%[at]], #16\n"
                                      "ldp x9, x10, [%[at], #-16]!"))
                     : [n] "+r"(n), [at] "+r"(at)::"x9", "x10", "cc");
}

static void
chase(uint64_t n)
{
    void *at = lines;

    for (size_t i = 0; i < 1024; i++)
        lines[i][0] = (uint64_t)&lines[(i + 17) % 1024];
    __asm__ volatile(ROUNDS(TIMES(64, "ldr %[at], [%[at]]"))
                     : [n] "+r"(n), [at] "+r"(at)::"cc");
}

#define LOADS TIMES(64, "ldr x9, [x10, #at * 64]\n .set at, at + 1")

static void
known(uint64_t n)
{
    uint64_t offset = 0;

    memset(lines, 0, sizeof(lines));
    __asm__ volatile(ROUNDS("add x10, %[lines], %[offset]\n"
                            ".set at, 0\n" LOADS
                            "add %[offset], %[offset], #4096\n"
                            "and %[offset], %[offset], #65535\n")
                     : [n] "+r"(n), [offset] "+r"(offset)
                     : [lines] "r"(lines)
                     : "x9", "x10", "cc");
}

static const struct kernel kernels[] = {
    {"sums", sums},           {"free", independent}, {"products", products},
    {"divisions", divisions}, {"floats", floats},    {"loads", loads},
    {"back", back},           {"chase", chase},      {"known", known},
};

int
main(int argc, char **argv)
{
    return run_kernel(kernels, sizeof(kernels) / sizeof(*kernels), argc, argv);
}
