/* SPDX-License-Identifier: MIT */
/*
 * Annulled delay slots. A conditional branch with the annul bit executes its
 * slot when taken and skips it when not; ba,a and bn,a always skip it. A
 * skipped slot is no instruction. %o2 counts the slots that ran: the exit
 * status is 0 if they are N - 1, all of the first loop.
 *
 * Counts of the whole program, N = 1000:
 *   instructions           9005  3 N - 1 first loop, 6 N second, 6 around them
 *   class_branch           5000  N bne,a; N each of brlz,a ba,a bn,a bne
 *   class_other            4005  2 N - 1 first loop, 2 N second, 6 around them
 *   conditional_branches   3000  N bne,a, N brlz,a, N bne
 *   conditional_taken      1998  N - 1 bne,a, N - 1 bne
 *   unconditional_taken    1000  N ba,a
 */
        .equ    N, 1000

        .text
        .balign 64
        .globl  _start
_start:
        mov     0, %o2
        mov     N, %o1
first:
        subcc   %o1, 1, %o1
        bne,a   first
        add     %o2, 1, %o2             ! runs N - 1 times

        mov     N, %o1
second:
        subcc   %o1, 1, %o1
        brlz,a,pn %o1, 2f               ! never taken
        add     %o2, 1, %o2
        ba,a    1f
        add     %o2, 1, %o2
1:      bn,a    2f
        add     %o2, 1, %o2
        bne     second
        nop

2:      sub     %o2, N - 1, %o0
        mov     1, %g1
        ta      0x6d
