/* SPDX-License-Identifier: MIT */
/*
 * Two threads that share huge pages, each on its own core. They take turns by
 * two eventfds, and walk with a load from each page of 4 KB through 8 MB of
 * memory of no file, from a multiple of 2 MB on:
 *
 * - The first thread walks through all, and then the second.
 * - The first unmaps the last page: the second, which knew the huge page, walks
 *   through the rest.
 * - The first maps the second 2 MB anew in two halves that are not alike: the
 *   second walks there, and then the first through the first 6 MB.
 *
 * Counts of the whole program:
 *   instructions           32882  4 of each page, 118 others
 *   loads                   8191  2048, 2048, 2047, 512, 1536
 *
 * On small-pages:
 *   dtlb_load_misses        8191  the oldest of 64 pages leaves before its turn
 *   dtlb_walk_refs         32764  4 of each
 *   huge_load_misses           0
 *   huge_load_walks            0
 *
 * On huge-pages:
 *   dtlb_load_misses        1544  9; 511 and 512 of the second thread, 512
 *   dtlb_walk_refs          6167  3 of each huge page, 4 of each small one
 *   huge_load_misses           9  4 of each thread; behind 512 small ones 1
 *   huge_load_walks            9
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

        .macro  map from, size, rights, flags
        lea     \from, %rdi
        mov     $\size, %esi
        mov     $\rights, %edx
        mov     $\flags, %r10d
        mov     $-1, %r8
        xor     %r9d, %r9d
        mov     $9, %eax                # mmap
        syscall
        .endm

        .macro  make event
        xor     %edi, %edi
        xor     %esi, %esi
        mov     $290, %eax              # eventfd2
        syscall
        mov     %eax, \event
        .endm

        .macro  tell event
        mov     \event, %edi
        lea     one(%rip), %rsi
        mov     $8, %edx
        mov     $1, %eax                # write
        syscall
        .endm

        .macro  await event
        mov     \event, %edi
        lea     room(%rip), %rsi
        mov     $8, %edx
        xor     %eax, %eax              # read
        syscall
        .endm

        .bss
        .balign 64
room:   .skip   128
stack:

        .section .rodata
        .balign 8
one:    .quad   1

        .text
        .balign 64
        .globl  _start
_start:
        map     0, 12*MB, 3, 0x22     # private, of no file, writable
        lea     2 * MB - 1(%rax), %rbx
        and     $-2 * MB, %rbx
        make    %r12d                   # tells the second thread
        make    %r13d                   # tells the first
        walk    2048
        mov     $0x50f00, %edi          # CLONE_VM ... CLONE_SYSVSEM: a thread
        lea     stack(%rip), %rsi
        xor     %edx, %edx
        xor     %r10d, %r10d
        xor     %r8d, %r8d
        mov     $56, %eax               # clone
        syscall
        test    %eax, %eax
        jz      second
        await   %r13d
        lea     8 * MB - 4096(%rbx), %rdi
        mov     $4096, %esi
        mov     $11, %eax               # munmap
        syscall
        tell    %r12d
        await   %r13d
        map     2*MB(%rbx), MB, 3, 0x32 # MAP_FIXED too
        map     3*MB(%rbx), MB, 1, 0x32
        tell    %r12d
        await   %r13d
        walk    1536
end:
        xor     %edi, %edi
        mov     $60, %eax               # exit: ends this thread alone
        syscall
second:
        walk    2048
        tell    %r13d
        await   %r12d
        walk    2047
        tell    %r13d
        await   %r12d
        walk    512, 2*MB
        tell    %r13d
        jmp     end

        .section .note.GNU-stack, "", @progbits
