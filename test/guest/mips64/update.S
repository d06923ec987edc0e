/* SPDX-License-Identifier: MIT */
/*
 * Stores that make clean lines dirty. First a load of each of N lines of 32
 * bytes, and two stores: the first finds the line clean. Four of them are a line
 * of an L2 of 128-byte lines, which is clean once. Then, in N / 4 other lines of
 * the L2, a load of the first quarter and a store to the second: the L1D lacks
 * that, the L2 has it clean.
 *
 * Counts of the whole program, N = 64:
 *   instructions             475  N (3 + 3) + N / 4 (2 + 3) + 8 to start, 3 to exit
 *   class_load                80  N + N / 4
 *   class_store              144  2 N + N / 4
 *   l1d_load_misses           80  N + N / 4
 *   l1d_store_misses          16  N / 4
 *   l1d_updates               64  N
 *   l2_load_misses            32  N / 4 + N / 4
 *   l2_store_misses            0
 *   l2_updates                32  N / 4 + N / 4
 *   l1d_writeback_quadwords    0  all stay
 *   l2_writeback_quadwords     0
 */
        .equ    N, 64

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
first:
        ld      $10, 0($7)
        sd      $10, 8($7)
        sd      $10, 16($7)
        daddiu  $4, $4, -1
        bnez    $4, first
        daddiu  $7, $7, 32

        li      $4, N / 4
second:
        ld      $10, 0($7)
        sd      $10, 32($7)
        daddiu  $4, $4, -1
        bnez    $4, second
        daddiu  $7, $7, 128

        li      $4, 0
        li      $2, 5058
        syscall

        .bss
        .balign 128
array:
        .skip   64 * 32 + 16 * 128
