/* SPDX-License-Identifier: MIT */
/*
 * Four conditional branches a round: one never taken, one always, one every
 * second round, and the loop's own. A branch that is not taken goes on to one
 * nop that the taken one jumps over. A static "not taken" prediction misses
 * exactly the taken ones.
 *
 * Counts of the whole program, N = 1000:
 *   instructions              11504  4 N branches, 7.5 N + 4 others
 *   class_branch               4000  4 N
 *   class_other                7504  2 N subcc andcc, 4 N slots, 1.5 N nops; 4
 *   conditional_branches       4000  4 N
 *   conditional_taken          2499  N always, N / 2 alternating, N - 1 loop
 *   conditional_mispredicts    2499  the same
 *   unconditional_taken           0
 *
 * On sparc-t4:
 *   conditional_mispredicts         ?  its gshare learns all but the first
 */
        .equ    N, 1000

        .text
        .balign 64
        .globl  _start
_start:
        mov     N, %o1
round:
        brlez,pn %o1, 1f                ! never
        nop
        nop
1:      brgz,pt %o1, 2f                 ! always
        nop
        nop
2:      andcc   %o1, 1, %g0
        bne     3f                      ! every second round
        nop
        nop
3:      subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d
