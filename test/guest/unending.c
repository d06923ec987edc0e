/* SPDX-License-Identifier: MIT */
/*
 * unending [LINES]: a million turns of a loop, then LINES lines (one without
 * LINES) with 100,000 turns behind each, then a loop that a signal ends.
 */
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"

int
main(int argc, char **argv)
{
    const int lines = argc > 1 ? atoi(argv[1]) : 1;

    loop(1000000);
    for (int i = 0; i < lines; i++) {
        puts("on");
        fflush(stdout);
        loop(100000);
    }
    for (;;)
        loop(~0ul);
}
