/* SPDX-License-Identifier: MIT */
/*
 * A branch in the last word of a page, whose delay slot is all that runs of
 * the next page: the slot is fetched as any instruction is.
 *
 * Counts of the whole program, N = 100:
 *   instructions                604  6 N branches and slots, 4 others
 *   class_branch                300  3 N
 *   class_other                 304  the rest
 *   conditional_branches        200  2 N
 *   conditional_taken           199  N at the page's end, N - 1 of the loop
 *   conditional_mispredicts     199  the same
 *   unconditional_taken         100  N
 *   l1i_misses                    3  the lines of the loop, branch and slot
 *   itlb_misses                   2
 * On sparc-t4:
 *   conditional_mispredicts       ?  how soon its gshare learns is not told here
 */
        .equ    N, 100
        .equ    PAGE, 8192

        .text
        .balign PAGE
        .globl  _start
_start:
        mov     N, %o1
round:  ba      edge
        subcc   %o1, 1, %o1
back:   bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .skip   PAGE - 4 - (. - _start)
edge:   brgez,pt %o1, back
        nop
