/* SPDX-License-Identifier: MIT */
/*
 * Load linked and store conditional of both widths, and a SYNC, N rounds. No
 * store conditional fails: the exit status is what is left of N.
 *
 * Counts of the whole program, N = 500:
 *   instructions           5011  10 N, 7 to start, 4 to exit
 *   class_load             1001  2 N, and one at the end
 *   class_store            1000  2 N
 *   class_branch            500  N
 *   class_other            2510  5 N, 10 around them
 *   loads                  1001  the same
 *   stores                 1000  the same
 *   store_conditionals     1000  2 N
 *   barriers                500  N
 *   l1d_load_misses           1  cold
 *   l1d_store_misses          0  the load brought the line
 *   dtlb_load_misses          1  cold
 *   dtlb_store_misses         0
 */
        .equ    N, 500

        .set    noreorder
        .text
        .balign 64
        .globl  __start
__start:
        li      $4, N
        lui     $7, %highest(line)
        daddiu  $7, $7, %higher(line)
        dsll    $7, $7, 16
        daddiu  $7, $7, %hi(line)
        dsll    $7, $7, 16
        daddiu  $7, $7, %lo(line)
round:
        ll      $8, 0($7)
        addiu   $8, $8, 1
        sc      $8, 0($7)
        lld     $9, 8($7)
        daddiu  $9, $9, 1
        scd     $9, 8($7)
        sync
        daddiu  $4, $4, -1
        bnez    $4, round
        nop

        ld      $4, 8($7)
        daddiu  $4, $4, -N
        li      $2, 5058
        syscall

        .bss
        .balign 64
line:
        .skip   64
