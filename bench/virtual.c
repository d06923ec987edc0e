/* SPDX-License-Identifier: MIT */
/*
 * Times virtual counters on emulated R10000s: a clock tick at which both
 * counters change to their next event, a tick at which nothing has to change,
 * two context switches between processes that count, an overflow, and a reading
 * of all 32 counters. Prints medians of rounds, in processor time, and the
 * multiplex switch beside its aim.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/clock.h"
#include "ref/virtual_mips.h"

#define ROUNDS 15
#define CALLS 200000
#define AIM 200.0 /* ns of a multiplex switch */

struct bench {
    struct tally_pmu *pmu;
    struct virtual_mips mips;
    struct virtual_system system;
    struct virtual_cpu cpu;
    struct virtual_owner owners[2];
    uint64_t now, sum;
};

/* Returns the median ns of a call. */
static double
measure(struct bench *b, void (*work)(struct bench *b))
{
    double times[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        const double start = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
        work(b);
        times[i] =
            1e9 * (clock_seconds(CLOCK_THREAD_CPUTIME_ID) - start) / CALLS;
    }
    return median(times, ROUNDS);
}

static uint64_t
tell_time(void *kernel, unsigned cpu)
{
    (void)cpu;
    return ((struct bench *)kernel)->now++;
}

static void
drop_signal(void *kernel, struct virtual_owner *owner, int signal,
            unsigned index)
{
    (void)owner;
    ((struct bench *)kernel)->sum += (unsigned)signal + index;
}

static const struct virtual_kernel_ops kernel_ops = {.time = tell_time,
                                                     .signal = drop_signal};

static void
ticks(struct bench *b)
{
    for (unsigned i = 0; i < CALLS; i++)
        virtual_tick(&b->system, 0, i);
}

static void
switches(struct bench *b)
{
    for (unsigned i = 0; i < CALLS; i++)
        virtual_switch(&b->system, 0, &b->owners[i % 2], i);
}

static void
overflows(struct bench *b)
{
    for (unsigned i = 0; i < CALLS; i++) {
        tally_pmu_write(b->pmu, 0, b->mips.count[0], TALLY_PMU_PRIVILEGED,
                        UINT32_C(1) << 31);
        virtual_overflow(&b->system, 0, i);
    }
}

static void
readings(struct bench *b)
{
    struct counter_reading all[VIRTUAL_EVENTS];

    for (unsigned i = 0; i < CALLS; i++) {
        virtual_read(&b->system, &b->owners[0], &b->owners[0], all);
        b->sum += all[i % VIRTUAL_EVENTS].value;
    }
}

/* Has both processes count so many events of each counter. */
static bool
start(struct bench *b, unsigned events)
{
    struct virtual_request request = {.signal = 16};

    for (unsigned i = 0; i < events; i++) {
        request.spec[i] = request.spec[16 + i] =
            (uint16_t)(i << 5 | VIRTUAL_USER);
        request.threshold[i] = 1000;
    }
    for (int i = 0; i < 2; i++) {
        if (virtual_start(&b->system, &b->owners[i], &b->owners[i], &request) <
            0)
            return false;
    }
    return virtual_switch(&b->system, 0, &b->owners[0], 0) == 0;
}

static bool
make(struct bench *b, void *memory, size_t size,
     const struct tally_pmu_options *options)
{
    for (int i = 0; i < 2; i++)
        virtual_owner_init(&b->owners[i], 0, false);
    return memory != NULL &&
           tally_pmu_init(memory, size, options, &b->pmu) == 0 &&
           tally_pmu_set_state(b->pmu, 0, TALLY_PMU_LEVEL, TALLY_PMU_USER) ==
               0 &&
           virtual_mips_init(&b->mips, &b->pmu) == 0 &&
           virtual_init(&b->system, &virtual_r10000_ops, &b->mips, &kernel_ops,
                        b, &b->cpu, 1) == 0;
}

static bool
run(struct bench *b)
{
    if (!start(b, 16))
        return false;
    const double turn = measure(b, ticks);
    printf("%-36s %7.1f ns (x%5.2f of the aim, %.0f ns)\n",
           "multiplex switch, both counters", turn, turn / AIM, AIM);
    if (!start(b, 1))
        return false;
    printf("%-36s %7.1f ns\n", "tick, nothing to change", measure(b, ticks));
    printf("%-36s %7.1f ns\n", "context switch", measure(b, switches));
    printf("%-36s %7.1f ns\n", "overflow", measure(b, overflows));
    printf("%-36s %7.1f ns\n", "reading all", measure(b, readings));
    return true;
}

int
main(void)
{
    struct tally_pmu_options options;
    struct bench b = {.now = 0};

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = "r10000";
    const size_t size = tally_pmu_size(&options);
    void *const memory = size > 0 ? aligned_alloc(16, size) : NULL;
    const bool good = make(&b, memory, size, &options) && run(&b);

    if (!good)
        puts("virtual counters cannot be measured");
    free(memory);
    return !good;
}
