/* SPDX-License-Identifier: MIT */
/*
 * Writes to LINES lines, R times, that lie STRIDE apart and so in one set of
 * the L2, and all in bank 3: each write misses and, once the WAYS ways are
 * full, drives out a line that was written before.
 *
 * All lines are in one DRAM bank too. Stores wait for nothing, so that on the
 * T1 all M = 628 reads and writes follow each other in a queue that is full of
 * 16: one waits in all but the last of M services, and all together stand in it
 * for 16 M - 120. In full swing a write comes behind 15 and is passed by 4
 * reads, and so is there for 20 services, a read for 12. Before that the reads
 * take 1 to 13, 14, 14, 13, the first write 18; the last writes, which fewer
 * reads pass, 19, 18, 17, 16. With table walks, for which the strand waits, the
 * first 31 steps stand alone; of the rest M = 578, the reads take 1, 2, 3, 4, 5,
 * 7, 9, 11 and 12, the writes 6, 8 to 20 and so on to 19, 18, 17, 16.
 *
 * Counts of the whole program, LINES = 32, R = 10; WAYS = 16:
 *   instructions           1007  R (3 LINES + 4) + 7
 *   class_store             320  R LINES
 *   l2_store_misses         320  R LINES
 *   l2_writebacks           304  R LINES - WAYS
 *   memory_writes_3         304  R LINES - WAYS
 *   dram_read_latency_0    2618  34 x 77: 32 walks, the code, its walk
 *   dram_read_latency_3  265265  (31 + 42 + 281 x 12) x 77
 *   dram_write_latency_3 442288  (15 x 2 + 84 + 278 x 20 + 70) x 77
 *   dram_stalls_3         45584  (15 + M - 1) x 77
 *   dram_starved_3          285  289 writes, not the last 4
 *   dram_deferred_3           0
 *
 * On ultrasparc-t1:
 *   l2_writebacks           308  R LINES - WAYS, 12
 *   memory_writes_3         308  R LINES - WAYS, 12
 *   dram_read_latency_0      66  the code
 *   dram_read_latency_3  249480  (91 + 41 + 304 x 12) x 66
 *   dram_write_latency_3 405768  (18 + 303 x 20 + 70) x 66
 *   dram_stalls_3         41382  (M - 1) x 66
 *
 * On sparc-t4:
 *   l2_writebacks           312  R LINES - WAYS, 8
 *   memory_writes_3           0
 *   memory_writes_7         304  R LINES - 16 ways of the L3; of 8 banks
 *   dram_read_latency_0    4862  34 x 143, as on the T2
 *   dram_read_latency_3       0
 *   dram_read_latency_7  492635  3445 x 143, as the T2's bank 3
 *   dram_write_latency_3      0
 *   dram_write_latency_7 821392  5744 x 143, as the T2's bank 3
 *   dram_stalls_3             0
 *   dram_stalls_7         84656  592 x 143, as the T2's bank 3
 *   dram_starved_3            0
 *   dram_starved_7          285  as the T2's bank 3
 */
#ifndef WRITE
#define WRITE stx     %o4, [%o2 + %o3]
#endif
        .equ    STRIDE, 0x40000
#ifndef LINES
#define LINES 32
#endif
        .equ    R, 10

        .text
        .balign 512
        .globl  _start
_start:
        mov     R, %o1
        sethi   %hi(array + 0x1c0), %o2
        or      %o2, %lo(array + 0x1c0), %o2
        sethi   %hi(STRIDE), %o5
round:
        sethi   %hi(LINES * STRIDE), %o3
step:
        subcc   %o3, %o5, %o3
        bne     step
        WRITE
        subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .bss
        .balign STRIDE
array:
        .skip   LINES * STRIDE
