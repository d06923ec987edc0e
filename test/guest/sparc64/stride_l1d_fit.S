/* SPDX-License-Identifier: MIT */
/*
 * The walk of stride_l1d.S over half the cache: only the first round misses.
 *
 * Counts of the whole program, BYTES = 4096, STRIDE = 16, R = 10:
 *   instructions           7736  R (3 BYTES / STRIDE + 5) + 6
 *   class_load             2560  R BYTES / STRIDE
 *   class_branch           2570  R (BYTES / STRIDE + 1)
 *   class_other            2606  R (BYTES / STRIDE + 4) + 6
 *   conditional_branches   2570  R (BYTES / STRIDE + 1)
 *   conditional_taken      2559  R (BYTES / STRIDE - 1) + R - 1
 *   l1d_load_misses         256  BYTES / STRIDE, cold
 *   l2_load_misses           64  BYTES / 64, cold
 *   dtlb_load_misses          1  cold
 *
 * On sparc-t4:
 *   l1d_load_misses          128  BYTES / 32, cold
 *   l2_load_misses           128  BYTES / 32, cold
 */
#define BYTES 4096
#include "stride_l1d.S"
