/* SPDX-License-Identifier: MIT */
/*
 * Integer multiplies and divides, N rounds of ten. The R10000 counts each as two
 * graduated instructions.
 *
 * Counts of the whole program, N = 500:
 *   instructions           6505  10 N, 3 N of the loop, 5 around it
 *   mul_div                5000  10 N
 *   class_branch            500  N
 *   class_other            6005  10 N, 2 N, 5
 *   class_fgu                 0
 */
        .equ    N, 500

        .set    noreorder
        .text
        .balign 64
        .globl  __start
__start:
        li      $4, N
        li      $5, 7
round:
        mult    $4, $5
        multu   $4, $5
        dmult   $4, $5
        dmultu  $4, $5
        div     $0, $4, $5
        divu    $0, $4, $5
        ddiv    $0, $4, $5
        ddivu   $0, $4, $5
        madd    $4, $5
        mul     $6, $4, $5
        daddiu  $4, $4, -1
        bnez    $4, round
        nop

        li      $4, 0
        li      $2, 5058
        syscall
