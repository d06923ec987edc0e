/* SPDX-License-Identifier: MIT */
/*
 * What a Montecito makes of instructions, calls and returns; N = 1000 rounds
 * of a loop, D = 20 calls, each inside the one before.
 *
 * Bundles, their slots in the order of the program, nops in lower case. A
 * block's last cycle has no second bundle to disperse:
 *
 *   block        runs   bundles      cycles  instructions  nops
 *   the begin       1   MiB               1             2     1
 *   round           N   MMi MIB           2             5     1   three loads:
 *                                           the third waits for a port
 *   to the calls    1   MiB               1             2     1
 *   leaf            D   MiB               1             2     1
 *   its call    D - 1   miB               1             1     2
 *   its return      D   miB               1             1     2
 *   the end         1   MMi miB           2             3     3   a stop: the call
 *                                           changes a register of the group
 *
 * Counts of the whole program:
 *   instructions           5086  5 N + 4 D + 6
 *   loads                  3020  3 N + D: mov, ret
 *   stores                   20  D: call
 *   conditional_branches   1020  N + D: jnz, jz
 *   conditional_taken      1000  (N - 1) + 1
 *   unconditional_taken      41  1 + 2 D: jmp, call, ret
 */
        .equ    N, 1000
        .equ    D, 20

        .text
        .balign 64
        .globl  _start
_start:
        mov     $N, %ecx
        jmp     round
        .balign 64
round:
        mov     (%rsp), %rax
        mov     8(%rsp), %rbx
        mov     16(%rsp), %rdx
        dec     %ecx
        jnz     round

        mov     $D, %edi
        call    leaf
        xor     %esi, %esi
        mov     $60, %eax
        syscall

        .balign 64
leaf:
        dec     %edi
        jz      1f
        call    leaf
1:      ret

        .section .note.GNU-stack, "", @progbits
