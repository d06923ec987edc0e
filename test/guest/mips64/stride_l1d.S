/* SPDX-License-Identifier: MIT */
/*
 * Walks an array of BYTES bytes by STRIDE, R times, one load a step. Twice the
 * size of a 32 KB, 2-way, 32-byte-line LRU cache: each set is asked for 4 lines
 * in turn and has lost every one when it comes round again.
 *
 * Counts of the whole program, BYTES = 65536, STRIDE = 32, R = 10:
 *   instructions          81970  R (4 BYTES / STRIDE + 4) + 10
 *   class_load            20480  R BYTES / STRIDE
 *   class_branch          20490  R (BYTES / STRIDE + 1)
 *   class_other           41000  R (2 BYTES / STRIDE + 3) + 10
 *   conditional_branches  20490  R (BYTES / STRIDE + 1)
 *   conditional_taken     20479  R (BYTES / STRIDE - 1) + R - 1
 *   l1d_load_misses       20480  R BYTES / STRIDE
 *   l2_load_misses          512  BYTES / 128, cold
 *   dtlb_load_misses          2  BYTES / 32768, cold
 */
#ifndef BYTES
#define BYTES 65536
#endif
        .equ    STRIDE, 32
        .equ    R, 10

        .set    noreorder
        .text
        .balign 64
        .globl  __start
__start:
        li      $4, R
        lui     $7, %highest(array)
        daddiu  $7, $7, %higher(array)
        dsll    $7, $7, 16
        daddiu  $7, $7, %hi(array)
        dsll    $7, $7, 16
        daddiu  $7, $7, %lo(array)
round:
        li      $5, BYTES
step:
        daddiu  $5, $5, -STRIDE
        daddu   $8, $7, $5
        bnez    $5, step
        ld      $9, 0($8)
        daddiu  $4, $4, -1
        bnez    $4, round
        nop

        li      $4, 0
        li      $2, 5058
        syscall

        .bss
        .balign 32768
array:
        .skip   BYTES
