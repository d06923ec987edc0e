/* SPDX-License-Identifier: MIT */
/*
 * One load in each of P pages of 8 KB, R times. The load moves on by 64 bytes
 * from page to page, so the lines do not crowd into one set of a cache.
 *
 * Counts of the whole program, P = 64, R = 100:
 *   instructions          26206  R (4 P + 6) + 6
 *   class_load             6400  R P
 *   class_branch           6500  R (P + 1)
 *   class_other           13306  R (2 P + 5) + 6
 *   l1d_load_misses          64  P, cold
 *   l2_load_misses           64  P, cold
 *   dtlb_load_misses         64  P, cold: 128 entries hold them
 */
        .equ    P, 64
        .equ    R, 100
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
