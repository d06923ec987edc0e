/* SPDX-License-Identifier: MIT */
/*
 * Jumps round five lines of one set of the L1I, R times: two that are 1 MB apart,
 * and three more, each 4096 bytes behind the one before. An LRU cache of 4 ways
 * misses always. The two have the same 8 low bits of the tag: whenever one is
 * missed the set has the other, which is its least recent line for the first of
 * them, and its most recent line for the second.
 *
 * _start is in the line before the first block, which is of another set.
 *
 * Counts of the whole program, R = 50:
 *   instructions            355  2 + R (4 + 3) + 3
 *   class_branch            251  1 + 5 R
 *   conditional_taken        49  R - 1
 *   unconditional_taken     201  1 + 4 R
 *
 * On sparc-t4:
 *   l1i_misses              251  1 + 5 R
 *   l1i_microtag_finds       99  2 R - 1, as the first comes to an empty set
 *   l1i_microtag_misses     152  _start's, 3 R and the first
 */
        .equ    R, 50
        .equ    APART, 0x100000

        .text
        .balign 8192
        .skip   8192 - 32
        .globl  _start
_start:
        mov     R, %o1
        ba,a    first
        .balign 8192
first:
        ba,a    first + APART
        .skip   4092
third:
        .rept   2
        ba,a    . + 4096
        .skip   4092
        .endr

        subcc   %o1, 1, %o1
        bne     first
        nop
        mov     0, %o0
        mov     1, %g1
        ta      0x6d
        .skip   APART - (. - first)
        ba,a    third
