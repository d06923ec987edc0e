/* SPDX-License-Identifier: MIT */
/*
 * crash MODE [N]: loop() of 100000 turns, then the end that MODE names.
 *
 *   segv    writes to address 0        abort   calls abort()
 *   kill    sends itself SIGKILL       ill     executes an illegal instruction
 *   _exit   leaves with status N,      exit    leaves with status N,
 *           no exit handlers                   the ordinary way
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop.h"

static void
illegal(void)
{
#if defined(__sparc__)
    __asm__ volatile("illtrap 0");
#elif defined(__mips__)
    __asm__ volatile(".word 0x0000003d");
#elif defined(__aarch64__)
    __asm__ volatile("udf #0");
#elif defined(__riscv)
    __asm__ volatile("unimp");
#else
    __asm__ volatile("ud2");
#endif
}

int
main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    const int status = argc > 2 ? (int)strtol(argv[2], NULL, 0) : 0;

    loop(100000);
    if (strcmp(mode, "segv") == 0)
        *(volatile int *)0 = 0;
    if (strcmp(mode, "abort") == 0)
        abort();
    if (strcmp(mode, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(mode, "ill") == 0)
        illegal();
    if (strcmp(mode, "_exit") == 0)
        _exit(status);
    if (strcmp(mode, "exit") == 0)
        exit(status);
    fprintf(stderr, "usage: crash segv|abort|kill|ill|_exit|exit [N]\n");
    return 2;
}
