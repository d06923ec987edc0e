/* SPDX-License-Identifier: MIT */
/*
 * l1d_ways.S with stores: the three lines of one set drive each other out, and
 * each is dirty then. A line of 32 bytes is 2 quadwords. All stays in the L2.
 *
 * Counts of the whole program, R = 50:
 *   instructions              412  R (5 + 3) + 9 to start, 3 to exit
 *   class_store               250  5 R
 *   l1d_store_misses          152  2 cold, 3 R
 *   l1d_writeback_quadwords   296  2 (3 R - 2): two lines are left
 *   l2_store_misses             5  cold: no two in 128 bytes
 *   l2_writeback_quadwords      0
 */
        .equ    R, 50

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
        li      $8, 0x8000              # 32 KB
        daddu   $8, $8, $7
round:
        sd      $9, 128($7)
        sd      $9, 0x4080($7)
        sd      $9, 0($7)
        sd      $9, 0x4000($7)
        sd      $9, 0($8)
        daddiu  $4, $4, -1
        bnez    $4, round
        nop

        li      $4, 0
        li      $2, 5058
        syscall

        .bss
        .balign 32768
array:
        .skip   32768 + 128
