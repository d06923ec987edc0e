/* SPDX-License-Identifier: MIT */
/*
 * System calls: each is a branch to the counters of processors, and none to
 * their predictors; N = 1000 rounds of a loop with two of them.
 *
 * Counts of the whole program:
 *   instructions           6004  6 N + 4
 *   class_branch           3001  3 N + 1: syscall twice, jnz; the exit
 *   conditional_branches   1000  N: jnz
 *   conditional_taken       999  N - 1
 *   unconditional_taken       0  a system call is no near branch
 *   loads                     0
 *   stores                    0
 */
        .equ    N, 1000

        .text
        .balign 64
        .globl  _start
_start:
        mov     $N, %ebx
round:
        mov     $110, %eax              # getppid
        syscall
        mov     $102, %eax              # getuid
        syscall
        dec     %ebx
        jnz     round

        xor     %edi, %edi
        mov     $60, %eax
        syscall

        .section .note.GNU-stack, "", @progbits
