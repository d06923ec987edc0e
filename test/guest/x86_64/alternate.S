/* SPDX-License-Identifier: MIT */
/*
 * Two loops in turns, R times each: 100,000 instructions in the one, then as
 * many in the other. So the program has two phases, and each stretch of one
 * begins at a multiple of 100,000 instructions, with a block.
 *
 * Counts of the whole program, R = 5:
 *   instructions          1000003  R (2 + 1 + 4 K + 1) + R (1 + 5 L + 4) + 3
 *   conditional_branches   224995  R (K + L + 1)
 *   conditional_taken      224984  R (K - 1) + R (L - 1) + R - 1
 *   unconditional_taken         6  R + 1
 */
        .equ    R, 5
        .equ    K, 24999
        .equ    L, 19999

        .text
        .balign 64
        .globl  _start
        .type   _start, @function
        .type   first, @function
        .type   second, @function
_start:
        mov     $R, %r8d
        jmp     first
        .size   _start, . - _start

again:
        nop
        nop
first:
        mov     $K, %ecx
1:      add     $1, %rax
        xor     %rax, %rdx
        dec     %ecx
        jnz     1b
        jmp     second
        .size   first, . - first

second:
        mov     $L, %ecx
2:      lea     3(%rax), %rax
        add     %rax, %rdx
        rol     $3, %rdx
        dec     %ecx
        jnz     2b
        nop
        nop
        dec     %r8d
        jnz     again

        mov     $60, %eax
        xor     %edi, %edi
        syscall
        .size   second, . - second
