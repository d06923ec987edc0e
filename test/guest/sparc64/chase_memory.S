/* SPDX-License-Identifier: MIT */
/*
 * The chase of chase_l2.S over 8 MB, twice a 4 MB LRU L2: it misses always.
 *
 * Counts of the whole program, LINES = 131072, R = 2:
 *   instructions         786439  3 R LINES + 7
 *   class_load           262144  R LINES
 *   class_branch         262144  R LINES
 *   class_other          262151  R LINES + 7
 *   conditional_taken    262143  R LINES - 1
 *   l1d_load_misses      262144  R LINES
 *   l2_load_misses       262144  R LINES
 *
 * On sparc-t4:
 *   load_l2_hits               0  none
 *   load_l3_hits               0  none
 *   load_memory           262144  R LINES
 */
#define LINES 131072
#define R 2
#include "chase_l2.S"
