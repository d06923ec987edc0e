/* SPDX-License-Identifier: MIT */
/*
 * Writes 256 KB once, line by line: each bank of memory reads a quarter of the
 * lines and, as all fit into the L2, writes none.
 *
 * Counts of the whole program, LINES = 4096; a table walk reads 16 bytes a
 * page of 8 KB, so 64 bytes for 4 pages, and tables lie as the pages do:
 *   instructions          12294  3 LINES + 6
 *   class_store            4096  LINES
 *   l2_store_misses        4096  LINES
 *   dtlb_store_misses        32  LINES / 128
 *   memory_reads_0         1028  LINES / 4 + 2 of 8 walks, the code, its walk
 *   memory_reads_1         1026  LINES / 4 + 2 of 8 walks
 *   memory_reads_2         1026  LINES / 4 + 2 of 8 walks
 *   memory_reads_3         1026  LINES / 4 + 2 of 8 walks
 *   memory_writes_0           0
 *
 * On ultrasparc-t1:
 *   memory_reads_0         1025  LINES / 4 and the code; no walks
 *   memory_reads_1         1024  LINES / 4
 *   memory_reads_2         1024  LINES / 4
 *   memory_reads_3         1024  LINES / 4
 */
        .equ    LINES, 4096

        .text
        .balign 512
        .globl  _start
_start:
        sethi   %hi(array), %o2
        or      %o2, %lo(array), %o2
        sethi   %hi(LINES * 64), %o3
step:
        subcc   %o3, 64, %o3
        bne     step
        stx     %o4, [%o2 + %o3]

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .bss
        .balign LINES * 64
array:
        .skip   LINES * 64
