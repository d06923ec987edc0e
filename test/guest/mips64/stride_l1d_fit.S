/* SPDX-License-Identifier: MIT */
/*
 * The walk of stride_l1d.S over half as much: just what the cache holds.
 *
 * Counts of the whole program, BYTES = 32768, STRIDE = 32, R = 10:
 *   instructions          41010  R (4 BYTES / STRIDE + 4) + 10
 *   class_load            10240  R BYTES / STRIDE
 *   l1d_load_misses        1024  BYTES / STRIDE, cold
 *   l2_load_misses          256  BYTES / 128, cold
 *   dtlb_load_misses          1  BYTES / 32768, cold
 */
#define BYTES 32768
#include "stride_l1d.S"
