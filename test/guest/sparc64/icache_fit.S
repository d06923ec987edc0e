/* SPDX-License-Identifier: MIT */
/*
 * The jumps of icache_stride.S through 8 KB, half the cache: only the first
 * round misses.
 *
 * Counts of the whole program, BLOCKS = 256, R = 10:
 *   instructions           2585  2 + R (BLOCKS - 1 + 3) + 3
 *   class_branch           2561  1 + R BLOCKS
 *   class_other              24  1 + 2 R + 3
 *   conditional_branches     10  R
 *   conditional_taken         9  R - 1
 *   unconditional_taken    2551  1 + R (BLOCKS - 1)
 *   l1i_misses              257  1 + BLOCKS, cold
 *   l2_fetch_misses         129  1 + BLOCKS / 2, cold
 *   itlb_misses               2  1 + BLOCKS / 256, cold
 *
 * On sparc-t4:
 *   l2_fetch_misses          257  1 + BLOCKS: its L2 has 32-byte lines
 *   fetch_l2_hits              0  none
 *   fetch_l3_hits            128  BLOCKS / 2: an L3 line holds two
 *   fetch_memory             129  1 + BLOCKS / 2, cold
 *   itlb_walk_refs             2  one a miss
 */
#define BLOCKS 256
#include "icache_stride.S"
