/* SPDX-License-Identifier: MIT */
/*
 * What the SPARC T4's classes (PCR sl 3; TABLE 10-2, footnotes 6 to 9) have
 * apart from those of the T2, N rounds: reads of state registers are loads,
 * barriers and FLUSH stores, writes of state registers accesses on the ring,
 * prefetches and atomics others. A block load and store name their address
 * space, 0xf0; a load or store with its address space in %asi is not known as a
 * block load or store.
 *
 * Counts of the whole program, N = 100:
 *   instructions           2207  22 N, 4 to start, 3 to exit
 *   prefetches              200  2 N
 *   class_atomic            200  2 N
 *   class_sethi             100  N
 *   t4_class_branch         100  N
 *   t4_class_fgu_crypto     200  2 N
 *   t4_class_load           500  5 N
 *   t4_class_store          400  4 N
 *   t4_class_spr_ring       101  N, and %asi
 *   t4_class_other          906  9 N, 3 to start, 3 to exit
 *   t4_blocks               200  2 N
 *   l1d_load_misses         103  N + 3: casx takes the first of 4 lines out
 *
 * On sparc-t4:
 *   l1d_load_misses         101  N + 1: of 2 lines
 *   plain_load_misses       100  N: the block load's apart
 *   bulk_l1d_misses           1  of its second line
 */
        .equ    N, 100

        .text
        .balign 64
        .globl  _start
_start:
        mov     N, %o1
        sethi   %hi(data), %o2
        or      %o2, %lo(data), %o2
        wr      %g0, 0x80, %asi
round:
        rd      %ccr, %g1               ! loads
        rd      %y, %o3
        rd      %asi, %o4
        ldxa    [%o2] %asi, %g4
        ldda    [%o2] 0xf0, %f0

        membar  #StoreLoad              ! stores
        stbar
        flush   %o2
        stda    %f0, [%o2] 0xf0

        wr      %g0, 0, %y              ! on the ring

        membar  #LoadStore              ! others
        rd      %pc, %g1
        prefetch [%o2], 0
        prefetcha [%o2] 0x80, 0
        ldstub  [%o2 + 64], %g1
        casx    [%o2], %g1, %g4
        sethi   %hi(0xfc000), %g0

        fnegd   %f2, %f6                ! floating point
        faddd   %f2, %f4, %f6

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
