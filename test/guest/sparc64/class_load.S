/* SPDX-License-Identifier: MIT */
/*
 * Loads of every width, into integer and floating-point registers, N rounds
 * of eleven, all from one 16-byte line.
 *
 * Counts of the whole program, N = 500:
 *   instructions           7006  11 N loads, 3 N of the loop, 6 around it
 *   class_load             5500  11 N
 *   class_branch            500  N
 *   class_other            1006  2 N: subcc, slot; 3 to start, 3 to exit
 *   loads                  5500  11 N: ldd is one
 *   stores                    0
 *   l1d_load_misses           1  cold
 *   l2_load_misses            1  cold
 *   dtlb_load_misses          1  cold
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
        ldub    [%o2], %o3
        ldsb    [%o2 + 1], %o3
        lduh    [%o2 + 2], %o3
        ldsh    [%o2 + 4], %o3
        lduw    [%o2 + 4], %o3
        ldsw    [%o2 + 8], %o3
        ldx     [%o2 + 8], %o3
        ldd     [%o2], %o4
        ld      [%o2 + 4], %f0
        ldd     [%o2 + 8], %f2
        lduba   [%o2] 0x80, %o3         ! ASI_PRIMARY
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
