/* SPDX-License-Identifier: MIT */
/*
 * Code that the program writes itself: N = 500 rounds, in each of which a page
 * is made writable, gets a function of one of two lengths, is made executable,
 * and the function is called twice; without a change of protection the
 * function's number is then overwritten and the function called again.
 *
 * Its instructions are counted one by one by test/torture/step.c.
 *
 * Counts of the whole program:
 *   instructions          18763
 */
        .equ    N, 500
        .equ    MMAP, 9
        .equ    MPROTECT, 10

        .text
        .globl  _start
_start:
        mov     $MMAP, %eax
        xor     %edi, %edi
        mov     $4096, %esi
        mov     $7, %edx                # read, write, execute
        mov     $0x22, %r10d            # private, of no file
        mov     $-1, %r8
        xor     %r9d, %r9d
        syscall
        mov     %rax, %r12
        mov     $N, %ebx
round:
        mov     $MPROTECT, %eax
        mov     %r12, %rdi
        mov     $4096, %esi
        mov     $3, %edx                # read, write
        syscall
        movb    $0xb8, (%r12)           # mov $round, %eax
        mov     %ebx, 1(%r12)
        test    $1, %ebx
        jz      longer
        movw    $0xc3, 5(%r12)          # ret
        nop
        jmp     written
longer:
        movw    $0xc390, 5(%r12)        # nop; ret
        nop
        jmp     written
written:
        mov     $MPROTECT, %eax
        mov     %r12, %rdi
        mov     $4096, %esi
        mov     $5, %edx                # read, execute
        syscall
        call    *%r12
        call    *%r12
        mov     $MPROTECT, %eax
        mov     %r12, %rdi
        mov     $4096, %esi
        mov     $7, %edx
        syscall
        movl    $77, 1(%r12)            # while it may be executed
        call    *%r12
        cmp     $77, %eax
        jne     wrong
        dec     %ebx
        jnz     round
        xor     %edi, %edi
        mov     $60, %eax
        syscall
wrong:
        mov     $1, %edi
        mov     $60, %eax
        syscall

        .section .note.GNU-stack, "", @progbits
