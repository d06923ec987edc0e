/* SPDX-License-Identifier: MIT */
/*
 * switcher N: sleeps N times, then writes how often it gave up its processor
 * and how often that was taken from it, as getrusage() says.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "touch.h"

int
main(int argc, char **argv)
{
    const struct timespec moment = {0, 1000};
    struct rusage u;

    for (size_t i = number(argv, argc, 1); i > 0; i--)
        nanosleep(&moment, NULL);
    getrusage(RUSAGE_SELF, &u);
    printf("%ld %ld\n", u.ru_nvcsw, u.ru_nivcsw);
    return 0;
}
