/* SPDX-License-Identifier: MIT */
/*
 * Loads of every width and kind, N rounds of seventeen and a prefetch, all from
 * one 32-byte line. Those of a part of a word make two accesses under QEMU, and
 * are one load; the round begins with one, so that it must not be entered twice.
 *
 * Counts of the whole program, N = 500:
 *   instructions          10510  18 N loads and prefetches, 3 N of the loop; 10
 *   class_load             9000  18 N
 *   class_branch            500  N
 *   class_other            1010  2 N: daddiu, slot; 7 to start, 3 to exit
 *   loads                  8500  17 N: a prefetch is none
 *   stores                    0
 *   prefetches              500  N
 *   conditional_branches    500  N
 *   conditional_taken       499  N - 1
 *   l1d_load_misses           1  cold
 *   l2_load_misses            1  cold
 *   dtlb_load_misses          1  cold
 */
        .equ    N, 500

        .set    noreorder
        .text
        .balign 64
        .globl  __start
__start:
        li      $4, N
        lui     $7, %highest(line)
        daddiu  $7, $7, %higher(line)
        dsll    $7, $7, 16
        daddiu  $7, $7, %hi(line)
        dsll    $7, $7, 16
        daddiu  $7, $7, %lo(line)
round:
        ldl     $8, 9($7)
        ldr     $8, 14($7)
        lwl     $8, 5($7)
        lwr     $8, 6($7)
        lb      $8, 0($7)
        lbu     $8, 1($7)
        lh      $8, 2($7)
        lhu     $8, 4($7)
        lw      $8, 8($7)
        lwu     $8, 12($7)
        ld      $8, 16($7)
        ll      $8, 24($7)
        lld     $8, 24($7)
        lwc1    $f0, 28($7)
        ldc1    $f2, 8($7)
        lwxc1   $f4, $0($7)
        ldxc1   $f6, $0($7)
        pref    0, 16($7)
        daddiu  $4, $4, -1
        bnez    $4, round
        nop

        li      $4, 0
        li      $2, 5058
        syscall

        .bss
        .balign 64
line:
        .skip   64
