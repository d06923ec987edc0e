/* SPDX-License-Identifier: MIT */
/*
 * Atomics, N rounds of four: ldstub, swap, a casx that exchanges and a cas
 * that does not.
 *
 * Counts of the whole program, N = 500:
 *   instructions           4506  4 N atomics, 5 N of the loop, 6 around it
 *   class_atomic           2000  4 N
 *   class_load                0
 *   class_store               0
 *   class_branch            500  N
 *   class_other            2006  4 N: add, mov, subcc, slot; 6 around
 */
        .equ    N, 500

        .text
        .balign 64
        .globl  _start
_start:
        mov     N, %o1
        sethi   %hi(line), %o2
        or      %o2, %lo(line), %o2
round:
        ldstub  [%o2], %o3
        swap    [%o2 + 4], %o3
        add     %o2, 8, %o5
        casx    [%o5], %g0, %g0         ! holds 0: stores 0 again
        mov     1, %o3
        cas     [%o5], %o3, %o4         ! does not hold 1
        subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .bss
        .balign 64
line:
        .skip   64
