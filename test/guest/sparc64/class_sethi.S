/* SPDX-License-Identifier: MIT */
/*
 * The software count, sethi %hi(0xfc000), %g0, twice a round among four sethi
 * that are not it: another value, another register, a nop, and neither alike.
 *
 * Counts of the whole program, N = 500:
 *   instructions           4504  6 N sethi, 3 N of the loop, 4 around it
 *   class_sethi            1000  2 N
 *   class_branch            500  N
 *   class_other            3004  6 N: 4 sethi, subcc, slot; 4 around
 */
        .equ    N, 500

        .text
        .balign 64
        .globl  _start
_start:
        mov     N, %o1
round:
        sethi   %hi(0xfc000), %g0
        sethi   %hi(0xfc400), %g0
        sethi   %hi(0xfc000), %o2
        sethi   %hi(0xfc000), %g0
        sethi   %hi(0), %g0
        sethi   %hi(0x12345400), %o3
        subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d
