/* SPDX-License-Identifier: MIT */
/*
 * spin MS: burns MS milliseconds of this process's time, then writes what
 * getrusage() says it took, in microseconds.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "touch.h"

int
main(int argc, char **argv)
{
    const double seconds = (double)number(argv, argc, 1) * 1e-3;
    struct timespec t;
    struct rusage u;

    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    while ((double)t.tv_sec + (double)t.tv_nsec * 1e-9 < seconds);
    getrusage(RUSAGE_SELF, &u);
    printf("%ld\n", (long)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000L +
                        (long)(u.ru_utime.tv_usec + u.ru_stime.tv_usec));
    return 0;
}
