/* SPDX-License-Identifier: MIT */
/*
 * Lesson 7, prefetch: reads one number in each of READS lines of 64 bytes, each
 * STEP lines behind the one before; behind the last of the 4,096 lines comes
 * the first again.
 */
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 4096, LINE = 64, PAGE = 4096 };

struct line {
    volatile long number;
    char rest[LINE - sizeof(long)];
};

static struct line lines[LINES] __attribute__((aligned(PAGE)));

int
main(int argc, char **argv)
{
    const int step = argc == 3 ? atoi(argv[1]) : 0;
    const int reads = argc == 3 ? atoi(argv[2]) : 0;
    int at = 0;

    if (step < 1 || step >= LINES || reads < 1) {
        fprintf(stderr, "usage: %s STEP READS, a step of 1 to %d\n", argv[0],
                LINES - 1);
        return 2;
    }
    for (int i = 0; i < reads; i++) {
        (void)lines[at].number;
        at = (at + step) % LINES;
    }
    return 0;
}
