/* SPDX-License-Identifier: MIT */
/*
 * Prefetches of new lines: N rounds, 128 bytes each. The SPARC T4 performs those
 * whose address one of the two loads tells; its L1D and L2 have lines of 32
 * bytes, its L3 of 64. The T1 and T2 count them alone.
 *
 * Counts of the whole program, N = 100:
 *   instructions           1207  12 N, 4 to start, 3 to exit
 *   class_load              900  9 N: a T2 counts prefetches as loads
 *   loads                   200  2 N
 *   prefetches              700  7 N
 *   l1d_load_misses         200  2 N
 *
 * On sparc-t4:
 *   class_load              900  9 N
 *   near_prefetch_misses    100  N: of the first line
 *   near_prefetch_memory    100  N
 *   near_prefetch_hits      100  N: again of the first line
 *   far_prefetches          300  3 N
 *   far_prefetch_memory     100  N: of the third line
 *   far_prefetch_l2_hits    100  N: again of the third line
 *   far_prefetch_l3_hits    100  N: of the fourth, in one L3 line with it
 *   unperformed_prefetches  200  2 N: of %o4, and an invalidation
 *   l1d_load_misses         100  N: the third line is in the L2
 *   load_l2_hits            100  N
 *   load_l3_hits              0
 *   load_memory               0
 *   l2_load_misses            0
 *   dtlb_load_misses          2  two pages, cold
 */
        .equ    N, 100

        .text
        .balign 64
        .globl  _start
_start:
        mov     N, %o1
        sethi   %hi(data), %o2
        or      %o2, %lo(data), %o2
        mov     %o2, %o4
round:
        prefetch [%o2], 0
        ldx     [%o2], %o3
        prefetch [%o2 + 8], 20
        prefetch [%o2 + 64], 1
        ldx     [%o2 + 64], %o3
        prefetch [%o2 + 72], 21
        prefetch [%o2 + 96], 2
        prefetch [%o4], 0
        prefetch [%o2], 16
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
