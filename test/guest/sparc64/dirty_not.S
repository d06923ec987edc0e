/* SPDX-License-Identifier: MIT */
/*
 * dirty_set.S with loads: what is driven out is clean.
 *
 * Counts of the whole program, LINES = 32, R = 10:
 *   instructions           1007  R (3 LINES + 4) + 7
 *   class_load              320  R LINES
 *   l1d_load_misses         320  R LINES
 *   l2_load_misses          320  R LINES
 *   l2_writebacks             0
 *   memory_writes_3           0
 */
#define WRITE ldx     [%o2 + %o3], %o4
#include "dirty_set.S"
