/* SPDX-License-Identifier: MIT */
/*
 * Branches of every kind: each round one that is never taken, one that always is,
 * two that are taken every second round, and the loop's own. One that is not
 * taken goes on to one nop that the taken one jumps over.
 *
 * Counts of the whole program, N = 1000:
 *   instructions          14003  5 N branches, 3 N jumps, 4 N others, 2 N nops, 3
 *   class_branch           8000  8 N
 *   class_other            6003  4 N andi auipc addi addi; N nops of the first
 *                                branch, N / 2 of the third and the fourth each; 3
 *                                around them
 *   conditional_branches   5000  5 N
 *   conditional_taken      2999  N always, N / 2 twice, N - 1 loop
 *   unconditional_taken    3000  3 N: jalr ret beq
 *   indirect_taken         1000  N: jalr
 *   returns                1000  N
 *   riscv_branches         6000  6 N, with the beq that is always taken
 *   riscv_jal                 0
 *   riscv_system              1  ecall
 *   riscv_arithmetic       6002  all others
 */
        .equ    N, 1000

        .option norelax
        .text
        .balign 64
        .globl  _start
_start:
        li      s0, N
round:
        beqz    s0, 1f                  // never
        nop
1:      bnez    s0, 2f                  // always
        nop
2:      andi    t0, s0, 1
        beqz    t0, 3f                  // every second round
        nop
3:      bnez    t0, 4f                  // in the other rounds
        nop
4:      lla     a1, leaf
        jalr    a1
        beq     zero, zero, 5f
        nop
5:      addi    s0, s0, -1
        bnez    s0, round

        li      a7, 93
        ecall

leaf:
        ret
