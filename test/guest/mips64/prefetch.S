/* SPDX-License-Identifier: MIT */
/*
 * Prefetches of new lines: N rounds, 128 bytes each, a line of the L2 and four
 * of the L1D. All but two have their addresses told by the load, the store, the
 * load through an index, or, past a step of their register, by the store.
 *
 * Counts of the whole program, N = 100:
 *   instructions           1512  15 N, 9 to start, 3 to exit
 *   class_load             1000  10 N
 *   class_store             100  N
 *   loads                   200  2 N
 *   prefetches              800  8 N
 *   near_prefetch_misses    400  4 N: one of each line
 *   near_prefetch_l2_misses 100  N: of the first line
 *   near_prefetch_hits      200  2 N: again of the first two lines
 *   unperformed_prefetches  200  2 N: of $6, and a hint that reads no memory
 *   l1d_load_misses           0
 *   l1d_store_misses          0
 *   l2_load_misses            0
 *   l2_store_misses           0
 *   l1d_updates             100  N: the store's line came clean
 *   l2_updates              100  N
 *   dtlb_load_misses          1  one page of 32 KB, cold
 */
        .equ    N, 100

        .set    noreorder
        .text
        .balign 64
        .globl  __start
__start:
        li      $4, N
        lui     $7, %highest(array)
        daddiu  $7, $7, %higher(array)
        dsll    $7, $7, 16
        daddiu  $7, $7, %hi(array)
        dsll    $7, $7, 16
        daddiu  $7, $7, %lo(array)
        li      $5, 64
        move    $6, $7
round:
        pref    0, 0($7)
        ld      $9, 0($7)
        pref    4, 8($7)
        pref    1, 32($7)
        sd      $9, 32($7)
        pref    7, 40($7)
        prefx   0, $5($7)
        ldxc1   $f0, $5($7)
        daddiu  $7, $7, 64
        pref    0, 32($7)
        pref    0, 0($6)
        pref    30, 0($7)
        daddiu  $4, $4, -1
        bnez    $4, round
        daddiu  $7, $7, 64

        li      $4, 0
        li      $2, 5058
        syscall

        .bss
        .balign 32768
array:
        .skip   128 * N
