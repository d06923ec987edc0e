/* SPDX-License-Identifier: MIT */
/*
 * blocks COUNT TIMES: writes COUNT blocks of code into memory, and runs each
 * TIMES times. A block loads a number, adds one, stores the sum 8 bytes further
 * on and jumps to the next block. Groups of GROUP blocks end with a return, and
 * each group runs TIMES times before the next one does, as functions with
 * loops do. Prints how many additions reached the last number.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GROUP 60

#if defined(__x86_64__)
/* mov rax, [rdi]; inc rax; mov [rdi + 8], rax; jmp +0 | mov [rdi], rax; ret */
static const unsigned char block[] = {0x48, 0x8b, 0x07, 0x48, 0xff, 0xc0,
                                      0x48, 0x89, 0x47, 0x08, 0xeb, 0x00};
static const unsigned char end[] = {0x48, 0x89, 0x07, 0xc3};
#elif defined(__sparc__)
/* ldx [%o0], %o1; inc %o1; stx %o1, [%o0 + 8]; brz,pt %g0, +8; nop | stx; retl:
 * QEMU goes on through a branch that is always taken. */
static const uint32_t block[] = {0xd25a0000, 0x92026001, 0xd2722008, 0x02c80002,
                                 0x01000000};
static const uint32_t end[] = {0xd2720000, 0x81c3e008, 0x01000000};
#elif defined(__mips64)
/* ld $5, 0($4); daddiu $5, $5, 1; sd $5, 8($4); b +8; nop | ...; jr $31 */
static const uint32_t block[] = {0xdc850000, 0x64a50001, 0xfc850008, 0x10000001,
                                 0x00000000};
static const uint32_t end[] = {0xfc850000, 0x03e00008, 0x00000000};
#elif defined(__aarch64__)
/* ldr x1, [x0]; add x1, x1, #1; str x1, [x0, #8]; b +4 | str x1, [x0]; ret */
static const uint32_t block[] = {0xf9400001, 0x91000421, 0xf9000401,
                                 0x14000001};
static const uint32_t end[] = {0xf9000001, 0xd65f03c0};
#elif defined(__riscv)
/* ld a1, (a0); addi a1, a1, 1; sd a1, 8(a0); j +4 | sd a1, (a0); ret */
static const uint32_t block[] = {0x00053583, 0x00158593, 0x00b53423,
                                 0x0040006f};
static const uint32_t end[] = {0x00b53023, 0x00008067};
#endif

typedef void run_group(uint64_t *numbers);

static char *
write_group(char *to, size_t blocks)
{
    for (size_t i = 0; i < blocks; i++, to += sizeof(block))
        memcpy(to, block, sizeof(block));
    memcpy(to, end, sizeof(end));
    return to + sizeof(end);
}

int
main(int argc, char **argv)
{
    const size_t count = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    const unsigned long times = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    const size_t groups = (count + GROUP - 1) / GROUP;
    const size_t size = groups * (GROUP * sizeof(block) + sizeof(end));
    uint64_t numbers[2] = {0, 0};

    if (size == 0) {
        fputs("usage: blocks COUNT TIMES\n", stderr);
        return 2;
    }
    char *code = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    char *to = code;
    for (size_t g = 0; g < groups; g++)
        to = write_group(to, g < groups - 1 ? GROUP : count - g * GROUP);
    if (mprotect(code, size, PROT_READ | PROT_EXEC) != 0)
        return 1;
    __builtin___clear_cache(code, to);
    for (size_t g = 0; g < groups; g++) {
        char *group = code + g * (GROUP * sizeof(block) + sizeof(end));
        for (unsigned long i = 0; i < times; i++)
            ((run_group *)(uintptr_t)group)(numbers);
    }
    printf("%llu\n", (unsigned long long)numbers[0]);
    return 0;
}
