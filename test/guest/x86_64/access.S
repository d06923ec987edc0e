/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores in the program's terms: an instruction that updates memory
 * is one load and one store, whatever the processor makes of it.
 *
 * Counts of the whole program, N = 500:
 *   instructions           8006  16 N + 6
 *   class_atomic           1000  2 N: lock xadd, xchg (which always locks)
 *   loads                  4000  8 N: mov cmp pop add inc xadd xchg ret
 *   stores                 4000  8 N: mov movl push add inc xadd xchg call
 *   conditional_branches   1000  2 N: js, jnz
 *   conditional_taken       499  N - 1: jnz
 *   unconditional_taken    1500  3 N: jmp call ret
 */
        .equ    N, 500

        .text
        .balign 64
        .globl  _start
_start:
        mov     $N, %ebx
        lea     line(%rip), %rsi
        xor     %edx, %edx
round:
        mov     (%rsi), %rax
        cmp     %rax, 8(%rsi)
        mov     %rax, 16(%rsi)
        movl    $1, 24(%rsi)
        push    %rax
        pop     %rax
        add     %rax, 32(%rsi)
        incl    40(%rsi)
        lock xadd %rax, 48(%rsi)
        xchg    %rdx, 56(%rsi)
        call    leaf
        jmp     1f
        nop
1:      dec     %ebx
        js      round
        jnz     round

        xor     %edi, %edi
        mov     $60, %eax
        syscall

leaf:
        ret

        .section .note.GNU-stack, "", @progbits
        .bss
        .balign 64
line:
        .skip   64
