/* SPDX-License-Identifier: MIT */
/*
 * Writes to LINES lines, R times, that lie STRIDE apart and so in one set of
 * the L2, and all in bank 3: each write misses and, once the WAYS ways are
 * full, drives out a line that was written before.
 *
 * Counts of the whole program, LINES = 32, R = 10; WAYS = 16:
 *   instructions           1007  R (3 LINES + 4) + 7
 *   class_store             320  R LINES
 *   l2_store_misses         320  R LINES
 *   l2_writebacks           304  R LINES - WAYS
 *   memory_writes_3         304  R LINES - WAYS
 *
 * On ultrasparc-t1:
 *   l2_writebacks           308  R LINES - WAYS, 12
 *   memory_writes_3         308  R LINES - WAYS, 12
 *
 * On sparc-t4:
 *   l2_writebacks           312  R LINES - WAYS, 8
 *   memory_writes_3           0
 *   memory_writes_7         304  R LINES - 16 ways of the L3; of 8 banks
 */
#ifndef WRITE
#define WRITE stx     %o4, [%o2 + %o3]
#endif
        .equ    STRIDE, 0x40000
        .equ    LINES, 32
        .equ    R, 10

        .text
        .balign 64
        .globl  _start
_start:
        mov     R, %o1
        sethi   %hi(array + 0x1c0), %o2
        or      %o2, %lo(array + 0x1c0), %o2
        sethi   %hi(STRIDE), %o5
round:
        sethi   %hi(LINES * STRIDE), %o3
step:
        subcc   %o3, %o5, %o3
        bne     step
        WRITE
        subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .bss
        .balign STRIDE
array:
        .skip   LINES * STRIDE
