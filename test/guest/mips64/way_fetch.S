/* SPDX-License-Identifier: MIT */
/*
 * The three blocks of icache_ways.S, which an LRU L1I has lost when they come
 * round again, each with a load of a line that an L2 of 4 MB has in the block's
 * own set; an LRU L1D has lost each line of the loads too. So code and data
 * take turns in both ways of three sets.
 *
 * Counts of the whole program, R = 50:
 *   instructions                 568  15 + R (2 * 3 + 5) + 3
 *   class_load                   150  3 R
 *   l1i_misses                   151  1 + 3 R
 *   l1d_load_misses              150  3 R
 *   l2_fetch_misses                4  cold
 *   l2_load_misses                 3  cold
 *   l2_fetch_way_mispredicts     147  3 (R - 1)
 *   l2_data_way_mispredicts      147  3 (R - 1)
 */
        .equ    R, 50

        .set    noreorder
        .text
        .balign 32768
        .skip   32768 - 64
        .globl  __start
__start:
        li      $4, R
        lui     $7, %highest(array)
        daddiu  $7, $7, %higher(array)
        dsll    $7, $7, 16
        daddiu  $7, $7, %hi(array)
        dsll    $7, $7, 16
        daddiu  $7, $7, %lo(array)
        lui     $5, %hi(round)
        daddiu  $5, $5, %lo(round)
        dsll    $5, $5, 43              # what of it chooses a set of the L2:
        dsrl    $5, $5, 43              # its place in 2 MB
        daddu   $7, $7, $5
        ori     $6, $0, 0x4000
        b       round
        daddu   $8, $7, $6
        .balign 32768
round:
        ld      $10, 0($7)
        b       round + 16384
        nop
        .skip   16384 - 12
        ld      $10, 0($8)
        b       round + 32768
        nop
        .skip   16384 - 12
        daddu   $9, $8, $6
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
        .skip   0x400000
