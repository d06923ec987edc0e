/* SPDX-License-Identifier: MIT */
/*
 * Loads of what was stored before, N rounds of 45 stores: more than the SPARC
 * T4's store buffer and store queue hold of the last, 16 and 16.
 *
 * Counts of the whole program, N = 100:
 *   instructions           5406  54 N, 3 to start, 3 to exit
 *   class_load              600  6 N
 *   class_store            4500  45 N
 *   raw_buffer_full         100  N: all of the last store
 *   raw_buffer_partial      100  N: half of it
 *   raw_queue_full          100  N: all of the 21st before
 *   raw_queue_partial       100  N: a part of the 21st before
 *
 * Neither are N loads beside the byte of the last store, nor N of the 45th
 * before.
 */
        .equ    N, 100

        .macro  stores_elsewhere
        .rept   20
        stx     %g0, [%o2 + 128]
        .endr
        .endm

        .text
        .balign 64
        .globl  _start
_start:
        mov     N, %o1
        sethi   %hi(data), %o2
        or      %o2, %lo(data), %o2
round:
        stx     %g0, [%o2]
        ldx     [%o2], %o3
        stw     %g0, [%o2 + 12]
        ldx     [%o2 + 8], %o3
        stb     %g0, [%o2 + 17]
        ldub    [%o2 + 16], %o3

        stx     %g0, [%o2 + 64]
        stores_elsewhere
        ldx     [%o2 + 64], %o3
        sth     %g0, [%o2 + 98]
        stores_elsewhere
        ldx     [%o2 + 96], %o3
        ldx     [%o2], %o3

        subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .bss
        .balign 256
data:
        .skip   256
