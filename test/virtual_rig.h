/* SPDX-License-Identifier: MIT */
/* Virtual counters on emulated R10000s, and who schedules on them, for tests
 * of rules. */
#ifndef TALLY_TEST_VIRTUAL_RIG_H
#define TALLY_TEST_VIRTUAL_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref/virtual_mips.h"

#define RIG_CPUS 4
#define RIG_MEMORY (1 << 16)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct rig {
    struct tally_pmu *monitors[RIG_CPUS];
    struct virtual_mips mips;
    struct virtual_system system;
    struct virtual_cpu cpus[RIG_CPUS];
    uint64_t now, pc;
    /* Signals. */
    unsigned told, interrupts;
    struct virtual_owner *told_owner;
    int told_signal;
    unsigned told_index;
    /* root of group 0, two of group 1, one of group 2. */
    struct virtual_owner root, a, b, other;
    _Alignas(16) unsigned char memory[RIG_CPUS][RIG_MEMORY];
};

static inline uint64_t
rig_time(void *kernel, unsigned cpu)
{
    (void)cpu;
    return ((struct rig *)kernel)->now;
}

static inline void
rig_signal(void *kernel, struct virtual_owner *owner, int signal,
           unsigned index)
{
    struct rig *const r = kernel;

    r->told++;
    r->told_owner = owner;
    r->told_signal = signal;
    r->told_index = index;
}

/* What a prusage has is the system's; here, when it was asked. */
static inline bool
rig_usage(void *kernel, const struct virtual_owner *owner, void *usage)
{
    if (owner->user == NULL)
        return false;
    *(uint64_t *)usage = ((struct rig *)kernel)->now;
    return true;
}

static const struct virtual_kernel_ops rig_ops = {
    .time = rig_time,
    .signal = rig_signal,
    .usage = rig_usage,
};

static inline void
rig_mode(struct rig *r, unsigned cpu, enum tally_pmu_level level)
{
    assert_int_equal(
        tally_pmu_set_state(r->monitors[cpu], 0, TALLY_PMU_LEVEL, level), 0);
}

static inline struct rig *
rig_make(const char *machine, unsigned cpus)
{
    struct rig *const r = aligned_alloc(16, sizeof(*r));
    struct tally_pmu_options options;

    assert_non_null(r);
    memset(r, 0, sizeof(*r));
    tally_pmu_options_init(&options, sizeof(options));
    options.machine = machine;
    for (unsigned n = 0; n < cpus; n++) {
        assert_int_equal(
            tally_pmu_init(r->memory[n], RIG_MEMORY, &options, &r->monitors[n]),
            0);
        rig_mode(r, n, TALLY_PMU_USER);
    }
    assert_int_equal(virtual_mips_init(&r->mips, r->monitors), 0);
    assert_int_equal(virtual_init(&r->system,
                                  strcmp(machine, "r12000") == 0
                                      ? &virtual_r12000_ops
                                      : &virtual_r10000_ops,
                                  &r->mips, &rig_ops, r, r->cpus, cpus),
                     0);
    virtual_owner_init(&r->root, 0, true);
    virtual_owner_init(&r->a, 1, false);
    virtual_owner_init(&r->b, 1, false);
    virtual_owner_init(&r->other, 2, false);
    return r;
}

/* `n` occurrences of the event on the CPU; interrupts are served at once. */
static inline void
rig_occur(struct rig *r, unsigned cpu, unsigned index, uint64_t n)
{
    tally_pmu_signal(r->monitors[cpu], 0,
                     TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, index, 1), n, NULL);
    if (tally_pmu_pending(r->monitors[cpu], 0) == 0)
        return;
    r->interrupts++;
    virtual_overflow(&r->system, cpu, r->pc);
}

static inline void
rig_run(struct rig *r, unsigned cpu, struct virtual_owner *owner)
{
    assert_int_equal(virtual_switch(&r->system, cpu, owner, r->pc), 0);
}

/* Asks for the event as IRIX numbers it, in these modes. */
static inline void
rig_ask(struct virtual_request *q, unsigned index, unsigned bits,
        int32_t threshold)
{
    q->spec[index] = (uint16_t)(index % 16 << 5 | bits);
    q->threshold[index] = threshold;
}

static inline struct virtual_request
rig_request(unsigned index, unsigned bits)
{
    struct virtual_request q = {.signal = 0};

    rig_ask(&q, index, bits, 0);
    return q;
}

static inline int
rig_start(struct rig *r, struct virtual_owner *owner, unsigned index,
          unsigned bits)
{
    const struct virtual_request q = rig_request(index, bits);

    return virtual_start(&r->system, owner, owner, &q);
}

static inline int
rig_read(struct rig *r, struct virtual_owner *owner, unsigned index,
         uint64_t *value)
{
    struct counter_reading readings[VIRTUAL_EVENTS];
    const int answer = virtual_read(&r->system, owner, owner, readings);

    *value = readings[index].value;
    return answer;
}

static inline uint64_t
rig_value(struct rig *r, struct virtual_owner *owner, unsigned index)
{
    uint64_t value;

    assert_true(rig_read(r, owner, index, &value) > 0);
    return value;
}

static inline uint64_t
rig_system_value(struct rig *r, unsigned index)
{
    struct counter_reading readings[VIRTUAL_EVENTS];

    assert_true(virtual_system_read(&r->system, readings) > 0);
    return readings[index].value;
}

static inline uint64_t
rig_cpu_value(struct rig *r, unsigned cpu, unsigned index)
{
    struct counter_reading readings[VIRTUAL_EVENTS];

    assert_true(virtual_system_read_cpu(&r->system, cpu, readings) > 0);
    return readings[index].value;
}

#endif
