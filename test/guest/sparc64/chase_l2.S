/* SPDX-License-Identifier: MIT */
/*
 * Follows a ring of pointers, one in each of LINES lines of 64 bytes, R times
 * round. The links are part of the file: no store comes before the chase. Line
 * i points to line i + STEP modulo LINES; STEP is odd, LINES a power of two, so
 * the ring goes through every line.
 *
 * 1 MB: far more than an 8 KB L1D holds, a quarter of a 4 MB, 16-way L2, and
 * just as many 8 KB pages as a DTLB of 128 entries.
 *
 * Counts of the whole program, LINES = 16384, R = 4:
 *   instructions         196615  3 R LINES + 7
 *   class_load            65536  R LINES
 *   class_branch          65536  R LINES
 *   class_other           65543  R LINES + 7
 *   conditional_taken     65535  R LINES - 1
 *   l1d_load_misses       65536  R LINES
 *   l2_load_misses        16384  LINES, cold
 *   dtlb_load_misses        128  LINES / 128, cold
 *
 * On ultrasparc-t1:
 *   dtlb_load_misses          ?  twice the pages that its DTLB holds
 *
 * On sparc-t4:
 *   l2_load_misses         65536  R LINES: eight times its L2
 *   load_l2_hits               0  none
 *   load_l3_hits           49152  (R - 1) LINES
 *   load_memory            16384  LINES, cold
 *   dtlb_walk_refs           128  one a miss
 */
#ifndef LINES
#define LINES 16384
#define R 4
#endif
        .equ    STEP, 1237

        .text
        .balign 64
        .globl  _start
_start:
        sethi   %hi(R * LINES), %o1
        or      %o1, %lo(R * LINES), %o1
        sethi   %hi(ring), %o2
        or      %o2, %lo(ring), %o2
step:
        subcc   %o1, 1, %o1
        bne     step
        ldx     [%o2], %o2

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .data
        .balign 8192
ring:
        .set    i, 0
        .rept   LINES
        .xword  ring + ((i + STEP) & (LINES - 1)) * 64
        .skip   56
        .set    i, i + 1
        .endr
