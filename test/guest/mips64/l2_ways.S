/* SPDX-License-Identifier: MIT */
/*
 * R rounds of three loads 2 MB apart: three lines of one set of an L2 of 4 MB
 * and 2 ways, which an LRU cache misses always; and of one set of the L1D.
 *
 * Counts of the whole program, R = 50:
 *   instructions            313  R (3 + 3) + 10 to start, 3 to exit
 *   class_load              150  3 R
 *   l1d_load_misses         150  3 R
 *   l2_load_misses          150  3 R
 *   dtlb_load_misses          3  cold
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
        ld      $10, 0($7)
        ld      $10, 0($8)
        ld      $10, 0($9)
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
