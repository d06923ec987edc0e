/* SPDX-License-Identifier: MIT */
/*
 * HWPERF_PROFENABLE: prints the sum of all buckets after 200 periods of a loop,
 * of these what is in the loop's, and what is in a second range elsewhere.
 */
#include "family.h"

#include <sys/profil.h>

enum { PERIOD = 3000, PERIODS = 200, BUCKETS = 4096 };

static unsigned short buckets[BUCKETS], others[4];

static __attribute__((noinline)) void
measured(void)
{
    loop((unsigned long)PERIODS * PERIOD / 3);
}

int
main(void)
{
    hwperf_profevctrarg_t args = request(INSTRUCTIONS, U);
    /* A bucket for each instruction. */
    struct prof profs[] = {
        {buckets, sizeof(buckets), (void *)measured, 0x8000},
        {others, sizeof(others), (void *)1, 0x8000},
    };
    unsigned sum = 0, most = 0;

    if (syssgi(SGI_EVENTCTR, HWPERF_PROFENABLE, (void *)&args, profs, 2) >= 0)
        return 3; /* no threshold */
    args.hwp_ovflw_freq[INSTRUCTIONS] = PERIOD;
    if (syssgi(SGI_EVENTCTR, HWPERF_PROFENABLE, (void *)&args, profs, 2) <= 0)
        return errno;
    measured();
    ioctl(open_counters(getpid()), PIOCRELEVCTRS);
    for (unsigned i = 0; i < BUCKETS; i++) {
        sum += buckets[i];
        most = buckets[i] > most ? buckets[i] : most;
    }
    measured();
    unsigned later = 0;
    for (unsigned i = 0; i < BUCKETS; i++)
        later += buckets[i];
    printf("%u in all %d in the loop %u elsewhere %u later\n", sum,
           most + 2 >= sum, (unsigned)others[0], later - sum);
    return 0;
}
