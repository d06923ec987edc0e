/* SPDX-License-Identifier: MIT */
/*
 * Stores of every width and kind, N rounds of twelve, all into one 32-byte
 * line; those of a part of a word store it byte by byte under QEMU, and are one
 * store.
 *
 * Counts of the whole program, N = 500:
 *   instructions           7510  12 N stores, 3 N of the loop, 10 around it
 *   class_store            6000  12 N
 *   class_branch            500  N
 *   class_other            1010  2 N: daddiu, slot; 7 to start, 3 to exit
 *   loads                     0
 *   stores                 6000  12 N
 *   store_conditionals        0
 *   l1d_store_misses          1  cold: the L1D allocates
 *   l2_store_misses           1  cold
 *   dtlb_store_misses         1  cold
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
        sb      $0, 0($7)
        sh      $0, 2($7)
        sw      $0, 4($7)
        sd      $0, 8($7)
        swl     $0, 17($7)
        swr     $0, 18($7)
        sdl     $0, 11($7)
        sdr     $0, 12($7)
        swc1    $f0, 20($7)
        sdc1    $f2, 24($7)
        swxc1   $f4, $0($7)
        sdxc1   $f6, $0($7)
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
