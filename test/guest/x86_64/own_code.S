/* SPDX-License-Identifier: MIT */
/*
 * A block that writes to its own code: QEMU leaves the block at the write and
 * translates it anew.
 *
 * Counts of the whole program, N = 50, of a processor:
 *   instructions           304  6 N + 4
 * and of QEMU's blocks N are left before their end.
 */
        .equ    N, 50

        .section .rewrite, "awx", @progbits
        .globl  _start
_start:
        mov     $N, %ebx
round:
        nop
        movb    $0x90, change(%rip)
change: nop
        nop
        dec     %ebx
        jnz     round
        mov     $60, %eax
        xor     %edi, %edi
        syscall
