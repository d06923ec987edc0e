/* SPDX-License-Identifier: MIT */
/*
 * A walk over 2 MB, a line of 32 bytes after the other, that looks each time at
 * three lines more: they and the loop are always the first of their sets in the
 * L1s, which an L2 of 128 KB in 8 ways never hears of. Each of its sets has a
 * new line of the walk in 512 rounds, and every 8th of them drives out what the
 * L1s still use.
 *
 * Counts of the whole program, LINES = 65536, R = LINES / 512 / 8 = 16:
 *   instructions          524299  8 LINES, 8 to start, 3 to exit
 *   class_load            262144  4 LINES
 *   class_branch           65536  LINES
 *
 * On sparc-t4:
 *   l1d_eviction_invalidations      48  3 R
 *   l1i_eviction_invalidations      17  R of the loop's line, one of the first
 */
        .equ    LINES, 65536

        .text
        .balign 64
        .globl  _start
_start:
        sethi   %hi(LINES), %o1
        sethi   %hi(hot), %o2
        or      %o2, %lo(hot), %o2
        sethi   %hi(walk), %o3
        or      %o3, %lo(walk), %o3
        nop
        nop
        nop
round:
        ldx     [%o2], %o4
        ldx     [%o2 + 1024], %o4
        ldx     [%o2 + 2048], %o4
        ldx     [%o3], %o4
        add     %o3, 32, %o3
        subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .bss
        .balign 8192
hot:
        .skip   8192
        .balign 8192
walk:
        .skip   LINES * 32
