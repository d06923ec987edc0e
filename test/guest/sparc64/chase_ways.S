/* SPDX-License-Identifier: MIT */
/*
 * Loads one line in each of 14 places that are 256 KB apart, R times: lines of
 * one set where the L2 has 4096 sets of 64 bytes, as 3 MB of 12 ways (the
 * UltraSPARC T1's, which LRU misses always) and 4 MB of 16 ways (the T2's,
 * which holds 14) do. An L1D of 4 ways misses them all.
 *
 * Counts of the whole program, P = 14, R = 100:
 *   instructions           6206  R (4 P + 6) + 6
 *   class_load             1400  R P
 *   class_branch           1500  R (P + 1)
 *   class_other            3306  R (2 P + 5) + 6
 *   l1d_load_misses        1400  R P
 *   l2_load_misses           14  P, cold
 *   dtlb_load_misses         14  P, cold
 *
 * On ultrasparc-t1:
 *   l2_load_misses         1400  R P
 *
 * On sparc-t4:
 *   l2_load_misses          1400  R P: 14 lines of a set of 8 ways
 *   load_l3_hits            1386  (R - 1) P: its L3 is as the T2's L2
 *   load_l2_hits               0  none
 *   load_memory               14  P, cold
 */
        .equ    P, 14
        .equ    R, 100
        .equ    STRIDE, 4096 * 64

        .text
        .balign 64
        .globl  _start
_start:
        mov     R, %o1
        sethi   %hi(STRIDE), %o5
        or      %o5, %lo(STRIDE), %o5
round:
        sethi   %hi(places), %o2
        or      %o2, %lo(places), %o2
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
        .balign 262144
        .skip   32768
places:
        .skip   P * STRIDE
