/* SPDX-License-Identifier: MIT */
/*
 * Lesson 2, associativity: reads one byte at each of LINES places that are
 * DISTANCE bytes apart, one after the other, ROUNDS times.
 */
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1 << 20, PAGE = 4096 };

static volatile char data[BYTES] __attribute__((aligned(PAGE)));

int
main(int argc, char **argv)
{
    const long lines = argc == 4 ? atol(argv[1]) : 0;
    const long distance = argc == 4 ? atol(argv[2]) : 0;
    const long rounds = argc == 4 ? atol(argv[3]) : 0;

    if (lines < 1 || distance < 1 || rounds < 1 || lines > BYTES / distance) {
        fprintf(stderr, "usage: %s LINES DISTANCE ROUNDS, within %d bytes\n",
                argv[0], BYTES);
        return 2;
    }
    for (long round = 0; round < rounds; round++)
        for (long i = 0; i < lines; i++)
            (void)data[i * distance];
    return 0;
}
