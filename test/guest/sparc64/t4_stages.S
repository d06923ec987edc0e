/* SPDX-License-Identifier: MIT */
/*
 * What the stages of a SPARC T4 make of a block, N rounds. Two are selected in
 * a cycle that follow one another, but not two stores; picked is what is
 * selected, and a store's data besides; an atomic commits alone, and is a
 * store; four are fetched in a cycle; a block load is eight micro-operations.
 *
 * A round in cycles, l one of the block load's eight, s a store:
 *   select   add casx | add s | s | s l | l l | l l | l l | l subcc | bne nop
 *            with 3 picks in the first, second and fourth, 2 in the others
 *   commit   add | casx | add s | s s | l l | l l | l l | l l | subcc bne | nop
 *   fetch    4 | 4 | 2
 * The start's four instructions are of the first round's block, the exit's
 * three are one. So there is a fetch in 302 cycles: 3 N, 1 more of the first
 * round, 1 to exit.
 *
 * Counts of the whole program, N = 100:
 *   instructions           1007  10 N, 4 to start, 3 to exit
 *   class_atomic            100  N
 *   t4_class_branch         100  N
 *   t4_blocks               100  N
 *   loads                   200  2 N
 *   stores                  400  4 N
 *   select_1                101  N; 1 to exit
 *   select_2                803  8 N; 2 to start, 1 to exit
 *   pick_1                    1  to exit
 *   pick_2                  603  6 N; 2 to start, 1 to exit
 *   pick_3                  300  3 N
 *   commit_1                301  3 N; 1 to exit
 *   commit_2                703  7 N; 2 to start, 1 to exit
 */
        .equ    N, 100

        .text
        .balign 64
        .globl  _start
_start:
        mov     N, %o1
        sethi   %hi(data), %o2
        or      %o2, %lo(data), %o2
        nop
round:
        add     %l0, 1, %l0
        casx    [%o2], %g1, %g4
        add     %l0, 1, %l0
        stx     %g0, [%o2]
        stx     %g0, [%o2 + 8]
        stx     %g0, [%o2 + 16]
        ldda    [%o2] 0xf0, %f0
        subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .data
        .balign 64
data:
        .skip   128
