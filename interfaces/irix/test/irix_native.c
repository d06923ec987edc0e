/* SPDX-License-Identifier: MIT */
/* The IRIX calls over this host's counters, for root under test/mock: changes,
 * children, system mode. Says where it fails; test/irix.py runs it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interfaces/irix/sys/hwperftypes.h"
#include "interfaces/irix/sys/procfs.h"
#include "interfaces/irix/sys/syssgi.h"

#define CHECK(what)                                                     \
    do {                                                                \
        if (!(what)) {                                                  \
            printf("line %d: %s (errno %d)\n", __LINE__, #what, errno); \
            exit(1);                                                    \
        }                                                               \
    } while (0)

static hwperf_profevctrarg_t
one(unsigned event, unsigned mode)
{
    hwperf_profevctrarg_t args;

    memset(&args, 0, sizeof(args));
    args.hwp_evctrargs.hwp_evctrl[event].hwperf_spec =
        (short)(event % HWPERF_CNT1BASE << 5 | mode);
    return args;
}

static int
open_process(int pid)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%05d", pid);
    return open(path, O_RDWR);
}

/* I40: counts go on over a change, and stay after the release. */
static void
check_change(int fd)
{
    hwperf_profevctrarg_t cycles = one(0, HWPERF_CNTEN_U);
    hwperf_profevctrarg_t other = one(15, HWPERF_CNTEN_U);
    hwperf_eventctrl_t control;
    hwperf_cntr_t first, last;
    hwperf_prusage_t usage;

    const int generation = ioctl(fd, PIOCENEVCTRS, &cycles);
    CHECK(generation > 0);
    CHECK(ioctl(fd, PIOCGETEVCTRS, &first) == generation);
    CHECK(first.hwp_evctr[0] > 0 && first.hwp_evctr[15] == 0);
    CHECK(ioctl(fd, PIOCSETEVCTRL, &other) == generation + 1);
    CHECK(ioctl(fd, PIOCGETEVCTRS, &last) == generation + 1);
    CHECK(last.hwp_evctr[0] >= first.hwp_evctr[0]);
    CHECK(last.hwp_evctr[15] > 0);
    CHECK(ioctl(fd, PIOCGETEVCTRL, &control) == generation + 1);
    CHECK(memcmp(&control, &other.hwp_evctrargs, sizeof(control)) == 0);
    CHECK(ioctl(fd, PIOCGETPREVCTRS, &usage) == generation + 1);
    CHECK(usage.pu_size > 0 && usage.pu_tstamp.tv_sec > 0);
    CHECK(ioctl(fd, PIOCRELEVCTRS) == 0);
    CHECK(ioctl(fd, PIOCGETEVCTRS, &first) == generation + 1);
    CHECK(ioctl(fd, PIOCGETEVCTRS, &last) == generation + 1);
    CHECK(memcmp(&first, &last, sizeof(first)) == 0 && last.hwp_evctr[15] > 0);
    CHECK(ioctl(fd, PIOCSETEVCTRL, &other) < 0 && errno == EINVAL);
}

/* I23: a child has its parent's events, from zero, and its own file. */
static void
check_child(int fd)
{
    hwperf_profevctrarg_t cycles = one(0, HWPERF_CNTEN_U);
    hwperf_eventctrl_t control;
    hwperf_cntr_t parents, own;
    int status;

    CHECK(ioctl(fd, PIOCENEVCTRS, &cycles) > 0);
    for (int i = 0; i < 5; i++)
        CHECK(ioctl(fd, PIOCGETEVCTRS, &parents) > 0);
    fflush(stdout);
    if (fork() == 0) {
        const int mine = open_process(getpid());
        CHECK(mine >= 0);
        CHECK(ioctl(mine, PIOCGETEVCTRL, &control) > 0);
        CHECK(memcmp(&control, &cycles.hwp_evctrargs, sizeof(control)) == 0);
        CHECK(ioctl(mine, PIOCGETEVCTRS, &own) > 0);
        CHECK(own.hwp_evctr[0] > 0);
        CHECK(own.hwp_evctr[0] < parents.hwp_evctr[0]);
        exit(0);
    }
    CHECK(wait(&status) > 0 && status == 0);
    CHECK(ioctl(fd, PIOCRELEVCTRS) == 0);
}

/* A process that has gone, and one that never was. */
static void
check_gone(void)
{
    hwperf_profevctrarg_t cycles = one(0, HWPERF_CNTEN_U);
    const int child = fork();

    if (child == 0) {
        alarm(600);
        pause();
        _exit(0);
    }
    const int fd = open_process(child);
    CHECK(fd >= 0);
    CHECK(ioctl(fd, PIOCENEVCTRS, &cycles) > 0);
    kill(child, SIGKILL);
    CHECK(wait(NULL) == child);
    CHECK(ioctl(fd, PIOCENEVCTRS, &cycles) < 0 && errno == ESRCH);
    CHECK(open_process(child) < 0 && errno == ENOENT);
    close(fd);
}

/* I33 I35 I36: system mode takes the counters, and tells. */
static void
check_system(int fd)
{
    hwperf_profevctrarg_t user = one(0, HWPERF_CNTEN_U);
    hwperf_profevctrarg_t whole = one(0, HWPERF_CNTEN_U | HWPERF_CNTEN_K);
    hwperf_cntr_t sum, cpu;

    const int before = ioctl(fd, PIOCENEVCTRS, &user);
    CHECK(before > 0);
    CHECK(ioctl(fd, PIOCENEVCTRS, &whole) < 0 && errno == EBUSY);
    CHECK(syssgi(SGI_EVENTCTR, HWPERF_GET_SYSEVCTRL, &sum) < 0);
    const int generation = syssgi(SGI_EVENTCTR, HWPERF_ENSYSCNTRS, &whole);
    CHECK(generation > 0);
    CHECK(ioctl(fd, PIOCGETEVCTRS, &sum) == before + 1);
    CHECK(ioctl(fd, PIOCENEVCTRS, &user) < 0 && errno == EBUSY);
    CHECK(syssgi(SGI_EVENTCTR, HWPERF_ENSYSCNTRS, &whole) < 0);
    CHECK(errno == EBUSY);
    CHECK(syssgi(SGI_EVENTCTR, HWPERF_GET_CPUCNTRS, 0, &cpu) == generation);
    CHECK(syssgi(SGI_EVENTCTR, HWPERF_GET_CPUCNTRS, 2, &cpu) == 0);
    CHECK(syssgi(SGI_EVENTCTR, HWPERF_GET_SYSCNTRS, &sum) == generation);
    CHECK(sum.hwp_evctr[0] > cpu.hwp_evctr[0]);
    CHECK(syssgi(SGI_EVENTCTR, HWPERF_SET_SYSEVCTRL, &whole) == generation + 1);
    CHECK(syssgi(SGI_EVENTCTR, HWPERF_SET_SYSEVCTRL, &user) < 0);
    CHECK(errno == EINVAL);
    CHECK(syssgi(SGI_EVENTCTR, HWPERF_RELSYSCNTRS) == 0);
    CHECK(syssgi(SGI_EVENTCTR, HWPERF_GET_CPUCNTRS, 0, &cpu) == 0);
    CHECK(ioctl(fd, PIOCENEVCTRS, &user) > 0);
    CHECK(ioctl(fd, PIOCRELEVCTRS) == 0);
}

int
main(void)
{
    const int fd = open_process(getpid());

    CHECK(fd >= 0);
    check_change(fd);
    check_child(fd);
    check_gone();
    check_system(fd);
    printf("all is well\n");
    return 0;
}
