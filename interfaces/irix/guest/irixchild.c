/* SPDX-License-Identifier: MIT */
/*
 * A parent that starts, reads, changes and releases the counters of its child:
 * prints what the child counted in 1000 and in 5000 turns, and after the
 * release, and the generations; last whether a child that is gone is.
 */
#include "family.h"

#include <time.h>

/* A child that has ended and that nobody has waited for: whether it is refused
 * within half a second. */
static int
is_refused_soon(void)
{
    struct timespec begin, end;
    siginfo_t info;
    const pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const int fd = open_counters(pid);
    const int error = errno;
    clock_gettime(CLOCK_MONOTONIC, &end);
    waitpid(pid, NULL, 0);
    return fd < 0 && error == ENOENT &&
           (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec <
               begin.tv_nsec + 500000000;
}

/* A busy host may need longer, though not each time. */
static int
is_refused_at_once(void)
{
    int tries = 0;

    while (tries < 20 && !is_refused_soon())
        tries++;
    return tries < 20;
}

int
main(void)
{
    struct child c = make_child();
    const int fd = open_counters(c.pid);
    hwperf_eventctrl_t control;
    int first, last;

    const int started = start(fd, U);
    let_work(&c, 1000);
    const unsigned long long a = count(fd, &first);
    let_work(&c, 5000);
    const unsigned long long b = count(fd, &last);
    printf("%llu %llu\n", a, b - a);
    printf("generations %d %d\n", first - started, last - first);

    ioctl(fd, PIOCGETEVCTRL, (void *)&control);
    printf("control %d %d\n", control.hwp_evctrl[INSTRUCTIONS].hwperf_spec,
           control.hwp_evctrl[0].hwperf_spec);
    hwperf_profevctrarg_t stores = request(INSTRUCTIONS, U);
    stores.hwp_evctrargs.hwp_evctrl[0] =
        request(0, U).hwp_evctrargs.hwp_evctrl[0];
    printf("changed %d\n", ioctl(fd, PIOCSETEVCTRL, (void *)&stores) - last);
    printf("kept %llu\n", count(fd, &last) - b);
    printf("released %d\n", ioctl(fd, PIOCRELEVCTRS));
    let_work(&c, 5000);
    printf("after %llu\n", count(fd, &last) - b);

    end_child(&c);
    count(fd, &last);
    printf("gone %d %d\n", last == -ESRCH, open_counters(c.pid));
    printf("ended %d\n", is_refused_at_once());
    return 0;
}
