/* SPDX-License-Identifier: MIT */
/*
 * A heap that grows: with a load from each page of 4 KB, as malloc() would grow
 * it, 16 times by 128 KB from a multiple of 2 MB on, so that no huge page is
 * possible when its memory is first accessed; then by 4 MB at once. The program
 * walks through these 6 MB, and through 4 MB that its file has without contents.
 *
 * Counts of the whole program:
 *   instructions           16534  4 of each page, 16 x 8 to grow, 22 others
 *   loads                   4096  512, 1024, 1536, 1024
 *
 * On small-pages:
 *   dtlb_load_misses        4096  the oldest of 64 pages leaves before its turn
 *   dtlb_walk_refs         16384  4 of each
 *   huge_load_misses           0
 *   huge_load_walks            0
 *
 * On huge-pages:
 *   dtlb_load_misses        1030  2 x 512 of the first 2 MB, and 6
 *   dtlb_walk_refs          4114  4 of each small page, 3 of each huge one
 *   huge_load_misses           6  2; behind 512 small ones again 2; 2
 *   huge_load_walks            6
 *
 * On huge-asked:
 *   dtlb_load_misses        4096
 *   dtlb_walk_refs         16384
 *   huge_load_misses           0
 *   huge_load_walks            0
 */
        .equ    MB, 1 << 20

        .macro  walk pages
        mov     $\pages, %ecx
1:      mov     (%rdi), %eax
        add     $4096, %rdi
        dec     %ecx
        jnz     1b
        .endm

        .bss
        .balign 2 * MB
array:  .skip   4 * MB

        .text
        .balign 64
        .globl  _start
_start:
        xor     %edi, %edi
        mov     $12, %eax               # brk
        syscall
        lea     2 * MB - 1(%rax), %rbx
        and     $-2 * MB, %rbx
        mov     %rbx, %rdi
        mov     $12, %eax
        syscall
        mov     $16, %ebp
        mov     %rbx, %r12
grow:
        lea     0x20000(%r12), %rdi
        mov     $12, %eax
        syscall
        mov     %r12, %rdi
        walk    32
        mov     %rdi, %r12
        dec     %ebp
        jnz     grow
        lea     6 * MB(%rbx), %rdi
        mov     $12, %eax
        syscall
        mov     %r12, %rdi
        walk    1024
        mov     %rbx, %rdi
        walk    1536
        lea     array(%rip), %rdi
        walk    1024
        xor     %edi, %edi
        mov     $60, %eax
        syscall

        .section .note.GNU-stack, "", @progbits
