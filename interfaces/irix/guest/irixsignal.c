/* SPDX-License-Identifier: MIT */
/*
 * A signal at a threshold. Its handler reads the counters and starts them
 * again: prints how many came, what the first reading was beyond the threshold
 * and how far the others are from it; then how many a child had whose parent
 * asked for them.
 */
#include "family.h"

enum { PERIOD = 30000, ROUNDS = 50 };

static int own;
static hwperf_profevctrarg_t args;
static volatile unsigned signals, handled;
static volatile unsigned long long first, least, most;

static void
on_threshold(int number)
{
    int generation;
    const unsigned long long now = count(own, &generation);

    (void)number;
    if (signals == 0)
        first = least = most = now;
    least = now < least ? now : least;
    most = now > most ? now : most;
    signals++;
    if (ioctl(own, PIOCENEVCTRS, (void *)&args) <= 0)
        _exit(3);
}

static void
on_child(int number)
{
    (void)number;
    handled++;
}

static hwperf_profevctrarg_t
with_threshold(int number)
{
    hwperf_profevctrarg_t r = request(INSTRUCTIONS, U);

    r.hwp_ovflw_freq[INSTRUCTIONS] = PERIOD;
    r.hwp_ovflw_sig = number;
    return r;
}

/* Its parent asks for the signal; 100 periods, and what two calls take. */
static void
child(int tell, int hear)
{
    unsigned long turns;

    if (read(tell, &turns, sizeof(turns)) != sizeof(turns))
        _exit(3);
    loop(turns);
    if (write(hear, (const void *)&handled, sizeof(handled)) < 0)
        _exit(3);
    _exit(0);
}

static void
ask_child(void)
{
    hwperf_profevctrarg_t r = with_threshold(SIGUSR2);
    const unsigned long turns = 100 * PERIOD / 3 + 500;
    unsigned had = 0;
    int tell[2], hear[2];

    signal(SIGUSR2, on_child);
    if (pipe(tell) != 0 || pipe(hear) != 0)
        exit(3);
    const pid_t pid = fork();
    if (pid == 0)
        child(tell[0], hear[1]);
    await_sleep(pid);
    const int fd = open_counters(pid);
    if (ioctl(fd, PIOCENEVCTRS, (void *)&r) <= 0 ||
        write(tell[1], &turns, sizeof(turns)) < 0 ||
        read(hear[0], &had, sizeof(had)) != sizeof(had))
        exit(3);
    waitpid(pid, NULL, 0);
    printf("child %u\n", had);
}

int
main(void)
{
    hwperf_profevctrarg_t system = with_threshold(0);

    own = open_counters(getpid());
    args = with_threshold(SIGUSR1);
    signal(SIGUSR1, on_threshold);
    if (ioctl(own, PIOCENEVCTRS, (void *)&args) <= 0)
        return errno;
    loop((unsigned long)ROUNDS * PERIOD / 3 + PERIOD / 6);
    ioctl(own, PIOCRELEVCTRS);
    const unsigned before = signals;
    loop(PERIOD);
    printf("signals %u later %u\n", before, signals - before);
    printf("readings %llu %llu\n", first - PERIOD, most - least);
    ask_child();

    system.hwp_evctrargs.hwp_evctrl[INSTRUCTIONS].hwperf_creg.hwp_mode = U | K;
    printf("in system mode %d\n",
           syssgi(SGI_EVENTCTR, HWPERF_ENSYSCNTRS, (void *)&system) < 0 ? -errno
                                                                        : 0);
    return 0;
}
