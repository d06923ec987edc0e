/* SPDX-License-Identifier: MIT */
/*
 * Targets that tables of a known size do not know, on a SPARC T4.
 *   I       jumps to T0, T3, T2, T1 in turn: each time another target than
 *           the last. With two bits of history the table knows the next one
 *           once each of the four, and the first with no history, was there.
 *   r0-r4   five branches a round in one set of the target cache of 4 ways
 *   s0-s3   four such, which fit
 *   f1, f2  share an entry of the far table; g1 and g2, where they lead, are
 *           far from there and have an entry each
 * All other branches are near and taken once.
 *
 * Counts of the whole program, N = 400, R = 100:
 *   instructions               5017  6 N + 26 R + 17
 *   class_branch               2104  2 N + 13 R + 4
 *   class_other                2913  the rest
 *   conditional_branches        700  N + 3 R
 *   conditional_taken           696  N - 1 + 3 (R - 1)
 *   conditional_mispredicts     696  the same
 *   unconditional_taken        1404  N + 10 R + 4
 * On sparc-t4:
 *   conditional_mispredicts       ?  how soon its gshare learns is not told here
 *   btc_misses                  516  I, 4 its; 5 R - 1, 4, f1, f2, g1, g2; 4
 *   btc_mispredicts             399  N - 1, I's first is a miss
 *   far_mispredicts             202  2 R + 2
 *   indirect_mispredicts        400  N
 *   return_mispredicts            0  there is none
 * On t4-bimodal:
 *   conditional_mispredicts      11  T0, T3, T2; 2 of T1, r4, s3, g2 each
 *   stall_branch              16812  2100 taken, 24 cycles x 613 mispredicted
 *   btc_misses                  516
 *   btc_mispredicts             399
 *   far_mispredicts             202
 *   indirect_mispredicts        400
 *   return_mispredicts            0
 * On t4-path:
 *   conditional_mispredicts       ?
 *   btc_misses                  516
 *   btc_mispredicts             399
 *   far_mispredicts             202
 *   indirect_mispredicts          5
 *   return_mispredicts            0
 */
        .equ    N, 400
        .equ    R, 100
        .equ    SETS, 128 * 4           /* bytes over the target cache */
        .equ    FAR, 512 * 4            /* over the far table */

        .text
        .balign 4096
        .globl  _start
_start:
        mov     N, %o1
        sethi   %hi(targets), %o2
        or      %o2, %lo(targets), %o2
jumps:  and     %o1, 3, %o3
        sll     %o3, 5, %o3
        jmp     %o2 + %o3               ! I
        subcc   %o1, 1, %o1

        .balign 128
targets:
        bne     jumps                   ! T0
        nop
        .balign 32
        bne     jumps                   ! T1
        nop
        ba      1f
        nop
        .balign 32
        bne     jumps                   ! T2
        nop
        .balign 32
        bne     jumps                   ! T3
        nop

1:      mov     R, %o1
        ba      r0
        nop

        .balign SETS
r0:     ba      r1
        nop
        .balign 64
s0:     ba      s1
        nop
        .balign SETS
r1:     ba      r2
        nop
        .balign 64
s1:     ba      s2
        nop
        .balign SETS
r2:     ba      r3
        nop
        .balign 64
s2:     ba      s3
        subcc   %o1, 1, %o1
        .balign SETS
r3:     ba      r4
        subcc   %o1, 1, %o1
        .balign 64
s3:     bne     s0
        nop
        mov     R, %o1
        ba      f1
        nop
        .balign SETS
r4:     bne     r0
        nop
        mov     R, %o1
        ba      s0
        nop

        .balign 64
f1:     ba      g1
        nop
        .skip   FAR - (. - f1)
f2:     ba      g2
        subcc   %o1, 1, %o1

        .skip   1 << 20
        .balign 128
g1:     ba      f2
        nop
        .balign 64
g2:     bne     f1
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d
