/* SPDX-License-Identifier: MIT */
/*
 * System mode over two processes: a child loses its counters to it and has
 * another generation; the sum of all strands is that of both processes.
 */
#include "family.h"

#include <pthread.h>

static unsigned long long
sum(int *generation)
{
    hwperf_cntr_t counts;

    *generation = syssgi(SGI_EVENTCTR, HWPERF_GET_SYSCNTRS, (void *)&counts);
    return counts.hwp_evctr[INSTRUCTIONS];
}

/* What is counted from before the birth of a child to after its end. */
static unsigned long long
child_of(unsigned long turns)
{
    int generation;
    const unsigned long long before = sum(&generation);
    const pid_t pid = fork();

    if (pid == 0) {
        loop(turns);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    return sum(&generation) - before;
}

static unsigned long long
cpu(long number, int *generation)
{
    hwperf_cntr_t counts = {0};

    *generation =
        syssgi(SGI_EVENTCTR, HWPERF_GET_CPUCNTRS, (int)number, (void *)&counts);
    return counts.hwp_evctr[INSTRUCTIONS];
}

static void *
loop_apart(void *unused)
{
    loop(100000);
    return unused;
}

/* A second thread is on the machine's other processor. */
static void
look_at_cpus(void)
{
    int all, first, second;
    pthread_t thread;
    const unsigned long long before = cpu(1, &second);

    if (pthread_create(&thread, NULL, loop_apart, NULL) != 0 ||
        pthread_join(thread, NULL) != 0)
        exit(3);
    const unsigned long long more = cpu(1, &second) - before;
    printf("cpu 1 %d\n", more >= 300000 && more < 302000);
    const unsigned long long sum_before = sum(&all);
    const unsigned long long one = cpu(0, &first), two = cpu(1, &second);
    printf("sum %d generations %d\n",
           one + two > sum_before && one + two < sum_before + 10000,
           first == all && second == all);
    printf("no cpu %llu %d\n", cpu(2, &first), first);
}

int
main(void)
{
    hwperf_profevctrarg_t args = request(INSTRUCTIONS, U | K);
    hwperf_profevctrarg_t user = request(INSTRUCTIONS, U);
    struct child c = make_child();
    const int fd = open_counters(c.pid);
    hwperf_eventctrl_t control;
    int first, last;

    start(fd, U);
    let_work(&c, 1000);
    const unsigned long long before = count(fd, &first);
    printf("user mode alone: %d\n",
           syssgi(SGI_EVENTCTR, HWPERF_ENSYSCNTRS, (void *)&user) < 0 ? -errno
                                                                      : 0);
    const int system = syssgi(SGI_EVENTCTR, HWPERF_ENSYSCNTRS, (void *)&args);
    printf("system mode: %d\n", system > 0);
    let_work(&c, 1000);
    const unsigned long long lost = count(fd, &last);
    printf("lost %d generation %d\n", lost == before, last - first);

    /* The first has its libraries' first calls in it. */
    child_of(1000);
    const unsigned long long small = child_of(1000), large = child_of(11000);
    printf("children %llu\n", large - small);
    look_at_cpus();
    sum(&last);
    printf("control %d %d\n",
           syssgi(SGI_EVENTCTR, HWPERF_GET_SYSEVCTRL, (void *)&control) - last,
           control.hwp_evctrl[INSTRUCTIONS].hwperf_spec);
    printf("changed %d\n",
           syssgi(SGI_EVENTCTR, HWPERF_SET_SYSEVCTRL, (void *)&args) - last);
    printf("released %d\n", syssgi(SGI_EVENTCTR, HWPERF_RELSYSCNTRS));
    const unsigned long long end = sum(&last);
    let_work(&c, 1000);
    printf("kept %llu\n", sum(&last) - end);
    printf("not given back %d\n", count(fd, &last) == before);
    end_child(&c);
    return 0;
}
