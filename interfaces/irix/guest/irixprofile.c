/* SPDX-License-Identifier: MIT */
/*
 * HWPERF_PROFENABLE: prints the sum of all buckets after 200 periods of a loop,
 * of these what is in the loop's, and what is in a second range elsewhere.
 * Then what buckets that are not there, or cannot be written, are while that
 * profile runs; and whether it lives when buckets go.
 */
#include "family.h"

#include <sys/mman.h>
#include <sys/profil.h>

enum { PERIOD = 3000, PERIODS = 200, BUCKETS = 4096 };

static unsigned short buckets[BUCKETS], others[4];

static __attribute__((noinline)) void
measured(void)
{
    loop((unsigned long)PERIODS * PERIOD / 3);
}

/* 0, or the errno. */
static int
profile(void *memory, unsigned size)
{
    hwperf_profevctrarg_t args = request(INSTRUCTIONS, U);
    struct prof profs[] = {
        {buckets, sizeof(buckets), (void *)measured, 0x8000},
        {memory, size, (void *)1, 0x8000},
    };

    args.hwp_ovflw_freq[INSTRUCTIONS] = PERIOD;
    return syssgi(SGI_EVENTCTR, HWPERF_PROFENABLE, (void *)&args, profs, 2) < 0
               ? errno
               : 0;
}

static unsigned
all_buckets(void)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < BUCKETS; i++)
        sum += buckets[i];
    return sum;
}

static int
still_counts(void)
{
    const unsigned before = all_buckets();

    measured();
    return all_buckets() - before >= PERIODS;
}

static void
try_buckets(void)
{
    const size_t page = 65536;
    char *const memory = mmap(NULL, page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (profile(others, sizeof(others)) != 0)
        return;
    printf("bad %d %d %d", profile((void *)16, 32) == EFAULT,
           profile((void *)measured, 32) == EFAULT,
           profile(memory + page - 16, 1 << 20) == EFAULT);
    printf(" goes on %d", still_counts());
    printf(" good %d", profile(memory, (unsigned)page) == 0);
    munmap(memory, page);
    printf(" gone %d\n", still_counts());
    ioctl(open_counters(getpid()), PIOCRELEVCTRS);
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
    unsigned most = 0;

    if (syssgi(SGI_EVENTCTR, HWPERF_PROFENABLE, (void *)&args, profs, 2) >= 0)
        return 3; /* no threshold */
    args.hwp_ovflw_freq[INSTRUCTIONS] = PERIOD;
    if (syssgi(SGI_EVENTCTR, HWPERF_PROFENABLE, (void *)&args, profs, 2) <= 0)
        return errno;
    measured();
    ioctl(open_counters(getpid()), PIOCRELEVCTRS);
    const unsigned sum = all_buckets();
    for (unsigned i = 0; i < BUCKETS; i++)
        most = buckets[i] > most ? buckets[i] : most;
    measured();
    const unsigned later = all_buckets();
    printf("%u in all %d in the loop %u elsewhere %u later\n", sum,
           most + 2 >= sum, (unsigned)others[0], later - sum);
    try_buckets();
    return 0;
}
