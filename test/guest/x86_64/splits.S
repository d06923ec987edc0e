/* SPDX-License-Identifier: MIT */
/*
 * Accesses at the end of a line of 64 bytes: N rounds of three loads, two stores
 * and two updates of memory, of which two loads, one store and one update, a load
 * and a store, cross into the next line.
 *
 * Counts of the whole program, N = 300:
 *   instructions           2708  9 N + 8
 *   loads                  1500  5 N
 *   stores                 1200  4 N
 *   split_accesses         1500  5 N
 */
        .equ    N, 300

        .text
        .balign 64
        .globl  _start
_start:
        lea     lines(%rip), %rsi
        xor     %eax, %eax
        mov     $N, %ecx
        nop
        nop
1:      mov     60(%rsi), %rax          # 8 bytes, 4 of them behind the end
        mov     127(%rsi), %edx         # 4 bytes, 3 of them behind the end
        mov     56(%rsi), %rax          # 8 bytes up to the end
        mov     %rax, 57(%rsi)          # 8 bytes, 1 of them behind the end
        mov     %rax, 56(%rsi)
        addl    $1, 62(%rsi)            # 4 bytes, 2 of them behind the end
        addl    $1, 64(%rsi)
        dec     %ecx
        jnz     1b
        xor     %edi, %edi
        mov     $60, %eax
        syscall

        .section .note.GNU-stack, "", @progbits
        .bss
        .balign 64
lines:
        .skip   256
