/* SPDX-License-Identifier: MIT */
/*
 * Calls D deep, on a SPARC T4 whose return stack holds 8: the 8 last calls'
 * returns are foretold, those of the D - 8 before are not. f returns by a jump;
 * g by RETURN, which traps where its window is in memory, and runs again. Then
 * R calls from the end of a page, whose delay slot stands on the next.
 *
 * Counts of the whole program, D = 12, R = 10:
 *   instructions               2027  R (16 D + 3) + 4, 7 R + 3
 *   class_branch                761  R (6 D + 1), 3 R + 1
 *   class_other                1266  the rest
 *   conditional_branches        260  R (2 D + 1), R
 *   conditional_taken            38  2 R + R - 1, R - 1
 *   conditional_mispredicts      38  the same
 *   unconditional_taken         501  R 4 D, 2 R + 1
 * On sparc-t4:
 *   conditional_mispredicts       ?  how soon its gshare learns is not told here
 *   return_mispredicts           80  R 2 (D - 8)
 *   far_mispredicts               0  none is far
 *   indirect_mispredicts          0  returns are none
 * On t4-bimodal:
 *   conditional_mispredicts      24  f's and g's taken ones; 2 of a loop
 *   stall_branch               3035  539 taken, 24 cycles x 104 mispredicted
 *   return_mispredicts           80
 *   far_mispredicts               0
 *   indirect_mispredicts          0
 * On t4-deep:
 *   conditional_mispredicts       ?
 *   return_mispredicts            0  its return stack holds 16
 *   far_mispredicts               0
 *   indirect_mispredicts          0
 */
        .equ    D, 12
        .equ    R, 10
        .equ    PAGE, 8192

        .text
        .balign PAGE
        .globl  _start
_start:
        mov     R, %l1
round:  call    f
        mov     D, %o0
        call    g
        mov     D, %o0
        subcc   %l1, 1, %l1
        bne     round
        nop
        mov     R, %l1
        ba      edge
        nop

f:      save    %sp, -176, %sp
        subcc   %i0, 1, %o0
        be      1f
        nop
        call    f
        nop
1:      ret
        restore

g:      save    %sp, -176, %sp
        subcc   %i0, 1, %o0
        be      1f
        nop
        call    g
        nop
1:      return  %i7 + 8
        nop

leaf:   retl
        nop

        .skip   PAGE - 4 - (. - _start)
edge:   call    leaf
        nop
        subcc   %l1, 1, %l1
        bne     edge
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d
