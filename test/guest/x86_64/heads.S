/* SPDX-License-Identifier: MIT */
/*
 * One load that stands in two blocks: the head of a loop of two rounds, into
 * which the code before falls. Each of N passes loads the two words anew, which
 * are 4096 bytes apart.
 *
 * Counts of the whole program, N = 500:
 *   instructions           6004  12 N + 4
 *   loads                  1000  2 N
 *   conditional_branches   1500  3 N
 *   conditional_taken       999  2 N - 1
 *   unconditional_taken       0
 */
        .equ    N, 500

        .text
        .balign 64
        .globl  _start
_start:
        mov     $N, %ebx
pass:   lea     words(%rip), %rsi
        mov     $2, %ecx
round:  mov     (%rsi), %rax
        add     $4096, %rsi
        dec     %ecx
        jnz     round
        dec     %ebx
        jnz     pass
        xor     %edi, %edi
        mov     $60, %eax
        syscall

        .section .note.GNU-stack, "", @progbits
        .bss
        .balign 4096
        .type   words, @object
        .size   words, 8192
words:  .skip   8192
