/* SPDX-License-Identifier: MIT */
/*
 * More stores than the store buffer of an UltraSPARC T1 holds, 8, of which one
 * drains in 22 cycles, N rounds of four blocks:
 *   8 stores         each finds an entry
 *   12 stores        the 9th comes after 8 cycles and waits 14, until the first
 *                    has drained; each of the 3 behind it 21 more: 77
 *   8, 5 nops, 1     the 14th instruction comes after 13 cycles and waits 9
 *   8, save, 1, ...  in two parts of the block: the 10th waits 13
 * A nop and the branch's slot behind the stores change nothing.
 *
 * Counts of the whole program, N = 100:
 *   instructions           5406  54 N: 10, 14, 16, 14; 3 to start, 3 to exit
 *   class_store            3800  38 N
 *   class_branch            400  4 N
 *   class_other            1206  12 N, 6 around them
 *   loads                     0
 *   stores                 3800
 *   l2_store_misses           1  cold: the L2 allocates
 *   dtlb_store_misses         1  cold
 *
 * On ultrasparc-t1:
 *   store_full             9900  N (77 + 9 + 13)
 *   stall_store            9900  the same
 */
        .equ    N, 100

        .macro  eight
        .rept   8
        stx     %g0, [%o2]
        .endr
        .endm

        .macro  next
        ba      1f
        nop
        nop                             ! not run: QEMU ends no block
                                        ! whose branch leads right behind it
1:
        .endm

        .text
        .balign 512
        .globl  _start
_start:
        mov     N, %o1
        sethi   %hi(line), %o2
        or      %o2, %lo(line), %o2
round:
        eight
        next

        eight
        .rept   4
        stx     %g0, [%o2]
        .endr
        next

        eight
        .rept   5
        nop
        .endr
        stx     %g0, [%o2]
        next

        eight
        save    %sp, -176, %sp
        stx     %g0, [%i2]
        restore
        subcc   %o1, 1, %o1
        bne     round
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d

        .bss
        .balign 64
line:
        .skip   64
