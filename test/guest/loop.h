/* SPDX-License-Identifier: MIT */
/*
 * A loop whose instructions are known: n turns, n at least 1, are
 *   sparc64  3 n instructions, n conditional branches, n - 1 of them taken
 *   mips64   3 n instructions, n conditional branches, n - 1 of them taken,
 *            and so on mips64el
 *   x86_64   2 n instructions, n conditional branches, n - 1 of them taken
 *   aarch64  2 n instructions, n conditional branches, n - 1 of them taken
 *   riscv64  2 n instructions, n conditional branches, n - 1 of them taken
 */
#ifndef LOOP_H
#define LOOP_H

static inline __attribute__((always_inline)) void
loop(unsigned long n)
{
#if defined(__sparc__) && defined(__arch64__)
    __asm__ volatile("1: subcc %0, 1, %0\n\t"
                     "bne,pt %%xcc, 1b\n\t"
                     "nop"
                     : "+r"(n)
                     :
                     : "cc");
#elif defined(__mips64)
    __asm__ volatile(".set push\n\t"
                     ".set noreorder\n\t"
                     "1: daddiu %0, %0, -1\n\t"
                     "bnez %0, 1b\n\t"
                     "nop\n\t"
                     ".set pop"
                     : "+r"(n));
#elif defined(__x86_64__)
    __asm__ volatile("1: dec %0\n\t"
                     "jnz 1b"
                     : "+r"(n)
                     :
                     : "cc");
#elif defined(__aarch64__)
    __asm__ volatile("1: subs %0, %0, #1\n\t"
                     "b.ne 1b"
                     : "+r"(n)
                     :
                     : "cc");
#elif defined(__riscv)
    __asm__ volatile("1: addi %0, %0, -1\n\t"
                     "bnez %0, 1b"
                     : "+r"(n));
#else
#error "loop() is not written for this architecture"
#endif
}

#endif
