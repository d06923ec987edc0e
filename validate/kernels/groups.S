/* SPDX-License-Identifier: MIT */
/*
 * Instructions of x86-64 by groups, whose counts follow from arithmetic. Built with
 * -DGROUP_NAME and -DPASSES=N, the program makes N passes over the instructions of
 * one group, and ends. In front of each group stands what one pass counts. `loads`
 * and `stores` are memory operands of instructions; an update is one of each. A
 * string instruction with a REP prefix is one instruction, which loads and stores
 * once for each repetition. `far` are system calls: they are branches, and to AMD's
 * processors taken ones. Figures that are not named are 0.
 */

/* Group start, once for the program:
 *   instructions  4  mov in front of the passes; mov, xor and syscall at the end
 *   branches      1  syscall
 *   far           1  syscall
 */
    .intel_syntax noprefix
    .text
    .globl _start
_start:
    mov r15d, PASSES
again:

/* Group nops, in each pass:
 *   instructions  8  6, and dec, jnz
 *   branches      1  jnz
 *   conditional   1  jnz
 *   taken         1  jnz, but for the last pass
 */
#ifdef GROUP_nops
    nop
    nop
    nop word ptr [rax + rax]
    nop dword ptr [rax]
    pause
    nop
#endif

/* Group arithmetic, in each pass:
 *   instructions  24  22, and dec, jnz
 *   branches       1  jnz
 *   conditional    1  jnz
 *   taken          1  jnz, but for the last pass
 *   loads          5  add, sub, cmp, inc, div
 *   stores         2  sub, inc
 */
#ifdef GROUP_arithmetic
    inc rax
    dec rbx
    add rax, 3
    sub rbx, rax
    adc rdx, 1
    sbb rdx, 1
    neg rdx
    lea r8, [rax + 2 * rbx + 5]
    imul r9, r8
    imul r10, r9, 7
    add r10, [words]
    sub [words + 8], r10
    cmp rax, [words]
    inc dword ptr [words + 16]
    mov eax, 12345
    xor edx, edx
    mul r8
    mov eax, 54321
    xor edx, edx
    div dword ptr [divisor]
    cdq
    cqo
#endif

/* Group logic, in each pass:
 *   instructions  18  16, and dec, jnz
 *   branches       1  jnz
 *   conditional    1  jnz
 *   taken          1  jnz, but for the last pass
 *   loads          4  and, or, xor, test
 *   stores         2  or, xor
 */
#ifdef GROUP_logic
    and rax, 255
    or rbx, 16
    xor rcx, rax
    not rdx
    and r8, [words]
    or [words], r8
    xor dword ptr [words + 8], 5
    test [words], r9
    shl rax, 3
    shr rbx, 2
    sar rcx, 1
    rol rdx, 7
    ror r8, 9
    shld r9, r10, 4
    bswap r10
    bt r11, 5
#endif

/* Group moves, in each pass:
 *   instructions  16  14, and dec, jnz
 *   branches       1  jnz
 *   conditional    1  jnz
 *   taken          1  jnz, but for the last pass
 *   loads          6  mov three times, movzx, movsx, xchg
 *   stores         4  mov three times, xchg
 */
#ifdef GROUP_moves
    mov rax, [words]
    mov ebx, [words + 8]
    mov cl, [words + 16]
    movzx edx, byte ptr [words + 24]
    movsx r8, word ptr [words + 24]
    mov [words], rax
    mov [words + 8], ebx
    mov byte ptr [words + 16], 3
    mov r9, r8
    movzx r10d, cl
    movsxd r11, edx
    xchg rax, rbx
    xchg [words + 32], r9
    mov r9, 1
#endif

/* Group conditions, in each pass. A conditional move loads its operand whether or
 * not its condition is met:
 *   instructions  14  12, and dec, jnz
 *   branches       1  jnz
 *   conditional    1  jnz
 *   taken          1  jnz, but for the last pass
 *   loads          4  cmovz, cmovnz, cmovc, cmovns
 *   stores         1  setz
 */
#ifdef GROUP_conditions
    xor eax, eax
    cmovz rbx, [words]
    cmovnz rcx, [words + 8]
    cmovc rdx, [words + 8]
    cmovns r8, [words]
    cmovz r9, r8
    cmovnz r10, r8
    setz byte ptr [words + 16]
    setnz r11b
    clc
    stc
    cld
#endif

/* Group branches, in each pass:
 *   instructions  17  13 and two ret, and dec, jnz
 *   branches      12  5 conditional ones, jmp, jmp, call, ret, call, ret; jnz
 *   conditional    6  jz, jnz, jc, jrcxz, loop; jnz
 *   taken          9  jz, loop, jmp, jmp, call, ret, call, ret; jnz, but for the
 *                     last pass
 *   loads          2  ret, ret
 *   stores         2  call, call
 */
#ifdef GROUP_branches
    xor eax, eax
    jz 1f
    nop
