/* SPDX-License-Identifier: MIT */
/*
 * Store conditionals of which every second fails: its load linked was of another
 * doubleword. The exit status is 0 if N of them did and N did not.
 *
 * Counts of the whole program, N = 500:
 *   instructions               6011  12 N, 8 to start, 3 to exit
 *   class_load                 1000  2 N
 *   class_store                1000  2 N
 *   loads                      1000  the same
 *   store_conditionals         1000  2 N
 *   failed_conditionals         500  N
 */
        .equ    N, 500

        .set    noreorder
        .text
        .balign 64
        .globl  __start
__start:
        li      $4, N
        li      $6, N
        lui     $7, %highest(line)
        daddiu  $7, $7, %higher(line)
        dsll    $7, $7, 16
        daddiu  $7, $7, %hi(line)
        dsll    $7, $7, 16
        daddiu  $7, $7, %lo(line)
round:
        lld     $8, 0($7)
        scd     $8, 8($7)
        daddu   $6, $6, $8              # fails: adds 0
        lld     $9, 0($7)
        daddiu  $9, $9, 1
        scd     $9, 0($7)
        dsubu   $6, $6, $9              # stores: takes 1 away
        nop
        nop
        daddiu  $4, $4, -1
        bnez    $4, round
        nop

        move    $4, $6
        li      $2, 5058
        syscall

        .bss
        .balign 64
line:
        .skip   64
