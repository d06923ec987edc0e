/* SPDX-License-Identifier: MIT */
/*
 * N walks through 64 MB of memory of no file, a load from each page of 4 KB. The
 * memory begins at 2 MB; the program asks for huge pages in its second half.
 *
 * Counts of the whole program, N = 3:
 *   instructions          196639  4 x 16384 N, 4 N, 19 others
 *   loads                  49152  16384 N
 *
 * On small-pages:
 *   dtlb_load_misses       49152  the oldest of 64 pages leaves before its turn
 *   dtlb_walk_refs        196608  4 of each
 *   huge_load_misses           0
 *   huge_load_walks            0
 *
 * On huge-pages:
 *   dtlb_load_misses          32  each huge page once: 32 of 2 MB
 *   dtlb_walk_refs            96  3 of each: level 2 has the page
 *   huge_load_misses          32
 *   huge_load_walks           32
 *
 * On huge-apart:
 *   dtlb_load_misses          96  32 N: 16 entries are too few
 *   dtlb_walk_refs           288
 *   huge_load_misses          96
 *   huge_load_walks           96
 *
 * On huge-asked:
 *   dtlb_load_misses       24592  8192 N small pages, 16 huge ones
 *   dtlb_walk_refs         98352  4 and 3 of each
 *   huge_load_misses          16
 *   huge_load_walks           16
 */
        .equ    N, 3
        .equ    MB, 1 << 20

        .text
        .balign 64
        .globl  _start
_start:
        xor     %edi, %edi
        mov     $66 * MB, %esi
        mov     $3, %edx                # PROT_READ | PROT_WRITE
        mov     $0x22, %r10d            # MAP_PRIVATE | MAP_ANONYMOUS
        mov     $-1, %r8
        xor     %r9d, %r9d
        mov     $9, %eax                # mmap
        syscall
        lea     2 * MB - 1(%rax), %rbx
        and     $-2 * MB, %rbx
        lea     32 * MB(%rbx), %rdi
        mov     $32 * MB, %esi
        mov     $14, %edx               # MADV_HUGEPAGE
        mov     $28, %eax               # madvise
        syscall
        mov     $N, %ebp
round:
        mov     %rbx, %rdi
        mov     $16384, %ecx
1:      mov     (%rdi), %eax
        add     $4096, %rdi
        dec     %ecx
        jnz     1b
        dec     %ebp
        jnz     round
        xor     %edi, %edi
        mov     $60, %eax
        syscall

        .section .note.GNU-stack, "", @progbits
