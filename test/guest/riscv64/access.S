/* SPDX-License-Identifier: MIT */
/*
 * Loads, stores and atomics in the program's terms: an AMO is one load and one
 * store. N = 500 rounds on three lines.
 *
 * Counts of the whole program:
 *   instructions          15507  31 N + 7
 *   class_load             5000  10 N: prefetch.r lbu lhu lw ld lwu flw fld ld lr.w
 *   class_store            4000  8 N: sb sh sw sd fsw fsd sd sc.w
 *   class_atomic           1500  3 N: amoadd.d amoswap.w amomaxu.d
 *   class_branch           3000  6 N: jal ret j beq bne bnez
 *   class_fgu               500  N: fadd.d
 *   class_other            1507  3 N: fence mul addi; 5 to start, 2 to exit
 *   loads                  6000  9 N, 3 N atomics; prefetch.r is none
 *   stores                 5500  8 N, 3 N atomics
 *   prefetches              500  N
 *   fp_instructions         500  N: fadd.d
 *   mul_div                 500  N: mul
 *   barriers                500  N: fence
 *   store_conditionals      500  N: sc.w
 *   float_loads            1000  2 N: flw fld
 *   returns                 500  N
 *   riscv_loads            3000  6 N: lbu lhu lw ld lwu ld
 *   riscv_stores           2500  5 N: sb sh sw sd sd
 *   riscv_atomics          2500  5 N: lr.w sc.w and the AMOs
 *   riscv_system              1  ecall
 *   riscv_arithmetic       1006  2 N: prefetch.r addi; 5 to start, 1 to exit
 *   riscv_branches         1500  3 N: beq bne bnez
 *   riscv_jal              1000  2 N: jal j
 *   riscv_multiplications   500  N
 *   riscv_divisions           0
 *   riscv_float_stores     1000  2 N: fsw fsd
 *   riscv_float_sums        500  N
 *   riscv_float_products      0
 *   riscv_float_fused         0
 *   riscv_float_quotients     0
 *   riscv_float_others        0
 *   conditional_branches    500  N: bnez; beq and bne of one register are sure
 *   conditional_taken       499  N - 1
 *   unconditional_taken    2000  4 N: jal ret j beq
 *   l1d_load_misses           2  the first two lines, cold
 *   l1d_store_misses          1  the third
 *   dtlb_load_misses          1  one page, cold
 *   dtlb_store_misses         0
 */
        .equ    N, 500

        .option norelax
        .option arch, +zicbop
        .text
        .balign 64
        .globl  _start
_start:
        li      s0, N
        lla     s1, lines
        addi    s2, s1, 64
        addi    s3, s1, 128
round:
        prefetch.r 0(a3)
        lbu     a0, 0(s1)
        lhu     a1, 2(s1)
        lw      a2, 4(s1)
        ld      a3, 8(s1)
        lwu     a4, 16(s1)
        flw     fa0, 20(s1)
        fld     fa1, 24(s1)
        ld      a5, 0(s2)
        sb      a0, 0(s1)
        sh      a1, 2(s1)
        sw      a2, 4(s1)
        sd      a3, 8(s1)
        fsw     fa0, 20(s1)
        fsd     fa1, 24(s1)
        sd      a5, 0(s3)
        lr.w.aq a6, (s1)
        sc.w.rl a7, a6, (s1)
        amoadd.d t1, t0, (s1)
        amoswap.w.aqrl t1, t0, (s1)
        amomaxu.d t1, t0, (s1)
        fence   rw, rw
        jal     ra, leaf
        j       1f
        nop
1:      beq     a0, a0, 2f
        nop
2:      bne     a0, a0, round
        fadd.d  fa2, fa2, fa2
        mul     t2, t2, t2
        addi    s0, s0, -1
        bnez    s0, round

        li      a7, 93
        ecall

leaf:
        ret

        .bss
        .balign 256
lines:
        .skip   256
