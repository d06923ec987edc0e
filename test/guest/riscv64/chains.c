/* SPDX-License-Identifier: MIT */
/* chains KERNEL ROUNDS, for RISC-V: the kernels of chains.h. */
#include "../chains.h"

/* In one page, so that QEMU makes one block of a round. */
#define ROUNDS(what) \
    ".balign 4096\n1:" what "addi %[n], %[n], -1\n bnez %[n], 1b\n"

static void
sums(uint64_t n)
{
    __asm__ volatile(ROUNDS(TIMES(100, "add t0, t0, t0")) : [n] "+r"(n)::"t0");
}

static void
independent(uint64_t n)
{
    __asm__ volatile(ROUNDS(TIMES(10, "add t0, t0, t0\n add t1, t1, t1\n"
                                      "add t2, t2, t2\n add t3, t3, t3\n"
                                      "add t4, t4, t4\n add t5, t5, t5\n"
                                      "add t6, t6, t6\n add a3, a3, a3\n"
                                      "add a4, a4, a4\n add a5, a5, a5"))
                     : [n] "+r"(n)::"t0", "t1", "t2", "t3", "t4", "t5", "t6",
                       "a3", "a4", "a5");
}

static void
products(uint64_t n)
{
    __asm__ volatile(ROUNDS(TIMES(100, "mul t0, t0, t0")) : [n] "+r"(n)::"t0");
}

static void
divisions(uint64_t n)
{
    const uint64_t by = 3;

    __asm__ volatile(ROUNDS(TIMES(10, "li t0, 77\n divu t0, t0, %[by]"))
                     : [n] "+r"(n)
                     : [by] "r"(by)
                     : "t0");
}

static void
floats(uint64_t n)
{
    __asm__ volatile(
        "fmv.d.x ft0, zero\n" ROUNDS(TIMES(100, "fadd.d ft0, ft0, ft0"))
        : [n] "+r"(n)::"ft0");
}

static void
loads(uint64_t n)
{
    static void *self = &self;
    void *at = &self;

    __asm__ volatile(ROUNDS(TIMES(100, "ld %[at], (%[at])"))
                     : [n] "+r"(n), [at] "+r"(at));
}

static void
chase(uint64_t n)
{
    void *at = lines;

    for (size_t i = 0; i < 1024; i++)
        lines[i][0] = (uint64_t)&lines[(i + 17) % 1024];
    __asm__ volatile(ROUNDS(TIMES(64, "ld %[at], (%[at])"))
                     : [n] "+r"(n), [at] "+r"(at));
}

/* Offsets of loads are -2048 to 2047. */
#define LOADS TIMES(64, "ld t0, at * 64 - 2048(t1)\n .set at, at + 1")

static void
known(uint64_t n)
{
    uint64_t offset = 0;

    memset(lines, 0, sizeof(lines));
    __asm__ volatile(ROUNDS("add t1, %[lines], %[offset]\n"
                            ".set at, 0\n" LOADS
                            "add %[offset], %[offset], %[page]\n"
                            "and %[offset], %[offset], %[all]\n")
                     : [n] "+r"(n), [offset] "+r"(offset)
                     : [lines] "r"((const char *)lines + 2048),
                       [page] "r"(4096), [all] "r"(65535)
                     : "t0", "t1");
}

static const struct kernel kernels[] = {
    {"sums", sums},           {"free", independent}, {"products", products},
    {"divisions", divisions}, {"floats", floats},    {"loads", loads},
    {"chase", chase},         {"known", known},
};

int
main(int argc, char **argv)
{
    return run_kernel(kernels, sizeof(kernels) / sizeof(*kernels), argc, argv);
}
