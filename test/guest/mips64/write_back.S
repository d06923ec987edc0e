/* SPDX-License-Identifier: MIT */
/*
 * R rounds of three stores 2 MB apart: three lines of one set of the L1D and of
 * one set of the L2, both of 2 ways. Each store drives a dirty line out of both,
 * the first two excepted.
 *
 * Counts of the whole program, R = 50:
 *   instructions             313  R (3 + 3) + 10 to start, 3 to exit
 *   class_store              150  3 R
 *   l1d_store_misses         150  3 R
 *   l2_store_misses          150  3 R
 *   l1d_updates                0  a line that is brought in is none
 *   l2_updates                 0
 *   l1d_writeback_quadwords  296  (3 R - 2) lines of 32 bytes
 *   l2_writeback_quadwords  1184  (3 R - 2) lines of 128 bytes
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
        lui     $5, 0x20                # 2 MB
        daddu   $8, $7, $5
        daddu   $9, $8, $5
round:
        sd      $4, 0($7)
        sd      $4, 0($8)
        sd      $4, 0($9)
        daddiu  $4, $4, -1
        bnez    $4, round
        nop

        li      $4, 0
        li      $2, 5058
        syscall

        .bss
        .balign 32768
array:
        .skip   0x400080
