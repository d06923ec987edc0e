/* SPDX-License-Identifier: MIT */
/*
 * One load in each of P pages of 32 KB, R times, twice as many as a TLB of 64
 * entries holds. Its replacement spares what was used since the used bits were
 * last cleared, and 63 misses clear them: no entry outlives 126 others, and a
 * page comes round after 127. The load moves on by 32 bytes from page to page,
 * so that the L1D holds its lines.
 *
 * Counts of the whole program, P = 128, R = 20:
 *   instructions          10445  R (4 P + 10) + 5
 *   class_load             2560  R P
 *   class_branch           2580  R (P + 1)
 *   class_other            5305  R (2 P + 9) + 5
 *   l1d_load_misses         128  P, cold
 *   l2_load_misses          128  P, cold
 *   dtlb_load_misses       2560  R P
 */
#ifndef P
#define P 128
#endif
        .equ    R, 20
        .equ    STRIDE, 32768 + 32

        .set    noreorder
        .text
        .balign 64
        .globl  __start
__start:
        li      $4, R
        li      $10, STRIDE
round:
        lui     $7, %highest(pages)
        daddiu  $7, $7, %higher(pages)
        dsll    $7, $7, 16
        daddiu  $7, $7, %hi(pages)
        dsll    $7, $7, 16
        daddiu  $7, $7, %lo(pages)
        li      $6, P
step:
        ld      $8, 0($7)
        daddiu  $6, $6, -1
        bnez    $6, step
        daddu   $7, $7, $10
        daddiu  $4, $4, -1
        bnez    $4, round
        nop

        li      $4, 0
        li      $2, 5058
        syscall

        .bss
        .balign 32768
pages:
        .skip   P * STRIDE
