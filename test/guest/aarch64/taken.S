/* SPDX-License-Identifier: MIT */
/*
 * Branches of every kind: each round one that is never taken, one that always is,
 * two that are taken every second round, and the loop's own. One that is not
 * taken goes on to one nop that the taken one jumps over.
 *
 * Counts of the whole program, N = 1000:
 *   instructions          12003  5 N branches, 3 N jumps, 2 N others, 2 N nops, 3
 *   class_branch           8000  8 N
 *   class_other            4003  2 N adr subs; N nops of the first branch, N / 2 of
 *                                the third and the fourth each; 3 around them
 *   conditional_branches   5000  5 N
 *   conditional_taken      2999  N always, N / 2 twice, N - 1 loop
 *   unconditional_taken    3000  3 N: blr ret b.al
 */
        .equ    N, 1000

        .text
        .balign 64
        .globl  _start
_start:
        mov     x0, #N
round:
        cbz     x0, 1f                  // never
        nop
1:      cbnz    x0, 2f                  // always
        nop
2:      tbz     x0, #0, 3f              // every second round
        nop
3:      tbnz    w0, #0, 4f              // in the other rounds
        nop
4:      adr     x1, leaf
        blr     x1
        b.al    5f
        nop
5:      subs    x0, x0, #1
        b.ne    round

        mov     x8, #93
        svc     #0

leaf:
        ret
