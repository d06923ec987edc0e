/* SPDX-License-Identifier: MIT */
/*
 * N rounds of a block whose one access is a no-fault load of no memory: QEMU
 * shows no access.
 *
 * Counts of the whole program, N = 1000:
 *   instructions           4005  4 N + 5
 *   class_load             1000  N
 *   class_branch           1000  N
 *   class_sethi               0
 *   class_other            2005  2 N + 5
 */
        .equ    N, 1000
        .equ    ASI_PRIMARY_NO_FAULT, 0x82

        .text
        .balign 64
        .globl  _start
_start:
        set     N, %g1
        mov     0, %o1
round:
        subcc   %g1, 1, %g1
        nop
        bne     round
        lduba   [%o1] ASI_PRIMARY_NO_FAULT, %o2

        mov     0, %o0
        mov     1, %g1
        ta      0x6d
