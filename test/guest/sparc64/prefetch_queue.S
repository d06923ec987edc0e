/* SPDX-License-Identifier: MIT */
/*
 * Two prefetches of lines in one bank of a SPARC T4's memory, 4 KB apart, and a
 * load from the next channel, N rounds: the second prefetch comes while memory
 * still serves the first, as nothing waits for that. A load before the rounds
 * brings the page's translation.
 *
 * Counts of the whole program, N = 32:
 *   instructions            199  6 N, 4 to start, 3 to exit
 *   class_load               97  3 N, 1 to start
 *   loads                    33  N, 1 to start
 *   prefetches               64  2 N
 *   l1d_load_misses          32  N: the first round's line is there
 *   dtlb_load_misses          1  one page, cold
 *
 * On sparc-t4:
 *   class_load               97  3 N, 1 to start
 *   far_prefetch_memory      64  2 N
 *   near_prefetch_misses      0
 *   unperformed_prefetches    0
 *   load_memory              32  N: prefetches count apart
 */
        .equ    N, 32

        .text
        .balign 64
        .globl  _start
_start:
        mov     N, %o1
        sethi   %hi(data + 4096), %o2
        or      %o2, %lo(data + 4096), %o2
        ldx     [%o2 + 64], %o3
round:
        prefetch [%o2 - 4096], 1
        prefetch [%o2], 1
        ldx     [%o2 + 64], %o3
        subcc   %o1, 1, %o1
        bne     round
        add     %o2, 128, %o2

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .bss
        .balign 8192
data:
        .skip   8192
