/* SPDX-License-Identifier: MIT */
/*
 * Jumps through BLOCKS blocks of 32 bytes in turn, R times. 32 KB of code is
 * twice a 16 KB, 8-way, 32-byte-line LRU cache: each set is asked for 16 lines
 * in turn and has lost every one when it comes round again.
 *
 * _start has a line of its own, the last of the page before the blocks; the
 * last block closes the round and ends the program.
 *
 * Counts of the whole program, BLOCKS = 1024, R = 10:
 *   instructions          10265  2 + R (BLOCKS - 1 + 3) + 3
 *   class_branch          10241  1 + R BLOCKS
 *   class_other              24  1 + 2 R + 3
 *   conditional_branches     10  R
 *   conditional_taken         9  R - 1
 *   unconditional_taken   10231  1 + R (BLOCKS - 1)
 *   l1i_misses            10241  1 + R BLOCKS
 *   l2_fetch_misses         513  1 + BLOCKS / 2, cold: an L2 line holds two
 *   itlb_misses               5  1 + BLOCKS / 256, cold
 *
 * On sparc-t4:
 *   l2_fetch_misses         1025  1 + BLOCKS: its L2 has 32-byte lines
 *   fetch_l2_hits           9216  (R - 1) BLOCKS
 *   fetch_l3_hits            512  BLOCKS / 2: an L3 line holds two
 *   fetch_memory             513  1 + BLOCKS / 2, cold
 *   itlb_walk_refs             5  one a miss
 */
#ifndef BLOCKS
#define BLOCKS 1024
#endif
        .equ    R, 10

        .text
        .balign 8192
        .skip   8192 - 32
        .globl  _start
_start:
        mov     R, %o1
        ba,a    blocks
        .balign 8192
blocks:
        .rept   BLOCKS - 1
        ba,a    . + 32
        .skip   28
        .endr

        subcc   %o1, 1, %o1
        bne     blocks
        nop
        mov     0, %o0
        mov     1, %g1
        ta      0x6d
