/* SPDX-License-Identifier: MIT */
/* Counts two events of its own with the calls of r10k_evcntrs(5). */
#include "test/fault/use.h"

#include <fcntl.h>
#include <sys/hwperfmacros.h>
#include <sys/hwperftypes.h>
#include <sys/ioctl.h>
#include <sys/procfs.h>

static void
ask(hwperf_profevctrarg_t *args, unsigned index, unsigned event)
{
    hwperf_ctrl_t *const c = &args->hwp_evctrargs.hwp_evctrl[index];

    c->hwperf_creg.hwp_mode = HWPERF_CNTEN_U;
    c->hwperf_creg.hwp_ie = 1;
    c->hwperf_creg.hwp_ev = (unsigned short)(event & 0x7ff);
}

/* Cycles and graduated instructions. */
static int
count(int fd, uint64_t values[USE_VALUES])
{
    hwperf_profevctrarg_t args;
    hwperf_cntr_t counts;

    memset(&args, 0, sizeof(args));
    ask(&args, 0, 0);
    ask(&args, HWPERF_CNT1BASE + 1, 1);
    const int first = ioctl(fd, PIOCENEVCTRS, (void *)&args);
    if (first < 0)
        return -1;
    const int last = ioctl(fd, PIOCGETEVCTRS, (void *)&counts);
    const int released = ioctl(fd, PIOCRELEVCTRS);
    /* The call that failed may have been this one, before the library had it.
     */
    if (released < 0)
        ioctl(fd, PIOCRELEVCTRS);
    if (first != last || released < 0)
        return -1;
    values[0] = counts.hwp_evctr[0];
    values[1] = counts.hwp_evctr[HWPERF_CNT1BASE + 1];
    return 2;
}

static int
use(uint64_t values[USE_VALUES])
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%05d", (int)getpid());
    const int fd = open(path, O_RDWR);
    if (fd < 0)
        return -1;
    const int counted = count(fd, values);
    close(fd);
    return counted;
}

int
main(void)
{
    return use_run(use);
}
