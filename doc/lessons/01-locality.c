/* SPDX-License-Identifier: MIT */
/*
 * Lesson 1, locality: reads each of 65,536 numbers once. With STEP 1 one number
 * after the other; with STEP S every S-th number, then from the second number
 * on every S-th, and so on, S times.
 */
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 65536, LINE = 64 };

static volatile int numbers[NUMBERS] __attribute__((aligned(LINE)));

int
main(int argc, char **argv)
{
    const int step = argc == 2 ? atoi(argv[1]) : 0;

    if (step < 1 || step > NUMBERS) {
        fprintf(stderr, "usage: %s STEP, 1 to %d\n", argv[0], NUMBERS);
        return 2;
    }
    for (int first = 0; first < step; first++)
        for (int i = first; i < NUMBERS; i += step)
            (void)numbers[i];
    return 0;
}
