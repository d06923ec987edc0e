/* SPDX-License-Identifier: MIT */
/*
 * The loads of tlb_thrash.S in half as many pages less one: just what the TLB
 * holds beside the page of the code.
 *
 * Counts of the whole program, P = 63, R = 20:
 *   instructions           5245  R (4 P + 10) + 5
 *   class_load             1260  R P
 *   l1d_load_misses          63  P, cold
 *   dtlb_load_misses         63  P, cold
 *   itlb_misses               1  cold
 */
#define P 63
#include "tlb_thrash.S"
