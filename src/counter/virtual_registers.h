/* SPDX-License-Identifier: MIT */
/* How the monitors below virtual counters find their registers. */
#ifndef TALLY_COUNTER_VIRTUAL_REGISTERS_H
#define TALLY_COUNTER_VIRTUAL_REGISTERS_H

#include "counter/virtual.h"
#include "tally/pmu.h"

/* The registers of these names, in their order. 0, or VIRTUAL_EINVAL: the
 * monitor is of another processor. */
static inline int
virtual_registers(const struct tally_pmu *pmu, const char *const *names,
                  unsigned count, unsigned *registers)
{
    for (unsigned i = 0; i < count; i++) {
        const int id = tally_pmu_register_find(pmu, names[i]);
        if (id < 0)
            return VIRTUAL_EINVAL;
        registers[i] = (unsigned)id;
    }
    return 0;
}

#endif
