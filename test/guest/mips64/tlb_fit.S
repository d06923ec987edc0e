/* SPDX-License-Identifier: MIT */
/*
 * The loads of tlb_thrash.S in half as many pages: just what the TLB holds.
 *
 * Counts of the whole program, P = 64, R = 20:
 *   instructions           5325  R (4 P + 10) + 5
 *   class_load             1280  R P
 *   l1d_load_misses          64  P, cold
 *   dtlb_load_misses         64  P, cold
 */
#define P 64
#include "tlb_thrash.S"
