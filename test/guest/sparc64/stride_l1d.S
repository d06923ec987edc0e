/* SPDX-License-Identifier: MIT */
/*
 * Walks an array of BYTES bytes by STRIDE, R times, one load a step. Twice the
 * size of an 8 KB, 4-way, 16-byte-line LRU cache: each set is asked for 8 lines
 * in turn and has lost every one when it comes round again.
 *
 * Counts of the whole program, BYTES = 16384, STRIDE = 16, R = 10:
 *   instructions          30776  R (3 BYTES / STRIDE + 5) + 6
 *   class_load            10240  R BYTES / STRIDE
 *   class_branch          10250  R (BYTES / STRIDE + 1)
 *   class_other           10286  R (BYTES / STRIDE + 4) + 6
 *   conditional_branches  10250  R (BYTES / STRIDE + 1)
 *   conditional_taken     10239  R (BYTES / STRIDE - 1) + R - 1
 *   l1d_load_misses       10240  R BYTES / STRIDE
 *   l2_load_misses          256  BYTES / 64, cold
 *   dtlb_load_misses          2  BYTES / 8192, cold
 *
 * On sparc-t4:
 *   l1d_load_misses          512  BYTES / 32, cold: 16 KB, 32-byte lines
 *   l2_load_misses           512  BYTES / 32, cold
 *   load_l2_hits               0  none
 *   load_l3_hits             256  BYTES / 64: an L3 line holds two
 *   load_memory              256  BYTES / 64, cold
 */
#ifndef BYTES
#define BYTES 16384
#endif
        .equ    STRIDE, 16
        .equ    R, 10

        .text
        .balign 64
        .globl  _start
_start:
        mov     R, %o1
        sethi   %hi(array), %o2
        or      %o2, %lo(array), %o2
round:
        sethi   %hi(BYTES), %o3
        or      %o3, %lo(BYTES), %o3
step:
        subcc   %o3, STRIDE, %o3
        bne     step
        ldx     [%o2 + %o3], %o4
        subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .bss
        .balign 16384
array:
        .skip   BYTES
