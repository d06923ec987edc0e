/* SPDX-License-Identifier: MIT */
/*
 * Branches that are taken, 64 bytes apart: of one set in a cache of 32 targets
 * and 2 ways. R rounds of two, a jump and the loop's own, which the cache holds;
 * then R rounds of three, which it misses always.
 *
 * Counts of the whole program, R = 100:
 *   instructions            1205  R (5 + 7) + 2, 3 to exit
 *   class_branch             500  R (2 + 3)
 *   class_other              705  R (3 + 4) + 5
 *   conditional_branches     200  2 R
 *   conditional_taken        198  2 (R - 1)
 *   unconditional_taken      300  3 R
 *   conditional_mispredicts    4  the first and the last of each loop
 *   btc_misses               301  2 cold, 2 R + R - 1
 *   btc_mispredicts            0
 */
        .equ    R, 100

        .set    noreorder
        .text
        .balign 64
        .globl  __start
__start:
        li      $4, R
two:
        b       1f
        nop
        .skip   64 - 4 - 8
1:      daddiu  $4, $4, -1
        bnez    $4, two
        nop

        li      $4, R
three:
        b       1f
        nop
        .skip   64 - 8
1:      b       2f
        nop
        .skip   64 - 4 - 8
2:      daddiu  $4, $4, -1
        bnez    $4, three
        nop

        li      $4, 0
        li      $2, 5058
        syscall
