/* SPDX-License-Identifier: MIT */
/*
 * Instructions of coprocessor 1, N rounds of ten: seven compute, three move. Its
 * branch is a branch, its loads and stores are loads and stores.
 *
 * Counts of the whole program, N = 500:
 *   instructions           8004  10 N, 3 N of its branch, 3 N of the loop; 4
 *   class_fgu              5000  10 N
 *   fp_instructions        3500  7 N
 *   class_branch           1000  2 N
 *   class_other            2004  4 N, 4 around it
 *   conditional_branches   1000  2 N
 *   conditional_taken       499  N - 1
 */
        .equ    N, 500

        .set    noreorder
        .text
        .balign 64
        .globl  __start
__start:
        li      $4, N
round:
        add.d   $f0, $f2, $f4
        sub.s   $f0, $f2, $f4
        mul.d   $f0, $f2, $f4
        div.d   $f0, $f2, $f4
        madd.d  $f6, $f0, $f2, $f4
        cvt.d.w $f8, $f2
        c.lt.d  $f2, $f2
        mov.d   $f0, $f2
        mtc1    $0, $f10
        dmfc1   $5, $f10
        bc1t    1f                      # never
        nop
        nop
1:
        daddiu  $4, $4, -1
        bnez    $4, round
        nop

        li      $4, 0
        li      $2, 5058
        syscall
