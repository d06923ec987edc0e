/* SPDX-License-Identifier: MIT */
/*
 * D saves and as many restores in one block, R times, as code does that flushes
 * windows by hand. Of eight register windows six saves need no spill; each
 * deeper one spills one, and as many restores fill one.
 *
 * Counts of the whole program, R = 10, D = 12:
 *   instructions            274  R (2 D + 3) + 4
 *   class_branch             10  R
 *   class_other             264  R (2 D + 2) + 4
 *   window_spills            60  R (D - 6)
 *   window_fills             60  R (D - 6)
 */
        .equ    R, 10
        .equ    D, 12

        .text
        .balign 64
        .globl  _start
_start:
        mov     R, %g1
round:
        .rept   D
        save    %sp, -176, %sp
        .endr
        .rept   D
        restore
        .endr
        subcc   %g1, 1, %g1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d
