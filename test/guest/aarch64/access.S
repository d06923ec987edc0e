/* SPDX-License-Identifier: MIT */
/*
 * Loads, stores and atomics in the program's terms: an instruction is one load
 * or one store, of a pair or four vectors as of one word, and an atomic is one of
 * each. N = 500 rounds on three lines.
 *
 * Counts of the whole program:
 *   instructions          16007  32 N + 7
 *   class_load             5500  11 N: ldr ldp ldp ldpsw ldr ld1 ld2 ld1r ldaxr
 *                                ldar prfm
 *   class_store            3500  7 N: str stp stp str st1 stlxr stlr
 *   class_atomic           2000  4 N: ldadd casal swp casp
 *   class_branch           3000  6 N: bl ret b cbz cbnz b.ne
 *   class_fgu               500  N: fadd
 *   class_other            1507  3 N: dmb mul subs; 5 to start, 2 to exit
 *   loads                  7000  10 N, 4 N atomics; prfm is none
 *   stores                 5500  7 N, 4 N atomics
 *   prefetches              500  N
 *   fp_instructions         500  N: fadd
 *   mul_div                 500  N: mul
 *   barriers                500  N: dmb
 *   store_conditionals      500  N: stlxr
 *   conditional_branches    500  N: b.ne; cbz and cbnz of the zero are sure
 *   conditional_taken       499  N - 1
 *   unconditional_taken    2000  4 N: bl ret b cbz
 *   l1d_load_misses           2  the first two lines, cold
 *   l1d_store_misses          1  the third
 *   dtlb_load_misses          1  one page, cold
 *   dtlb_store_misses         0
 */
        .equ    N, 500

        .arch   armv8.1-a
        .text
        .balign 64
        .globl  _start
_start:
        mov     x0, #N
        adrp    x1, lines
        add     x1, x1, :lo12:lines
        add     x6, x1, #64
        add     x7, x1, #128
round:
        prfm    pldl1keep, [x3]
        ldr     x2, [x1]
        ldp     x2, x3, [x1, #16]
        ldp     w4, w5, [x1, #32]
        ldpsw   x4, x5, [x1, #40]
        ldr     q0, [x1, #48]
        ld1     {v1.16b, v2.16b, v3.16b, v4.16b}, [x6]
        ld2     {v1.4s, v2.4s}, [x1]
        ld1r    {v5.4s}, [x1]
        str     x2, [x1]
        stp     x2, x3, [x1, #16]
        stp     w4, w5, [x1, #32]
        str     q0, [x1, #48]
        st1     {v1.16b, v2.16b, v3.16b, v4.16b}, [x7]
        ldadd   x8, x9, [x1]
        casal   x9, x8, [x1]
        swp     x8, x9, [x1]
        casp    x10, x11, x12, x13, [x1]
        ldaxr   x9, [x1]
        stlxr   w8, x9, [x1]
        ldar    x9, [x1]
        stlr    x9, [x1]
        dmb     ish
        bl      leaf
        b       1f
        nop
1:      cbz     xzr, 2f
        nop
2:      cbnz    xzr, round
        fadd    d6, d6, d6
        mul     x14, x14, x14
        subs    x0, x0, #1
        b.ne    round

        mov     x8, #93
        svc     #0

leaf:
        ret

        .bss
        .balign 256
lines:
        .skip   256
