/* SPDX-License-Identifier: MIT */
/*
 * regions: three functions one after the other, each one loop(), so that
 * counting from one to the next gives a known number. Turns:
 *   warmup  50000
 *   work    20000, called three times
 *   done    10000
 * From the first work() to done(): 60000 turns, and the few instructions of
 * main() and of entering and leaving work(), which no turn changes.
 */
#include "loop.h"

#define REGION __attribute__((noinline, noclone)) void

REGION warmup(void);
REGION work(void);
REGION done(void);

REGION
warmup(void)
{
    loop(50000);
}

REGION
work(void)
{
    loop(20000);
}

REGION
done(void)
{
    loop(10000);
}

int
main(void)
{
    warmup();
    for (int i = 0; i < 3; i++)
        work();
    done();
    return 0;
}
