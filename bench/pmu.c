/* SPDX-License-Identifier: MIT */
/*
 * Times the raising of signals, machine by machine: one tally_pmu_signal() with
 * nothing armed, and tally_pmu_batch() of 64 totals, of all signals that the
 * counters hear and of others, while every counter of the strand is armed.
 * Prints medians of rounds, in processor time, and how many times the aims they
 * reach: 300 million signals and 10 million batches a second.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "pmu/pmu.h"
#include "tally/pmu.h"

#define ROUNDS 15
#define SINGLES 4000000
#define BATCHES 100000
#define BATCH 64
#define ARMED 16

struct setting {
    const char *reg;
    uint64_t value;
};

struct arming {
    const char *machine;
    const char *what;
    struct setting settings[ARMED];
};

/* sl2 mask 2, sl1 mask 1, modes. */
#define T2_PCR                                                 \
    (UINT64_C(0xe) | UINT64_C(0xfd) << 6 | UINT64_C(2) << 14 | \
     UINT64_C(0x33) << 19 | UINT64_C(3) << 27)
#define T4_PCR(sl, mask) (UINT64_C(0xc) | (mask) << 5 | (sl) << 11)
#define PMC(n)                                    \
    {                                             \
        "PMC" #n, UINT64_C(0x200000f) | 0x12 << 8 \
    }

static const struct arming armings[] = {
    {"ultrasparc-t1",
     "instructions, instruction cache misses",
     {{"PCR", 0x26}}},
    {"ultrasparc-t2", "instructions, cache misses", {{"PCR", T2_PCR}}},
    {"ultrasparc-t2plus", "instructions, cache misses", {{"PCR", T2_PCR}}},
    {"sparc-t4",
     "instructions, cycles, cache misses twice",
     {{"PCR0", T4_PCR(3, 0x3f)},
      {"PCR1", T4_PCR(26, 0)},
      {"PCR2", T4_PCR(4, 0x3f)},
      {"PCR3", T4_PCR(5, 0x1f)}}},
    {"r10000", "cycles, loads", {{"CTRL0", 0xa}, {"CTRL1", 0x4a}}},
    {"r12000", "cycles, loads", {{"CTRL0", 0xa}, {"CTRL1", 0x24a}}},
    {"montecito",
     "cycles, twelve times",
     {{"PMC0", 0},
      PMC(4),
      PMC(5),
      PMC(6),
      PMC(7),
      PMC(8),
      PMC(9),
      PMC(10),
      PMC(11),
      PMC(12),
      PMC(13),
      PMC(14),
      PMC(15)}},
};

struct bench {
    struct tally_pmu *pmu;
    struct tally_pmu_total totals[BATCH];
};

/* Returns the median ns of a call. */
static double
measure(struct bench *b, void (*work)(struct bench *b), unsigned calls)
{
    double times[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        const double start = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
        work(b);
        times[i] =
            1e9 * (clock_seconds(CLOCK_THREAD_CPUTIME_ID) - start) / calls;
    }
    return median(times, ROUNDS);
}

static void
singles(struct bench *b)
{
    for (unsigned i = 0; i < SINGLES; i++)
        tally_pmu_signal(b->pmu, 0, b->totals[i % BATCH].signal, 1, NULL);
}

static void
batches(struct bench *b)
{
    for (unsigned i = 0; i < BATCHES; i++)
        tally_pmu_batch(b->pmu, 0, b->totals, BATCH, NULL);
}

/* Sets user mode, in which Montecito's PSR.up must be set, too. */
static bool
arm(struct bench *b, const struct arming *a)
{
    for (size_t i = 0; i < ARMED && a->settings[i].reg != NULL; i++) {
        const struct setting *const s = &a->settings[i];
        const int id = tally_pmu_register_find(b->pmu, s->reg);
        if (id < 0 || tally_pmu_write(b->pmu, 0, (unsigned)id,
                                      TALLY_PMU_HYPERPRIVILEGED, s->value) != 0)
            return false;
    }
    tally_pmu_set_state(b->pmu, 0, TALLY_PMU_LEVEL, TALLY_PMU_USER);
    tally_pmu_set_state(b->pmu, 0, TALLY_PMU_UP, 1);
    return true;
}

/* Adds each signal once that the strand's counters hear, or each that they do
 * not hear. */
static size_t
add(struct bench *b, const struct pmu_machine *m, bool heard, size_t count)
{
    for (size_t i = 0; i < m->signals_count && count < BATCH; i++) {
        const uint32_t signal = m->signals[i].value;
        bool known = signal >> 24 != TALLY_PMU_CPU ||
                     pmu_heard(b->pmu, 0, signal) != heard;
        for (size_t k = 0; k < count && !known; k++)
            known = b->totals[k].signal == signal;
        if (known)
            continue;
        b->totals[count] =
            (struct tally_pmu_total){.signal = signal, .n = count % 7 + 1};
        count++;
    }
    return count;
}

/* Fills the list with signals that are heard and then others, again and again.
 * Returns how many are heard. */
static size_t
fill(struct bench *b)
{
    const size_t heard = add(b, b->pmu->machine, true, 0);
    const size_t count = add(b, b->pmu->machine, false, heard);

    for (size_t i = count; i < BATCH && count > 0; i++)
        b->totals[i] =
            b->totals[heard == count ? i % count
                                     : heard + (i - heard) % (count - heard)];
    return heard;
}

/* Returns false where there is no model. */
static bool
run(const struct arming *a)
{
    struct tally_pmu_options options;
    struct bench b = {0};

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = a->machine;
    options.strands = 2;
    if (tally_pmu_size(&options) == 0)
        options.strands = 1;
    const size_t size = tally_pmu_size(&options);
    void *memory = size > 0 ? aligned_alloc(16, size) : NULL;
    bool good =
        memory != NULL && tally_pmu_init(memory, size, &options, &b.pmu) == 0;
    if (good) {
        fill(&b);
        const double idle = measure(&b, singles, SINGLES);
        good = arm(&b, a);
        const size_t heard = fill(&b);
        const double busy = measure(&b, batches, BATCHES);
        printf("%-18s %6.2f ns %6.0f M/s (x%5.2f) %8.1f ns %6.1f M/s "
               "(x%5.2f)  %2zu heard: %s\n",
               a->machine, idle, 1e3 / idle, 1e3 / idle / 300, busy, 1e3 / busy,
               1e3 / busy / 10, heard, a->what);
    }
    free(memory);
    return good;
}

int
main(void)
{
    int failed = 0;

    printf("%-18s %-29s %s\n", "", "a signal, nothing armed",
           "64 signals, every counter armed (of the aim)");
    for (size_t i = 0; i < sizeof(armings) / sizeof(armings[0]); i++) {
        if (!run(&armings[i])) {
            printf("%-18s cannot be measured\n", armings[i].machine);
            failed = 1;
        }
    }
    return failed;
}
