/* SPDX-License-Identifier: MIT */
/*
 * dirty_set.S with loads: what is driven out is clean, and each finds its DRAM
 * bank free, as the strand waits for memory longer than a bank is busy.
 *
 * Counts of the whole program, LINES = 32, R = 10:
 *   instructions           1007  R (3 LINES + 4) + 7
 *   class_load              320  R LINES
 *   l1d_load_misses         320  R LINES
 *   l2_load_misses          320  R LINES
 *   l2_writebacks             0
 *   memory_writes_3           0
 *   dram_read_latency_0    2618  34 x 77: 32 walks, the code, its walk
 *   dram_read_latency_3   24640  320 x 77
 *   dram_write_latency_3      0
 *   dram_stalls_3             0
 *   dram_starved_3            0
 *   dram_deferred_3           0
 *
 * On ultrasparc-t1:
 *   dram_read_latency_0      66  the code
 *   dram_read_latency_3   21120  320 x 66
 *
 * On sparc-t4:
 *   dram_read_latency_0    4862  34 x 143
 *   dram_read_latency_3       0
 *   dram_read_latency_7   45760  320 x 143
 */
#define WRITE ldx     [%o2 + %o3], %o4
#include "dirty_set.S"