1:
    jnz 1f
    jc 1f
    mov ecx, 2
    jrcxz 1f
    loop 1f
    nop
1:
    jmp 1f
    nop
1:
    lea rax, [1f]
    jmp rax
    nop
1:
    call back
    lea rax, [back]
    call rax
#endif

/* Group next, in each pass. The jump is not taken, and its target is where the
 * program goes on in any case:
 *   instructions   4  test, jz, and dec, jnz
 *   branches       2  jz, jnz
 *   conditional    2  jz, jnz
 *   taken          1  jnz, but for the last pass
 */
#ifdef GROUP_next
    test r15d, r15d
    jz 1f
1:
#endif

/* Group stack, in each pass:
 *   instructions  12  10, and dec, jnz
 *   branches       1  jnz
 *   conditional    1  jnz
 *   taken          1  jnz, but for the last pass
 *   loads          6  push and pop of memory, pop, pop, popfq, leave
 *   stores         6  push, push and pop of memory, push, pushfq, enter
 */
#ifdef GROUP_stack
    push rax
    push qword ptr [words]
    pop qword ptr [words + 8]
    pop rbx
    push 5
    pop rcx
    pushfq
    popfq
    enter 16, 0
    leave
#endif

/* Group strings, in each pass:
 *   instructions  24  22, five of them with REP, and dec, jnz
 *   branches       1  jnz
 *   conditional    1  jnz
 *   taken          1  jnz, but for the last pass
 *   loads         69  rep movsb 32, rep lodsb 8, repe scasb 8, repe cmpsb 16;
 *                     movsq, lodsb, scasb, two of cmpsb
 *   stores        50  rep movsb 32, rep stosq 16; movsq, stosb
 */
#ifdef GROUP_strings
    lea rsi, [bytes]
    lea rdi, [bytes + 256]
    mov ecx, 32
    rep movsb
    mov ecx, 16
    rep stosq
    mov ecx, 8
    rep lodsb
    lea rdi, [zeros]
    xor eax, eax
    mov ecx, 8
    repe scasb
    lea rsi, [zeros]
    lea rdi, [zeros + 16]
    mov ecx, 8
    repe cmpsb
    cmpsb
    lodsb
    scasb
    lea rdi, [bytes]
    movsq
    stosb
#endif

/* Group serial, in each pass:
 *   instructions   7  5, and dec, jnz
 *   branches       1  jnz
 *   conditional    1  jnz
 *   taken          1  jnz, but for the last pass
 */
#ifdef GROUP_serial
    xor eax, eax
    cpuid
    lfence
    sfence
    mfence
#endif

/* Group x87, in each pass:
 *   instructions  12  10, and dec, jnz
 *   branches       1  jnz
 *   conditional    1  jnz
 *   taken          1  jnz, but for the last pass
 *   loads          4  fldcw, fld, fadd, fild
 *   stores         3  fnstcw, fstp, fistp
 */
#ifdef GROUP_x87
    fnstcw [words]
    fldcw [words]
    fld qword ptr [number]
    fld st(0)
    fadd qword ptr [number]
    fmul st, st(1)
    fstp qword ptr [words + 8]
    fstp st(0)
    fild dword ptr [divisor]
    fistp dword ptr [words + 16]
#endif

/* Group vectors, in each pass:
 *   instructions  18  16, and dec, jnz
 *   branches       1  jnz
 *   conditional    1  jnz
 *   taken          1  jnz, but for the last pass
 *   loads          6  movaps, movss, addsd, paddd, movq, paddb
 *   stores         3  movaps, movups, movq
 */
#ifdef GROUP_vectors
    movaps xmm0, [zeros]
    addps xmm0, xmm1
    mulpd xmm1, xmm2
    movaps [words], xmm0
    movss xmm2, dword ptr [zeros]
    addsd xmm3, qword ptr [number]
    cvtsi2sd xmm4, eax
    cvttsd2si eax, xmm4
    movd xmm5, eax
    pxor xmm6, xmm5
    paddd xmm6, [zeros]
    movups [words + 24], xmm6
    movq mm0, qword ptr [zeros]
    paddb mm0, qword ptr [zeros]
    movq qword ptr [words + 48], mm0
    emms
#endif

/* Group system, in each pass:
 *   instructions   4  mov, syscall, and dec, jnz
 *   branches       2  syscall, jnz
 *   conditional    1  jnz
 *   taken          1  jnz, but for the last pass
 *   far            1  syscall
 */
#ifdef GROUP_system
    mov eax, 110
    syscall
#endif

    dec r15d
    jnz again
    mov eax, 60
    xor edi, edi
    syscall
back:
    ret

    .data
    .balign 64
words:
    .fill 16, 8, 1
number:
    .double 1.5
divisor:
    .long 7
    .balign 64
zeros:
    .fill 64, 1, 0
    .bss
    .balign 64
bytes:
    .skip 1024
