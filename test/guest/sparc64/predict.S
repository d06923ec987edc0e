/* SPDX-License-Identifier: MIT */
/*
 * Branches whose mispredictions follow from the two bits of a counter, which
 * starts at "not taken, weakly". A closes an inner loop of K turns, B the loop
 * around it. C alternates, taken first; D alternates, not taken first. E is
 * always taken, G never, and they are 512 instructions apart. F closes the
 * loop of C to G. With two bits by address:
 *   A    1 + M  at first, and at each end of the loop
 *   B, F 2      the first and the last
 *   C    N      each: the counter goes to and fro between the two weak states
 *   D    N / 2  the taken ones
 *   E, G 2 N    with 512 counters they share one, which goes to and fro
 *        1      with more: E's first
 *
 * Counts of the whole program, M = 10, K = 100, N = 1000:
 *   instructions              19045  M (3 K + 4) + 16 N + 5
 *   class_branch               7010  M K + M + 6 N
 *   class_other               12035  the rest
 *   conditional_branches       6010  M K + M + 5 N
 *   conditional_taken          3998  M (K - 1), M - 1, N / 2, N / 2, N, N - 1
 *   conditional_mispredicts    3998  the same
 *   unconditional_taken        1000  N
 * On bimodal-512:
 *   conditional_mispredicts    3515  (1 + M) + 2 + N + N / 2 + 2 N + 2
 * On bimodal-2048:
 *   conditional_mispredicts    1516  (1 + M) + 2 + N + N / 2 + 1 + 2
 * On sparc-t4:
 *   conditional_mispredicts       ?  how soon its gshare learns is not told here
 */
        .equ    M, 10
        .equ    K, 100
        .equ    N, 1000

        .text
        .balign 4096
        .globl  _start
_start:
        mov     M, %o2
outer:  mov     K, %o1
inner:  subcc   %o1, 1, %o1
        bne     inner                   ! A
        nop
        subcc   %o2, 1, %o2
        bne     outer                   ! B
        nop

        mov     N, %o1
round:  andcc   %o1, 1, %g0
        be      1f                      ! C
        nop
        nop
1:      andcc   %o1, 1, %g0
        bne     always                  ! D
        nop
        nop
always: brgz,pt %o1, never              ! E
        nop
back:   subcc   %o1, 1, %o1
        bne     round                   ! F
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .skip   512 * 4 - (. - always)
never:  brlez,pn %o1, back              ! G
        nop
        ba      back
        nop
