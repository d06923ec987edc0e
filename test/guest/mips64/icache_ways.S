/* SPDX-License-Identifier: MIT */
/*
 * Jumps through three blocks that are 16 KB apart, R times: three lines of one
 * set in a 32 KB cache of 2 ways and 64-byte lines, which an LRU cache misses
 * always.
 *
 * __start is in the line before the first block, which is of another set.
 *
 * Counts of the whole program, R = 50:
 *   instructions            356  3 + R (4 + 3) + 3
 *   class_branch            151  1 + 3 R
 *   class_other             205  2 + R (2 + 2) + 3
 *   conditional_branches     50  R
 *   conditional_taken        49  R - 1
 *   unconditional_taken     101  1 + 2 R
 *   l1i_misses              151  1 + 3 R
 *   l2_fetch_misses           4  cold
 *   itlb_misses               3  __start's page, and the blocks in two
 */
        .equ    R, 50

        .set    noreorder
        .text
        .balign 32768
        .skip   32768 - 64
        .globl  __start
__start:
        li      $4, R
        b       round
        nop
        .balign 32768
round:
        .rept   2
        b       . + 16384
        nop
        .skip   16384 - 8
        .endr
        daddiu  $4, $4, -1
        bnez    $4, round
        nop

        li      $4, 0
        li      $2, 5058
        syscall
