/* SPDX-License-Identifier: MIT */
/*
 * Accesses of AVX2, FMA and BMI, in the program's terms: an instruction is one
 * load or one store, of 32 bytes as of 4, under a mask, or gathered from eight
 * places. N = 500 rounds on three lines, then M = 256 loads of 32 bytes that
 * each cross from one line into the next.
 *
 * Counts of the whole program:
 *   instructions           8035  14 N + 4 M + 11
 *   loads                  3756  7 N + M: vmovdqu vpbroadcastd vfmadd vpmaskmovd
 *                                vpgatherdd andn mulx; vmovdqu
 *   stores                 2000  4 N: vmovdqu vextracti128 vpmaskmovd vmovntdq
 *   l1d_load_misses         513  1 + 2 M: two lines a load that crosses
 *   l1d_store_misses          2  the second line and the third
 *   class_fgu               500  N: vfmadd
 *   class_branch            757  N + M + 1: jnz, the exit
 *   conditional_branches    756  N + M
 *   conditional_taken       754  N + M - 2
 *   unconditional_taken       0
 */
        .equ    N, 500
        .equ    M, 256

        .text
        .balign 64
        .globl  _start
_start:
        mov     $N, %ecx
        lea     lines(%rip), %rsi
        vpcmpeqd %ymm3, %ymm3, %ymm3
        vpxor   %ymm5, %ymm5, %ymm5
        vpxor   %ymm2, %ymm2, %ymm2
        mov     $3, %eax
round:
        vmovdqu (%rsi), %ymm0
        vmovdqu %ymm0, 32(%rsi)
        vpbroadcastd (%rsi), %ymm1
        vfmadd231pd (%rsi), %ymm0, %ymm2
        vextracti128 $1, %ymm0, 64(%rsi)
        vpmaskmovd (%rsi), %ymm3, %ymm4
        vpmaskmovd %ymm4, %ymm3, 96(%rsi)
        vpcmpeqd %ymm6, %ymm6, %ymm6
        vpgatherdd %ymm6, (%rsi,%ymm5,4), %ymm7
        vmovntdq %ymm0, 128(%rsi)
        andn    (%rsi), %rax, %rbx
        mulx    (%rsi), %rbx, %rdi
        dec     %ecx
        jnz     round

        mov     $M, %ecx
        lea     chunks(%rip), %rsi
cross:
        vmovdqu 48(%rsi), %ymm0
        add     $128, %rsi
        dec     %ecx
        jnz     cross

        xor     %edi, %edi
        mov     $60, %eax
        syscall

        .section .note.GNU-stack, "", @progbits
        .bss
        .balign 4096
lines:
        .skip   4096
chunks:
        .skip   128 * M
