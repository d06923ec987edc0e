/* SPDX-License-Identifier: MIT */
#include "ref/virtual_machine.h"

#include <stdlib.h>
#include <string.h>

/* Lines of groups of UltraSPARC T2, sl << 8 | mask. */
static const uint16_t niagara_events[VIRTUAL_EVENTS] = {
    0x201, 0x202, 0x204, 0x208, 0x210, 0x220, 0x240, 0x280, 0x301, 0x302, 0x310,
    0x320, 0x404, 0x408, 0x410, 0x420, 0x501, 0x502, 0x504, 0x508, 0x510, 0x520,
    0x601, 0x602, 0x604, 0x608, 0x610, 0x620, 0x701, 0x702, 0x704, 0x708};

static struct tally_pmu *
make_monitor(const char *name, unsigned strands)
{
    struct tally_pmu_options options;
    struct tally_pmu *pmu = NULL;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = name;
    options.strands = strands;
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
    const bool niagara = kind == MACHINE_NIAGARA;
    const unsigned monitors = kind == MACHINE_NARROW ? 0 : niagara ? 1 : cpus;

    memset(m, 0, sizeof(*m));
    m->kind = kind;
    m->mock.limit = limit;
    for (unsigned n = 0; n < monitors; n++) {
        m->monitors[n] = make_monitor(name, niagara ? cpus : 1);
        if (m->monitors[n] == NULL)
            return false;
    }
    if (kind == MACHINE_MIPS)
        return virtual_mips_init(&m->mips, m->monitors) == 0;
    if (!niagara)
        return true;
    const int error = virtual_niagara_init(&m->niagara, m->monitors[0]);
    memcpy(m->niagara.event, niagara_events, sizeof(niagara_events));
    return error == 0;
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
    switch (m->kind) {
    case MACHINE_MIPS:
        return &m->mips;
    case MACHINE_NIAGARA:
        return &m->niagara;
    default:
        return &m->mock;
    }
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
    if (m->kind == MACHINE_NIAGARA)
        tally_pmu_set_state(m->monitors[0], cpu, TALLY_PMU_LEVEL,
                            mode == VIRTUAL_USER ? TALLY_PMU_USER
                            : mode == VIRTUAL_KERNEL
                                ? TALLY_PMU_PRIVILEGED
                                : TALLY_PMU_HYPERPRIVILEGED);
}

void
machine_occurs(struct machine *m, unsigned cpu, unsigned index)
{
    const unsigned event = niagara_events[index];

    if (m->kind == MACHINE_MIPS)
        tally_pmu_signal(m->monitors[cpu], 0,
                         TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, index, 1), 1, NULL);
    else if (m->kind == MACHINE_NIAGARA)
        tally_pmu_signal(
            m->monitors[0], cpu,
            TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, event >> 8, event & 0xff), 1,
            NULL);
    else
        mock_occurs(&m->mock, cpu, index);
}

bool
machine_pending(const struct machine *m, unsigned cpu)
{
    if (m->kind == MACHINE_MIPS)
        return tally_pmu_pending(m->monitors[cpu], 0) != 0;
    if (m->kind == MACHINE_NIAGARA)
        return tally_pmu_pending(m->monitors[0], cpu) != 0;
    return mock_pending(&m->mock, cpu);
}
