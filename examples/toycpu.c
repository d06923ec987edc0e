/* SPDX-License-Identifier: MIT */
/*
 * toycpu: a toy processor with the counters of R10000. Its kernel asks for an
 * interrupt after every 1000 instructions in user mode, as a profiler does;
 * the second counter counts loads.
 */
#include <inttypes.h>
#include <stdio.h>

#include <tally/pmu.h>

enum { PERIOD = 1000, INSTRUCTIONS = 3500, PRELOAD = 0x7fffffff - PERIOD + 1 };
enum { USER = 1 << 3, IE = 1 << 4, GRADUATED = 15 << 5, LOADS = 2 << 5 };

static _Alignas(16) unsigned char memory[16384];

/* The toy's move to and from coprocessor 0, register 25. */
static int
move_to(struct tally_pmu *pmu, const char *name, uint64_t value)
{
    return tally_pmu_write(pmu, 0, (unsigned)tally_pmu_register_find(pmu, name),
                           TALLY_PMU_PRIVILEGED, value);
}

static uint64_t
move_from(struct tally_pmu *pmu, const char *name)
{
    uint64_t value = 0;

    tally_pmu_read(pmu, 0, (unsigned)tally_pmu_register_find(pmu, name),
                   TALLY_PMU_PRIVILEGED, &value);
    return value;
}

/* The toy's kernel. The interrupt pends until bit 31 of the count is clear. */
static void
interrupt(struct tally_pmu *pmu, uint64_t pc)
{
    struct tally_pmu_taken taken;

    if (tally_pmu_take(pmu, 0, TALLY_PMU_COUNTER_INTERRUPT, &taken) != 0)
        return; /* masked: it is not lost, it pends */
    tally_pmu_set_state(pmu, 0, TALLY_PMU_EXL, 1);
    printf("interrupt at %#" PRIx64 ", counters %#x\n", pc, taken.counters);
    move_to(pmu, "CNT0", move_from(pmu, "CNT0") - PERIOD);
    tally_pmu_set_state(pmu, 0, TALLY_PMU_EXL, 0);
}

int
main(void)
{
    struct tally_pmu_options options;
    struct tally_pmu *pmu;
    uint32_t loads;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = "r10000";
    if (tally_pmu_init(memory, sizeof(memory), &options, &pmu) != 0 ||
        tally_pmu_signal_find(pmu, "Graduated_loads", &loads) != 0)
        return 1;
    move_to(pmu, "CTRL0", GRADUATED | IE | USER);
    move_to(pmu, "CNT0", PRELOAD);
    move_to(pmu, "CTRL1", LOADS | USER);
    tally_pmu_set_state(pmu, 0, TALLY_PMU_LEVEL, TALLY_PMU_USER);
    for (uint64_t i = 0, pc = 0x1000; i < INSTRUCTIONS; i++) {
        if (i % 3 == 0)
            tally_pmu_signal(pmu, 0, loads, 1, NULL);
        if (tally_pmu_retire(pmu, 0, 1, NULL) & TALLY_PMU_COUNTER_INTERRUPT)
            interrupt(pmu, pc);
        pc = pc == 0x1018 ? 0x1000 : pc + 4; /* a loop of 7 */
    }
    printf("%" PRIu64 " instructions since, %" PRIu64 " loads\n",
           move_from(pmu, "CNT0") - PRELOAD, move_from(pmu, "CNT1"));
    return 0;
}
