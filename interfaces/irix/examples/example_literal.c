/* SPDX-License-Identifier: MIT */
/*
 * The EXAMPLE of r10k_evcntrs(5), word by word. Mended is only what no compiler
 * takes: two missing quotes, the brackets of exit, and '\n' where the page
 * shows "0" or "/0"; added is what stands around the fragment. It does not do
 * what its text says: the second loop never meets 9, so that event 25 is not
 * counted and its count reads 0 (rule I55). example.c does what was meant.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/hwperfmacros.h>
#include <sys/hwperftypes.h>
#include <sys/ioctl.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "body.h"

#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wconversion"

int
main(void)
{
    hwperf_profevctrarg_t evctr_args;
    hwperf_cntr_t cnts;
    int generation1, generation2;
    char pfile[32];
    int pid, fd, i;

    pid = getpid();
    sprintf(pfile, "/proc/%05d", pid);
    fd = open(pfile, O_RDWR);
    for (i = 0; i < HWPERF_CNTEVENTMAX; i++) {
        if (i == 9) {
            evctr_args.hwp_evctrargs.hwp_evctrl[i].hwperf_creg.hwp_mode =
                HWPERF_CNTEN_U;
            evctr_args.hwp_evctrargs.hwp_evctrl[i].hwperf_creg.hwp_ie = 1;
            evctr_args.hwp_evctrargs.hwp_evctrl[i].hwperf_creg.hwp_ev = i;
            evctr_args.hwp_ovflw_freq[i] = 0;
        } else {
            evctr_args.hwp_evctrargs.hwp_evctrl[i].hwperf_spec = 0;
            evctr_args.hwp_ovflw_freq[i] = 0;
        }
    }

    for (i = HWPERF_CNT1BASE; i < HWPERF_EVENTMAX; i++) {
        if (i == 9) {
            evctr_args.hwp_evctrargs.hwp_evctrl[i].hwperf_creg.hwp_mode =
                HWPERF_CNTEN_U;
            evctr_args.hwp_evctrargs.hwp_evctrl[i].hwperf_creg.hwp_ie = 1;
            evctr_args.hwp_evctrargs.hwp_evctrl[i].hwperf_creg.hwp_ev =
                i - HWPERF_CNT1BASE;
            evctr_args.hwp_ovflw_freq[i] = 0;
        } else {
            evctr_args.hwp_evctrargs.hwp_evctrl[i].hwperf_spec = 0;
            evctr_args.hwp_ovflw_freq[i] = 0;
        }
    }
    evctr_args.hwp_ovflw_sig = 0;
    generation1 = ioctl(fd, PIOCENEVCTRS, (void *)&evctr_args);
    if (generation1 < 0) {
        perror("failed to acquire counters");
        exit(errno);
    }

    body();

    /* now read the counter values */
    if ((generation2 = ioctl(fd, PIOCGETEVCTRS, (void *)&cnts)) < 0) {
        perror("PIOCGETEVCTRS returns error");
        exit(errno);
    }

    /* generation number should be the same */
    if (generation1 != generation2) {
        printf("program lost event counters\n");
        exit(0);
    }

    /* release the counters */
    if ((ioctl(fd, PIOCRELEVCTRS)) < 0) {
        perror("prioctl PIOCRELEVCTRS returns error");
        exit(errno);
    }

    /* print out the counts */
    printf("instruction cache misses: %d\n", cnts.hwp_evctr[9]);
    printf("data cache misses: %d\n", cnts.hwp_evctr[25]);
    exit(0);
}
