/* SPDX-License-Identifier: MIT */
/*
 * Instructions of each kind that SiFive's cores count. N = 1000 rounds; no
 * access to memory.
 *
 * Counts of the whole program:
 *   instructions          29006  29 N + 6
 *   class_branch           3000  3 N: jal ret bnez
 *   class_fgu             15000  15 N
 *   class_other           11006  11 N; 4 to start, 2 to exit
 *   fp_instructions       12000  12 N: fsgnj, fmv and fclass do not compute
 *   mul_div                6000  6 N
 *   conditional_branches   1000  N
 *   conditional_taken       999  N - 1
 *   unconditional_taken    2000  2 N: jal ret
 *   returns                1000  N
 *   riscv_system           2001  2 N: csrr csrw; ecall
 *   riscv_arithmetic       3005  3 N: c.nop c.mv addi; 4 to start, 1 to exit
 *   riscv_branches         1000  N
 *   riscv_jal              1000  N
 *   riscv_multiplications  3000  3 N: mul mulhu mulw
 *   riscv_divisions        3000  3 N: div rem divuw
 *   riscv_float_sums       3000  3 N: fadd.d fsub.d fadd.s
 *   riscv_float_products   1000  N: fmul.d
 *   riscv_float_fused      2000  2 N: fmadd.d fnmsub.d
 *   riscv_float_quotients  2000  2 N: fdiv.d fsqrt.d
 *   riscv_float_others     7000  7 N: the others of class_fgu
 *   riscv_loads               0
 *   riscv_stores              0
 *   riscv_atomics             0
 *   riscv_float_stores        0
 *   float_loads               0
 */
        .equ    N, 1000

        .option norelax
        .text
        .balign 64
        .globl  _start
_start:
        li      s0, N
        li      s1, 7
        li      s2, 3
        li      s3, 0
round:
        mul     t0, s1, s2
        mulhu   t0, s1, s2
        mulw    t0, s1, s2
        div     t0, s1, s2
        rem     t0, s1, s2
        divuw   t0, s1, s2
        fmv.d.x fa0, s1
        fcvt.d.l fa1, s1
        fadd.d  fa2, fa1, fa1
        fsub.d  fa2, fa1, fa1
        fadd.s  fa3, fa0, fa0
        fmul.d  fa2, fa1, fa1
        fmadd.d fa2, fa1, fa1, fa1
        fnmsub.d fa2, fa1, fa1, fa1
        fdiv.d  fa2, fa1, fa1
        fsqrt.d fa2, fa1
        fmin.d  fa2, fa1, fa1
        feq.d   t0, fa1, fa1
        fcvt.w.d t0, fa1
        fsgnj.d fa2, fa1, fa0
        fclass.d t0, fa1
        csrr    t1, fcsr
        csrw    frm, s3
        c.nop
        c.mv    t2, s1
        jal     ra, leaf
        addi    s0, s0, -1
        bnez    s0, round

        li      a7, 93
        ecall

leaf:
        ret
