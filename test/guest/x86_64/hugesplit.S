/* SPDX-License-Identifier: MIT */
/*
 * Huge pages that become small pages: walks with a load from each page of 4 KB
 * of memory of no file, first of 8 MB from a multiple of 2 MB on. The program
 * unmaps the last page of them, which splits the fourth huge page, and walks
 * again. It forks, and parent and child walk through the first 6 MB. The parent
 * asks for small pages in the first 2 MB, which are a huge page already, and
 * walks there; gives up their contents, and walks again; gives up the contents of
 * the next 2 MB, and walks there.
 *
 * Counts of the program with its child:
 *   instructions           34875  4 of each page, 63 others
 *   loads                   8703  2048, 2047, 2 x 1536, 3 x 512
 *
 * On small-pages:
 *   dtlb_load_misses        8703  the oldest of 64 pages leaves before its turn
 *   dtlb_walk_refs         34812  4 of each
 *   huge_load_misses           0
 *   huge_load_walks            0
 *
 * On huge-pages:
 *   dtlb_load_misses        1034  11, 511 of the page that was split, and 512
 *   dtlb_walk_refs          4125  3 of each huge page, 4 of each small one
 *   huge_load_misses          11  4; behind 511 small ones 3 in each process;
 *                                 behind 512 small ones 1
 *   huge_load_walks           11
 */
        .equ    MB, 1 << 20

        .macro  walk pages, from = 0
        lea     \from(%rbx), %rdi
        mov     $\pages, %ecx
1:      mov     (%rdi), %eax
        add     $4096, %rdi
        dec     %ecx
        jnz     1b
        .endm

        .macro  advise advice, from
        lea     \from(%rbx), %rdi
        mov     $2 * MB, %esi
        mov     $\advice, %edx
        mov     $28, %eax               # madvise
        syscall
        .endm

        .text
        .balign 64
        .globl  _start
_start:
        xor     %edi, %edi
        mov     $34 * MB, %esi
        mov     $3, %edx                # PROT_READ | PROT_WRITE
        mov     $0x22, %r10d            # MAP_PRIVATE | MAP_ANONYMOUS
        mov     $-1, %r8
        xor     %r9d, %r9d
        mov     $9, %eax                # mmap
        syscall
        lea     2 * MB - 1(%rax), %rbx
        and     $-2 * MB, %rbx
        walk    2048
        lea     8 * MB - 4096(%rbx), %rdi
        mov     $4096, %esi
        mov     $11, %eax               # munmap
        syscall
        walk    2047
        mov     $57, %eax               # fork
        syscall
        mov     %eax, %ebp
        walk    1536
        test    %ebp, %ebp
        jz      end
        mov     $-1, %rdi
        xor     %esi, %esi
        xor     %edx, %edx
        xor     %r10d, %r10d
        mov     $61, %eax               # wait4
        syscall
        advise  15, 0                   # MADV_NOHUGEPAGE
        walk    512
        advise  4, 0                    # MADV_DONTNEED
        walk    512
        advise  4, 2*MB
        walk    512, 2*MB
end:
        xor     %edi, %edi
        mov     $60, %eax
        syscall

        .section .note.GNU-stack, "", @progbits
