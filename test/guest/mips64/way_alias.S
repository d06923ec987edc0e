/* SPDX-License-Identifier: MIT */
/*
 * Two lines 1 MB apart, in sets of an L2 of 4 MB, 2 ways and 128-byte lines that
 * are 8192 apart: a table of 8192 entries has one for both. The first is put
 * into way 0 of its set, the second into way 1, as a third was in way 0 there
 * before: R rounds find each where the other is not. A table of 16384 entries
 * has one for each set and is right. A fourth line, alone in its set of the L2,
 * takes part so that the L1D has none of them.
 *
 * Counts of the whole program, R = 50:
 *   instructions                 318  R (3 + 3) + 15 to start, 3 to exit
 *   class_load                   153  3 R + 3
 *   l1d_load_misses              153  3 R + 3
 *   l2_load_misses                 4  cold
 *   l2_data_way_mispredicts       98  2 (R - 1)
 * On r12000:
 *   l2_data_way_mispredicts        0
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
        lui     $5, 0x10                # 1 MB
        daddu   $8, $7, $5
        daddu   $9, $8, $5              # the set of the line at 0
        ld      $10, 0($8)              # the first: way 0
        ld      $10, 0($9)              # the third: way 0
        ori     $5, $0, 0x4000
        daddu   $9, $7, $5
        ld      $10, 0($9)              # the fourth
round:
        ld      $10, 0($8)
        ld      $10, 0($7)
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
