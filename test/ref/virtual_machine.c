/* SPDX-License-Identifier: MIT */
#include "ref/virtual_machine.h"

#include <stdlib.h>
#include <string.h>

static struct tally_pmu *
make_monitor(const char *name)
{
    struct tally_pmu_options options;
    struct tally_pmu *pmu = NULL;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = name;
    options.strands = 1;
    const size_t size = tally_pmu_size(&options);
    void *const memory = size > 0 ? aligned_alloc(16, size) : NULL;
    if (memory == NULL || tally_pmu_init(memory, size, &options, &pmu) != 0)
        free(memory);
    return pmu;
}

bool
machine_make(struct machine *m, enum machine_kind kind, const char *name,
             uint64_t limit, unsigned cpus)
{
    memset(m, 0, sizeof(*m));
    m->kind = kind;
    m->mock.limit = limit;
    if (kind == MACHINE_NARROW)
        return true;
    for (unsigned n = 0; n < cpus; n++) {
        m->monitors[n] = make_monitor(name);
        if (m->monitors[n] == NULL)
            return false;
    }
    return virtual_mips_init(&m->mips, m->monitors) == 0;
}

void
machine_finish(struct machine *m)
{
    for (unsigned n = 0; n < MOCK_CPUS; n++)
        free(m->monitors[n]);
}

void *
machine_monitor(struct machine *m)
{
    return m->kind == MACHINE_MIPS ? (void *)&m->mips : &m->mock;
}

static void
set_status(struct tally_pmu *pmu, unsigned mode)
{
    const uint64_t ksu = mode == VIRTUAL_USER         ? 2
                         : mode == VIRTUAL_SUPERVISOR ? 1
                                                      : 0;

    tally_pmu_set_state(pmu, 0, TALLY_PMU_KSU, ksu);
    tally_pmu_set_state(pmu, 0, TALLY_PMU_EXL, mode == VIRTUAL_EXCEPTION);
    tally_pmu_set_state(pmu, 0, TALLY_PMU_ERL, mode == 0);
}

void
machine_set_mode(struct machine *m, unsigned cpu, unsigned mode)
{
    m->mock.mode[cpu] = mode;
    if (m->kind == MACHINE_MIPS)
        set_status(m->monitors[cpu], mode);
}

void
machine_occurs(struct machine *m, unsigned cpu, unsigned index)
{
    if (m->kind == MACHINE_MIPS)
        tally_pmu_signal(m->monitors[cpu], 0,
                         TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, index, 1), 1, NULL);
    else
        mock_occurs(&m->mock, cpu, index);
}

bool
machine_pending(const struct machine *m, unsigned cpu)
{
    if (m->kind == MACHINE_MIPS)
        return tally_pmu_pending(m->monitors[cpu], 0) != 0;
    return mock_pending(&m->mock, cpu);
}
