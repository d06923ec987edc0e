/* SPDX-License-Identifier: MIT */
/* Counts two of IRIX's events with libperfex. */
#include "test/fault/use.h"

#include <perfex.h>

static int
use(uint64_t values[USE_VALUES])
{
    long long cycles, instructions;

    const int first = start_counters(0, 17);
    if (first < 0)
        return -1;
    const int last = read_counters(0, &cycles, 17, &instructions);
    if (first != last)
        return -1;
    values[0] = (uint64_t)cycles;
    values[1] = (uint64_t)instructions;
    return print_costs(0, cycles, 17, instructions) == 0 ? 2 : -1;
}

int
main(void)
{
    return use_run(use);
}
