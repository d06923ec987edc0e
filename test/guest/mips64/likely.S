/* SPDX-License-Identifier: MIT */
/*
 * Likely branches, whose slot runs when they are taken and is annulled when not:
 * a loop, one that is never taken, and a loop whose slot is on the next page. An
 * annulled slot is no instruction, and its load is none. $5 counts the slots
 * that ran: the exit status is 0 if they are 2 (N - 1).
 *
 * Counts of the whole program, N = 1000:
 *   instructions             11013  3 N - 1 each loop, 5 N between; 15 around
 *   class_branch              4001  N, 2 N, N; one jump
 *   class_load                   0
 *   class_other               7012  2 N - 1 each loop, 3 N between; 14 around
 *   conditional_branches      4000  N, 2 N, N
 *   conditional_taken         2997  N - 1, N - 1, N - 1
 *   conditional_mispredicts      6  the first and the last of each loop
 *   unconditional_taken          1
 */
        .equ    N, 1000

        .set    noreorder
        .text
        .balign 64
        .globl  __start
__start:
        li      $5, 0
        lui     $7, %highest(first)
        daddiu  $7, $7, %higher(first)
        dsll    $7, $7, 16
        daddiu  $7, $7, %hi(first)
        dsll    $7, $7, 16
        daddiu  $7, $7, %lo(first)
        li      $4, N
first:
        daddiu  $4, $4, -1
        bnezl   $4, first
        daddiu  $5, $5, 1               # runs N - 1 times

        li      $4, N
second:
        daddiu  $4, $4, -1
        bltzl   $4, 1f                  # never
        ld      $6, 0($7)
        nop
1:      bnez    $4, second
        nop

        li      $4, N
        b       third
        nop

        .balign 4096
        .skip   4096 - 8
third:
        daddiu  $4, $4, -1
        bnezl   $4, third
        daddiu  $5, $5, 1               # runs N - 1 times

        daddiu  $4, $5, -2 * (N - 1)
        li      $2, 5058
        syscall
