/* SPDX-License-Identifier: MIT */
/*
 * dirty_set.S with one line more than 16 ways: what the last cache drives out
 * is read again soon, while its write still waits in the queue of memory.
 *
 * Counts of the whole program, LINES = 17, R = 10; WAYS = 16:
 *   instructions            557  R (3 LINES + 4) + 7
 *   class_store             170  R LINES
 *   l2_store_misses         170  R LINES
 *   l2_writebacks           154  R LINES - WAYS
 *   memory_writes_3         154  R LINES - WAYS
 *   dram_deferred_3         153  (R - 1) LINES: all reads but the first round's
 *   dram_stalls_3         23639  307 x 77: 154 writes and as many reads in a row
 *   dram_starved_3            0  no read passes the write before it
 *
 * On ultrasparc-t1:
 *   l2_writebacks           158  R LINES - WAYS, 12
 *   memory_writes_3         158  R LINES - WAYS, 12
 *   dram_stalls_3         21582  327 x 66: 158 writes and 170 reads in a row
 *   dram_starved_3            ?
 *
 * On sparc-t4:
 *   l2_writebacks           162  R LINES - WAYS, 8
 *   memory_writes_3           0
 *   memory_writes_7         154  R LINES - 16 ways of the L3; of 8 banks
 *   dram_deferred_3           0
 *   dram_deferred_7         153  (R - 1) LINES: all reads but the first round's
 *   dram_stalls_3             0
 *   dram_stalls_7         43901  307 x 143
 */
#define LINES 17
#include "dirty_set.S"
