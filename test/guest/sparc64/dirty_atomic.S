/* SPDX-License-Identifier: MIT */
/*
 * dirty_set.S with atomics, which write their lines as stores do.
 *
 * The strand waits for each read for the 190 cycles of memory from when its
 * bank begins, in which that serves read and write, 77 each: the write waits
 * for the read alone. On the T1 they are 108 and 66: the read waits 132 - 108
 * too, and the write as long.
 *
 * Counts of the whole program, LINES = 32, R = 10; WAYS = 16:
 *   instructions           1007  R (3 LINES + 4) + 7
 *   class_atomic            320  R LINES
 *   class_store               0
 *   l2_store_misses         320  R LINES
 *   l2_writebacks           304  R LINES - WAYS
 *   memory_writes_3         304  R LINES - WAYS
 *   dram_read_latency_0    2618  34 x 77: 32 walks, the code, its walk
 *   dram_read_latency_3   24640  320 x 77
 *   dram_write_latency_3  46816  304 x 2 x 77
 *   dram_stalls_3         23408  304 x 77
 *   dram_starved_3            0
 *   dram_deferred_3           0
 *
 * On ultrasparc-t1:
 *   l2_writebacks           308  R LINES - WAYS, 12
 *   memory_writes_3         308  R LINES - WAYS, 12
 *   dram_read_latency_0      66  the code
 *   dram_read_latency_3   28488  13 x 66 + 307 (66 + 24)
 *   dram_write_latency_3  48024  2 x 66 + 307 (2 x 66 + 24)
 *   dram_stalls_3         27696  66 + 307 (66 + 24)
 *
 * On sparc-t4:
 *   l2_writebacks           312  R LINES - WAYS, 8
 *   memory_writes_3           0
 *   memory_writes_7         304  R LINES - 16 ways of the L3; of 8 banks
 *   dram_read_latency_0    4862  34 x 143
 *   dram_read_latency_3       0
 *   dram_read_latency_7   45760  320 x 143
 *   dram_write_latency_3      0
 *   dram_write_latency_7  86944  304 x 2 x 143
 *   dram_stalls_3             0
 *   dram_stalls_7         43472  304 x 143
 */
#define WRITE ldstub  [%o2 + %o3], %o4
#include "dirty_set.S"
