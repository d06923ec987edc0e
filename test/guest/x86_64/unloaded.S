/* SPDX-License-Identifier: MIT */
/*
 * Code that is unloaded, and other code at the same address: N = 500 rounds, in
 * each of which two pieces of this file's own bytes, functions of 4 and of 7
 * instructions, are mapped in turn at one fixed address, called and unmapped.
 *
 * Its instructions are counted one by one by test/torture/step.c.
 *
 * Counts of the whole program:
 *   instructions          30509
 *
 * The status is
 * 0 if each call returned what its own code returns.
 */
        .equ    N, 500
        .equ    AT, 0x30000000
        .equ    MMAP, 9
        .equ    MUNMAP, 11

        .text
        .globl  _start
_start:
        mov     $2, %eax                # open
        lea     own(%rip), %rdi
        xor     %esi, %esi
        syscall
        mov     %eax, %r13d
        mov     $N, %ebx
round:
        lea     first(%rip), %r14
        mov     $1, %r15d
        call    once
        lea     second(%rip), %r14
        mov     $2, %r15d
        call    once
        dec     %ebx
        jnz     round
        xor     %edi, %edi
        mov     $60, %eax
        syscall

/* Maps the page of the file that r14 is in, whose text begins with its first
 * page, calls the code, and unmaps the page. */
once:
        mov     $MMAP, %eax
        mov     $AT, %edi
        mov     $4096, %esi
        mov     $5, %edx
        mov     $0x12, %r10d            # private, at this place
        mov     %r13d, %r8d
        lea     __executable_start(%rip), %rcx
        mov     %r14, %r9
        sub     %rcx, %r9
        syscall
        cmp     $AT, %rax
        jne     wrong
        mov     $AT, %ecx
        call    *%rcx
        cmp     %r15d, %eax
        jne     wrong
        mov     $MUNMAP, %eax
        mov     $AT, %edi
        mov     $4096, %esi
        syscall
        ret
wrong:
        mov     $1, %edi
        mov     $60, %eax
        syscall

        .balign 4096
first:
        mov     $3, %eax
        dec     %eax
        dec     %eax
        ret
        .balign 4096
second:
        xor     %eax, %eax
        nop
        nop
        inc     %eax
        nop
        inc     %eax
        ret
        .balign 4096

        .section .rodata
own:
        .asciz  "/proc/self/exe"

        .section .note.GNU-stack, "", @progbits
