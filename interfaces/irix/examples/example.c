/* SPDX-License-Identifier: MIT */
/*
 * What the EXAMPLE of r10k_evcntrs(5) means: a program that counts its own
 * misses of both first caches, event 9 of either counter of the R10000. On the
 * R12000 an event's index is its number on either counter: 25 is written 25.
 *
 * cc -I.../tally-irix example.c -ltally-irix
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/hwperfmacros.h>
#include <sys/hwperftypes.h>
#include <sys/ioctl.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "body.h"

static void
ask(hwperf_profevctrarg_t *args, unsigned index, unsigned event)
{
    hwperf_ctrl_t *c = &args->hwp_evctrargs.hwp_evctrl[index];

    c->hwperf_creg.hwp_mode = HWPERF_CNTEN_U;
    c->hwperf_creg.hwp_ie = 1;
    c->hwperf_creg.hwp_ev = event & 0x7ff;
}

int
main(int argc, char **argv)
{
    const unsigned second =
        argc > 1 && strcmp(argv[1], "r12000") == 0 ? 23 : HWPERF_CNT1BASE + 9;
    hwperf_profevctrarg_t args;
    hwperf_cntr_t counts;
    char path[32];
    int fd, first, last;

    snprintf(path, sizeof(path), "/proc/%05d", (int)getpid());
    fd = open(path, O_RDWR);
    memset(&args, 0, sizeof(args));
    ask(&args, 9, 9);
    ask(&args, second, second == 23 ? 23 : second - HWPERF_CNT1BASE);
    first = ioctl(fd, PIOCENEVCTRS, (void *)&args);
    if (first < 0) {
        perror("failed to acquire counters");
        return errno;
    }

    body();

    last = ioctl(fd, PIOCGETEVCTRS, (void *)&counts);
    if (last < 0) {
        perror("PIOCGETEVCTRS returns error");
        return errno;
    }
    if (first != last) {
        printf("program lost event counters\n");
        return 0;
    }
    if (ioctl(fd, PIOCRELEVCTRS) < 0) {
        perror("PIOCRELEVCTRS returns error");
        return errno;
    }
    printf("instruction cache misses: %llu\n",
           (unsigned long long)counts.hwp_evctr[9]);
    printf("%s misses: %llu\n", second == 23 ? "TLB" : "data cache",
           (unsigned long long)counts.hwp_evctr[second]);
    return 0;
}
