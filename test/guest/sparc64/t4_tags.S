/* SPDX-License-Identifier: MIT */
/*
 * Three loops of loads that memory serves, 430 cycles each. Behind a load of the
 * first, 4 in 8 instructions, a load buffer of 32 is full after 8 rounds, a
 * reorder buffer of 128 after 16; behind one of the second, with 2 stores in 7
 * instructions, a store buffer of 16 after 8 rounds and the reorder buffer after
 * 18; the third has 1 load in 9 instructions, and fills the reorder buffer.
 *
 * Counts of the whole program, A = 16, B = 20, C = 24:
 *   instructions            495  5 to start, 8 A + 2, 7 B + 1, 9 C + 3
 *   class_load              108  4 A, B, C
 *   class_store              40  2 B
 *
 * On sparc-t4:
 *   stall_load            46440  430 (4 A + B + C)
 *   stall_lb              27520  430 (4 A)
 *   stall_sb               8600  430 B
 *   stall_rob             10320  430 C
 */
        .equ    A, 16
        .equ    B, 20
        .equ    C, 24

        .text
        .balign 64
        .globl  _start
_start:
        sethi   %hi(data), %o2
        or      %o2, %lo(data), %o2
        sethi   %hi(there), %o3
        or      %o3, %lo(there), %o3
        mov     A, %o1
loads:
        ldx     [%o2], %o4
        ldx     [%o2 + 64], %o4
        ldx     [%o2 + 128], %o4
        ldx     [%o2 + 192], %o4
        add     %o2, 256, %o2
        subcc   %o1, 1, %o1
        bne     loads
        nop

        mov     B, %o1
        nop
stores:
        ldx     [%o2], %o4
        stx     %o4, [%o3]
        stx     %o4, [%o3 + 8]
        add     %o2, 64, %o2
        subcc   %o1, 1, %o1
        bne     stores
        nop

        mov     C, %o1
few:
        ldx     [%o2], %o4
        nop
        nop
        nop
        nop
        add     %o2, 64, %o2
        subcc   %o1, 1, %o1
        bne     few
        nop

        mov     0, %o0
        mov     1, %g1
        ta      0x6d
        nop
        nop
        nop

        .bss
        .balign 8192
data:
        .skip   8192
there:
        .skip   64
