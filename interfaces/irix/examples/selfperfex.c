/* SPDX-License-Identifier: MIT */
/*
 * A program that counts a part of itself with libperfex: selfperfex [EVENT0
 * EVENT1 [COSTS]]. T5_EVENT0 and T5_EVENT1 override both.
 *
 * cc -I.../tally-irix selfperfex.c -lperfex
 */
#include <errno.h>
#include <perfex.h>
#include <stdio.h>
#include <stdlib.h>

#include "body.h"

int
main(int argc, char **argv)
{
    const int e0 = argc > 2 ? atoi(argv[1]) : 0;
    const int e1 = argc > 2 ? atoi(argv[2]) : 17;
    long long c0, c1;

    const int first = start_counters(e0, e1);
    if (first < 0)
        return errno;
    body();
    const int last = read_counters(e0, &c0, e1, &c1);
    if (last < 0)
        return errno;
    if (first != last)
        printf("the counters were lost\n");
    print_counters(e0, c0, e1, c1);
    if (argc > 3 && load_costs(argv[3]) != 0)
        return errno;
    return print_costs(e0, c0, e1, c1) == 0 ? 0 : 1;
}
