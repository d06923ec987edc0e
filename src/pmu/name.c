/* SPDX-License-Identifier: MIT */
#include "pmu/pmu.h"

#include <string.h>

static unsigned char
lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Compares as strcmp() does, whatever the case. */
static int
compare(const char *a, const char *b)
{
    while (*a != '\0' && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return (int)lower(*a) - (int)lower(*b);
}

bool
pmu_same_name(const char *a, const char *b)
{
    return compare(a, b) == 0;
}

int
pmu_name_find(const struct pmu_name *names, size_t count, const char *text)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare(text, names[middle].name);

        if (order == 0)
            return (int)middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

int
tally_pmu_register_find(const struct tally_pmu *pmu, const char *name)
{
    const struct pmu_machine *m = pmu->machine;
    const int i =
        pmu_name_find(m->register_names, m->register_names_count, name);

    return i < 0 ? -1 : (int)m->register_names[i].value;
}

const char *
tally_pmu_register_name(const struct tally_pmu *pmu, unsigned id)
{
    if (id >= pmu->machine->registers_count)
        return NULL;
    return pmu->machine->registers[id].name;
}

int
tally_pmu_signal_find(const struct tally_pmu *pmu, const char *name,
                      uint32_t *signal)
{
    const struct pmu_machine *m = pmu->machine;
    const int i = pmu_name_find(m->signals, m->signals_count, name);

    if (i < 0)
        return TALLY_EUNKNOWN;
    *signal = m->signals[i].value;
    return 0;
}

int
tally_pmu_state_find(const char *name)
{
    static const char *const names[TALLY_PMU_STATES] = {
        [TALLY_PMU_LEVEL] = "level",   [TALLY_PMU_KSU] = "ksu",
        [TALLY_PMU_EXL] = "exl",       [TALLY_PMU_ERL] = "erl",
        [TALLY_PMU_CPL] = "cpl",       [TALLY_PMU_UP] = "up",
        [TALLY_PMU_PP] = "pp",         [TALLY_PMU_SP] = "sp",
        [TALLY_PMU_IS] = "is",         [TALLY_PMU_I] = "i",
        [TALLY_PMU_IC] = "ic",         [TALLY_PMU_ACTIVE] = "active",
        [TALLY_PMU_HALTED] = "halted",
    };

    for (int i = 0; i < TALLY_PMU_STATES; i++) {
        if (pmu_same_name(names[i], name))
            return i;
    }
    return -1;
}

const char *
tally_pmu_trap_name(enum tally_pmu_trap trap)
{
    switch (trap) {
    case TALLY_PMU_PRIVILEGED_OPCODE:
        return "privileged_opcode";
    case TALLY_PMU_PRIVILEGED_ACTION:
        return "privileged_action";
    case TALLY_PMU_ILLEGAL_INSTRUCTION:
        return "illegal_instruction";
    case TALLY_PMU_DATA_ACCESS_EXCEPTION:
        return "data_access_exception";
    case TALLY_PMU_COPROCESSOR_UNUSABLE:
        return "coprocessor_unusable";
    case TALLY_PMU_PRIVILEGED_OPERATION:
        return "privileged_operation";
    case TALLY_PMU_RESERVED_FIELD:
        return "reserved_register_field";
    case TALLY_PMU_PIC_OVERFLOW:
        return "pic_overflow";
    case TALLY_PMU_PRECISE_EVENT:
        return "precise_performance_event";
    case TALLY_PMU_DISRUPTING_EVENT:
        return "disrupting_performance_event";
    case TALLY_PMU_COUNTER_INTERRUPT:
        return "counter_interrupt";
    case TALLY_PMU_MONITOR_INTERRUPT:
        return "performance_monitor_interrupt";
    case TALLY_PMU_NOTIFICATION:
        return "external_notification";
    }
    return NULL;
}
