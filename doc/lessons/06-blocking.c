/* SPDX-License-Identifier: MIT */
/*
 * Lesson 6, blocking: copies a matrix of 1,000 by 1,000 numbers of 8 bytes with
 * its rows and columns exchanged, block by block; a block has BLOCK rows and
 * columns. With BLOCK 1000 the whole matrix is one block.
 */
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000, PAGE = 4096 };

static volatile double from[N][N] __attribute__((aligned(PAGE)));
static volatile double to[N][N] __attribute__((aligned(PAGE)));

int
main(int argc, char **argv)
{
    const int block = argc == 2 ? atoi(argv[1]) : 0;

    if (block < 1 || N % block != 0) {
        fprintf(stderr, "usage: %s BLOCK, a divisor of %d\n", argv[0], N);
        return 2;
    }
    for (int top = 0; top < N; top += block)
        for (int left = 0; left < N; left += block)
            for (int i = top; i < top + block; i++)
                for (int j = left; j < left + block; j++)
                    to[j][i] = from[i][j];
    return 0;
}
