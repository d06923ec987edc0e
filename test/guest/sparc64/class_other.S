/* SPDX-License-Identifier: MIT */
/*
 * Instructions of no other class: integer arithmetic, shifts, conditional
 * moves, state registers, a barrier, and save and restore.
 *
 * Counts of the whole program, N = 500:
 *   instructions          10004  17 N, 3 N of the loop, 4 around it
 *   class_branch            500  N
 *   class_other            9504  17 N, 2 N: subcc, slot; 1 to start, 3 to exit
 *   loads                     0
 *   stores                    0
 *   window_spills             0  one save deep
 *   window_fills              0
 */
        .equ    N, 500

        .text
        .balign 64
        .globl  _start
_start:
        mov     N, %o1
round:
        add     %o1, 7, %o2
        sub     %o2, 3, %o3
        mulx    %o2, %o3, %o4
        sdivx   %o4, %o1, %o4
        udivx   %o4, %o1, %o4
        and     %o2, %o3, %o4
        xnor    %o2, %o3, %o4
        sllx    %o2, 9, %o4
        srax    %o4, 3, %o4
        movne   %xcc, %o2, %o4
        movrz   %o2, %o3, %o4
        rd      %ccr, %o4
        wr      %o4, 0, %y
        membar  #StoreLoad
        popc    %o2, %o4
        save    %sp, -176, %sp
        restore
        subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d
