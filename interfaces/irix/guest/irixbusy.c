/* SPDX-License-Identifier: MIT */
/*
 * EBUSY and EPERM between two processes, for root: prints who is refused what.
 */
#include "family.h"

static int
tried(int result)
{
    return result < 0 ? -errno : 0;
}

/* As somebody else, of another group: the file that was opened before does not
 * help. */
static void
stranger(int fd, pid_t parent)
{
    hwperf_profevctrarg_t args = request(INSTRUCTIONS, U | K);
    hwperf_profevctrarg_t user = request(INSTRUCTIONS, U);
    hwperf_cntr_t counts;

    if (setpgid(0, 0) != 0 || setuid(65534) != 0)
        _exit(3);
    printf("stranger: open %d", tried(open_counters(parent)));
    printf(" start %d", tried(ioctl(fd, PIOCENEVCTRS, (void *)&user)));
    printf(" read %d", tried(ioctl(fd, PIOCGETEVCTRS, (void *)&counts)));
    const int own = open_counters(getpid());
    printf(" kernel %d", tried(ioctl(own, PIOCENEVCTRS, (void *)&args)));
    printf(" system %d",
           tried(syssgi(SGI_EVENTCTR, HWPERF_ENSYSCNTRS, (void *)&args)));
    printf(" release %d\n", tried(syssgi(SGI_EVENTCTR, HWPERF_RELSYSCNTRS)));
    fflush(stdout);
    _exit(0);
}

int
main(void)
{
    struct child c = make_child();
    const int child = open_counters(c.pid), own = open_counters(getpid());
    int generation;

    const int started = start(child, U);
    printf("child %d\n", started > 0);
    printf("kernel mode while it counts: %d\n", start(own, U | K));
    ioctl(child, PIOCRELEVCTRS);
    printf("and then: %d\n", start(own, U | K) > 0);
    printf("child in system mode: %d\n", start(child, U));
    printf("kernel mode again: %d\n", start(own, U | K));
    printf("change of another: %d\n", start(child, 0) == -EINVAL ? -EINVAL : 0);
    ioctl(own, PIOCRELEVCTRS);
    printf("after the release: %d\n", start(child, U) > 0);
    count(child, &generation);
    printf("two starts: %d\n", generation - started);
    fflush(stdout);

    const pid_t other = fork();
    if (other == 0)
        stranger(own, getppid());
    waitpid(other, NULL, 0);
    end_child(&c);
    return 0;
}
