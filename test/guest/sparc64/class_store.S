/* SPDX-License-Identifier: MIT */
/*
 * Stores of every width, from integer and floating-point registers, N rounds
 * of eight, all into one 16-byte line.
 *
 * Counts of the whole program, N = 500:
 *   instructions           5506  8 N stores, 3 N of the loop, 6 around it
 *   class_store            4000  8 N
 *   class_branch            500  N
 *   class_other            1006  2 N: subcc, slot; 3 to start, 3 to exit
 *   loads                     0
 *   stores                 4000  8 N: std is one
 *   l2_store_misses           1  cold: the L2 allocates
 *   dtlb_store_misses         1  cold
 */
        .equ    N, 500

        .text
        .balign 64
        .globl  _start
_start:
        mov     N, %o1
        sethi   %hi(line), %o2
        or      %o2, %lo(line), %o2
round:
        stb     %g0, [%o2]
        sth     %g0, [%o2 + 2]
        stw     %g0, [%o2 + 4]
        stx     %g0, [%o2 + 8]
        std     %o4, [%o2]
        st      %f0, [%o2 + 4]
        std     %f2, [%o2 + 8]
        stxa    %g0, [%o2] 0x80         ! ASI_PRIMARY
        subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .bss
        .balign 64
line:
        .skip   64
