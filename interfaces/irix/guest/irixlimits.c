/* SPDX-License-Identifier: MIT */
/*
 * Counters are read by who can open nothing: prints, of a program without a
 * free descriptor and of one that has another user by now, whether it sees what
 * a child counts, what a child counts that is born then, and what a thread
 * does; and in system mode what all count.
 */
#include "family.h"

#include <pthread.h>
#include <sys/resource.h>

enum { TURNS = 30000, NEAR = 60000, NOBODY = 65534 };

static void
fill_descriptors(void)
{
    const struct rlimit limit = {64, 64};

    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        exit(3);
    while (dup(0) >= 0)
        ;
}

static void
change_user(void)
{
    if (setuid(NOBODY) != 0)
        exit(3);
}

/* What the loop takes, and a few calls. */
static int
is_near(unsigned long long counted)
{
    return counted >= 3 * TURNS && counted < 3 * TURNS + NEAR;
}

static void
let_child_work(const struct child *c)
{
    unsigned long turns = TURNS;

    if (write(c->tell, &turns, sizeof(turns)) != sizeof(turns) ||
        read(c->hear, &turns, sizeof(turns)) != sizeof(turns))
        exit(3);
}

static void *
loop_apart(void *unused)
{
    loop(TURNS);
    return unused;
}

/* It ends while the wait lasts. */
static void
bear_child(void)
{
    const pid_t pid = fork();

    if (pid == 0) {
        loop(TURNS);
        close(63);
        await_sleep(getppid());
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void
bear_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, loop_apart, NULL) != 0)
        exit(3);
    pthread_join(thread, NULL);
}

static void
measure_processes(void (*limit)(void))
{
    const struct child c = make_child();
    const int its = open_counters(c.pid), own = open_counters(getpid());
    int generation[6];

    if (start(its, U) <= 0 || start(own, U) <= 0)
        exit(3);
    limit();
    const unsigned long long none = count(its, &generation[0]);
    let_child_work(&c);
    const unsigned long long worked = count(its, &generation[1]);
    const unsigned long long first = count(own, &generation[2]);
    bear_child();
    const unsigned long long second = count(own, &generation[3]);
    bear_thread();
    const unsigned long long third = count(own, &generation[4]);
    printf("child %d born %d thread %d again %d\n", is_near(worked - none),
           is_near(second - first), is_near(third - second),
           start(its, U) > 0 && count(its, &generation[5]) < NEAR);
    end_child(&c);
}

static void
measure_system(void (*limit)(void))
{
    const struct child c = make_child();
    hwperf_profevctrarg_t args = request(INSTRUCTIONS, U | K);
    hwperf_cntr_t before, after;

    if (syssgi(SGI_EVENTCTR, HWPERF_ENSYSCNTRS, (void *)&args) <= 0)
        exit(3);
    limit();
    syssgi(SGI_EVENTCTR, HWPERF_GET_SYSCNTRS, (void *)&before);
    let_child_work(&c);
    const int generation =
        syssgi(SGI_EVENTCTR, HWPERF_GET_SYSCNTRS, (void *)&after);
    printf("system %d\n",
           generation > 0 && is_near(after.hwp_evctr[INSTRUCTIONS] -
                                     before.hwp_evctr[INSTRUCTIONS]));
    end_child(&c);
}

static void
apart(void (*measure)(void (*)(void)), void (*limit)(void))
{
    fflush(stdout);
    const pid_t pid = fork();

    if (pid == 0) {
        measure(limit);
        exit(0);
    }
    waitpid(pid, NULL, 0);
}

int
main(void)
{
    apart(measure_processes, fill_descriptors);
    apart(measure_processes, change_user);
    apart(measure_system, fill_descriptors);
    syssgi(SGI_EVENTCTR, HWPERF_RELSYSCNTRS);
    apart(measure_system, change_user);
    return 0;
}
