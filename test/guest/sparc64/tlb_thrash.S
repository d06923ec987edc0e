/* SPDX-License-Identifier: MIT */
/*
 * One load in each of P pages of 8 KB, R times, twice as many as a DTLB of 64
 * entries holds. Its replacement spares what was used since the used bits were
 * last cleared, and 63 misses clear them: no entry outlives 126 others, and a
 * page comes round after 127. A DTLB of 128 entries holds them all. The load
 * moves on by 64 bytes from page to page, so an L1D of 4 ways holds its lines.
 *
 * Counts of the whole program, P = 128, R = 20:
 *   instructions          10366  R (4 P + 6) + 6
 *   class_load             2560  R P
 *   class_branch           2580  R (P + 1)
 *   class_other            5226  R (2 P + 5) + 6
 *   l1d_load_misses         128  P, cold
 *   l2_load_misses          128  P, cold
 *   dtlb_load_misses        128  P, cold
 *
 * On ultrasparc-t1:
 *   dtlb_load_misses       2560  R P
 *
 * On sparc-t4:
 *   dtlb_walk_refs           128  one a miss
 */
        .equ    P, 128
        .equ    R, 20
        .equ    STRIDE, 8192 + 64

        .text
        .balign 64
        .globl  _start
_start:
        mov     R, %o1
        sethi   %hi(STRIDE), %o5
        or      %o5, %lo(STRIDE), %o5
round:
        sethi   %hi(pages), %o2
        or      %o2, %lo(pages), %o2
        mov     P, %o3
step:
        ldx     [%o2], %o4
        subcc   %o3, 1, %o3
        bne     step
        add     %o2, %o5, %o2
        subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .bss
        .balign 8192
pages:
        .skip   P * STRIDE
