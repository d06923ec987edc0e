/* SPDX-License-Identifier: MIT */
/*
 * N rounds through a ring of J jumps, each over an instruction, and the loop's
 * branch.
 *
 * Counts of the whole program, N = 100, J = 64:
 *   instructions           6604  N (J + 2) + 4
 *   conditional_branches    100  N
 *   conditional_taken        99  N - 1
 *   unconditional_taken    6400  N J
 *
 * On btb-16-128:
 *   conditional_mispredicts   2  the first round's loop branch, and the last's
 *   btb1_hits                 0  65 branches in turn: the oldest of 16 leaves just
 *                                before it is asked for
 *   btb2_hits              6434  (N - 1) J, and N - 2: the loop's
 *   btb_resteers             64  J, in the first round
 *   btb_indirect_misses       0
 *   stall_btb              6946  6434 at 1 cycle, 64 at 8
 *
 * On btb-ooo:
 *   conditional_mispredicts   2  as above
 *   btb1_hits                 0
 *   btb2_hits              6434
 *   btb_resteers             64
 *   stall_btb              6946  as above: fetch.ahead=0 hides nothing
 *
 * On btb-65:
 *   conditional_mispredicts   2  as above
 *   btb1_hits              6434  all from the second round on
 *   btb2_hits                 0
 *   btb_resteers             64  J
 *   btb_indirect_misses       0
 *   stall_btb               512  64 at 8 cycles
 *
 * On btb-16-48v:
 *   conditional_mispredicts   2  as above
 *   btb1_hits                 0
 *   btb2_hits                 0  16 and 48 hold 64 of the 65 together
 *   btb_resteers           6498  N J, and N - 2 of the loop
 *   btb_indirect_misses       0
 *   stall_btb             51984  6498 at 8 cycles
 *
 * On btb-16-49v:
 *   conditional_mispredicts   2  as above
 *   btb1_hits                 0
 *   btb2_hits              6434  16 and 49 hold all: what the first level drives
 *                                out
 *   btb_resteers             64  J
 *   btb_indirect_misses       0
 *   stall_btb              6946  6434 at 1 cycle, 64 at 8
 */
        .equ    N, 100
        .equ    J, 64

        .text
        .balign 64
        .globl  _start
_start:
        mov     $N, %ecx
round:
        .rept   J
        jmp     1f
        nop
1:
        .endr
        dec     %ecx
        jnz     round
        xor     %edi, %edi
        mov     $60, %eax
        syscall

        .section .note.GNU-stack, "", @progbits
