/* SPDX-License-Identifier: MIT */
/*
 * Stores to each line of 32 bytes in the first 8 KB of each of 16 times 16 KB:
 * of two lines memory serves one, and the L3, whose lines are twice as long, the
 * other. An L2 of 128 KB in 8 ways, full after the first 8, drives a dirty line
 * out for each. Code and tables of pages are in sets that no store asks for, and
 * the walk to a new page waits, for a table's line that the L2 lacks: a burst
 * has 256 lines. Then, in one page more, 8 bursts of 15 stores to memory, which
 * a load from there ends.
 *
 * Counts of the whole program, LINES = 256, TIMES = 16, ROUNDS = 8:
 *   instructions           16978  5 to start, (4 LINES + 4) TIMES, 2, (4 x 15 + 5) ROUNDS, 3 to exit
 *   class_branch            4240  (LINES + 1) TIMES, (15 + 1) ROUNDS
 *   class_load                 8  ROUNDS
 *   class_store             4216  LINES TIMES, 15 ROUNDS
 *
 * On sparc-t4:
 *   l2_misses_full           128  LINES / 2 in 16s, TIMES
 *   l2_fills_full            256  LINES / 2 in 8s, TIMES
 *   l2_writebacks_full       264  LINES in 8s, TIMES - 8; one of each burst of 15
 *   l2_stalls                520  all three, less LINES / 16, TIMES - 8, that fill two at once
 */
        .equ    LINES, 256
        .equ    TIMES, 16
        .equ    ROUNDS, 8

        .text
        .balign 16384
        .skip   8192
        .globl  _start
_start:
        sethi   %hi(there), %o2
        sethi   %hi(8192), %o5
        mov     TIMES, %o3
        nop
        nop
times:
        mov     LINES, %o1
line:
        stx     %g0, [%o2]
        subcc   %o1, 1, %o1
        bne     line
        add     %o2, 32, %o2
        subcc   %o3, 1, %o3
        bne     times
        add     %o2, %o5, %o2

        mov     ROUNDS, %o3
        nop
round:
        mov     15, %o1
store:
        stx     %g0, [%o2]
        subcc   %o1, 1, %o1
        bne     store
        add     %o2, 64, %o2
        ldx     [%o2], %o4
        subcc   %o3, 1, %o3
        bne     round
        add     %o2, 64, %o2

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .bss
        .balign 0x400000
there:
        .skip   (TIMES + 1) * 16384
