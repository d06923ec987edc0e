/* SPDX-License-Identifier: MIT */
/*
 * Instructions that access more than the 64 bytes of a vector: N rounds that
 * store and load the state of the FPU, of 512 bytes (FXSAVE, FXRSTOR) and with
 * a mask (XSAVE, XRSTOR). Each is one store or one load; XSAVE also loads the
 * header that it changes. And a store of 16 bytes, of which 8 are in each of two
 * variables.
 *
 * Counts of the whole program, N = 100:
 *   instructions          1008  10 N + 8
 *   loads                  300  3 N
 *   stores                 201  2 N + 1
 */
        .equ    N, 100

        .text
        .balign 64
        .globl  _start
_start:
        lea     legacy(%rip), %rsi
        lea     state(%rip), %rdi
        mov     $N, %ecx
        pxor    %xmm0, %xmm0
        movdqu  %xmm0, left(%rip)
1:      mov     $3, %eax
        xor     %edx, %edx
        fxsave  (%rsi)
        fxrstor (%rsi)
        xsave   (%rdi)
        xrstor  (%rdi)
        nop
        add     $0, %rdi
        dec     %ecx
        jnz     1b
        xor     %edi, %edi
        mov     $60, %eax
        syscall

        .section .note.GNU-stack, "", @progbits
        .bss
        .balign 64
        .type   legacy, @object
        .size   legacy, 512
legacy: .skip   512
        .type   state, @object
        .size   state, 4096
state:  .skip   4096
        .type   left, @object
        .size   left, 8
left:   .skip   8
        .type   right, @object
        .size   right, 8
right:  .skip   8
