/* SPDX-License-Identifier: MIT */
/*
 * R rounds of three loads that one set of the L1D is asked for: of its two ways
 * it has lost each when it comes round again. Two of them are 2 MB apart, in one
 * set of an L2 of 4 MB and 2 ways: each is found in the way that the other one
 * did not use. The third is alone in its set.
 *
 * Counts of the whole program, R = 50:
 *   instructions                 314  R (3 + 3) + 11 to start, 3 to exit
 *   class_load                   150  3 R
 *   l1d_load_misses              150  3 R
 *   l2_load_misses                 3  cold
 *   l2_data_way_mispredicts       98  2 (R - 1)
 *   l2_fetch_way_mispredicts       0
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
        ori     $5, $0, 0x4000          # 16 KB: the L1D's set, not the L2's
        daddu   $9, $7, $5
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
        .balign 0x200000
array:
        .skip   0x200080
