/* SPDX-License-Identifier: MIT */
/*
 * The 23 instructions of the floating-point unit that the cores of an
 * UltraSPARC T1 share (Netra DPS profiler, TABLE 3-2, footnote 3), N rounds,
 * with twelve others of the FGU between them that are not of the list.
 *
 * Counts of the whole program, N = 200:
 *   instructions           7608  35 N FGU, 3 N of the loop, 8 around it
 *   class_fgu              7000  (23 + 12) N
 *   shared_fpu             4600  23 N
 *   class_load                2  the two operands
 *   class_branch            200  N
 *   class_other             406  2 N: subcc, slot; 3 to start, 3 to exit
 */
        .equ    N, 200

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
        fadds   %f2, %f4, %f8
        faddd   %f2, %f4, %f6
        fsubs   %f2, %f4, %f8
        fsubd   %f2, %f4, %f6
        fmuls   %f2, %f4, %f8
        fmuld   %f2, %f4, %f6
        fdivs   %f2, %f4, %f8
        fdivd   %f2, %f4, %f6
        fsmuld  %f2, %f4, %f6
        fstox   %f2, %f6
        fdtox   %f2, %f6
        fxtos   %f2, %f8
        fxtod   %f2, %f6
        fitos   %f2, %f8
        fdtos   %f2, %f8
        fitod   %f2, %f6
        fstod   %f2, %f6
        fstoi   %f2, %f8
        fdtoi   %f2, %f8
        fcmps   %fcc0, %f2, %f4
        fcmpd   %fcc1, %f2, %f4
        fcmpes  %fcc2, %f2, %f4
        fcmped  %fcc3, %f2, %f4

        fmovs   %f2, %f8
        fmovd   %f2, %f6
        fnegs   %f2, %f8
        fnegd   %f2, %f6
        fabss   %f2, %f8
        fabsd   %f2, %f6
        fsqrts  %f2, %f8
        fsqrtd  %f2, %f6
        fmovdne %icc, %f2, %f6
        fmovrdz %g0, %f2, %f6
        fmovse  %icc, %f2, %f8
        fmovrsnz %g0, %f2, %f8

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
