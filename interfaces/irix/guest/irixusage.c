/* SPDX-License-Identifier: MIT */
/* prusage: prints how many system calls, reads and writes were between two. */
#include "family.h"

int
main(void)
{
    const int own = open_counters(getpid()), null = open("/dev/null", O_RDWR);
    hwperf_prusage_t before, after;
    char byte = 0;

    start(own, U);
    ioctl(own, PIOCGETPREVCTRS, (void *)&before);
    ioctl(own, PIOCGETPREVCTRS, (void *)&after);
    /* A look itself makes calls, the same each time. */
    const unsigned long long calls = after.pu_sysc - before.pu_sysc,
                             reads = after.pu_syscr - before.pu_syscr;
    for (int i = 0; i < 10; i++)
        if (write(null, &byte, 1) < 0 || (i < 7 && read(null, &byte, 1) < 0))
            return 3;
    before = after;
    ioctl(own, PIOCGETPREVCTRS, (void *)&after);
    printf("%llu calls %llu reads %llu writes\n",
           (unsigned long long)(after.pu_sysc - before.pu_sysc) - calls,
           (unsigned long long)(after.pu_syscr - before.pu_syscr) - reads,
           (unsigned long long)(after.pu_syscw - before.pu_syscw));
    return 0;
}
