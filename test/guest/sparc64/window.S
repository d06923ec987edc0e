/* SPDX-License-Identifier: MIT */
/*
 * Recursion D deep, R times. Of eight register windows one is the caller's and
 * one stays free, so six saves need no spill; every deeper one spills one
 * window, and on the way back as many restores fill one. A round leaves the
 * windows as it found them.
 *
 * Counts of the whole program, R = 10, D = 20:
 *   instructions           1634  R (5 + 8 D - 2) + 4
 *   class_branch            610  R (2 + 3 D - 1)
 *   class_other            1024  R (3 + 5 D - 1) + 4
 *   conditional_branches    210  R (1 + D)
 *   conditional_taken        19  R - 1 rounds, R at the bottom
 *   unconditional_taken     400  R (1 call, D - 1 calls, D ret)
 *   window_spills           140  R (D - 6)
 *   window_fills            140  R (D - 6)
 */
        .equ    R, 10
        .equ    D, 20

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
1:      ret
        restore
