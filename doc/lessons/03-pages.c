/* SPDX-License-Identifier: MIT */
/*
 * Lesson 3, TLBs: reads one byte of each of PAGES pages of 4 KB, one page after
 * the other, ROUNDS times. The byte is in another line of each page, so that
 * the bytes do not meet in one set of the L1 data cache.
 */
#include <stdio.h>
#include <stdlib.h>

enum { PAGE = 4096, LINE = 64, MOST = 1024, ALIGNED = 65536 };

static volatile char data[MOST][PAGE] __attribute__((aligned(ALIGNED)));

int
main(int argc, char **argv)
{
    const int pages = argc == 3 ? atoi(argv[1]) : 0;
    const int rounds = argc == 3 ? atoi(argv[2]) : 0;

    if (pages < 1 || pages > MOST || rounds < 1) {
        fprintf(stderr, "usage: %s PAGES ROUNDS, at most %d pages\n", argv[0],
                MOST);
        return 2;
    }
    for (int round = 0; round < rounds; round++)
        for (int page = 0; page < pages; page++)
            (void)data[page][page * LINE % PAGE];
    return 0;
}
