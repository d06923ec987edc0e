/* SPDX-License-Identifier: MIT */
/*
 * illegal MODE: ends, or does not end, by SIGILL, as MODE names.
 *
 *   avx512   an instruction of AVX-512 behind others in its block
 *   avx512m  the same with an operand in memory, as the first of its block
 *   sha      an instruction of SHA           vaes    one of VAES
 *   gfni, fma4, amx, vmx  one of these sets
 *   trap     UD2, as __builtin_trap()        bytes   bytes that are none
 *   check    UD1, as clang's -fsanitize-trap
 *   raise    sends itself SIGILL             child   avx512 in a child
 *   caught   has a handler for avx512 and goes on
 *   sent     the same, and sends itself SIGILL without a handler
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf before;

static void
on_illegal(int signal)
{
    (void)signal;
    siglongjmp(before, 1);
}

static void
probe(void)
{
    signal(SIGILL, on_illegal);
    if (sigsetjmp(before, 1) == 0)
        __asm__ volatile("vaddps %zmm1, %zmm2, %zmm3");
    signal(SIGILL, SIG_DFL);
    puts("went on");
    fflush(stdout);
}

static int
child(void)
{
    int status = 0;
    const pid_t pid = fork();

    if (pid == 0)
        __asm__ volatile("vaddps %zmm1, %zmm2, %zmm3");
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 0;
}

__attribute__((noinline)) static int
work(const char *mode)
{
    if (strcmp(mode, "avx512") == 0)
        __asm__ volatile("nop; vaddps %zmm1, %zmm2, %zmm3");
    if (strcmp(mode, "avx512m") == 0)
        __asm__ volatile("jmp 1f; 1: vpternlogd $3, 64(%rsp), %zmm2, %zmm3");
    if (strcmp(mode, "sha") == 0)
        __asm__ volatile("sha256msg1 %xmm1, %xmm2");
    if (strcmp(mode, "vaes") == 0)
        __asm__ volatile("vaesenc %ymm1, %ymm2, %ymm3");
    if (strcmp(mode, "gfni") == 0)
        __asm__ volatile("gf2p8mulb %xmm1, %xmm2");
    if (strcmp(mode, "fma4") == 0)
        __asm__ volatile("vfmaddps %xmm1, %xmm2, %xmm3, %xmm4");
    if (strcmp(mode, "amx") == 0)
        __asm__ volatile("tilerelease");
    if (strcmp(mode, "vmx") == 0)
        __asm__ volatile("vmcall");
    if (strcmp(mode, "check") == 0)
        __asm__ volatile("ud1 %eax, %ecx");
    if (strcmp(mode, "trap") == 0)
        __asm__ volatile("ud2");
    if (strcmp(mode, "bytes") == 0)
        __asm__ volatile(".byte 0x06");
    if (strcmp(mode, "raise") == 0)
        raise(SIGILL);
    if (strcmp(mode, "child") == 0)
        return child();
    if (strcmp(mode, "caught") == 0 || strcmp(mode, "sent") == 0)
        probe();
    if (strcmp(mode, "sent") == 0)
        kill(getpid(), SIGILL);
    return 0;
}

int
main(int argc, char **argv)
{
    return work(argc > 1 ? argv[1] : "");
}
