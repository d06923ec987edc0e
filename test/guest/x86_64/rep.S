/* SPDX-License-Identifier: MIT */
/*
 * REP string instructions of known lengths, R rounds of five: a copy, a fill,
 * a search that ends early, a comparison that ends early, and an empty copy.
 * A REP instruction is one instruction, whatever its iterations. Its loads and
 * stores are its own signals: scas reads one place an iteration, cmps two.
 * QEMU and cachegrind enter a REP instruction once more when its count runs
 * out, 3 times a round: they see 47360 where there are 47330 iterations.
 *
 * Counts of the whole program, R = 10:
 *   instructions            235  R (5 rep + 18) + 5
 *   rep_iterations        47330  R (4096 movs + 512 stos + 100 scas + 25 cmps)
 *   rep_loads             42460  R (4096 + 100 + 50)
 *   rep_stores            46080  R (4096 + 512)
 */
        .equ    R, 10

        .text
        .balign 64
        .globl  _start
_start:
        mov     $R, %r8d
        cld
round:
        lea     source(%rip), %rsi
        lea     target(%rip), %rdi
        mov     $4096, %ecx
        rep movsb

        lea     target(%rip), %rdi
        xor     %eax, %eax
        mov     $512, %ecx
        rep stosq

        lea     source(%rip), %rdi      # 99 zeros, then a 1
        mov     $1, %eax
        mov     $4096, %ecx
        repne scasb

        lea     source + 75(%rip), %rsi # 24 zeros, then the 1
        lea     target(%rip), %rdi
        mov     $4096, %ecx
        cmp     %rdi, %rdi              # sets equal
        repe cmpsb

        lea     source(%rip), %rsi
        lea     target(%rip), %rdi
        xor     %ecx, %ecx
        rep movsb

        dec     %r8d
        jnz     round

        xor     %edi, %edi
        mov     $60, %eax
        syscall

        .section .note.GNU-stack, "", @progbits
        .data
        .balign 4096
source:
        .skip   99
        .byte   1
        .skip   4096 - 100

        .bss
        .balign 4096
target:
        .skip   4096
