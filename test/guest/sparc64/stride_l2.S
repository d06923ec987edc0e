/* SPDX-License-Identifier: MIT */
/*
 * The walk of stride_l1d.S over four times a 16 KB cache and half a core's L2
 * of 128 KB.
 *
 * Counts of the whole program, BYTES = 65536, STRIDE = 16, R = 10:
 *   instructions         122936  R (3 BYTES / STRIDE + 5) + 6
 *   class_load            40960  R BYTES / STRIDE
 *   l1d_load_misses       40960  R BYTES / STRIDE: 16-byte lines
 *   l2_load_misses         1024  BYTES / 64, cold
 *   dtlb_load_misses          8  BYTES / 8192, cold
 *
 * On sparc-t4:
 *   l1d_load_misses       20480  R BYTES / 32
 *   l2_load_misses         2048  BYTES / 32, cold
 *   load_l2_hits          18432  (R - 1) BYTES / 32
 *   load_l3_hits           1024  BYTES / 64: an L3 line holds two of the L2
 *   load_memory            1024  BYTES / 64, cold
 *   dtlb_walk_refs            8  one a miss
 */
#define BYTES 65536
#include "stride_l1d.S"
