/* SPDX-License-Identifier: MIT */
/*
 * dirty_set.S with atomics, which write their lines as stores do.
 *
 * Counts of the whole program, LINES = 32, R = 10; WAYS = 16:
 *   instructions           1007  R (3 LINES + 4) + 7
 *   class_atomic            320  R LINES
 *   class_store               0
 *   l2_store_misses         320  R LINES
 *   l2_writebacks           304  R LINES - WAYS
 *   memory_writes_3         304  R LINES - WAYS
 *
 * On ultrasparc-t1:
 *   l2_writebacks           308  R LINES - WAYS, 12
 *   memory_writes_3         308  R LINES - WAYS, 12
 *
 * On sparc-t4:
 *   l2_writebacks           312  R LINES - WAYS, 8
 *   memory_writes_3           0
 *   memory_writes_7         304  R LINES - 16 ways of the L3; of 8 banks
 */
#define WRITE ldstub  [%o2 + %o3], %o4
#include "dirty_set.S"
