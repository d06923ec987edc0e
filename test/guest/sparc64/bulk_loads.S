/* SPDX-License-Identifier: MIT */
/*
 * Loads of new lines by a block load, a plain load and a twin load: the SPARC
 * T4 counts the plain one's misses alone. N rounds, 128 bytes each. Its L1D and
 * L2 have lines of 32 bytes, its L3 of 64: the second half of each L3 line is
 * there when it is asked for.
 *
 * Counts of the whole program, N = 100:
 *   instructions            706  7 N, 3 to start, 3 to exit
 *   class_load              300  3 N
 *   t4_blocks               100  N
 *   twin_loads              100  N
 *
 * On sparc-t4:
 *   l1d_load_misses         400  4 N: two lines of the block load
 *   plain_load_misses       100  N
 *   bulk_l1d_misses         300  3 N
 *   bulk_l2_misses          300  3 N
 *   bulk_l3_misses          100  N: the block load's first half
 *   l2_load_misses          400  4 N
 *   load_l2_hits              0
 *   load_l3_hits              0
 *   load_memory             100  N: first of its L3 line
 */
        .equ    N, 100

        .text
        .balign 64
        .globl  _start
_start:
        mov     N, %o1
        sethi   %hi(data), %o2
        or      %o2, %lo(data), %o2
round:
        ldda    [%o2] 0xf0, %f0
        ldx     [%o2 + 64], %o3
        add     %o2, 96, %o4
        ldda    [%o4] 0xe2, %l0
        subcc   %o1, 1, %o1
        bne     round
        add     %o2, 128, %o2

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .bss
        .balign 8192
data:
        .skip   128 * N
