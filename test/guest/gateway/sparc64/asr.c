/* SPDX-License-Identifier: MIT */
/*
 * asr pcr|t4: code for an UltraSPARC T2, or a SPARC T4, that programs its
 * counters itself and knows nothing of tally. Prints what the counters say of a
 * thousand turns of loop() more: branches and instructions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "loop.h"

enum { TURNS = 1000 };

/* Through locals and outs, as the compiler likes. */
static __attribute__((noinline)) void
measure_pic(unsigned long turns, uint64_t *pic)
{
    uint64_t before, after;

    __asm__ volatile("rd %%asr17, %0" : "=r"(before));
    loop(turns);
    __asm__ volatile("rd %%asr17, %0" : "=r"(after));
    pic[0] = (uint32_t)(after - before);
    pic[1] = (uint32_t)((after >> 32) - (before >> 32));
}

static void
set_pcr(void)
{
    const uint64_t pcr = 0x17e88046; /* Completed_branches, All_instr; user */
    uint64_t back;

    __asm__ volatile("wr %0, 0, %%asr16" : : "r"(pcr));
    __asm__ volatile("rd %%asr16, %0" : "=r"(back));
    __asm__ volatile("wr %0, 0, %%asr17" : : "r"(0L));
    printf("pcr %#" PRIx64 "\n", back);
}

static void
write_asi(unsigned long asi_is_pcr, uint64_t addr, uint64_t value)
{
    if (asi_is_pcr)
        __asm__ volatile("stxa %0, [%1] 0x64" : : "r"(value), "r"(addr));
    else
        __asm__ volatile("stxa %0, [%1] 0xb0" : : "r"(value), "r"(addr));
}

static __attribute__((noinline)) void
measure_asi(unsigned long turns, uint64_t *pic)
{
    uint64_t before[2], after[2];

    __asm__ volatile("ldxa [%%g0] 0xb0, %0" : "=r"(before[0]));
    __asm__ volatile("ldxa [%1] 0xb0, %0" : "=r"(before[1]) : "r"(8L));
    loop(turns);
    __asm__ volatile("ldxa [%%g0] 0xb0, %0" : "=r"(after[0]));
    __asm__ volatile("ldxa [%1] 0xb0, %0" : "=r"(after[1]) : "r"(8L));
    pic[0] = after[0] - before[0];
    pic[1] = after[1] - before[1];
}

static void
set_asi(void)
{
    uint64_t back;

    write_asi(1, 0, 0x202c); /* Branches_sl4, user */
    write_asi(1, 8, 0x1fec); /* All_instructions */
    write_asi(0, 0, 0);
    __asm__ volatile("ldxa [%1] 0x64, %0" : "=r"(back) : "r"(8L));
    printf("pcr %#" PRIx64 "\n", back);
}

int
main(int argc, char **argv)
{
    const int t4 = argc > 1 && strcmp(argv[1], "t4") == 0;
    void (*const measure)(unsigned long, uint64_t *) =
        t4 ? measure_asi : measure_pic;
    uint64_t few[2], many[2];

    (t4 ? set_asi : set_pcr)();
    measure(1, few);
    measure(1, few);
    measure(TURNS + 1, many);
    printf("%" PRIu64 " %" PRIu64 "\n", many[0] - few[0], many[1] - few[1]);
    return 0;
}
