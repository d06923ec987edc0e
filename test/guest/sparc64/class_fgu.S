/* SPDX-License-Identifier: MIT */
/*
 * Floating-point arithmetic, N rounds of twelve.
 *
 * Counts of the whole program, N = 500:
 *   instructions           7508  12 N FGU, 3 N of the loop, 8 around it
 *   class_fgu              6000  12 N
 *   class_load                2  the two operands
 *   class_branch            500  N
 *   class_other            1006  2 N: subcc, slot; 3 to start, 3 to exit
 */
        .equ    N, 500

        .text
        .balign 64
        .globl  _start
_start:
        mov     N, %o1
        sethi   %hi(operands), %o2
        or      %o2, %lo(operands), %o2
        ldd     [%o2], %f2
        ldd     [%o2 + 8], %f4
round:
        faddd   %f2, %f4, %f6
        fsubd   %f2, %f4, %f6
        fmuld   %f2, %f4, %f6
        fdivd   %f2, %f4, %f6
        fsqrtd  %f2, %f6
        fcmpd   %fcc0, %f2, %f4
        fmovd   %f2, %f6
        fnegd   %f2, %f6
        fabsd   %f2, %f6
        fdtoi   %f2, %f8
        fitod   %f8, %f6
        fadds   %f8, %f8, %f9
        subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .section .rodata
        .balign 16
operands:
        .double 1.5, 2.25
