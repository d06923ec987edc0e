/* SPDX-License-Identifier: MIT */
/*
 * Four conditional branches a round: one never taken, one always, one every
 * second round, and the loop's own. A branch that is not taken goes on to one
 * nop that the taken one jumps over.
 *
 * Counts of the whole program, N = 1000:
 *   instructions             11504  4 N branches, 7.5 N + 4 others
 *   class_branch              4000  4 N
 *   class_other               7504  2 N daddiu andi, 4 N slots, 1.5 N nops; 4
 *   conditional_branches      4000  4 N
 *   conditional_taken         2499  N always, N / 2 alternating, N - 1 loop
 *   conditional_mispredicts    503  a counter starts at 1 of 0 to 3: 1 always,
 *                                   N / 2 alternating, the loop's first and last
 *   unconditional_taken          0
 */
        .equ    N, 1000

        .set    noreorder
        .text
        .balign 64
        .globl  __start
__start:
        li      $4, N
round:
        blez    $4, 1f                  # never
        nop
        nop
1:      bgtz    $4, 2f                  # always
        nop
        nop
2:      andi    $5, $4, 1
        bnez    $5, 3f                  # every second round
        nop
        nop
3:
        daddiu  $4, $4, -1
        bnez    $4, round
        nop

        li      $4, 0
        li      $2, 5058
        syscall
