/* SPDX-License-Identifier: MIT */
/*
 * Recursion D deep, within the six saves that need no spill, with a flushw at
 * the bottom: it spills the D windows above, and each of the D restores fills.
 *
 * Counts of the whole program, R = 10, D = 4:
 *   instructions            364  R (5 + 8 D - 2 + 1) + 4
 *   class_branch            130  R (2 + 3 D - 1)
 *   class_other             234  R (3 + 5 D - 1 + 1) + 4
 *   window_spills            40  R D
 *   window_fills             40  R D
 */
        .equ    R, 10
        .equ    D, 4

        .text
        .balign 64
        .globl  _start
_start:
        mov     R, %l0
round:
        call    down
        mov     D, %o0
        subcc   %l0, 1, %l0
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

down:
        save    %sp, -176, %sp
        subcc   %i0, 1, %o0
        be      1f
        nop
        call    down
        nop
        ret
        restore
1:      flushw
        ret
        restore
