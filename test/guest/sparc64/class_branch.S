/* SPDX-License-Identifier: MIT */
/*
 * Branches of every kind, N rounds of seven. The two that annul always (ba,a
 * and bn,a) leave their delay slot out; the other five execute a nop in it.
 *
 * Counts of the whole program, N = 1000:
 *   instructions          13004  7 N branches, 6 N + 4 others
 *   class_branch           7000  7 N: ba,a bn bn,a call retl brlz bne
 *   class_other            6004  6 N: subcc and 5 slots; 1 to start, 3 to exit
 *   conditional_branches   2000  2 N: brlz, bne
 *   conditional_taken       999  N - 1: bne
 *   unconditional_taken    3000  3 N: ba,a call retl
 */
        .equ    N, 1000

        .text
        .balign 64
        .globl  _start
_start:
        mov     N, %o1
round:
        subcc   %o1, 1, %o1
        ba,a    1f
        nop                             ! annulled
        nop                             ! jumped over
1:      bn      round
        nop
        bn,a    round
        nop                             ! annulled
        call    leaf
        nop
        brlz,pn %o1, round
        nop
        bne     round                   ! leaf keeps the condition codes
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

leaf:
        retl
        nop
