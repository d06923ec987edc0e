/* SPDX-License-Identifier: MIT */
/*
 * Jumps through five blocks that are 4096 bytes apart, R times: five lines of
 * one set in a 16 KB cache of 4 ways and 32-byte lines (the UltraSPARC T1's),
 * which an LRU cache misses always, and of one set of 8 ways in the T2's, which
 * holds them.
 *
 * _start is in the line before the first block, which is of another set.
 *
 * Counts of the whole program, R = 50:
 *   instructions            355  2 + R (4 + 3) + 3
 *   class_branch            251  1 + 5 R
 *   class_other             104  1 + 2 R + 3
 *   conditional_branches     50  R
 *   conditional_taken        49  R - 1
 *   unconditional_taken     201  1 + 4 R
 *   l1i_misses                6  1 + 5, cold
 *   l2_fetch_misses           6  1 + 5, cold: no two in 64 bytes
 *   itlb_misses               4  _start's page, and two blocks in each of 3
 *
 * On ultrasparc-t1:
 *   l1i_misses              251  1 + 5 R
 *
 * On sparc-t4:
 *   l1i_misses               251  1 + 5 R
 *   fetch_l2_hits            245  5 (R - 1)
 *   fetch_l3_hits              0  none
 *   fetch_memory               6  1 + 5, cold
 */
        .equ    R, 50

        .text
        .balign 8192
        .skip   8192 - 32
        .globl  _start
_start:
        mov     R, %o1
        ba,a    blocks
        .balign 8192
blocks:
        .rept   4
        ba,a    . + 4096
        .skip   4092
        .endr

        subcc   %o1, 1, %o1
        bne     blocks
        nop
        mov     0, %o0
        mov     1, %g1
        ta      0x6d
