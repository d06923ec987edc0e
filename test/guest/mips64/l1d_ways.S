/* SPDX-License-Identifier: MIT */
/*
 * R rounds of five loads: two lines of one set of the L1D, which its 2 ways
 * hold, and three of another, which an LRU cache of 2 ways misses always. Lines
 * of one set are 16 KB apart.
 *
 * Counts of the whole program, R = 50:
 *   instructions            412  R (5 + 3) + 9 to start, 3 to exit
 *   class_load              250  5 R
 *   class_branch             50  R
 *   class_other             112  2 R + 12
 *   l1d_load_misses         152  2 cold, 3 R
 *   l2_load_misses            5  cold: no two in 128 bytes
 *   dtlb_load_misses          2  two pages of 32 KB, cold
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
        ld      $9, 128($7)
        ld      $9, 0x4080($7)
        ld      $9, 0($7)
        ld      $9, 0x4000($7)
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
        .skip   32768 + 128
